//! Edited, forked, compacted and simultaneous histories, and what a session forgets.

use crate::common::*;
use serde_json::Value;
use std::num::NonZeroUsize;
use tower_prompt_layers::wire::{OpenAiChat, Wire};
use tower_prompt_layers::{Round, Session};

#[tokio::test]
async fn a_place_settled_late_belongs_to_another_branch() {
    let chat = chat(OpenAiChat);
    let long = [user("one"), says("a"), user("two")];
    chat.world.is("clock", "1");
    let sent = chat.send(&long).await;
    assert_eq!(texts(&sent), ["one", "a", &behind("two", "1")]);
    assert_eq!(texts(&chat.send(&long[..1]).await), [behind("one", "1")]);
    assert_eq!(sent, chat.send(&long).await);
}

#[tokio::test]
async fn an_edited_message_tells_its_branch_what_that_was_not_told() {
    let chat = chat(OpenAiChat);
    chat.world.is("clock", "1");
    chat.send(&[user("one")]).await;
    chat.world.is("clock", "2");
    chat.send(&[user("one"), says("a"), user("two")]).await;
    let edited = chat.send(&[user("one"), says("a"), user("too")]).await;
    assert_eq!(texts(&edited), [&behind("one", "1"), "a", &behind("too", "2")]);
}

#[tokio::test]
async fn a_stale_gone_does_not_count() {
    let chat = chat(OpenAiChat);
    chat.send(&[user("one")]).await;
    chat.world.lacks("clock");
    let stale = chat.begin(&[user("one"), user("two"), user("three")]);
    chat.world.is("clock", "1");
    chat.send(&[user("one"), user("two")]).await;
    let sent = chat.stack.finish(stale).await;
    assert_eq!(texts(&sent), ["one", &behind("two", "1"), "three"]);
}

#[tokio::test]
async fn who_comes_second_to_a_place_takes_what_stands_there() {
    let chat = chat(OpenAiChat);
    chat.world.is("clock", "1");
    let (one, other) = (chat.begin(&[user("one")]), chat.begin(&[user("one")]));
    chat.world.is("clock", "2");
    let third = chat.begin(&[user("one")]);
    let first = chat.stack.finish(third).await;
    assert_eq!(texts(&first), [behind("one", "2")]);
    assert_eq!(first, chat.stack.finish(one).await);
    assert_eq!(first, chat.stack.finish(other).await);
}

#[tokio::test]
async fn two_requests_of_one_session_at_once_keep_both_activations() {
    let chat = chat(OpenAiChat);
    chat.send(&[user("one")]).await;
    let slow = chat.begin(&[user("one"), user("borrow")]);
    chat.session.activate(id("sql"), None);
    let sent = chat.send(&[user("one"), user("two")]).await;
    assert_eq!(last(&sent), behind("two", "BODY OF sql"));
    chat.stack.finish(slow).await;
    let next = chat.begin(&[user("one"), user("borrow"), says("a"), user("three")]);
    assert!(next.turn.is_active("rust") && next.turn.is_active("sql"));
}

#[tokio::test]
async fn a_skill_that_came_into_force_meanwhile_is_not_said_to_be_gone() {
    let chat = chat(OpenAiChat);
    let history = [user("borrow"), says("a"), user("borrow"), user("two")];
    chat.send(&history[..1]).await;
    chat.session.deactivate(&id("rust"));
    let (first, second) = (chat.begin(&history[..3]), chat.begin(&history));
    chat.stack.finish(first).await;
    let second = chat.stack.finish(second).await;
    assert_eq!(texts(&second), [&behind("borrow", "BODY OF rust"), "a", "borrow", "two"]);
}

#[tokio::test]
async fn what_was_activated_since_the_request_was_opened_is_in_force() {
    let chat = chat(OpenAiChat);
    chat.send(&[user("one")]).await;
    let slow = chat.begin(&[user("one"), user("borrow"), user("three")]);
    chat.send(&[user("one"), user("borrow")]).await;
    chat.stack.finish(slow).await;
    let next = chat.begin(&[user("one"), user("borrow"), user("three"), says("a"), user("four")]);
    assert!(next.turn.is_active("rust"));
}

