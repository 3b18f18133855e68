//! What is changed of the caller's tools and of what they print: in each format, from the first sending on, and nothing else.

use crate::common::*;
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use tower_prompt_layers::text::{TextChange, TextMode};
use tower_prompt_layers::wire::Format;
use tower_prompt_layers::{Context, CutText, Prompt, PromptStack, Report, Round, Session, SessionEvent, Settings, ToolOutputLayer, Turn};

const BOUND: usize = 40;
const LONG: &str = "0123456789012345678901234567890123456789012345678901234567890123456789";
const CUT: &str = "01234567890[49 characters cut]0123456789";

fn stack(format: Format) -> PromptStack<Format> {
    let describes = |_: &Turn, prompt: &mut Prompt| {
        prompt.describe_tool("ls", TextChange::default().then(TextMode::Append, "Ask first."));
        prompt.describe_tool("ls", TextChange::default().then(TextMode::Prepend, "Careful."));
    };
    let bounds = ToolOutputLayer::default().max_chars(NonZeroUsize::new(BOUND)).max_malformed_argument_chars(NonZeroUsize::new(BOUND));
    PromptStack::new(format, Settings::default()).with(describes).with(bounds)
}

/// `came` is sent as `came` with these texts replaced, assembled again and in a later request too.
async fn holds(format: Format, came: &Value, changes: &[(&str, &str)]) -> Report {
    let (stack, session, report) = (stack(format), Session::new(), Report::default());
    let context = || Context::default().session(session.clone()).report(report.clone());
    let sent = changes.iter().fold(came.to_string(), |sent, (from, to)| {
        assert!(sent.contains(from), "{format}: {from} is in the case");
        sent.replace(from, to)
    });
    let first = stack.assemble(came.clone(), context()).await;
    assert_eq!(first.to_string(), sent, "{format}");
    assert_eq!(stack.assemble(first, context()).await.to_string(), sent, "{format}, assembled again");
    assert_eq!(stack.assemble(came.clone(), context()).await.to_string(), sent, "{format}, sent again");
    assert_eq!(report.manifest().unwrap().round, Round::Settled, "{format}");
    report
}

const DESCRIBED: (&str, &str) = ("\"Lists.\"", r#""Careful.\n\nLists.\n\nAsk first.""#);

#[tokio::test]
async fn in_openai_chat() {
    let came = json!({
        "tools": [
            {"type": "function", "function": {"name": "ls", "description": "Lists.", "parameters": {"type": "object"}}},
            {"type": "function", "function": {"name": "cat", "description": "Shows."}},
        ],
        "messages": [
            user("one"),
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "1", "function": {"name": "ls", "arguments": json!({"path": LONG}).to_string()}},
                {"id": "2", "function": {"name": "ls", "arguments": "{}".repeat(30)}}]},
            {"role": "tool", "tool_call_id": "1", "content": LONG.to_owned()},
            {"role": "tool", "tool_call_id": "2", "content": [block("short"), block(LONG)]},
        ],
    });
    let doubled = ("{}".repeat(30), "{}{}{}{}{}{[39 characters cut]{}{}{}{}{}".to_owned());
    let parts = (
        json!([block("short"), block(LONG)]).to_string(),
        json!([block("short"), block("012345[54 characters cut]0123456789")]).to_string(),
    );
    let cut = (format!("\"content\":\"{LONG}\""), format!("\"content\":\"{CUT}\""));
    let changes = [DESCRIBED, (&*doubled.0, &*doubled.1), (&*parts.0, &*parts.1), (&*cut.0, &*cut.1)];
    let manifest = holds(Format::OpenAiChat, &came, &changes).await.manifest().unwrap();
    assert_eq!(manifest.described_tools, ["ls"]);
    let cut: Vec<_> = manifest.cut_outputs.iter().map(|output| (output.what, output.message, output.chars, output.limit)).collect();
    assert_eq!(cut, [(CutText::Result, 2, 70, BOUND), (CutText::Result, 3, 75, BOUND), (CutText::Arguments, 1, 60, BOUND)]);
    assert_eq!(manifest.diagnostics.iter().filter(|found| found.code == "limit").count(), 2);
}

#[tokio::test]
async fn in_openai_responses() {
    let came = json!({
        "tools": [{"type": "function", "name": "ls", "description": "Lists."}, {"type": "web_search", "name": "ls"}],
        "input": [
            {"role": "user", "content": "one"},
            {"type": "function_call", "call_id": "1", "name": "ls", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": "2", "name": "patch", "input": LONG.to_owned() + "!"},
            {"type": "function_call_output", "call_id": "1", "output": LONG},
            {"type": "custom_tool_call_output", "call_id": "2", "output": [{"type": "input_text", "text": LONG}]},
        ],
    });
    let quoted = (format!("\"{LONG}\""), format!("\"{CUT}\""));
    holds(Format::OpenAiResponses, &came, &[DESCRIBED, (&*quoted.0, &*quoted.1)]).await;
}

#[tokio::test]
async fn in_anthropic() {
    let came = json!({
        "tools": [
            {"name": "ls", "description": "Lists.", "input_schema": {"type": "object"}},
            {"type": "bash_20250124", "name": "bash"},
        ],
        "messages": [
            user("one"),
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "ls", "input": {"path": "p".repeat(99)}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": LONG},
                {"type": "tool_result", "tool_use_id": "1", "content": [block(LONG), {"type": "image", "source": {"data": "d".repeat(99)}}]},
                {"type": "text", "text": format!("{LONG} said the user")}]},
        ],
    });
    let quoted = (format!("\"{LONG}\""), format!("\"{CUT}\""));
    holds(Format::Anthropic, &came, &[DESCRIBED, (&*quoted.0, &*quoted.1)]).await;
}

