//! Conversations without a session, known by their messages.

use super::talk::{some_time, wait};
use crate::place::Place;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tower::{Layer, ServiceExt, service_fn};
use tower_prompt::layers::wire::{Anthropic, OpenAiChat};
use tower_prompt::layers::{Call, Context, Fragment, Prompt, PromptStack, Report, Settings, SystemPromptLayer, Tier, Turn};
use tower_prompt::{Assembly, RecentSessions, Workspace};

/// A stack whose text is another one at each collection, and how often it was collected.
fn counting(settings: Settings) -> (PromptStack<OpenAiChat>, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let probe = count.clone();
    let stack =
        PromptStack::new(OpenAiChat, settings).with(SystemPromptLayer::replaced("Base.")).with(move |_: &Turn, prompt: &mut Prompt| {
            let probe = probe.clone();
            prompt.add_later(Tier::Turn, move || async move {
                let n = probe.fetch_add(1, Ordering::Relaxed);
                Some(Fragment::new("probe", format!("Probe {n}.")))
            });
        });
    (stack, count)
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}
fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}
fn request(messages: &[Value]) -> Value {
    json!({"messages": messages})
}
fn send(stack: &PromptStack<OpenAiChat>, messages: &[Value], context: Context) -> Vec<Value> {
    wait(stack.assemble(request(messages), context))["messages"].as_array().unwrap().clone()
}
fn ours(messages: &[Value]) -> String {
    messages.last().unwrap()["content"].as_str().unwrap().to_owned()
}

/// Whose conversations these are.
fn caller() -> Context {
    Context::default().scope("caller")
}

