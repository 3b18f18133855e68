//! What is no conversation passes untouched, and no body makes a wire panic.

use crate::common::*;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tower_prompt_layers::wire::{Format, Wire};
use tower_prompt_layers::{Context, Fragment, Prompt, PromptStack, Report, Session, Settings, Tier, Turn};

fn stack(format: Format) -> PromptStack<Format> {
    let step = |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Step, || Fragment::new("step", "STEP"));
    PromptStack::new(format, Settings::default()).with(base()).with(clock("1")).with(step)
}

#[tokio::test]
async fn bodies_that_are_no_conversation_pass_untouched_byte_for_byte() {
    let embeddings = json!({"model": "m", "input": [1, 2], "dimensions": 3});
    for (format, body) in [
        (Format::OllamaGenerate, json!({"model": "m", "prompt": "<s>hi", "raw": true, "system": "HOST"})),
        (Format::OllamaGenerate, json!({"model": "m", "prompt": "fn a(", "suffix": ")", "stream": false})),
        (Format::OllamaGenerate, json!({"model": "m", "keep_alive": 0})),
        (Format::Ollama, json!({"model": "m", "keep_alive": 0})),
        (Format::OpenAiChat, embeddings.clone()),
        (Format::OpenAiResponses, embeddings.clone()),
        (Format::OpenAiResponses, json!({"model": "m", "input": ["one", "two"]})),
        (Format::Anthropic, embeddings.clone()),
        (Format::Gemini, json!({"content": {"parts": [{"text": "embed me"}]}})),
        (Format::OpenAiChat, json!({"messages": ["not an object"]})),
        (Format::OpenAiChat, json!([{"messages": []}])),
        (Format::OpenAiChat, json!(null)),
    ] {
        let sent = stack(format).assemble(body.clone(), Context::default()).await;
        assert_eq!(sent.to_string(), body.to_string(), "{format}");
    }
}

#[tokio::test]
async fn an_empty_suffix_and_raw_switched_off_are_a_conversation() {
    let body = json!({"prompt": "hi", "raw": false, "suffix": ""});
    let sent = stack(Format::OllamaGenerate).assemble(body, Context::default()).await;
    assert_eq!(sent, json!({"prompt": behind("hi", "1\nSTEP"), "raw": false, "suffix": "", "system": "BASE"}));
}

/// JSON in which the words that wires look for come often.
fn value() -> impl Strategy<Value = Value> {
    const WORDS: [&str; 44] = [
        "messages",
        "input",
        "contents",
        "parts",
        "content",
        "role",
        "user",
        "assistant",
        "model",
        "tool",
        "system",
        "developer",
        "type",
        "text",
        "message",
        "tool_use",
        "tool_result",
        "tool_use_id",
        "tool_calls",
        "tool_call_id",
        "function",
        "name",
        "arguments",
        "args",
        "functionCall",
        "functionResponse",
        "function_call",
        "function_call_output",
        "call_id",
        "id",
        "prompt",
        "raw",
        "suffix",
        "images",
        "context",
        "instructions",
        "systemInstruction",
        "system_instruction",
        "cachedContent",
        "previous_response_id",
        "conversation",
        "thinking",
        "",
        "<context origin=\"host\">\n1\n</context>",
    ];
    let word = prop::sample::select(&WORDS[..]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        let fields = prop::collection::vec((word.clone(), inner.clone()), 0..6);
        let object = fields.prop_map(|fields| Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()));
        prop_oneof![prop::collection::vec(inner, 0..6).prop_map(Value::from), object.clone(), object]
    })
}

/// A body whose conversation may be anything.
fn request() -> impl Strategy<Value = Value> {
    let list = prop::collection::vec(value(), 0..6).prop_map(Value::from);
    let objects = prop::collection::vec(value().prop_filter("an object", Value::is_object), 0..6).prop_map(Value::from);
    let field = prop::sample::select(&["messages", "input", "contents", "prompt"][..]);
    let with_list = (value(), field, prop_oneof![list, objects, value()]).prop_map(|(body, field, list)| {
        let mut fields = if let Value::Object(fields) = body { fields } else { Map::new() };
        fields.insert(field.to_owned(), list);
        Value::Object(fields)
    });
    prop_oneof![1 => value(), 4 => with_list]
}