#[tokio::test]
async fn in_gemini() {
    let declaration = json!({"name": "ls", "description": "Lists.", "parameters": {"type": "OBJECT"}});
    let came = json!({
        "tools": [{"functionDeclarations": [declaration]}, {"googleSearch": {}}],
        "contents": [
            {"role": "user", "parts": [{"text": "one"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {"path": "p".repeat(99)}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"result": LONG}}}]},
            {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"code": 0, "lines": ["a".repeat(60)]}}}]},
        ],
    });
    let text = (format!("\"{LONG}\""), format!("\"{CUT}\""));
    let object = (
        format!(r#"{{"code":0,"lines":["{}"]}}"#, "a".repeat(60)),
        format!(r#"{{"output":"{{\"code\":0,\"[62 characters cut]{}\"]}}"}}"#, "a".repeat(7)),
    );
    holds(Format::Gemini, &came, &[DESCRIBED, (&*text.0, &*text.1), (&*object.0, &*object.1)]).await;
}

#[tokio::test]
async fn in_ollama() {
    let came = json!({
        "tools": [{"type": "function", "function": {"name": "ls", "description": "Lists."}}],
        "messages": [
            user("one"),
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "ls", "arguments": {"path": "p".repeat(99)}}}]},
            {"role": "tool", "tool_name": "ls", "content": LONG},
        ],
    });
    holds(Format::Ollama, &came, &[DESCRIBED, (LONG, CUT)]).await;
}

