//! How each API writes a conversation, and what stands in a body in the end.

use serde_json::{Value, json};
use tower_prompt::layers::wire::Format;

/// A message of the caller's history.
#[derive(Clone, Debug)]
pub(super) enum Message {
    User(String),
    Assistant(String),
    Call(usize),
    Result(usize, String),
}

/// Formats that carry a whole conversation; Ollama's `generate` has one prompt alone.
pub(super) const CONVERSATIONS: [Format; 5] =
    [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic, Format::Gemini, Format::Ollama];

pub(super) fn body(format: Format, messages: &[Message]) -> Value {
    let all = |write: fn(&Message) -> Value| messages.iter().map(write).collect::<Vec<_>>();
    match format {
        Format::OpenAiResponses => json!({"model": "m", "input": all(responses)}),
        Format::Anthropic => json!({"model": "m", "max_tokens": 9, "messages": all(anthropic)}),
        Format::Gemini => json!({"contents": all(gemini)}),
        Format::Ollama => json!({"model": "m", "messages": all(ollama)}),
        Format::OllamaGenerate => {
            let newest = messages.iter().rev().find_map(|message| if let Message::User(text) = message { Some(text) } else { None });
            json!({"model": "m", "prompt": newest})
        }
        _ => json!({"model": "m", "messages": all(chat)}),
    }
}

fn chat(message: &Message) -> Value {
    let call = |n: &usize| json!({"id": format!("c{n}"), "type": "function", "function": {"name": "ls", "arguments": "{}"}});
    match message {
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant(text) => json!({"role": "assistant", "content": text}),
        Message::Call(n) => json!({"role": "assistant", "content": null, "tool_calls": [call(n)]}),
        Message::Result(n, text) => json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": text}),
    }
}

fn ollama(message: &Message) -> Value {
    match message {
        Message::Call(_) => json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "ls", "arguments": {}}}]}),
        Message::Result(_, text) => json!({"role": "tool", "tool_name": "ls", "content": text}),
        other => chat(other),
    }
}

fn responses(message: &Message) -> Value {
    match message {
        Message::Call(n) => json!({"type": "function_call", "call_id": format!("c{n}"), "name": "ls", "arguments": "{}"}),
        Message::Result(n, text) => json!({"type": "function_call_output", "call_id": format!("c{n}"), "output": text}),
        other => chat(other),
    }
}

fn anthropic(message: &Message) -> Value {
    match message {
        Message::Call(n) => {
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": format!("c{n}"), "name": "ls", "input": {}}]})
        }
        Message::Result(n, text) => {
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("c{n}"), "content": text}]})
        }
        other => chat(other),
    }
}

fn gemini(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "parts": [{"text": text}]}),
        Message::Assistant(text) => json!({"role": "model", "parts": [{"text": text}]}),
        Message::Call(_) => json!({"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {}}}]}),
        Message::Result(_, text) => {
            json!({"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"output": text}}}]})
        }
    }
}

/// What a provider's cache goes by, in its order: the system prompt, then each message. Marks are left out, and a string is the one part that it is.
pub(super) fn prefix(sent: &Value) -> Vec<Value> {
    let mut sent = sent.clone();
    without_marks(&mut sent);
    let system: Vec<Value> = ["system", "instructions", "systemInstruction"].map(|field| sent[field].clone()).into();
    let lists = ["messages", "input", "contents"].iter().filter_map(|field| sent[*field].as_array());
    system.into_iter().chain(lists.flatten().cloned()).collect()
}

fn without_marks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            if let Some(text) = fields.get("content").and_then(Value::as_str).filter(|_| fields.contains_key("role")) {
                let part = json!([{"type": "text", "text": text}]);
                fields.insert("content".to_owned(), part);
            }
            fields.values_mut().for_each(without_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(without_marks),
        _ => {}
    }
}

/// All texts in a body, joined.
pub(super) fn all_text(sent: &Value) -> String {
    match sent {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(all_text).collect(),
        Value::Object(fields) => fields.values().map(all_text).collect(),
        _ => String::new(),
    }
}

/// The texts of tool results.
pub(super) fn results(sent: &Value) -> Vec<&str> {
    let items = ["messages", "input", "contents"].iter().filter_map(|field| sent[*field].as_array()).flatten();
    let mut texts = Vec::new();
    for item in items {
        let parts = ["content", "parts"].iter().filter_map(|field| item[*field].as_array()).flatten();
        texts.extend(parts.filter_map(|part| {
            let is_result = part["type"] == "tool_result";
            part["functionResponse"]["response"]["output"].as_str().or_else(|| part["content"].as_str().filter(|_| is_result))
        }));
        texts.extend(item["output"].as_str().or_else(|| item["content"].as_str().filter(|_| item["role"] == "tool")));
    }
    texts
}