proptest! {
    #[test]
    fn no_json_makes_a_wire_panic_and_what_is_foreign_comes_out_as_it_went_in(body in request()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for format in Format::ALL {
            let session = Session::new();
            let context = Context::default().session(session.clone());
            let sent = runtime.block_on(stack(format).assemble(body.clone(), context.clone()));
            if format.read(&body).is_foreign {
                prop_assert_eq!(sent.to_string(), body.to_string());
                continue;
            }
            let again = runtime.block_on(stack(format).assemble(sent.clone(), context));
            prop_assert_eq!(again, sent, "{}, assembled again", format);
        }
    }
}

/// Whether a text of the request holds this one.
fn holds(request: &Value, text: &str) -> bool {
    match request {
        Value::String(sent) => sent.contains(text),
        Value::Array(items) => items.iter().any(|item| holds(item, text)),
        Value::Object(fields) => fields.values().any(|value| holds(value, text)),
        _ => false,
    }
}

#[tokio::test]
async fn content_that_is_none_is_the_callers_all_the_same() {
    let layer = |turn: &Turn, prompt: &mut Prompt| {
        let count = turn.conversation.messages.len();
        prompt.add(Tier::Stable, || Fragment::new("base", "BASE"));
        prompt.add(Tier::Turn, || Fragment::new("count", format!("{count} messages")));
        prompt.add(Tier::Step, || Fragment::new("step", format!("step {count}")));
    };
    for content in [
        json!({"name": "KEEP"}),
        json!({"type": "text", "text": "KEEP"}),
        json!({"text": {"a": "KEEP"}}),
        json!({"type": "tool_result", "tool_use_id": "c", "content": "KEEP"}),
        json!({"functionResponse": {"name": "f", "response": {"a": "KEEP"}}}),
        json!(7),
        json!(true),
    ] {
        let bodies = [
            json!({"model": "m", "messages": [{"role": "user", "content": content}]}),
            json!({"model": "m", "messages": [{"role": "system", "content": content}, user("hi")]}),
            json!({"model": "m", "messages": [user("hi"), calls("c"), {"role": "tool", "tool_call_id": "c", "content": content}]}),
            json!({"model": "m", "system": content, "messages": [user("hi")]}),
            json!({"model": "m", "input": [{"role": "user", "content": content}]}),
            json!({"model": "m", "instructions": content, "input": "hi"}),
            json!({"model": "m", "prompt": content}),
            json!({"model": "m", "system": content, "prompt": "hi"}),
            json!({"systemInstruction": content, "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}),
            json!({"contents": [{"role": "user", "parts": content}]}),
            json!({"contents": [{"role": "user", "parts": [content]}]}),
        ];
        for (format, body) in Format::ALL.into_iter().flat_map(|format| bodies.iter().map(move |body| (format, body))) {
            let stack = PromptStack::new(format, Settings::default()).with(layer);
            let session = Session::new();
            let report = Report::default();
            let context = || Context::default().session(session.clone()).report(report.clone());
            let sent = stack.assemble(body.clone(), context()).await;
            let kept = |request: &Value| request.to_string().matches("KEEP").count();
            assert_eq!(kept(&sent), kept(body), "{format}: {body} became {sent}");
            assert_eq!(stack.assemble(body.clone(), context()).await, sent, "{format}: a retry of {body}");
            assert_eq!(stack.assemble(sent.clone(), context()).await, sent, "{format}: assembled twice, {body}");
            for text in report.manifest().iter().flat_map(|manifest| &manifest.texts) {
                assert!(holds(&sent, &text.text), "{format}: {} is not in {sent}", text.text);
            }
        }
    }
}
