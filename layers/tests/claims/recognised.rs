//! What is recognised as ours, and what is the user's.

use crate::common::*;
use serde_json::{Value, json};
use tower_prompt_layers::wire::{Anthropic, OpenAiChat};
use tower_prompt_layers::{Context, Fragment, Prompt, PromptStack, Round, Session, Settings, Tier, Turn};

#[tokio::test]
async fn a_host_that_keeps_what_was_sent_is_recognised() {
    let chat = chat(OpenAiChat);
    chat.world.is("clock", "1");
    let first = chat.send(&[system("HOST"), user("one\n")]).await;
    assert_eq!(first, chat.send(&messages(&first)).await);
    let mut kept = messages(&first);
    kept.extend([calls("c"), result("c")]);
    chat.session.activate(id("rust"), None);
    let second = chat.send(&kept).await;
    assert_eq!(texts(&second), ["HOST", &behind("one\n", "1"), "files", &ours("BODY OF rust")]);
    assert_eq!(second, chat.send(&messages(&second)).await);
}

#[tokio::test]
async fn our_text_behind_a_picture_is_ours_though_a_user_pasted_it_ahead_of_one() {
    let chat = chat(Anthropic);
    chat.world.is("clock", "1");
    let image = json!({"type": "image", "source": {"type": "base64", "data": ""}});
    let first = chat.send(&[user(vec![image.clone()])]).await;
    assert_eq!(last(&first), ours("1"));
    chat.send(&[user(vec![block(&ours("1")), image])]).await;
    assert_eq!(chat.send(&messages(&first)).await, first);
}

#[tokio::test]
async fn a_message_that_holds_results_and_our_text_alone_is_no_place_of_its_own() {
    let chat = chat(Anthropic);
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "ls", "input": {}}]});
    chat.session.activate(id("rust"), None);
    let history = [user("one"), call, user(vec![json!({"type": "tool_result", "tool_use_id": "c", "content": "files"})])];
    let sent = chat.send(&history).await;
    let again = chat.begin(&messages(&sent));
    assert_eq!(again.turn.round, Round::Settled);
    assert_eq!(again.turn.conversation.messages.len(), 3);
    assert_eq!(chat.stack.finish(again).await, sent);
}

#[tokio::test]
async fn ids_and_results_may_change_and_the_order_of_answers_may_not() {
    let chat = chat(OpenAiChat);
    let two = |a: &str, b: &str| {
        let mut message = calls(a);
        message["tool_calls"].as_array_mut().unwrap().push(calls(b)["tool_calls"][0].clone());
        message
    };
    chat.session.activate(id("rust"), None);
    let round = |history: &[Value]| chat.begin(history).turn.round;
    chat.send(&[user("one"), two("a", "b"), result("a"), result("b")]).await;
    let cleared = json!({"role": "tool", "tool_call_id": "y", "content": "(cleared)"});
    assert_eq!(round(&[user("one"), two("x", "y"), result("x"), system("a note"), cleared]), Round::Settled);
    assert_eq!(round(&[user("one"), two("a", "b"), result("b"), result("a")]), Round::Tool);
    // an id that comes again is the latest call's
    let again = |id: &str| [user("one"), two("a", "b"), result("a"), result("b"), calls(id), result(id)];
    chat.send(&again("b")).await;
    assert_eq!(round(&again("z")), Round::Settled);
}

