//! Tools of ours stand behind the caller's from a session's start on, the same bytes in each request.

use crate::common::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tower_prompt_layers::text::{TextChange, TextMode};
use tower_prompt_layers::wire::{Format, ToolDefinition};
use tower_prompt_layers::{Context, Prompt, PromptStack, Purpose, Report, Session, SessionEvent, Settings, Turn};

fn tool(name: &str, description: &str) -> ToolDefinition {
    ToolDefinition::new(name, description, json!({"type": "object", "properties": {"name": {"type": "string"}}}))
}
fn stack(format: Format, description: &'static str) -> PromptStack<Format> {
    let layer = move |_: &Turn, prompt: &mut Prompt| prompt.add_tool(tool("skill", description));
    PromptStack::new(format, Settings::default())
        .with(layer)
        .with(|_: &Turn, prompt: &mut Prompt| prompt.add_tool(tool("skill", "Second.")))
}
fn request(messages: &[Value]) -> Value {
    json!({"tools": [{"type": "function", "function": {"name": "ls"}}], "messages": messages})
}

#[tokio::test]
async fn a_definition_is_that_of_the_start_whatever_a_layer_says_later() {
    let (session, report) = (Session::new(), Report::default());
    let context = || Context::default().session(session.clone()).report(report.clone());
    let mut history = vec![user("one")];
    let first = stack(Format::OpenAiChat, "Old.").assemble(request(&history), context()).await;
    let ours = tool("skill", "Old.").written(Format::OpenAiChat).unwrap();
    assert_eq!(first["tools"], json!([{"type": "function", "function": {"name": "ls"}}, ours]));
    assert_eq!(report.manifest().unwrap().added_tools, ["skill"]);
    assert_eq!(stack(Format::OpenAiChat, "Old.").assemble(first.clone(), context()).await, first, "assembled again");
    history.extend([says("a"), user("two")]);
    for purpose in [Purpose::SamePrefix, Purpose::Converse] {
        let second = stack(Format::OpenAiChat, "New.").assemble(request(&history), context().purpose(purpose)).await;
        assert_eq!(second["tools"].to_string(), first["tools"].to_string(), "{purpose:?}");
    }
    session.rebase();
    history.extend([says("b"), user("three")]);
    let rebased = stack(Format::OpenAiChat, "New.").assemble(request(&history), context()).await;
    assert_eq!(rebased["tools"][1]["function"]["description"], "New.");
}

#[tokio::test]
async fn it_comes_back_byte_for_byte_from_the_sessions_events() {
    let events: Arc<Mutex<Vec<SessionEvent>>> = Arc::default();
    let kept = events.clone();
    let session = Session::new().on_event(move |event: &SessionEvent| kept.lock().unwrap().push(event.clone()));
    let history = [user("one"), says("a"), user("two")];
    let first = stack(Format::Anthropic, "Old.").assemble(request(&history[..1]), Context::default().session(session)).await;
    let log = serde_json::to_string(&*events.lock().unwrap()).unwrap();
    let again = Session::replay(serde_json::from_str::<Vec<SessionEvent>>(&log).unwrap()).unwrap();
    let second = stack(Format::Anthropic, "New.").assemble(request(&history), Context::default().session(again)).await;
    assert_eq!(second["tools"].to_string(), first["tools"].to_string());
}

#[tokio::test]
async fn a_name_of_the_callers_stays_the_callers_and_who_asks_for_nothing_gets_nothing() {
    let (stack, report) = (stack(Format::OpenAiChat, "Ours."), Report::default());
    let context = || Context::default().session(Session::new()).report(report.clone());
    let codes = || report.manifest().unwrap().diagnostics.iter().map(|found| found.code.to_string()).collect::<Vec<_>>();
    let own = json!([{"type": "function", "function": {"name": "skill"}}]);
    let sent = stack.assemble(json!({"tools": own, "messages": [user("one")]}), context()).await;
    assert_eq!((&sent["tools"], codes()), (&own, vec!["tool-name-taken".to_owned()]));
    let bare = request(&[user("one")]);
    assert_eq!(stack.assemble(bare.clone(), context().purpose(Purpose::Bare)).await, bare);
    let sent = stack.assemble(request(&[user("one")]), context()).await;
    assert_eq!(sent["tools"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_request_that_would_be_refused_with_it_goes_without() {
    let contents = json!([{"role": "user", "parts": [{"text": "one"}]}]);
    for (format, came) in [
        (Format::Gemini, json!({"tools": [{"googleSearch": {}}], "contents": contents})),
        (Format::Gemini, json!({"generationConfig": {"responseMimeType": "application/json"}, "contents": contents})),
        (Format::Gemini, json!({"cachedContent": "c", "contents": contents})),
        (Format::OpenAiResponses, json!({"prompt": {"id": "p"}, "input": "one"})),
        (Format::OllamaGenerate, json!({"prompt": "one"})),
    ] {
        let report = Report::default();
        let context = Context::default().session(Session::new()).report(report.clone());
        assert_eq!(stack(format, "Ours.").assemble(came.clone(), context).await, came, "{format}");
        let manifest = report.manifest().unwrap();
        assert_eq!(manifest.diagnostics.iter().map(|found| &*found.code).collect::<Vec<_>>(), ["tool-not-offered"], "{format} {came}");
        assert!(manifest.added_tools.is_empty());
    }
    let with_functions = json!({"tools": [{"functionDeclarations": [{"name": "ls"}]}, {"googleSearch": {}}], "contents": contents});
    let sent = stack(Format::Gemini, "Ours.").assemble(with_functions, Context::default().session(Session::new())).await;
    assert_eq!(sent["tools"][0]["functionDeclarations"][1]["name"], "skill");
}

#[tokio::test]
async fn a_profile_describes_it_as_any_tool() {
    let describes = |_: &Turn, prompt: &mut Prompt| prompt.describe_tool("skill", TextChange::default().then(TextMode::Append, "Often."));
    let (stack, report) = (stack(Format::OpenAiChat, "Ours.").with(describes), Report::default());
    let context = Context::default().session(Session::new()).report(report.clone());
    let sent = stack.assemble(request(&[user("one")]), context).await;
    assert_eq!(sent["tools"][1]["function"]["description"], "Ours.\n\nOften.");
    let manifest = report.manifest().unwrap();
    assert_eq!((manifest.described_tools, manifest.diagnostics.len()), (vec!["skill".to_owned()], 0));
}
