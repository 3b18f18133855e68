//! What a session tells of itself, to a host that looks at it or at its events.

use crate::common::*;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use tower_prompt_layers::skill::SkillId;
use tower_prompt_layers::wire::{Anthropic, Conversation, OpenAiChat, OpenAiResponses, Wire};
use tower_prompt_layers::{AnchorKey, Context, Fragment, JournalError, Prompt, PromptStack, Session, SessionEvent, Settings, Tier, Turn};

fn id(skill: &str) -> SkillId {
    SkillId::new(skill).unwrap()
}

#[tokio::test]
async fn an_event_of_a_text_shows_the_text_its_fragments_and_the_skills_in_force() {
    let kept: Arc<Mutex<Vec<SessionEvent>>> = Arc::default();
    let events = kept.clone();
    let session = Session::new().on_event(move |event: &SessionEvent| events.lock().unwrap().push(event.clone()));
    session.activate(id("deploy"), None);
    let fact = |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Turn, || Fragment::new("fact", "A fact of now."));
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(base()).with(fact);
    stack.assemble(body(&[user("one")]), Context::default().session(session.clone())).await;
    let kept = kept.lock().unwrap();
    let anchored = kept.iter().find_map(|event| if let SessionEvent::TextAnchored(text) = event { Some(text) } else { None }).unwrap();
    assert!(anchored.text().contains("A fact of now."));
    assert_eq!(anchored.fragments().iter().map(|fragment| &*fragment.id).collect::<Vec<_>>(), ["fact"]);
    assert_eq!(anchored.active().iter().map(|skill| skill.id.as_str()).collect::<Vec<_>>(), ["deploy"]);
    let shown: Vec<String> = kept.iter().map(|event| format!("{event:?}")).collect();
    for part in ["Started(Beginning { version: 1, max_places: ", "SystemText { text: \"", "AnchoredText { text: \"", "A fact of now."] {
        assert!(shown.iter().any(|event| event.contains(part)), "{part}: {shown:?}");
    }
    assert_eq!(format!("{session:?}"), "Session { started: true, places: 1 }");
}

#[test]
fn a_copy_begins_with_what_holds_and_goes_its_own_way() {
    let session = Session::new();
    session.activate(id("deploy"), None);
    session.dismiss_suggestion(id("review"));
    let copy = session.copy();
    copy.activate(id("rust"), None);
    let active = |session: &Session| session.active_by_host().iter().map(|skill| skill.id.to_string()).collect::<Vec<_>>();
    assert_eq!((active(&session), active(&copy)), (vec!["deploy".to_owned()], vec!["deploy".to_owned(), "rust".to_owned()]));
    assert!(copy.is_dismissed(&id("review")) && !copy.is_dismissed(&id("rust")));
    assert!(!session.knows_history("conv_1"));
    assert_eq!(format!("{session:?}"), "Session { started: false, places: 0 }");
}

#[test]
fn a_session_that_no_one_holds_is_shown_as_such() {
    let session = Session::new();
    let weak = session.downgrade();
    assert_eq!(format!("{weak:?}"), "WeakSession { held: true }");
    drop(session);
    assert_eq!(format!("{weak:?}"), "WeakSession { held: false }");
}

fn read(messages: &[Value]) -> Conversation {
    OpenAiChat.read(&body(messages))
}

#[tokio::test]
async fn a_session_knows_the_first_places_that_it_read_whether_as_the_caller_wrote_them_or_as_it_sent_them() {
    let chat = chat(OpenAiChat);
    let history = [user("one"), calls("c"), result("c"), says("a"), user("two")];
    let mut sent = Vec::new();
    for length in [1, 3, 5] {
        chat.world.is("clock", "1");
        sent = messages(&chat.send(&history[..length]).await);
        chat.session.activate(id("rust"), None);
    }
    assert_eq!(sent.len(), 6, "a text stands behind the results");
    for (messages, known) in [
        (&history[..], 3),
        (&sent[..], 3),
        (&sent[..4], 2),
        (&history[..4], 2),
        (&[user("one"), calls("c"), result("c"), says("a"), user("three")], 2),
        (&[user("one"), says("a"), user("two")], 1),
        (&[user("two"), calls("c"), result("c")], 0),
        (&[], 0),
    ] {
        assert_eq!(chat.session.known_places(&read(messages)), known, "{messages:?}");
    }
}