#[tokio::test]
async fn an_edited_first_message_inherits_nothing_and_a_compacted_history_does() {
    let chat = chat(OpenAiChat);
    chat.send(&[user("borrow")]).await;
    let edited = chat.begin(&[user("borough")]);
    assert_eq!((edited.turn.round, edited.turn.active.len()), (Round::User, 0));
    chat.send(&[user("borrow"), says("a"), user("two")]).await;
    let mut compacted = vec![user("summary"), calls("c"), result("c")];
    let request = chat.begin(&compacted);
    assert_eq!(request.turn.round, Round::Compacted);
    assert_eq!(texts(&chat.stack.finish(request).await), ["summary", "files", &ours("BODY OF rust")]);
    compacted.extend([says("done"), user("three")]);
    assert_eq!(texts(&chat.send(&compacted).await), ["summary", "files", &ours("BODY OF rust"), "done", "three"]);
}

#[tokio::test]
async fn a_host_that_keeps_the_head_of_a_compacted_history_says_so() {
    let chat = chat(OpenAiChat);
    chat.send(&[user("one")]).await;
    chat.send(&[user("one"), says("a"), user("borrow")]).await;
    let compacted = body(&[user("one"), says("(summary)"), user("go on")]);
    let request = chat.stack.begin(compacted, chat.context().compacted(true));
    assert_eq!(request.turn.round, Round::Compacted);
    assert_eq!(texts(&chat.stack.finish(request).await), ["one", "(summary)", &behind("go on", "BODY OF rust")]);
}

#[tokio::test]
async fn where_the_tail_takes_no_text_it_follows_at_the_next_place() {
    let chat = chat(StrictResults);
    // in mid-loop, so that the matched skill comes into force behind results
    let mut history = vec![user("borrow"), calls("c"), result("c")];
    assert_eq!(texts(&chat.send(&history).await), ["borrow", "files"]);
    history.extend([says("done"), user("two")]);
    let next = chat.begin(&history);
    assert!(next.turn.is_active("rust"));
    assert_eq!(texts(&chat.stack.finish(next).await), ["borrow", "files", "done", &behind("two", "BODY OF rust")]);
}

#[tokio::test]
async fn a_conversation_that_goes_on_where_no_text_stands_behind_results_is_told_anew_what_stood_there() {
    let chat = chat(OpenAiChat);
    let mut history = vec![user("one"), calls("c"), result("c")];
    chat.session.activate(id("rust"), None);
    chat.send(&history[..1]).await;
    chat.session.activate(id("sql"), None);
    let sent = chat.send(&history).await;
    assert_eq!(texts(&sent), [&behind("one", "BODY OF rust"), "files", &ours("BODY OF sql")]);
    let strict = Chat { stack: chat.stack.clone().for_wire(StrictResults), session: chat.session.clone(), world: World::default() };
    assert_eq!(texts(&strict.send(&history).await), [&behind("one", "BODY OF rust"), "files"]);
    history.extend([says("done"), user("two")]);
    let next = strict.send(&history).await;
    assert_eq!(texts(&next), [&behind("one", "BODY OF rust"), "files", "done", &behind("two", "BODY OF sql")]);
    assert_eq!(next, strict.send(&history).await);
    // back again, what was sent there still begins the request
    let back = chat.send(&history).await;
    assert_eq!(messages(&back)[..4], messages(&sent));
}

// ---- a bound

fn bound(places: usize) -> Session {
    Session::with_max_places(NonZeroUsize::new(places).unwrap())
}

