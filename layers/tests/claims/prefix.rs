//! The manifest says where a request parts from the one before, and whose doing that is.

use crate::common::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tower_prompt_layers::wire::Format;
use tower_prompt_layers::{
    AnchorKey, CallersPlace, Context, FirstChange, Fragment, FragmentFate, Manifest, ManifestDiff, Placement, Prompt, PromptStack, Purpose,
    Report, Session, Settings, SystemPromptLayer, Tier, Trust, Turn,
};

/// A conversation whose facts the test changes.
struct Talk {
    stack: PromptStack<Format>,
    session: Session,
    base: Arc<Mutex<String>>,
    time: Arc<Mutex<String>>,
}

fn talk(format: Format) -> Talk {
    let (base, time) = (Arc::new(Mutex::new("BASE".to_owned())), Arc::new(Mutex::new("1".to_owned())));
    let (now_base, now) = (base.clone(), time.clone());
    let layer = move |turn: &Turn, prompt: &mut Prompt| {
        prompt.add(Tier::Stable, || Fragment::new("head", "HEAD"));
        prompt.add(Tier::Stable, || Fragment::new("base", now_base.lock().unwrap().clone()));
        prompt.add(Tier::Session, || Fragment::new("note", "NOTE"));
        prompt.add(Tier::Turn, || Fragment::new("clock", now.lock().unwrap().clone()));
        for skill in &turn.active {
            prompt.add(Tier::Step, || Fragment::new(format!("active_skill:{}", skill.id), "BODY").trust(Trust::Skill));
        }
    };
    let stack = PromptStack::new(format, Settings::default()).with(layer);
    Talk { stack, session: Session::with_key(AnchorKey::public()), base, time }
}

impl Talk {
    async fn manifest(&self, body: Value, purpose: Purpose) -> Manifest {
        let report = Report::default();
        let context = Context::default().session(self.session.clone()).purpose(purpose).report(report.clone());
        self.stack.assemble(body, context).await;
        report.manifest().unwrap()
    }
    async fn send(&self, messages: &[Value]) -> Manifest {
        self.manifest(body(messages), Purpose::Converse).await
    }
}

fn ours(placement: Placement, offset: usize, fragment: &str) -> FirstChange {
    serde_json::from_value(json!({"by": "us", "placement": placement, "offset": offset, "fragment": fragment})).unwrap()
}
fn callers(place: CallersPlace) -> FirstChange {
    serde_json::from_value(json!({"by": "caller", "place": place})).unwrap()
}

fn tokens(manifest: &Manifest, placements: &[Placement]) -> usize {
    manifest.fragments().filter(|(at, _)| placements.contains(at)).map(|(_, fragment)| fragment.tokens).sum()
}

const SYSTEM: Placement = Placement::System;

#[tokio::test]
async fn a_conversation_that_grows_keeps_all_that_was_sent() {
    let talk = talk(Format::OpenAiChat);
    let mut history = vec![user("one")];
    let first = talk.send(&history).await;
    assert_eq!(first.foreseen, None, "nothing is known of a request before");
    history.extend([says("ok"), user("two")]);
    *talk.time.lock().unwrap() = "2".into();
    let second = talk.send(&history).await;

    let foreseen = second.foreseen.clone().unwrap();
    assert_eq!(foreseen.first_change, None);
    assert_eq!(foreseen.kept_tokens, tokens(&second, &[SYSTEM, Placement::BehindMessage(0)]));
    assert_eq!(foreseen.new_tokens, tokens(&second, &[Placement::BehindMessage(2)]));
    assert_eq!(foreseen.kept_tokens + foreseen.new_tokens, second.tokens());

    let text = serde_json::to_string(&second).unwrap();
    assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap(), second);
    let diff = second.diff(&first);
    let text = serde_json::to_string(&diff).unwrap();
    assert_eq!(serde_json::from_str::<ManifestDiff>(&text).unwrap(), diff);
    assert_eq!((&diff.prefix, diff.is_whole), (&foreseen, true));
    let fates: Vec<(&str, FragmentFate)> = diff.fragments.iter().map(|fragment| (&*fragment.id, fragment.fate)).collect();
    let stays = |id| (id, FragmentFate::Unchanged);
    assert_eq!(fates, [stays("head"), stays("base"), stays("note"), stays("clock"), ("clock", FragmentFate::Added)]);
    assert!(
        diff.to_string().starts_with("Nothing that was sent changed. Fragments: 1 added, 0 changed, 0 removed, 4 unchanged."),
        "{diff}"
    );
}

