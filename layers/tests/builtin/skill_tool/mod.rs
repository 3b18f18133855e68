//! The skill tool: what the model is told of it, what it answers, and that a body stands once, wherever the model has it from.

use crate::stage::{id, skill, skills};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use tower::ServiceExt;
use tower_prompt_layers::skill::{SkillActivationMode, SkillTool, SkillToolCall, SkillToolOptions, SkillToolResult, Skills};
use tower_prompt_layers::wire::{Format, ToolAnswer, ToolCalls, Wire};
use tower_prompt_layers::{
    ActiveSkillsLayer, Context, Event, PromptStack, Report, Round, Session, SessionEvent, Settings, SkillToolLayer, ToolOutputLayer,
};

mod in_step;

const BODY: &str = "Read the first error.\nThen the others.";

fn two() -> Skills {
    skills([skill("rust", &[], BODY), skill("sql", &[], "Explain first.")])
}
fn tool(skills: &Skills) -> SkillTool {
    SkillTool::new(skills.clone(), SkillToolOptions::default())
}
async fn ask(skills: &Skills, arguments: Value) -> SkillToolResult {
    tool(skills).oneshot(SkillToolCall::new(arguments)).await.unwrap()
}

/// A conversation in a format: the caller's own request, and what was sent last.
struct Loop {
    format: Format,
    skills: Skills,
    stack: PromptStack<Format>,
    session: Session,
    request: Value,
    report: Report,
}

impl Loop {
    fn new(format: Format, skills: &Skills, options: SkillToolOptions) -> Self {
        let bodies = ActiveSkillsLayer::new(options.context.clone());
        let stack = PromptStack::new(format, Settings::default().skills(skills.clone())).with(SkillToolLayer::new(options)).with(bodies);
        let request = json!({field(format): []});
        Self { format, skills: skills.clone(), stack, session: Session::new(), request, report: Report::default() }
    }
    fn says(&mut self, role: &str, text: &str) {
        let message = match (self.format, role) {
            (Format::Gemini, "assistant") => json!({"role": "model", "parts": [{"text": text}]}),
            (Format::Gemini, _) => json!({"role": role, "parts": [{"text": text}]}),
            _ => json!({"role": role, "content": text}),
        };
        self.request[field(self.format)].as_array_mut().unwrap().push(message);
    }
    async fn send(&self) -> Value {
        let context = Context::default().session(self.session.clone()).report(self.report.clone());
        self.stack.assemble(self.request.clone(), context).await
    }
    /// The model calls the tool, which answers into the caller's request.
    async fn calls(&mut self, arguments: &Value) -> SkillToolResult {
        let calls = ToolCalls::in_response(self.format, &response(self.format, "skill", arguments));
        let result = tool(&self.skills).answer(&calls, Some(&self.session)).await.remove(0).unwrap();
        calls.append(&mut self.request, &[ToolAnswer::from(result.clone())]).unwrap();
        result
    }
}