#[tokio::test]
async fn beyond_its_bound_a_session_forgets_what_is_longest_unused() {
    let chat = Chat { session: bound(2), ..chat(OpenAiChat) };
    let edited = |text: &str| [user("one"), says("a"), user(text)];
    for text in ["two", "three", "two", "four"] {
        chat.send(&edited(text)).await;
    }
    assert_eq!(chat.begin(&edited("two")).turn.round, Round::Settled);
    assert_eq!(chat.begin(&edited("three")).turn.round, Round::User);
}

#[tokio::test]
async fn of_the_branch_that_goes_on_it_forgets_what_says_nothing() {
    let chat = Chat { session: bound(3), ..chat(OpenAiChat) };
    chat.world.is("clock", "1");
    let mut history = vec![user("one")];
    for _ in 0..5 {
        chat.send(&history).await;
        history.extend([says("ok"), user("go on")]);
    }
    assert_eq!(chat.session.places(), 3);
    assert_eq!(texts(&chat.send(&history).await)[0], behind("one", "1"));
}

#[tokio::test]
async fn it_does_not_forget_where_a_skill_came_into_force_without_a_word() {
    let chat = Chat { session: bound(2), ..chat(OpenAiChat) };
    let mut history = vec![user("borrow")];
    chat.send(&history).await;
    chat.session.deactivate(&id("rust"));
    history.extend([says("a"), user("borrow")]);
    assert_eq!(texts(&chat.send(&history).await)[2], "borrow");
    let edited = |text: &str| [&history[..], &[says("b"), user(text)]].concat();
    chat.send(&edited("two")).await;
    assert!(chat.begin(&edited("three")).turn.is_active("rust"));
}

#[tokio::test]
async fn of_a_branch_that_is_left_the_newest_place_goes_first() {
    let chat = Chat { session: bound(2), ..chat(OpenAiChat) };
    let branch = [user("one"), says("a"), user("two")];
    chat.send(&branch[..1]).await;
    chat.send(&branch).await;
    chat.send(&[user("other")]).await;
    let rounds = [&branch[..1], &branch].map(|messages| chat.begin(messages).turn.round);
    assert!(rounds[0] == Round::Settled && rounds[1] != Round::Settled, "{rounds:?}");
}

#[tokio::test]
async fn what_says_something_on_the_branch_that_goes_on_stays_beyond_the_bound() {
    let chat = Chat { session: bound(1), ..chat(OpenAiChat) };
    let mut history = Vec::new();
    let mut sent = Value::Null;
    for (now, text) in [("1", "one"), ("2", "two"), ("3", "three"), ("4", "four")] {
        chat.world.is("clock", now);
        history.push(user(text));
        sent = chat.send(&history).await;
        history.push(says("ok"));
    }
    let said = texts(&sent).into_iter().filter(|text| *text != "ok").collect::<Vec<_>>();
    assert_eq!(said, [behind("one", "1"), behind("two", "2"), behind("three", "3"), behind("four", "4")]);
    assert_eq!(chat.session.places(), 4);
}

#[tokio::test]
async fn what_a_session_forgot_it_knows_no_more_and_what_another_place_relies_on_it_does() {
    let chat = Chat { session: bound(1), ..chat(OpenAiChat) };
    let edited = |text: &str| [user("one"), says("a"), user(text)];
    chat.world.is("clock", "1");
    // Each of two branches was read from its beginning.
    let sent = messages(&chat.send(&edited("two")).await);
    chat.send(&edited("three")).await;
    let known = |messages: &[Value]| chat.session.known_places(&OpenAiChat.read(&body(messages)));
    assert_eq!((known(&edited("three")), known(&edited("two")), chat.session.places()), (2, 1, 1));
    // A text of ours whose place is forgotten is the user's, as any other would be.
    assert_eq!(sent[2], user(behind("two", "1")));
    assert_eq!(texts(&chat.send(&sent).await)[2], behind(&behind("two", "1"), "1"));
    chat.send(&[user("other")]).await;
    assert_eq!((known(&edited("three")), known(&edited("two"))), (0, 0));
}
