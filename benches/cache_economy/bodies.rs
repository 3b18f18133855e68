//! How each API writes the conversation, and how a provider reads a body: blocks in the order in which they are hashed.

use crate::script::Message;
use serde_json::{Value, json};
use tower_prompt::layers::wire::Format;

/// A piece of a request that is cached or not.
#[derive(Clone, PartialEq)]
pub(crate) struct Block {
    pub(crate) text: String,
    pub(crate) is_marked: bool,
}

const OWN_SYSTEM: &str =
    "You work in the editor of a company that writes compilers. Answer in the user's language, and name the files you changed.";

fn tools() -> Vec<(String, String, Value)> {
    let tool = |n: usize| {
        let about =
            "Reads or changes files of the workspace; the path is relative to its root, and what it prints is cut where it is long.";
        let fields =
            json!({"type": "object", "properties": {"path": {"type": "string", "description": about}, "line": {"type": "integer"}}});
        (format!("tool_{n}"), about.repeat(4), fields)
    };
    (0..12).map(tool).collect()
}

fn arguments(call: usize) -> Value {
    json!({"path": format!("src/module_{}/mod.rs", call % 12), "line": call})
}

pub(crate) fn body(format: Format, messages: &[Message]) -> Value {
    let function = |(name, about, fields): (String, String, Value)| json!({"name": name, "description": about, "parameters": fields});
    let functions = || tools().into_iter().map(function);
    match format {
        Format::Anthropic => {
            let tool = |(name, about, fields): (String, String, Value)| json!({"name": name, "description": about, "input_schema": fields});
            let tools: Vec<Value> = tools().into_iter().map(tool).collect();
            let messages: Vec<Value> = messages.iter().map(anthropic).collect();
            json!({"model": "claude-sonnet-4-5", "tools": tools, "system": OWN_SYSTEM, "messages": messages})
        }
        Format::Gemini => {
            let contents: Vec<Value> = messages.iter().map(gemini).collect();
            let declarations: Vec<Value> = functions().collect();
            let system = json!({"parts": [{"text": OWN_SYSTEM}]});
            json!({"tools": [{"functionDeclarations": declarations}], "systemInstruction": system, "contents": contents})
        }
        Format::OpenAiResponses => {
            let tools: Vec<Value> = functions()
                .map(|mut tool| {
                    tool["type"] = "function".into();
                    tool
                })
                .collect();
            let input: Vec<Value> = messages.iter().flat_map(responses).collect();
            json!({"model": "gpt-5", "tools": tools, "instructions": OWN_SYSTEM, "input": input})
        }
        _ => {
            let tools: Vec<Value> = functions().map(|function| json!({"type": "function", "function": function})).collect();
            let system = json!({"role": "system", "content": OWN_SYSTEM});
            let messages: Vec<Value> = [system].into_iter().chain(messages.iter().flat_map(|message| chat(format, message))).collect();
            json!({"model": "gpt-5", "tools": tools, "messages": messages})
        }
    }
}

fn anthropic(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Answer { text, calls } => {
            let calls =
                calls.iter().map(|call| json!({"type": "tool_use", "id": format!("c{call}"), "name": "tool_1", "input": arguments(*call)}));
            let blocks: Vec<Value> = [json!({"type": "text", "text": text})].into_iter().chain(calls).collect();
            json!({"role": "assistant", "content": blocks})
        }
        Message::Results(results) => {
            let result =
                |(call, text): &(usize, String)| json!({"type": "tool_result", "tool_use_id": format!("c{call}"), "content": text});
            json!({"role": "user", "content": results.iter().map(result).collect::<Vec<_>>()})
        }
    }
}

fn gemini(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "parts": [{"text": text}]}),
        Message::Answer { text, calls } => {
            let calls = calls.iter().map(|call| json!({"functionCall": {"name": "tool_1", "args": arguments(*call)}}));
            let parts: Vec<Value> = [json!({"text": text})].into_iter().chain(calls).collect();
            json!({"role": "model", "parts": parts})
        }
        Message::Results(results) => {
            let result = |(_, text): &(usize, String)| json!({"functionResponse": {"name": "tool_1", "response": {"output": text}}});
            json!({"role": "user", "parts": results.iter().map(result).collect::<Vec<_>>()})
        }
    }
}

fn responses(message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => vec![json!({"role": "user", "content": text})],
        Message::Answer { text, calls } => {
            let call = |call: &usize| json!({"type": "function_call", "call_id": format!("c{call}"), "name": "tool_1", "arguments": arguments(*call).to_string()});
            [json!({"role": "assistant", "content": text})].into_iter().chain(calls.iter().map(call)).collect()
        }
        Message::Results(results) => {
            let result =
                |(call, text): &(usize, String)| json!({"type": "function_call_output", "call_id": format!("c{call}"), "output": text});
            results.iter().map(result).collect()
        }
    }
}

fn chat(format: Format, message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => vec![json!({"role": "user", "content": text})],
        Message::Answer { text, calls } => {
            let call = |call: &usize| {
                let arguments = arguments(*call);
                let arguments = if format == Format::Ollama { arguments } else { arguments.to_string().into() };
                json!({"id": format!("c{call}"), "type": "function", "function": {"name": "tool_1", "arguments": arguments}})
            };
            let mut answer = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                answer["tool_calls"] = calls.iter().map(call).collect();
            }
            vec![answer]
        }
        Message::Results(results) => {
            let result = |(call, text): &(usize, String)| json!({"role": "tool", "tool_call_id": format!("c{call}"), "content": text});
            results.iter().map(result).collect()
        }
    }
}

/// Tools, then the system prompt, then the messages.
pub(crate) fn blocks(body: &Value) -> Vec<Block> {
    let mut all = Vec::new();
    all.extend(body["tools"].as_array().into_iter().flatten().map(|tool| Block { text: tool.to_string(), is_marked: false }));
    for system in [&body["instructions"], &body["system"], &body["systemInstruction"]["parts"]] {
        push("system", system, &mut all);
    }
    for list in ["messages", "input", "contents"] {
        for message in body[list].as_array().into_iter().flatten() {
            let role = message["role"].as_str().or(message["type"].as_str()).unwrap_or_default();
            push(role, &message["content"], &mut all);
            push(role, &message["parts"], &mut all);
            for field in ["tool_calls", "arguments", "output"] {
                push(role, &message[field], &mut all);
            }
        }
    }
    all
}

fn push(role: &str, content: &Value, all: &mut Vec<Block>) {
    let text = |text: &str| format!("{role}: {text}");
    match content {
        Value::Null => {}
        Value::Array(parts) => all.extend(parts.iter().map(|part| {
            let is_marked = part.get("cache_control").is_some();
            let mut part = part.clone();
            if let Some(fields) = part.as_object_mut() {
                fields.shift_remove("cache_control");
            }
            let text = part["text"].as_str().map_or_else(|| text(&part.to_string()), text);
            Block { text, is_marked }
        })),
        Value::String(string) => all.push(Block { text: text(string), is_marked: false }),
        other => all.push(Block { text: text(&other.to_string()), is_marked: false }),
    }
}

/// What the facts alone would be, without what our blocks stand in.
pub(crate) fn facts_alone(mut blocks: Vec<Block>) -> Vec<Block> {
    for block in &mut blocks {
        if block.text.contains("<context origin=\"") {
            let is_frame = |line: &&str| line.starts_with("</context>") || line.contains("<context origin=\"");
            block.text = block.text.lines().filter(|line| !is_frame(line)).collect::<Vec<_>>().join("\n");
        }
    }
    blocks
}