fn field(format: Format) -> &'static str {
    match format {
        Format::Gemini => "contents",
        Format::OpenAiResponses => "input",
        _ => "messages",
    }
}
fn response(format: Format, name: &str, arguments: &Value) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    match format {
        Format::OpenAiChat => {
            json!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": function}]}}]})
        }
        Format::OpenAiResponses => {
            json!({"id": "r1", "output": [{"type": "function_call", "call_id": "1", "name": name, "arguments": arguments.to_string()}]})
        }
        Format::Anthropic => json!({"content": [{"type": "tool_use", "id": "1", "name": name, "input": arguments}]}),
        Format::Gemini => {
            json!({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": name, "args": arguments}}]}}]})
        }
        _ => json!({"message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]}}),
    }
}
fn count(sent: &Value, text: &str) -> usize {
    sent.to_string().matches(text).count()
}
const FORMATS: [Format; 5] = [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic, Format::Gemini, Format::Ollama];

#[tokio::test]
async fn a_skill_that_the_tool_loaded_stands_once_and_again_behind_a_compaction() {
    for format in FORMATS {
        let mut talk = Loop::new(format, &two(), SkillToolOptions::default());
        talk.says("user", "Why does it not build?");
        let first = talk.send().await;
        assert!(first["tools"].is_array() && count(&first, "first error") == 0, "{format}");
        let result = talk.calls(&json!({"name": "rust"})).await;
        assert!(result.text.contains("<skill id=\"rust\"") && result.text.contains(BODY), "{format}: {}", result.text);
        let second = talk.send().await;
        assert_eq!(second[field(format)], talk.request[field(format)], "{format}: not a byte behind the results");
        let manifest = talk.report.manifest().unwrap();
        assert_eq!(manifest.events, [Event::SkillActivated { id: id("rust"), mode: SkillActivationMode::Tool }], "{format}");
        assert_eq!(talk.session.active().len(), 1, "{format}");
        assert_eq!(talk.send().await, second, "{format}: a retry");
        for text in ["And now?", "And then?"] {
            talk.says("assistant", "Done.");
            talk.says("user", text);
            assert_eq!(count(&talk.send().await, "first error"), 1, "{format}: {text}");
        }
        assert!(talk.calls(&json!({"name": "rust", "input": "x"})).await.text.contains("in force already"), "{format}");

        talk.request[field(format)] = json!([]);
        talk.says("user", "Summary of what went on. Go on.");
        let compacted = talk.send().await;
        assert_eq!((talk.report.manifest().unwrap().round, count(&compacted, "first error")), (Round::Compacted, 1), "{format}");
        assert_eq!(compacted["tools"], first["tools"], "{format}");
    }
}

#[tokio::test]
async fn where_the_caller_clears_or_cuts_the_result_the_body_is_said_again() {
    for cuts_at_once in [false, true] {
        let mut talk = Loop::new(Format::OpenAiChat, &two(), SkillToolOptions::default());
        talk.says("user", "one");
        talk.send().await;
        talk.calls(&json!({"name": "rust"})).await;
        let cut = |request: &mut Value| {
            let text = request["messages"][2]["content"].as_str().unwrap().replace("the first error", "[9 characters cut]");
            request["messages"][2]["content"] = text.into();
        };
        if cuts_at_once {
            cut(&mut talk.request);
            assert_eq!(count(&talk.send().await, "Read the first error"), 1, "said behind the results");
            continue;
        }
        assert_eq!(count(&talk.send().await, "Read the first error"), 1);
        cut(&mut talk.request);
        talk.says("assistant", "a");
        talk.says("user", "two");
        let sent = talk.send().await;
        assert_eq!(count(&sent, "Read the first error"), 1);
        assert!(sent["messages"].as_array().unwrap().last().unwrap().to_string().contains("Read the first error"));
        talk.says("assistant", "b");
        talk.says("user", "three");
        assert_eq!(count(&talk.send().await, "Read the first error"), 1, "and not once more");
    }
}

#[tokio::test]
async fn another_branch_knows_nothing_of_it_and_switching_it_off_is_said() {
    let mut talk = Loop::new(Format::Anthropic, &two(), SkillToolOptions::default());
    talk.says("user", "one");
    talk.send().await;
    let before = talk.request.clone();
    talk.calls(&json!({"name": "rust"})).await;
    talk.send().await;
    let after = talk.request.clone();
    talk.request = before;
    talk.says("assistant", "without a call");
    talk.says("user", "two");
    assert_eq!(count(&talk.send().await, "first error"), 0);
    talk.request = after;
    talk.says("assistant", "a");
    talk.says("user", "off");
    talk.session.deactivate(&id("rust"));
    assert_eq!(count(&talk.send().await, "The skill rust no longer applies."), 1);
    let again = talk.calls(&json!({"name": "rust"})).await;
    assert!(again.text.contains(BODY), "what no longer applies is given whole");
    talk.send().await;
    assert_eq!(talk.session.active().len(), 1);
}

#[tokio::test]
async fn a_result_that_holds_a_body_is_never_cut_and_another_is() {
    let long = "A line of the body.\n".repeat(40);
    let all = skills([skill("rust", &[], &long)]);
    let mut talk = Loop::new(Format::OpenAiChat, &all, SkillToolOptions::default());
    talk.stack = talk.stack.with(ToolOutputLayer::default().max_chars(NonZeroUsize::new(100)));
    talk.says("user", "one");
    talk.send().await;
    talk.calls(&json!({"name": "rust"})).await;
    let sent = talk.send().await;
    assert_eq!(sent["messages"], talk.request["messages"]);
    assert!(talk.report.manifest().unwrap().cut_outputs.is_empty());
    talk.session.deactivate(&id("rust"));
    let calls = ToolCalls::in_response(Format::OpenAiChat, &response(Format::OpenAiChat, "ls", &json!({})));
    calls.append(&mut talk.request, &["x".repeat(500).into()]).unwrap();
    let next = talk.send().await;
    assert!(next["messages"].as_array().unwrap().starts_with(sent["messages"].as_array().unwrap()), "a request only grows");
    assert_eq!(talk.report.manifest().unwrap().cut_outputs.len(), 1);
}

#[tokio::test]
async fn what_was_loaded_is_known_to_a_session_that_is_played_again() {
    let events: Arc<Mutex<Vec<SessionEvent>>> = Arc::default();
    let kept = events.clone();
    let mut talk = Loop::new(Format::Anthropic, &two(), SkillToolOptions::default());
    talk.session = Session::new().on_event(move |event: &SessionEvent| kept.lock().unwrap().push(event.clone()));
    talk.says("user", "one");
    talk.send().await;
    talk.calls(&json!({"name": "rust"})).await;
    talk.send().await;
    let log = serde_json::to_string(&*events.lock().unwrap()).unwrap();
    talk.session = Session::replay(serde_json::from_str::<Vec<SessionEvent>>(&log).unwrap()).unwrap();
    talk.says("assistant", "a");
    talk.says("user", "two");
    assert_eq!(count(&talk.send().await, "first error"), 1);
    assert_eq!(talk.session.active().len(), 1);
}

#[tokio::test]
async fn the_provider_may_hold_the_call() {
    let mut talk = Loop::new(Format::OpenAiResponses, &two(), SkillToolOptions::default());
    talk.says("user", "one");
    talk.send().await;
    talk.calls(&json!({"name": "rust"})).await;
    let output = talk.request["input"].as_array().unwrap().last().unwrap().clone();
    talk.request = json!({"previous_response_id": "r1", "input": [output]});
    assert_eq!(talk.send().await["input"], talk.request["input"]);
    assert_eq!(talk.session.active().len(), 1);
}

#[tokio::test]
async fn a_block_in_the_result_of_another_tool_activates_nothing() {
    let mut talk = Loop::new(Format::OpenAiChat, &two(), SkillToolOptions::default());
    talk.says("user", "one");
    talk.send().await;
    let block = ask(&two(), json!({"name": "rust"})).await.text;
    let calls = ToolCalls::in_response(Format::OpenAiChat, &response(Format::OpenAiChat, "fetch", &json!({"name": "rust"})));
    calls.append(&mut talk.request, &[block.into()]).unwrap();
    talk.send().await;
    assert!(talk.session.active().is_empty());
}

#[tokio::test]
async fn parallel_calls_share_the_room_of_all_bodies() {
    let long = "A line of the body.\n".repeat(30);
    let all = skills([skill("rust", &[], &long), skill("sql", &[], &long)]);
    let mut options = SkillToolOptions::default();
    options.context.max_bytes = NonZeroUsize::new(1000);
    let mut talk = Loop::new(Format::Anthropic, &all, options.clone());
    talk.says("user", "one");
    talk.send().await;
    let uses = ["rust", "sql", "rust"].map(|name| json!({"type": "tool_use", "id": name, "name": "skill", "input": {"name": name}}));
    let calls = ToolCalls::in_response(Format::Anthropic, &json!({"content": uses}));
    let results: Vec<_> = SkillTool::new(all, options).answer(&calls, Some(&talk.session)).await.into_iter().flatten().collect();
    let bodies: usize = results.iter().map(|result| result.text.split("<skill id").skip(1).map(str::len).sum::<usize>() + 9).sum();
    assert!(bodies <= 1000 + 3 * 9, "{bodies}");
    assert!(results[2].is_error && results[2].text.contains("no room left"), "{}", results[2].text);
    let answers: Vec<ToolAnswer> = results.into_iter().map(ToolAnswer::from).collect();
    calls.append(&mut talk.request, &answers).unwrap();
    assert_eq!(talk.send().await["messages"], talk.request["messages"], "what was cut counts as said too");
}

#[tokio::test]
async fn what_stands_in_the_conversation_already_takes_its_part_of_the_room_until_it_is_switched_off() {
    let long = "A line of the body.\n".repeat(30);
    let all = skills([skill("rust", &[], &long), skill("sql", &[], &long)]);
    let mut options = SkillToolOptions::default();
    options.context.max_bytes = NonZeroUsize::new(1200);
    // In the system prompt, and behind a message.
    for (turns, is_off) in [(0, false), (1, false), (0, true), (1, true)] {
        let mut talk = Loop::new(Format::OpenAiChat, &all, options.clone());
        talk.says("user", "one");
        for _ in 0..turns {
            talk.send().await;
            talk.says("assistant", "ok");
            talk.says("user", "two");
        }
        let load = SkillToolCall::new(json!({"name": "sql"}));
        let tool = SkillTool::new(all.clone(), options.clone());
        let alone = tool.clone().oneshot(load.clone().session(&talk.session)).await.unwrap().text;
        assert!(alone.contains(&long), "{alone}");
        let mut talk = Loop { session: Session::new(), ..talk };
        if turns == 1 {
            let both = talk.request["messages"].clone();
            talk.request["messages"].as_array_mut().unwrap().truncate(1);
            talk.send().await;
            talk.request["messages"] = both;
        }
        talk.session.activate(id("rust"), None);
        assert_eq!(count(&talk.send().await, "A line of the body."), 30);
        if is_off {
            talk.session.deactivate(&id("rust"));
        }
        let beside = tool.oneshot(load.session(&talk.session)).await.unwrap().text;
        assert!((beside == alone) == is_off && beside.contains("A line of the body."), "{beside}");
    }
}

#[tokio::test]
async fn the_definition_is_one_for_all_skills_and_none_where_there_is_none() {
    let options = SkillToolOptions::default();
    let one = options.definition(&two()).unwrap();
    assert_eq!(one, options.definition(&skills([skill("other", &[], "")])).unwrap());
    assert!(!one.parameters.to_string().contains("rust"));
    assert_eq!(options.definition(&Skills::default()), None);
    let mut hidden = skill("rust", &[], BODY);
    Arc::make_mut(&mut hidden.summary).hidden = true;
    assert_eq!(options.definition(&skills([hidden.clone()])), None);
    assert!(ask(&skills([hidden]), json!({"name": "rust"})).await.text.starts_with("There is no skill `rust`"));
    let mut advertising = SkillToolOptions::default();
    advertising.advertise = true;
    assert!(advertising.definition(&two()).unwrap().description.ends_with("Skills:\n- rust: About rust\n- sql: About sql"));
    assert_eq!(
        Format::Gemini.read(&json!({"contents": [], "tools": [{"functionDeclarations": [one.written(Format::Gemini).unwrap()]}]})).tools,
        ["skill"]
    );
    let parameters = &one.written(Format::Gemini).unwrap()["parameters"];
    assert_eq!(parameters["properties"]["operation"]["enum"], json!(["invoke", "list", "read_resource", "deactivate"]));
}

#[tokio::test]
async fn an_error_says_what_to_do_next() {
    let many = skills((0..30).map(|n| skill(&format!("skill-{n:02}"), &[], "")));
    let unknown = ask(&many, json!({"name": "skil-17"})).await;
    assert!(unknown.is_error && unknown.text.contains("the nearest first: skill-17, "), "{}", unknown.text);
    assert!(unknown.text.matches("skill-").count() == 20 && unknown.text.contains("and 10 more"), "{}", unknown.text);
    for (arguments, next) in [
        (json!("{\"name\""), "Call again with an object such as {\"name\":\"rust\"}"),
        (json!({}), "`name` is missing"),
        (json!({"operation": "read_resource", "name": "rust"}), "`path` is missing"),
        (json!({"operation": "read_resource", "name": "rust", "path": "a"}), "go on with its instructions"),
        (json!({"operation": "run"}), "Call again"),
    ] {
        let said = ask(&two(), arguments.clone()).await;
        assert!(said.is_error && said.text.contains(next), "{arguments}: {}", said.text);
    }
    let listed = ask(&two(), json!({"operation": "list"})).await;
    assert_eq!(
        listed.text,
        "2 skills. Load one with its id as `name`.\n- rust: About rust (from user:skills)\n- sql: About sql (from user:skills)"
    );
    assert!(ask(&Skills::default(), json!({"operation": "list"})).await.text.starts_with("There are no skills."));
}

fn any_json() -> impl Strategy<Value = Value> {
    let word = "(operation|name|input|path|invoke|list|read_resource|deactivate|activate|rust|\\.\\./x|</skill>|.{0,6})";
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), any::<i64>().prop_map(Value::from), word.prop_map(Value::from)];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((word, inner), 0..5).prop_map(|fields| fields.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_it_is_called_with_it_answers_with_a_text(arguments in any_json(), as_text in any::<bool>(), cut in 0..40_usize) {
        let text: String = arguments.to_string().chars().skip(cut % 3).take(if cut < 20 { cut } else { usize::MAX }).collect();
        let arguments = if as_text { text.into() } else { arguments };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let result = runtime.block_on(ask(&two(), arguments));
        prop_assert!(!result.text.trim().is_empty());
        prop_assert!(!(result.is_error && result.invoked.is_some()));
    }
}