#[tokio::test]
async fn a_call_is_its_name_and_arguments() {
    let chat = chat(OpenAiChat);
    let history = |arguments: &str| {
        let mut call = calls("c");
        call["tool_calls"][0]["function"]["arguments"] = arguments.into();
        [user("one"), call, result("c")]
    };
    chat.send(&history(r#"{"a": 1, "b": 2}"#)).await;
    assert_eq!(chat.begin(&history(r#"{"b":2,"a":1}"#)).turn.round, Round::Settled);
    assert_eq!(chat.begin(&history(r#"{"b":2}"#)).turn.round, Round::Tool);
}

#[tokio::test]
async fn thinking_cache_marks_blanks_and_the_form_of_a_text_may_change() {
    let chat = chat(Anthropic);
    let answer = |thinking: &[Value]| {
        let content = [thinking, &[block("ok")]].concat();
        json!({"role": "assistant", "content": content})
    };
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let marked = json!({"type": "text", "text": "one \n", "cache_control": {"type": "ephemeral"}});
    chat.send(&[user("one"), answer(&[thought]), user("two")]).await;
    for first in [user("one"), user("one\n"), user(vec![block("one")]), user(vec![marked, block("")])] {
        assert_eq!(chat.begin(&[first, answer(&[]), user(vec![block("two")])]).turn.round, Round::Settled);
    }
    assert_eq!(chat.begin(&[user(vec![block("o"), block("ne")]), answer(&[]), user("two")]).turn.round, Round::Compacted);
}

#[tokio::test]
async fn a_string_that_is_a_text_of_ours_is_the_users() {
    let chat = chat(OpenAiChat);
    chat.world.is("clock", "1");
    assert_eq!(texts(&chat.send(&[user("")]).await), [behind("", "1")]);
    assert_eq!(chat.begin(&[user(ours("1"))]).turn.user_text(), Some(ours("1")));
}

#[tokio::test]
async fn pasted_text_that_equals_ours_stays_the_users() {
    let chat = chat(OpenAiChat);
    let pasted = behind("what is this?", "B");
    chat.world.is("clock", "A");
    chat.send(&[user(&*pasted)]).await;
    chat.world.is("clock", "B");
    let sent = chat.send(&[user(&*pasted), says("a"), user("two")]).await;
    assert_eq!(texts(&sent), [&behind(&pasted, "A"), "a", &behind("two", "B")]);
    let sent = chat.send(&[user(&*pasted), says("a"), user("two"), says("b"), user(ours("B"))]).await;
    assert_eq!(last(&sent), ours("B"));
}

#[tokio::test]
async fn a_message_that_was_sent_bare_stays_the_users_when_its_pair_is_said_later() {
    let chat = chat(OpenAiChat);
    let quoting = behind("hi", "A");
    chat.send(&[user(&*quoting)]).await;
    chat.world.is("clock", "A");
    chat.send(&[user("hi")]).await;
    let sent = chat.send(&[user(&*quoting), says("a"), user("two")]).await;
    assert_eq!(texts(&sent), [&*quoting, "a", &behind("two", "A")]);
}

#[tokio::test]
async fn so_it_does_right_behind_results() {
    let chat = chat(OpenAiChat);
    let mut history = vec![user("one"), calls("c"), result("c"), user(ours("BODY OF rust"))];
    chat.send(&history).await;
    chat.session.activate(id("rust"), None);
    assert_eq!(texts(&chat.send(&history[..3]).await), ["one", "files", &ours("BODY OF rust")]);
    history.extend([says("a"), user("two")]);
    assert_eq!(texts(&chat.send(&history).await)[2..], [&ours("BODY OF rust"), "a", &behind("two", "BODY OF rust")]);
}

#[tokio::test]
async fn behind_results_one_text_is_ours_and_the_next_is_the_users() {
    let chat = chat(OpenAiChat);
    chat.session.activate(id("rust"), None);
    let sent = chat.send(&[user("one"), calls("c"), result("c"), system("a note")]).await;
    let mut kept = messages(&sent);
    kept.push(user(ours("BODY OF rust")));
    assert_eq!(texts(&chat.send(&kept).await)[2..], [&ours("BODY OF rust"), "a note", &ours("BODY OF rust")]);
    let parts = vec![block(&ours("BODY OF rust")), block("stop")];
    let sent = chat.send(&[user("one"), calls("c"), result("c"), user(parts)]).await;
    assert_eq!(texts(&sent)[2..], [&ours("BODY OF rust"), &ours("BODY OF rust"), "stop"]);
}

#[tokio::test]
async fn the_callers_system_text_may_change_or_equal_ours() {
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(base());
    let context = Context::default().session(Session::new());
    let mut round = Round::Start;
    for (callers, sent) in [("BASE", "BASE"), ("HOST", "BASE\n\nHOST"), ("BASE\n\nHOST", "BASE\n\nHOST"), ("BASE", "BASE")] {
        let request = stack.begin(body(&[system(callers), user("one")]), context.clone());
        assert_eq!(request.turn.round, round);
        assert_eq!(request.prompt.is_empty(), round == Round::Settled);
        assert_eq!(texts(&stack.finish(request).await), [sent, "one"]);
        round = Round::Settled;
    }
    let parts = json!({"role": "system", "content": [{"type": "text", "text": "BASE\n\nHOST"}]});
    assert_eq!(texts(&stack.assemble(body(&[parts, user("one")]), context).await), ["BASE", "HOST", "one"]);
}

#[tokio::test]
async fn a_callers_system_text_that_equals_our_base_alone_stands_beside_it_in_every_turn() {
    let locale = |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Session, || Fragment::new("locale", "LOCALE"));
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(base()).with(locale);
    let context = Context::default().session(Session::new());
    let mut history = vec![system("BASE"), user("one")];
    for _ in 0..3 {
        assert_eq!(texts(&stack.assemble(body(&history), context.clone()).await)[0], "BASE\n\nLOCALE\n\nBASE");
        history.extend([says("ok"), user("go on")]);
    }
}

#[tokio::test]
async fn the_user_speaks_beside_results() {
    let chat = chat(Anthropic);
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "ls", "input": {}}]});
    let (result, stop) = (json!({"type": "tool_result", "tool_use_id": "c", "content": "files"}), block("stop"));
    chat.world.is("clock", "1");
    chat.send(&[user("one")]).await;
    chat.session.activate(id("rust"), None);
    let before = chat.send(&[user("one"), call.clone(), user(vec![result.clone()])]).await;
    chat.world.is("clock", "2");
    let after = chat.send(&[user("one"), call.clone(), user(vec![result.clone(), stop])]).await;
    assert_eq!(texts(&before), ["one", &ours("1"), &ours("BODY OF rust")]);
    assert_eq!(texts(&after), ["one", &ours("1"), &ours("BODY OF rust"), "stop", &ours("2")]);
    assert_eq!(after, chat.send(&messages(&after)).await);
    // in a message of its own, or behind an image, it isn't ours
    let image = json!({"type": "image", "source": {"type": "base64", "data": ""}});
    let pasted = block(&ours("BODY OF rust"));
    for own in [vec![user(vec![result.clone()]), user(vec![image.clone(), pasted.clone()])], vec![user(vec![result, image, pasted])]] {
        let request = chat.begin(&[vec![user("one"), call.clone()], own].concat());
        assert_eq!(request.turn.user_text(), Some(ours("BODY OF rust")));
    }
}

#[tokio::test]
async fn an_image_or_nothing_is_the_users_own_too() {
    let chat = chat(Anthropic);
    let image = json!({"type": "image", "source": {"type": "base64", "data": ""}});
    for content in [json!([image]), json!([]), json!("")] {
        chat.send(&[user("one")]).await;
        assert_eq!(chat.begin(&[user("one"), says("a"), user(content)]).turn.round, Round::User);
    }
    // a text before an image was never ours: ours stands last
    chat.world.is("clock", "1");
    chat.send(&[user("one"), says("b"), user(vec![image.clone()])]).await;
    let pasted = user(vec![block(&ours("1")), image]);
    let sent = chat.send(&[user("two"), says("b"), pasted]).await;
    assert_eq!(texts(&sent)[2..], [ours("1"), ours("1")]);
}

#[tokio::test]
async fn a_request_without_a_place_gets_the_system_prompt_alone() {
    let world = World::default();
    world.is("clock", "1");
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(base()).with(world);
    let context = Context::default().session(Session::new());
    for round in [Round::Start, Round::Settled] {
        let request = stack.begin(body(&[says("hello")]), context.clone());
        assert_eq!(request.turn.round, round);
        assert_eq!(texts(&stack.finish(request).await), ["BASE", "hello"]);
    }
    let request = stack.begin(body(&[says("hello"), user("hi")]), context);
    assert_eq!(request.turn.round, Round::User);
    assert_eq!(texts(&stack.finish(request).await), ["BASE", "hello", &behind("hi", "1")]);
}

#[tokio::test]
async fn what_the_user_adds_beside_results_behind_a_text_of_ours_is_a_place_of_its_own() {
    let chat = chat(Anthropic);
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "ls", "input": {}}]});
    let result = || json!({"type": "tool_result", "tool_use_id": "c", "content": "files"});
    let mut history = vec![user("one"), call, user(json!([result()]))];
    chat.send(&history[..1]).await;
    chat.session.activate(id("rust"), None);
    let mut kept = messages(&chat.send(&history).await);
    assert_eq!(kept[2]["content"][1]["text"], ours("BODY OF rust"));
    chat.world.is("clock", "1");
    // Kept as it was sent, and as it was written, with words of the user's behind.
    kept[2]["content"].as_array_mut().unwrap().push(block("and now"));
    history[2]["content"].as_array_mut().unwrap().push(block("and now"));
    let sent = chat.send(&kept).await;
    assert_eq!(texts(&sent), ["one", &ours("BODY OF rust"), "and now", &ours("1")]);
    assert_eq!(sent, chat.send(&history).await);
}