#[tokio::test]
async fn a_picture_among_texts_makes_another_message_of_them_by_where_it_stands() {
    let picture = || json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let orders =
        [[picture(), block("one"), block("two")], [block("one"), picture(), block("two")], [block("one"), block("two"), picture()]];
    for known in &orders {
        let chat = chat(OpenAiChat);
        chat.send(&[user(known.to_vec())]).await;
        for other in &orders {
            assert_eq!(chat.session.known_places(&read(&[user(other.to_vec())])), usize::from(known == other), "{known:?} {other:?}");
        }
    }
}

#[tokio::test]
async fn a_session_knows_each_history_that_the_provider_holds_by_its_own_name() {
    let stack = PromptStack::new(OpenAiResponses, Settings::default()).with(base());
    let session = Session::new();
    for (name, text) in [("conv_1", "one"), ("conv_2", "two"), ("conv_1", "three"), ("conv_2", "four"), ("conv_1", "five")] {
        let request = json!({"conversation": name, "input": [user(text)]});
        stack.assemble(request, Context::default().session(session.clone())).await;
    }
    let known = ["conv_1", "conv_2", "conv_3"].map(|name| session.knows_history(name));
    assert_eq!(known, [true, true, false]);
}

#[tokio::test]
async fn a_conversation_opens_alike_as_the_caller_wrote_it_and_as_it_was_sent() {
    let chat = chat(OpenAiChat);
    chat.world.is("clock", "1");
    let key = AnchorKey::random();
    for history in [vec![user("one")], vec![says("hello"), user("one")]] {
        let opening = key.openings(&read(&history));
        assert_eq!(opening.len(), 1);
        let sent = Chat { session: Session::new(), stack: chat.stack.clone(), world: World::default() }.send(&history).await;
        assert!(last(&sent).ends_with("</context>"));
        assert!(key.openings(&read(&messages(&sent))).contains(&opening[0]));
        assert_eq!(key.openings(&read(&[&history[..], &[says("a"), user("two")]].concat())), opening, "what comes later says nothing");
    }
    assert_ne!(key.openings(&read(&[user("one")])), key.openings(&read(&[says("hello"), user("one")])));
    assert_ne!(key.openings(&read(&[user("one")])), AnchorKey::random().openings(&read(&[user("one")])));
    assert_eq!(key.openings(&read(&[says("hello")])), [], "there is no place");
}

#[test]
fn a_random_key_is_random_in_both_halves_and_is_never_shown() {
    let stored = serde_json::to_string(&AnchorKey::random()).unwrap();
    let digits = stored.trim_matches('"');
    assert!([&digits[..16], &digits[16..]].iter().all(|half| half.bytes().any(|digit| digit != b'0')), "{digits}");
    assert_eq!(format!("{:?}", AnchorKey::random()), "AnchorKey(..)");
}

#[test]
fn a_key_of_a_session_is_that_of_no_other_and_keeps_none_alive() {
    let (session, other) = (Session::new(), Session::new());
    let key = session.key();
    assert_eq!(key, session.clone().key());
    assert_ne!(key, other.key());
    assert_ne!(key, session.copy().key());
    let keys: HashSet<_> = [&session, &other, &session].into_iter().map(Session::key).collect();
    assert!(keys.len() == 2 && keys.contains(&key));
    // Each hashes to something else: a table of sessions is looked up by these.
    let hashes: HashSet<u64> = keys.iter().map(|key| std::hash::BuildHasher::hash_one(&fixed(), key)).collect();
    assert_eq!(hashes.len(), 2);
    let second = session.clone();
    for (holder, is_alive) in [(session, true), (second, false)] {
        drop(holder);
        assert_eq!((key.is_alive(), format!("{key:?}")), (is_alive, format!("SessionKey {{ is_alive: {is_alive} }}")));
    }
    assert!(other.key().is_alive());
}
fn fixed() -> std::hash::BuildHasherDefault<std::hash::DefaultHasher> {
    std::hash::BuildHasherDefault::default()
}

