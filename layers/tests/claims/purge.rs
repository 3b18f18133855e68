//! Bodies that a host takes back.

use crate::common::*;
use std::sync::{Arc, Mutex};
use tower_prompt_layers::text::Block;
use tower_prompt_layers::wire::{Anthropic, OpenAiChat, Wire};
use tower_prompt_layers::{Context, Fragment, Prompt, PromptStack, Report, Session, SessionEvent, Settings, Tier, Trust, Turn};

/// Bodies in a block of their trust, with a line ahead of them, and a clock.
fn stack<W: Wire<serde_json::Value>>(wire: W, time: &'static str) -> PromptStack<W> {
    let bodies = |turn: &Turn, prompt: &mut Prompt| {
        if !turn.active.is_empty() {
            prompt.add(Tier::Step, || Fragment::new("active_skills", "HOW TO READ THEM").trust(Trust::Skill));
        }
        for skill in &turn.active {
            let body = || Fragment::new(format!("active_skill:{}", skill.id), Block::new("skill", &format!("BODY OF {}", skill.id)));
            prompt.add(Tier::Step, || body().trust(Trust::Skill));
        }
        prompt.only("active_skill:", turn.active.iter().map(|skill| format!("active_skill:{}", skill.id)));
    };
    PromptStack::new(wire, Settings::default()).with(base()).with(bodies).with(clock(time))
}

fn context(session: &Session) -> Context {
    Context::default().session(session.clone())
}

#[tokio::test]
async fn a_purged_body_leaves_what_was_sent_and_the_rest_stays() {
    let kept: Arc<Mutex<Vec<SessionEvent>>> = Arc::default();
    let events = kept.clone();
    let session = Session::new().on_event(move |event: &SessionEvent| events.lock().unwrap().push(event.clone()));
    for skill in ["rust", "sql"] {
        session.activate(id(skill), None);
    }
    let mut history = vec![user("one")];
    let stack = stack(OpenAiChat, "1");
    let first = stack.assemble(body(&history), context(&session)).await;
    assert!(last(&first).contains("BODY OF rust") && last(&first).contains("BODY OF sql"));

    assert!(session.purge(&id("rust")));
    let report = Report::default();
    history.extend([says("a"), user("two")]);
    let second = stack.assemble(body(&history), context(&session).report(report.clone())).await;
    let skills = "<context origin=\"skill\">\nHOW TO READ THEM\n<skill>\nBODY OF sql\n</skill>\n</context>";
    assert_eq!(texts(&second)[1], format!("{}\n{skills}", behind("one", "1")));
    assert_eq!(report.manifest().unwrap().diagnostics[0].code, "prefix-rewritten");
    // Its manifest is exact all the same.
    for (text, fragment) in report.manifest().unwrap().texts.iter().flat_map(|text| text.fragments.iter().map(move |f| (text, f))) {
        let said = &text.text[fragment.offset..fragment.offset + fragment.bytes];
        assert_eq!(tower_prompt_layers::ContentHash::of(said), fragment.hash, "{}", fragment.id);
    }
    // Kept as it was sent, before or behind the purge, it is the same conversation.
    for sent in [&first, &second] {
        let history = [&messages(sent)[..2], &history[1..]].concat();
        assert_eq!(stack.assemble(body(&history), context(&session)).await, second);
    }

    // It is reported once, whoever goes on with the conversation.
    let events: Vec<SessionEvent> = kept.lock().unwrap().clone();
    let report = Report::default();
    let restarted = Session::replay(events).unwrap();
    let again =
        stack.assemble(body(&[&history[..], &[says("b"), user("again")]].concat()), context(&restarted).report(report.clone())).await;
    assert!(messages(&again).starts_with(&messages(&second)) && report.manifest().unwrap().diagnostics.is_empty());

    assert!(session.purge(&id("sql")));
    let third = stack.assemble(body(&history), context(&session)).await;
    assert_eq!(texts(&third)[1], behind("one", "1"), "without bodies, nothing stands ahead of them");
    assert!(!session.purge(&id("sql")), "there is nothing to take back");
}

#[tokio::test]
async fn a_text_of_bodies_alone_goes_whole() {
    let session = Session::new();
    let stack = stack(Anthropic, "1");
    let mut history = vec![user("one")];
    stack.assemble(body(&history), context(&session)).await;
    session.activate(id("rust"), None);
    history.extend([says("a"), user("two")]);
    let with = stack.assemble(body(&history), context(&session)).await;
    assert!(last(&with).contains("BODY OF rust"));
    session.purge(&id("rust"));
    let without = stack.assemble(body(&history), context(&session)).await;
    assert_eq!(last(&without), "two");
    let events = [says("b"), user("three")];
    let next = stack.assemble(body(&[history, events.to_vec()].concat()), context(&session)).await;
    assert_eq!(last(&next), "three", "nothing is said to be gone that does not stand there");
}

#[tokio::test]
async fn a_body_that_was_on_its_way_does_not_come_where_its_skill_is_switched_off() {
    let stack = stack(OpenAiChat, "1");
    let purge = |session: &Session| assert!(!session.purge(&id("rust")), "nothing was sent yet");
    let deactivate = |session: &Session| session.deactivate(&id("rust"));
    for switch_off in [&purge as &dyn Fn(&Session), &deactivate] {
        let session = Session::new();
        session.activate(id("rust"), None);
        let first = stack.begin(body(&[user("one")]), context(&session));
        switch_off(&session);
        assert_eq!(texts(&stack.finish(first).await), ["BASE", &behind("one", "1")]);
        let next = stack.assemble(body(&[user("one"), says("a"), user("two")]), context(&session)).await;
        assert_eq!(texts(&next), ["BASE", &behind("one", "1"), "a", "two"]);
    }
}
