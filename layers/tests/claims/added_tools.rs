//! Tools of ours stand behind the caller's from a session's start on, the same bytes in each request.

use crate::common::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tower_prompt_layers::text::{TextChange, TextMode};
use tower_prompt_layers::wire::{Format, ToolDefinition};
use tower_prompt_layers::{
    ContentHash, Context, Contribute, Entry, FirstChange, FragmentFate, Manifest, Prompt, PromptStack, Purpose, Report, Session,
    SessionEvent, Settings, Tier, ToolLeftOut, Turn,
};

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
    let tools = report.manifest().unwrap().tools;
    let became: Vec<_> = tools.iter().map(|tool| (&*tool.name, tool.left_out)).collect();
    assert_eq!(became, [("skill", None), ("skill", Some(ToolLeftOut::ProposedBefore))]);
    let plain = ours["function"].to_string();
    assert_eq!((tools[0].bytes, tools[0].hash), (plain.len(), ContentHash::of(&plain)), "what stands in the request");
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
    assert_eq!(report.manifest().unwrap().tools[0].left_out, Some(ToolLeftOut::NameTaken));
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
        assert_eq!(manifest.added_tools().count(), 0);
        assert_eq!(manifest.tools[0].left_out, Some(ToolLeftOut::NotTaken), "{format}");
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

struct Proposes(&'static str);
impl Contribute for Proposes {
    fn contribute(&self, _: &Turn, prompt: &mut Prompt) {
        let name = self.0;
        prompt.add_later(Tier::Session, || async move { [Entry::from(tool(name, "Later."))] });
    }
}

#[tokio::test]
async fn the_manifest_tells_of_each_proposal_whose_it_was_and_why_it_is_left_out() {
    let (report, session) = (Report::default(), Session::new());
    let stack = PromptStack::new(Format::Anthropic, Settings::default())
        .with(Proposes("fine"))
        .with(Proposes("no name"))
        .with(Proposes("fine"))
        .with(Proposes("ls"));
    let mut messages = vec![user("one")];
    let context = || Context::default().session(session.clone()).report(report.clone());
    let own = json!([{"name": "ls", "description": "Lists.", "input_schema": {"type": "object"}}]);
    let sent = stack.assemble(json!({"tools": own, "messages": messages}), context()).await;
    assert_eq!(sent["tools"].as_array().unwrap().len(), 2);
    let manifest = report.manifest().unwrap();
    let became = |manifest: &Manifest| manifest.tools.iter().map(|tool| (tool.name.clone(), tool.left_out)).collect::<Vec<_>>();
    let expected = [
        ("fine", None),
        ("no name", Some(ToolLeftOut::NameInvalid)),
        ("fine", Some(ToolLeftOut::ProposedBefore)),
        ("ls", Some(ToolLeftOut::NameTaken)),
    ];
    assert_eq!(became(&manifest), expected.map(|(name, why)| (name.to_owned(), why)));
    assert!(manifest.tools.iter().all(|tool| tool.layer == "Proposes" && tool.bytes > 60 && tool.tokens > 10), "{:?}", manifest.tools);
    let codes: Vec<&str> = manifest.diagnostics.iter().map(|found| &*found.code).collect();
    assert_eq!(codes, ["tool-name-invalid", "tool-name-taken", "prefix-too-short"]);
    let again: Manifest = serde_json::from_str(&serde_json::to_string(&manifest).unwrap()).unwrap();
    assert_eq!(again, manifest);
    messages.extend([says("a"), user("two")]);
    stack.assemble(json!({"tools": own, "messages": messages}), context()).await;
    assert_eq!(became(&report.manifest().unwrap()), became(&manifest), "in each request");
}

#[tokio::test]
async fn a_diff_names_the_tool_that_changed_and_whose_doing_it_was() {
    let (report, session) = (Report::default(), Session::new());
    let context = || Context::default().session(session.clone()).report(report.clone());
    let send = async |description: &'static str, messages: &[Value]| {
        stack(Format::OpenAiChat, description).assemble(request(messages), context()).await;
        report.manifest().unwrap()
    };
    let mut messages = vec![user("one")];
    let first = send("Old.", &messages).await;
    messages.extend([says("a"), user("two")]);
    let second = send("New.", &messages).await;
    let fates = |diff: &tower_prompt_layers::ManifestDiff| diff.tools.iter().map(|tool| (tool.name.clone(), tool.fate)).collect::<Vec<_>>();
    let diff = second.diff(&first);
    assert_eq!((fates(&diff), diff.first_change()), (vec![("skill".into(), FragmentFate::Unchanged)], None));
    assert_eq!(second.foreseen.as_ref().unwrap().first_change, None);
    session.rebase();
    messages.extend([says("b"), user("three")]);
    let third = send("New, and longer.", &messages).await;
    let diff = third.diff(&second);
    let changed = FirstChange::Tool { name: "skill".into() };
    assert_eq!((fates(&diff), diff.first_change()), (vec![("skill".into(), FragmentFate::Changed)], Some(&changed)));
    assert_eq!(third.foreseen.as_ref().unwrap().first_change, Some(changed));
    assert!(diff.tools[0].tokens > diff.tools[0].tokens_before);
    assert!(
        diff.to_string().contains("we offer another tool `skill`") && diff.to_string().ends_with("Our tool `skill` is changed."),
        "{diff}"
    );
    // A format without tools is the caller's choice.
    let own = json!({"tools": [{"type": "function", "function": {"name": "ls"}}], "functions": [], "messages": messages});
    let kept = stack(Format::OpenAiChat, "x").assemble(own, context()).await;
    stack(Format::OpenAiChat, "x").assemble(kept, context()).await;
    let assembled_again = report.manifest().unwrap();
    assert_eq!(assembled_again.tools[0].left_out, Some(ToolLeftOut::NameTaken));
    assert_eq!(assembled_again.diff(&third).first_change(), None, "what the caller kept is as it was");
}

#[tokio::test]
async fn the_manifest_measures_a_tool_as_it_is_described() {
    let describes = |_: &Turn, prompt: &mut Prompt| prompt.describe_tool("skill", TextChange::default().then(TextMode::Append, "Often."));
    let (stack, report) = (stack(Format::OpenAiChat, "Ours.").with(describes), Report::default());
    let sent = stack.assemble(request(&[user("one")]), Context::default().report(report.clone())).await;
    let written = sent["tools"][1]["function"].to_string();
    let told = &report.manifest().unwrap().tools[0];
    assert_eq!((told.bytes, told.hash), (written.len(), ContentHash::of(&written)));
}