#[test]
fn a_session_that_can_not_be_replayed_or_stored_says_why() {
    let why = |events: Vec<SessionEvent>| Session::replay(events).err().map(|error| error.to_string());
    assert_eq!(why(Vec::new()).as_deref(), Some("there is no event of a session"));
    assert_eq!(why(vec![SessionEvent::Rebased]).as_deref(), Some("the first event does not tell how the session was made"));
    assert!(JournalError::Conflict.to_string().starts_with("another process stored events of this session"));
}

#[tokio::test]
async fn a_long_fact_that_changes_in_its_midst_is_told_once() {
    let chat = chat(OpenAiChat);
    let of = |letter: &str| -> &'static str { format!("{}{letter}{}", "a".repeat(200), "a".repeat(1800)).leak() };
    let mut history = Vec::new();
    for (value, is_news) in [(of("b"), true), (of("b"), false), (of("c"), true), (of("c"), false), (of("b"), true)] {
        chat.world.is("clock", value);
        history.push(user("on"));
        assert_eq!(last(&chat.send(&history).await) != "on", is_news);
        history.push(says("ok"));
    }
}

#[tokio::test]
async fn a_fixed_fact_is_not_told_anew_until_a_rebase() {
    let value = Arc::new(Mutex::new("v1"));
    let now = value.clone();
    let fact = move |_: &Turn, prompt: &mut Prompt| {
        let value = *now.lock().unwrap();
        prompt.add(Tier::Turn, || Fragment::new("fact", value).fixed());
    };
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(base()).with(fact);
    let session = Session::new();
    let mut history = Vec::new();
    for (now, rebases, said) in [("v1", false, behind("on", "v1")), ("v2", false, "on".into()), ("v3", true, behind("on", "v3"))] {
        *value.lock().unwrap() = now;
        if rebases {
            session.rebase();
        }
        history.push(user("on"));
        let sent = stack.assemble(body(&history), Context::default().session(session.clone())).await;
        assert_eq!(last(&sent), said, "{now}");
        history.push(says("ok"));
    }
}

#[test]
fn a_skill_that_an_earlier_log_switches_off_is_off_everywhere() {
    let event: SessionEvent = serde_json::from_value(json!({"event": "skill_deactivated", "id": "rust"})).unwrap();
    assert!(matches!(event, SessionEvent::SkillDeactivated { everywhere: true, .. }), "{event:?}");
}

#[tokio::test]
async fn events_say_what_is_out_of_the_ordinary_and_come_back_as_they_were() {
    let kept: Arc<Mutex<Vec<SessionEvent>>> = Arc::default();
    let events = kept.clone();
    let session = Session::new().on_event(move |event: &SessionEvent| events.lock().unwrap().push(event.clone()));
    let stack = PromptStack::new(Anthropic, Settings::default()).with(base()).with(clock("1"));
    let context = || Context::default().session(session.clone());
    let ordinary = |session: &Mutex<Vec<SessionEvent>>| serde_json::to_string(&*session.lock().unwrap()).unwrap();
    stack.assemble(body(&[user("one")]), context()).await;
    assert!(!ordinary(&kept).contains("marked") && !ordinary(&kept).contains("compacted\":"), "{}", ordinary(&kept));
    let marked = json!({"role": "user", "content": [{"type": "text", "text": "Another.", "cache_control": {"type": "ephemeral"}}]});
    stack.assemble(body(&[marked]), context().compacted(true)).await;
    let log = ordinary(&kept);
    assert!(log.contains(r#""came_marked":true"#) && log.contains(r#""compacted":true"#), "{log}");
    assert_eq!(serde_json::from_str::<Vec<SessionEvent>>(&log).unwrap(), *kept.lock().unwrap());
}