#[tokio::test]
async fn the_same_again_and_an_answer_made_anew_change_nothing() {
    let talk = talk(Format::Anthropic);
    let one = [user("one")];
    let whole = [user("one"), says("ok"), user("two")];
    talk.send(&one).await;
    for history in [&one[..], &whole, &whole, &one] {
        let foreseen = talk.send(history).await.foreseen.unwrap();
        assert_eq!(foreseen.first_change, None, "{history:?}");
    }
    let begun = [&whole[..], &[says("I wo")]].concat();
    let goes_on = [&whole[..], &[says("I would"), user("three")]].concat();
    for history in [&begun, &goes_on] {
        assert_eq!(talk.send(history).await.foreseen.unwrap().first_change, None, "an answer that was begun was not sent yet");
    }
}

#[tokio::test]
async fn a_rebase_breaks_the_prefix_at_a_byte_of_the_system_prompt_by_us() {
    for format in [Format::OpenAiChat, Format::Anthropic, Format::Ollama] {
        let talk = talk(format);
        let mut history = vec![user("one")];
        let first = talk.send(&history).await;
        *talk.base.lock().unwrap() = "BASIS".into();
        talk.session.rebase();
        history.extend([says("ok"), user("two")]);
        let second = talk.send(&history).await;
        let base = second.fragments().find(|(_, fragment)| fragment.id == "base").unwrap().1.offset;
        let foreseen = second.foreseen.clone().unwrap();
        assert_eq!(foreseen.first_change, Some(ours(SYSTEM, base + 3, "base")), "{format}");
        assert_eq!(foreseen.kept_tokens, second.fragments().next().unwrap().1.tokens, "what stands ahead of it");
        let diff = second.diff(&first);
        assert_eq!(diff.first_change(), foreseen.first_change.as_ref());
        assert_eq!(diff.fragments.iter().find(|fragment| fragment.id == "base").unwrap().fate, FragmentFate::Changed);
        assert!(diff.to_string().contains(&format!("we changed the system prompt from byte {} on, in `base`", base + 3)), "{diff}");
    }
}

#[tokio::test]
async fn a_fragment_that_comes_into_the_system_prompt_is_named() {
    let talk = talk(Format::Gemini);
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "one"}]}]});
    let first = talk.manifest(body.clone(), Purpose::Converse).await;
    talk.session.activate(id("rust"), None);
    talk.session.rebase();
    *talk.base.lock().unwrap() = String::new();
    let second = talk.manifest(body, Purpose::Converse).await;
    let gone = first.fragments().find(|(_, fragment)| fragment.id == "base").unwrap().1.offset;
    assert_eq!(second.diff(&first).first_change(), Some(&ours(SYSTEM, gone, "base")), "of one that went, where it stood");
    let came = first.diff(&second);
    assert_eq!(came.first_change(), Some(&ours(SYSTEM, gone, "base")), "of one that came, where it stands");
    assert_eq!(came.count(FragmentFate::Added), 1);
}

#[tokio::test]
async fn a_purge_breaks_the_prefix_behind_a_message_by_us() {
    let talk = talk(Format::OpenAiChat);
    talk.session.activate(id("rust"), None);
    let mut history = vec![user("one")];
    let first = talk.send(&history).await;
    let body = first.fragments().find(|(_, fragment)| fragment.id == "active_skill:rust").unwrap().1.offset;
    assert!(talk.session.purge(&id("rust")));
    history.extend([says("ok"), user("two")]);
    let second = talk.send(&history).await;
    let Some(FirstChange::Us { placement, offset, fragment, .. }) = second.foreseen.clone().unwrap().first_change else { panic!() };
    assert_eq!((placement, &*fragment), (Placement::BehindMessage(0), "active_skill:rust"));
    assert!(offset <= body, "{offset} {body}");
    assert_eq!(second.diff(&first).count(FragmentFate::Removed), 1);
}

#[tokio::test]
async fn what_the_caller_changes_is_the_callers_doing() {
    let history = [user("one"), calls("c"), result("c"), says("ok"), user("two"), says("ok"), user("three")];
    let tools = json!([{"type": "function", "function": {"name": "ls", "description": "lists"}}]);
    let messages = [&[system("HOST")], &history[..]].concat();
    let whole = json!({"messages": messages, "tools": tools});
    let edited = |edit: &dyn Fn(&mut Value)| {
        let mut body = whole.clone();
        edit(&mut body);
        body
    };
    let message = |n| callers(CallersPlace::Message(n));
    let cases = [
        (edited(&|body| body["messages"][5]["content"] = json!("TWO")), message(5)),
        (edited(&|body| body["messages"][3]["content"] = json!("")), message(3)),
        (edited(&|body| drop(body["messages"].as_array_mut().unwrap().drain(2..5))), message(2)),
        (edited(&|body| body["messages"][4]["content"] = json!("other")), message(4)),
        (edited(&|body| body["messages"][0]["content"] = json!("HOST 2")), callers(CallersPlace::System)),
        (edited(&|body| body["tools"][0]["function"]["name"] = json!("cat")), callers(CallersPlace::Tools)),
    ];
    for (body, change) in cases {
        let talk = talk(Format::OpenAiChat);
        talk.manifest(whole.clone(), Purpose::Converse).await;
        let foreseen = talk.manifest(body.clone(), Purpose::Converse).await.foreseen.unwrap();
        assert_eq!(foreseen.first_change, Some(change), "{body}");
    }
}