#[test]
fn no_session_five_tool_rounds_probes_ran_once_and_the_bytes_only_grow() {
    let (stack, count) = counting(Settings::default().sessions(RecentSessions::default()));
    let client = stack.layer(service_fn(|request: Value| async move { Ok::<_, Infallible>(request) }));
    let mut messages = vec![user("Look around.")];
    let mut before: Vec<Value> = Vec::new();
    for round in 0..6 {
        let sent = wait(client.clone().oneshot(request(&messages))).unwrap()["messages"].as_array().unwrap().clone();
        assert!(sent.starts_with(&before), "{round}: {sent:#?}");
        before = sent;
        let id = format!("call-{round}");
        let call = json!({"id": id, "type": "function", "function": {"name": "list", "arguments": "{}"}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": "a"}));
    }
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[test]
fn an_assembled_stack_knows_a_conversation_without_a_session() {
    let place = Place::new();
    place.write("work/AGENTS.md", "Rule.");
    let seconds = Arc::new(AtomicU64::new(0));
    let clock = seconds.clone();
    let environment = place.environment("").clock(move || some_time() + Duration::from_secs(clock.fetch_add(1, Ordering::Relaxed)));
    let assembly = Assembly::load(&environment, &Workspace::at(place.at("work"))).unwrap();
    let client = assembly.stack(Anthropic).layer(service_fn(|request: Value| async move { Ok::<_, Infallible>(request) }));
    let mut messages = vec![user("one")];
    let mut before: Vec<Value> = Vec::new();
    let mut system = Value::Null;
    for turn in 0..4 {
        let sent = wait(client.clone().oneshot(json!({"model": "m", "max_tokens": 1, "messages": messages}))).unwrap();
        let now = sent["messages"].as_array().unwrap().clone();
        assert!(now.starts_with(&before), "{turn}");
        assert!(turn == 0 || sent["system"] == system, "{turn}");
        (before, system) = (now, sent["system"].clone());
        messages.extend([assistant("Done."), user(&format!("and {turn}"))]);
    }
    assert_eq!(seconds.load(Ordering::Relaxed), 4, "the clock was looked at once a message");
}

#[test]
fn an_opening_message_shares_a_conversation_that_is_younger_than_five_minutes() {
    let passed = Arc::new(AtomicU64::new(0));
    let (begun, clock) = (Instant::now(), passed.clone());
    let table = RecentSessions::default().clock(move || begun + Duration::from_secs(clock.load(Ordering::Relaxed)));
    let (stack, _) = counting(Settings::default().sessions(table));
    let opening = [user("continue")];
    let later = [user("continue"), assistant("Done."), user("and?")];
    let first = send(&stack, &opening, caller());
    passed.store(299, Ordering::Relaxed);
    assert_eq!(send(&stack, &opening, caller()), first, "a retry, or one of two that begin alike");
    let grown = send(&stack, &later, caller());
    assert!(grown.starts_with(&first));
    passed.store(300, Ordering::Relaxed);
    let anew = send(&stack, &opening, caller());
    assert_ne!(anew, first, "five minutes are over: a new conversation");
    passed.store(7 * 24 * 60 * 60, Ordering::Relaxed);
    let old = send(&stack, &later, caller());
    assert_eq!(old, grown, "a longer one finds its own however old it is");
}

#[test]
fn a_scope_separates_conversations_and_so_does_what_the_host_says_of_the_caller() {
    let (stack, count) = counting(Settings::default().sessions(RecentSessions::default()));
    let contexts = [
        caller(),
        caller().scope("tenant a"),
        caller().scope("tenant b"),
        caller().scope("tenant b").model("anthropic", "claude"),
        caller().agent("builder", "plan"),
    ];
    let opening = [user("continue")];
    let said: Vec<String> = contexts.iter().map(|context| ours(&send(&stack, &opening, context.clone()))).collect();
    for (n, text) in said.iter().enumerate() {
        assert!(text.contains(&format!("Probe {n}.")), "each is a conversation of its own: {text}");
    }
    for (context, text) in contexts.iter().zip(&said) {
        assert_eq!(ours(&send(&stack, &opening, context.clone())), *text, "and is found again");
    }
    assert_eq!(count.load(Ordering::Relaxed), contexts.len());
}

#[test]
fn per_call_without_a_scope_recognises_nothing() {
    let (stack, count) = counting(Settings::default().sessions(RecentSessions::default()));
    let client = stack.per_call().layer(service_fn(|request: Value| async move { Ok::<_, Infallible>(request) }));
    let call = |context: Context| wait(client.clone().oneshot(Call::new(request(&[user("hi")]), context))).unwrap();
    for n in 0..3 {
        assert!(call(Context::default()).to_string().contains(&format!("Probe {n}.")));
    }
    let scoped = call(Context::default().scope("a"));
    assert_eq!(call(Context::default().scope("a")), scoped);
    assert_eq!(count.load(Ordering::Relaxed), 4);
}

#[test]
fn the_conversation_longest_unused_goes_first() {
    let (stack, _) = counting(Settings::default().sessions(RecentSessions::new(NonZeroUsize::new(2).unwrap())));
    let say = |text: &str| ours(&send(&stack, &[user(text)], caller()));
    let (a, b) = (say("a"), say("b"));
    assert_eq!(say("a"), a, "used");
    let c = say("c");
    assert_eq!((say("a"), say("c")), (a, c));
    assert_ne!(say("b"), b);
}

#[test]
fn context_unnamed_sessions_bounds_the_table() {
    let place = Place::new();
    let passed = Arc::new(AtomicU64::new(0));
    let clock = passed.clone();
    let environment = place
        .environment("context.unnamed_sessions = 1")
        .clock(move || some_time() + Duration::from_secs(clock.fetch_add(1, Ordering::Relaxed)));
    let stack = Assembly::load(&environment, &Workspace::at(place.at("work"))).unwrap().stack(OpenAiChat);
    let say = |text: &str| ours(&send(&stack, &[user(text)], caller()));
    let a = say("a");
    assert_eq!(say("a"), a);
    say("b");
    assert_ne!(say("a"), a);
}

#[test]
fn a_skill_is_activated_by_words_only_behind_an_assistant_message() {
    let place = Place::new();
    place.write("work/skills/s.md", "---\ndescription: d\nkeywords: [code review]\n---\nBody of s.");
    let stack = place.assembly("skills.auto_activate = \"on\"").stack(OpenAiChat);
    let opening = [user("a code review")];
    let first = send(&stack, &opening, caller());
    assert!(!ours(&first).contains("Body of s."), "two conversations may begin alike");
    let report = Report::default();
    let later = [user("a code review"), assistant("Of what?"), user("a code review of main.rs")];
    let said = send(&stack, &later, caller().report(report.clone()));
    assert!(ours(&said).contains("Body of s.") && said.starts_with(&first));
    assert_eq!(report.manifest().unwrap().events.len(), 1);
}

#[test]
fn two_requests_of_one_session_at_once_are_each_well_formed_and_both_activations_are_kept() {
    use tower_prompt::layers::Session;
    let place = Place::new();
    for name in ["one", "two"] {
        place.skill(name, "d", &format!("Body of {name}."));
    }
    let stack = place.assembly("skills.commands = true").stack(OpenAiChat);
    let session = Session::new();
    let context = || caller().session(session.clone());
    let begin = [user("hi"), assistant("Yes?")];
    send(&stack, &begin[..1], context());
    let branch = |text: &str| [&begin[..], &[user(text)]].concat();
    let (one, two) = (branch("/skill one"), branch("/skill two"));
    let opened = [&one, &two].map(|messages| stack.begin(request(messages), context()));
    for (open, (messages, body)) in opened.into_iter().zip([(&one, "Body of one."), (&two, "Body of two.")]) {
        let sent = wait(stack.finish(open));
        assert_eq!(sent.to_string().matches(body).count(), 1);
        let again = send(&stack, messages, context());
        assert_eq!(sent["messages"], json!(again), "a retry is the same bytes");
    }
}

#[test]
fn a_history_that_the_provider_holds_is_known_by_its_name_and_never_shared() {
    use tower_prompt::layers::wire::OpenAiResponses;
    let (stack, count) = counting(Settings::default().sessions(RecentSessions::default()));
    let stack = stack.for_wire(OpenAiResponses);
    let say = |previous: Option<&str>, response: &str, text: &str| {
        let report = Report::default();
        let mut request = json!({"model": "m", "input": text});
        if let Some(previous) = previous {
            request["previous_response_id"] = previous.into();
        }
        let sent = wait(stack.assemble(request, caller().report(report.clone())));
        report.record_response_id(response);
        sent["input"].to_string()
    };
    let (a, b) = (say(None, "a1", "thread a"), say(None, "b1", "thread b"));
    assert!(a.contains("Probe 0.") && b.contains("Probe 1."));
    let (a, b) = (say(Some("a1"), "a2", "continue"), say(Some("b1"), "b2", "continue"));
    assert!(a.contains("Probe 2.") && b.contains("Probe 3."), "each went on in its own: {a} {b}");
    assert!(say(Some("unknown"), "c", "continue").contains("Probe 4."), "an unknown one is nobody's");
    assert_eq!(count.load(Ordering::Relaxed), 5);
}
