//! Bodies that a host takes back.

use crate::common::*;
use serde_json::json;
use std::sync::{Arc, Mutex};
use tower_prompt_layers::text::Block;
use tower_prompt_layers::wire::{Anthropic, Format, ModelFacts, ModelTable, OpenAiChat, Wire};
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

#[tokio::test]
async fn of_a_body_alone_nothing_is_left_and_what_does_not_hold_it_stays() {
    let chat = chat(OpenAiChat);
    let mut history = vec![user("one")];
    chat.world.is("clock", "1");
    chat.send(&history).await;
    history.extend([says("a"), user("borrow")]);
    assert_eq!(last(&chat.send(&history).await), behind("borrow", "BODY OF rust"));
    assert!(chat.session.purge(&id("rust")));
    assert_eq!(texts(&chat.send(&history).await), [&behind("one", "1"), "a", "borrow"]);
}

/// Texts of the system prompt, the body of a skill among them while it is in force, and one that is the same for all conversations.
fn at_the_start<W: Wire<serde_json::Value>>(wire: W, order: &'static [&'static str]) -> PromptStack<W> {
    let parts = move |turn: &Turn, prompt: &mut Prompt| {
        for part in order {
            match *part {
                "body" if turn.is_active("rust") => prompt.add(Tier::Session, || Fragment::new("active_skill:rust", "BODY OF rust")),
                "body" => {}
                "stable" => prompt.add(Tier::Stable, || Fragment::new("stable", "The same for all.")),
                text => prompt.add(Tier::Session, || Fragment::new(text, text)),
            }
        }
    };
    // However short, what all conversations share is a block of its own.
    let models = ModelTable::default().with("m", ModelFacts::default().with_cache_minimum(1));
    PromptStack::new(wire, Settings::default().models(models)).with(parts)
}

#[tokio::test]
async fn a_system_prompt_without_a_purged_body_is_the_one_that_never_held_it() {
    let orders: [&[&str]; 8] = [
        &["body"],
        &["body", "behind"],
        &["ahead", "body"],
        &["ahead", "body", "behind"],
        &["stable", "body"],
        &["stable", "body", "behind"],
        &["stable", "ahead", "body", "behind"],
        // Of the words of a fragment none goes, whatever they look like.
        &["An empty block is\n<context origin=\"host\">\n</context>\nand says nothing.", "body"],
    ];
    for order in orders {
        let stack = at_the_start(Anthropic, order);
        let (session, without) = (Session::new(), Session::new());
        session.activate(id("rust"), None);
        let first = stack.assemble(body(&[user("one")]), context(&session)).await;
        assert!(first["system"].to_string().contains("BODY OF rust"), "{first}");
        assert!(session.purge(&id("rust")));
        let purged = stack.assemble(body(&[user("one")]), context(&session)).await;
        assert_eq!(purged, stack.assemble(body(&[user("one")]), context(&without)).await, "{order:?}");
    }
}

#[tokio::test]
async fn a_system_prompt_that_was_a_purged_body_alone_is_none() {
    let question = |format| match format {
        Format::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": "one"}]}]}),
        Format::OpenAiResponses => json!({"input": [user("one")]}),
        Format::OllamaGenerate => json!({"prompt": "one"}),
        _ => body(&[user("one")]),
    };
    for format in Format::ALL {
        let (stack, session) = (at_the_start(format, &["body"]), Session::new());
        session.activate(id("rust"), None);
        let first = stack.assemble(question(format), context(&session)).await;
        assert!(first.to_string().contains("BODY OF rust"), "{first}");
        assert!(session.purge(&id("rust")));
        let never_held = stack.assemble(question(format), context(&Session::new())).await;
        assert_eq!(stack.assemble(question(format), context(&session)).await, never_held, "{format:?}");
    }
}

#[tokio::test]
async fn a_block_that_is_empty_without_a_body_goes_with_its_line_wherever_it_stands() {
    for (of_body, of_fact) in [
        (Trust::Skill, None),
        (Trust::Skill, Some(Trust::Repository)),
        (Trust::Host, Some(Trust::Repository)),
        (Trust::User, Some(Trust::Host)),
        (Trust::User, Some(Trust::Skill)),
    ] {
        let facts = move |turn: &Turn, prompt: &mut Prompt| {
            if let Some(trust) = of_fact {
                prompt.add(Tier::Step, || Fragment::new("fact", "fact").trust(trust));
            }
            if turn.is_active("rust") {
                prompt.add(Tier::Step, || Fragment::new("active_skill:rust", "BODY OF rust").trust(of_body));
            }
        };
        let stack = PromptStack::new(OpenAiChat, Settings::default()).with(facts);
        let (session, without) = (Session::new(), Session::new());
        session.activate(id("rust"), None);
        assert!(last(&stack.assemble(body(&[user("one")]), context(&session)).await).contains("BODY OF rust"));
        assert!(session.purge(&id("rust")));
        let purged = stack.assemble(body(&[user("one")]), context(&session)).await;
        assert_eq!(purged, stack.assemble(body(&[user("one")]), context(&without)).await, "{of_body:?} {of_fact:?}");
    }
}