#[tokio::test]
async fn a_tool_without_a_description_gets_one_and_one_of_the_providers_stays() {
    let tools =
        |described: &str| format!(r#"[{{"name":"ls","input_schema":{{}}{described}}},{{"type":"web_search_20250305","name":"ls"}}]"#);
    let came: Value = serde_json::from_str(&format!(r#"{{"tools":{},"messages":[{}]}}"#, tools(""), user("one"))).unwrap();
    let described = tools(r#","description":"Careful.\n\nAsk first.""#);
    holds(Format::Anthropic, &came, &[(&*tools(""), &*described)]).await;
}

#[tokio::test]
async fn a_description_that_is_no_text_stays_as_it_came() {
    let (odd, none) = (json!({"type": "text", "text": "Lists."}), Value::Null);
    let function = |description: &Value| json!({"name": "ls", "description": description});
    for description in [&odd, &json!(["Lists."]), &json!(1), &none] {
        let (tool, wrapped) = (function(description), json!({"type": "function", "function": function(description)}));
        let contents = json!([{"role": "user", "parts": [{"text": "one"}]}]);
        let cases = [
            (Format::OpenAiChat, json!({"tools": [wrapped], "messages": [user("one")]})),
            (Format::OpenAiResponses, json!({"tools": [{"type": "function", "name": "ls", "description": description}], "input": "one"})),
            (Format::Anthropic, json!({"tools": [tool], "messages": [user("one")]})),
            (Format::Gemini, json!({"tools": [{"functionDeclarations": [tool]}], "contents": contents})),
            (Format::Ollama, json!({"tools": [wrapped], "messages": [user("one")]})),
        ];
        for (format, came) in cases {
            let report = if description.is_null() {
                holds(format, &came, &[("null", r#""Careful.\n\nAsk first.""#)]).await
            } else {
                holds(format, &came, &[]).await
            };
            let manifest = report.manifest().unwrap();
            assert_eq!(manifest.described_tools.is_empty(), !description.is_null(), "{format}");
        }
    }
}

#[tokio::test]
async fn a_cut_result_says_where_the_whole_is_kept() {
    let layer = ToolOutputLayer::default().max_chars(NonZeroUsize::new(60)).archive(|_: &str| Some("results/1.txt".to_owned()));
    let stack = PromptStack::new(Format::OpenAiChat, Settings::default()).with(layer);
    let history = [user("one"), calls("1"), json!({"role": "tool", "tool_call_id": "1", "content": LONG})];
    let sent = stack.assemble(body(&history), Context::default()).await;
    assert_eq!(last(&sent), "01234[60 characters cut; the whole is in results/1.txt]56789");
}

#[tokio::test]
async fn a_session_that_is_played_again_says_where_the_whole_is_kept_as_before() {
    let events: Arc<Mutex<Vec<SessionEvent>>> = Arc::default();
    let kept = events.clone();
    let session = Session::new().on_event(move |event: &SessionEvent| kept.lock().unwrap().push(event.clone()));
    let layer = ToolOutputLayer::default().max_chars(NonZeroUsize::new(60)).archive(|_: &str| Some("results/1.txt".to_owned()));
    let stack = PromptStack::new(Format::OpenAiChat, Settings::default()).with(layer);
    let history = [user("one"), calls("1"), json!({"role": "tool", "tool_call_id": "1", "content": LONG})];
    let sent = stack.assemble(body(&history), Context::default().session(session)).await;
    let log = serde_json::to_string(&*events.lock().unwrap()).unwrap();
    let again = Session::replay(serde_json::from_str::<Vec<SessionEvent>>(&log).unwrap()).unwrap();
    assert_eq!(stack.assemble(body(&history), Context::default().session(again)).await, sent);
}

#[tokio::test]
async fn a_bound_that_comes_or_changes_later_leaves_what_was_sent() {
    let session = Session::new();
    let context = || Context::default().session(session.clone());
    let output = |max| {
        let layer = ToolOutputLayer::default().max_chars(NonZeroUsize::new(max));
        PromptStack::new(Format::OpenAiChat, Settings::default()).with(base()).with(layer)
    };
    let mut history = vec![user("one"), calls("1"), json!({"role": "tool", "tool_call_id": "1", "content": LONG})];
    let first = output(BOUND).assemble(body(&history), context()).await;
    assert_eq!(last(&first), CUT);
    history.extend([says("a"), user("two")]);
    let second = output(10).assemble(body(&history), context()).await;
    assert!(messages(&second).starts_with(&messages(&first)));
    session.rebase();
    history.extend([says("b"), user("three")]);
    let rebased = output(10).assemble(body(&history), context()).await;
    assert_eq!(texts(&rebased)[2].chars().count(), 10, "a rebase takes over what holds now");
}

#[tokio::test]
async fn a_history_kept_as_it_was_sent_is_the_same_conversation() {
    let (stack, session, report) = (stack(Format::OpenAiChat), Session::new(), Report::default());
    let context = || Context::default().session(session.clone()).report(report.clone());
    let arguments = "{}".repeat(30);
    let call =
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": {"name": "ls", "arguments": arguments}}]});
    let history = [user("one"), call, json!({"role": "tool", "tool_call_id": "1", "content": LONG})];
    let sent = stack.assemble(body(&history), context()).await;
    let kept = [messages(&sent), vec![says("a"), user("two")]].concat();
    let next = stack.assemble(body(&kept), context()).await;
    assert!(messages(&next).starts_with(&messages(&sent)));
    assert_eq!(report.manifest().unwrap().round, Round::User);
}

#[tokio::test]
async fn a_description_for_a_tool_that_is_not_there_is_noted_once() {
    let (stack, session, report) = (stack(Format::OpenAiChat), Session::new(), Report::default());
    let context = || Context::default().session(session.clone()).report(report.clone());
    let request = |texts: &[&str]| {
        let messages: Vec<Value> = texts.iter().enumerate().map(|(n, text)| if n % 2 == 0 { user(*text) } else { says(text) }).collect();
        json!({"tools": [{"type": "function", "function": {"name": "cat"}}], "messages": messages})
    };
    let codes = || report.manifest().unwrap().diagnostics.iter().map(|found| found.code.to_string()).collect::<Vec<_>>();
    stack.assemble(request(&["one"]), context()).await;
    assert_eq!(codes(), ["tool-unknown"]);
    stack.assemble(request(&["one", "a", "two"]), context()).await;
    assert!(codes().is_empty());
}

#[tokio::test]
async fn each_limit_of_what_tools_print_has_a_note_with_the_largest() {
    let layer = ToolOutputLayer::default().max_chars(NonZeroUsize::new(30)).max_malformed_argument_chars(NonZeroUsize::new(20));
    let stack = PromptStack::new(Format::OpenAiChat, Settings::default()).with(layer);
    let call = |id: &str, arguments: &str| {
        let function = json!({"name": "ls", "arguments": arguments});
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]})
    };
    let result = |id: &str, chars: usize| json!({"role": "tool", "tool_call_id": id, "content": "x".repeat(chars)});
    let history = [
        user("one"),
        call("1", "no JSON, and much too long for it"),
        result("1", 40),
        call("2", "{}"),
        result("2", 90),
        call("3", "{}"),
        result("3", 30),
    ];
    let report = Report::default();
    stack.assemble(body(&history), Context::default().report(report.clone())).await;
    let found = report.manifest().unwrap().diagnostics;
    let notes: Vec<&str> = found.iter().filter(|found| found.code == "limit").map(|found| &*found.message).collect();
    assert_eq!(
        notes,
        [
            "2 tool results were cut to 30 characters each; the largest has 90",
            "1 malformed arguments of calls were cut to 20 characters each; the largest has 33"
        ]
    );
}
