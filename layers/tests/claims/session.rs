//! What a session tells of itself, to a host that looks at it or at its events.

use crate::common::*;
use std::sync::{Arc, Mutex};
use tower_prompt_layers::skill::SkillId;
use tower_prompt_layers::wire::OpenAiChat;
use tower_prompt_layers::{Context, Fragment, Prompt, PromptStack, Session, SessionEvent, Settings, Tier, Turn};

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