#[tokio::test]
async fn how_the_caller_sends_what_it_said_changes_nothing() {
    let talk = talk(Format::OpenAiChat);
    let one = json!({"messages": [system("HOST"), user("one")]});
    let sent = talk.stack.assemble(one, Context::default().session(talk.session.clone())).await;
    let bare = vec![system("HOST"), user("one"), says("ok"), user("two")];
    let kept = [messages(&sent), vec![says("ok"), user("two")]].concat();
    let parts = vec![system("HOST"), user(json!([block("one")])), says("ok"), user("two")];
    for history in [bare, kept, parts] {
        assert_eq!(talk.send(&history).await.foreseen.unwrap().first_change, None, "{history:?}");
    }
}

#[tokio::test]
async fn what_is_only_looked_at_is_no_request_before() {
    let talk = talk(Format::OpenAiChat);
    talk.send(&[user("one")]).await;
    let other = talk.manifest(body(&[user("another")]), Purpose::SamePrefix).await;
    assert_eq!(other.foreseen.unwrap().first_change, Some(callers(CallersPlace::Message(0))));
    assert_eq!(talk.send(&[user("one")]).await.foreseen.unwrap().first_change, None);
}

#[tokio::test]
async fn messages_of_other_keys_and_held_histories_are_not_compared() {
    let stack = PromptStack::new(Format::OpenAiResponses, Settings::default()).with(SystemPromptLayer::replaced("BASE"));
    let of = async |session: Session, body: Value| {
        let report = Report::default();
        stack.assemble(body, Context::default().session(session).report(report.clone())).await;
        report.manifest().unwrap()
    };
    let one = of(Session::new(), json!({"input": "one"})).await;
    let other = of(Session::new(), json!({"input": "another"})).await;
    let diff = other.diff(&one);
    assert_eq!((diff.is_whole, diff.first_change()), (false, None));
    assert!(diff.to_string().contains("can't be compared"), "{diff}");

    let session = Session::new();
    of(session.clone(), json!({"input": "one"})).await;
    let held = of(session, json!({"input": "two", "previous_response_id": "r"})).await;
    assert!(held.caller.is_history_held);
    assert_eq!(held.foreseen.unwrap().first_change, None, "what the provider holds is not in the request");
}

#[tokio::test]
async fn words_beside_results_stand_behind_the_text_that_was_put_there() {
    let talk = talk(Format::Anthropic);
    let used = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "ls", "input": {}}]});
    let results = json!({"type": "tool_result", "tool_use_id": "c", "content": "files"});
    let history = |content: &[Value]| vec![user("one"), used.clone(), json!({"role": "user", "content": content})];
    talk.send(&[user("one")]).await;
    talk.session.activate(id("rust"), None);
    let looped = talk.send(&history(std::slice::from_ref(&results))).await;
    assert_eq!(looped.said(), ["active_skill:rust"]);
    *talk.time.lock().unwrap() = "2".into();
    let beside = talk.send(&history(&[results, block("and?")])).await;
    let placements: Vec<(Placement, Option<usize>)> = beside.texts.iter().map(|text| (text.placement, text.follows)).collect();
    let behind = Placement::BehindMessage;
    assert_eq!(placements, [(SYSTEM, None), (behind(0), Some(0)), (behind(2), Some(2)), (behind(2), Some(3))]);
    assert_eq!(beside.foreseen.clone().unwrap().first_change, None);
    assert_eq!(beside.foreseen.unwrap().new_tokens, beside.texts[3].fragments[0].tokens);
}

#[tokio::test]
async fn totals_add_up() {
    let manifest = talk(Format::OpenAiChat).send(&[user("one")]).await;
    let sum: usize = manifest.fragments().map(|(_, fragment)| fragment.tokens).sum();
    assert_eq!((manifest.tokens(), manifest.tokens_by_tier().values().sum::<usize>()), (sum, sum));
    let stable = manifest.totals[&Tier::Stable];
    assert_eq!((stable.fragments, stable.bytes, stable.chars), (2, 8, 8));
}
