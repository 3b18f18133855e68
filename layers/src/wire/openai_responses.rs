//! OpenAI Responses.
//!
//! | what | where |
//! | --- | --- |
//! | system prompt | `instructions`, ahead of the caller's own words |
//! | text at a user message | an `input_text` part in the last message item; a string `input` becomes one |
//! | text in a tool round | a user message item behind the outputs |
//!
//! With `previous_response_id` or a `conversation` the provider holds the history: `instructions` are sent each time, and of the conversation only
//! what is new.

use super::json::{self, PartKind, Parts};
use super::{Conversation, Edits, Format, HeldHistory, Message, Part, Removal, Role, Spot, Wire, tools};
use serde_json::{Value, json};
use std::mem;

/// OpenAI Responses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct OpenAiResponses;

const PARTS: Parts = Parts { kind: Some("input_text") };

fn kind(part: &Value) -> PartKind {
    match json::text(part, "type") {
        "input_text" | "output_text" | "text" => PartKind::Text,
        _ => PartKind::Media,
    }
}

/// An item's kind; one with a role is a message, whether it says so or not.
fn item_kind(item: &Value) -> &str {
    match json::text(item, "type") {
        "" if json::field(item, "role").is_some() => "message",
        kind => kind,
    }
}

fn message_item(parts: &Value) -> Value {
    json!({"type": "message", "role": "user", "content": parts})
}

/// The caller's own tool: those of the provider have no description to change.
fn is_the_callers(tool: &Value) -> bool {
    matches!(json::text(tool, "type"), "function" | "custom")
}

fn held_by_provider(request: &Value) -> Option<HeldHistory> {
    if let Some(response) = json::field(request, "previous_response_id").and_then(Value::as_str) {
        return Some(HeldHistory::Fixed(response.to_owned()));
    }
    let conversation = json::field(request, "conversation")?;
    let name = conversation.as_str().or_else(|| json::field(conversation, "id")?.as_str())?;
    Some(HeldHistory::Growing(name.to_owned()))
}

impl Wire<Value> for OpenAiResponses {
    fn read(&self, request: &Value) -> Conversation {
        if !json::is_text_or_nothing(request, "instructions") {
            return Conversation::foreign();
        }
        let mut conversation = Conversation {
            model: json::model(request),
            system: json::system(json::field(request, "instructions")),
            held_by_provider: held_by_provider(request),
            tools: json::described(json::list(request, "tools").iter().filter(|tool| is_the_callers(tool))),
            tool_names: tools::names(request),
            // A stored prompt may bring its own, which a list here would replace.
            takes_no_tools: json::field(request, "prompt").is_some_and(Value::is_object)
                && json::field(request, "tools").is_none_or(Value::is_null),
            ..Conversation::default()
        };
        match json::field(request, "input") {
            Some(Value::String(text)) => {
                let texts = vec![Part { index: 0, text: text.clone() }];
                conversation.messages.push(Message { is_string: true, texts, ..Message::default() });
                return conversation;
            }
            Some(Value::Array(items)) if items.iter().all(Value::is_object) => {}
            // A stored prompt may bring its own input.
            None | Some(Value::Null) if json::field(request, "prompt").is_some() => return conversation,
            _ => return Conversation::foreign(),
        }
        for (at, item) in json::list(request, "input").iter().enumerate() {
            match item_kind(item) {
                "message" if json::is_system(item) => {}
                "message" if json::text(item, "role") == "assistant" => {
                    let read = json::message(at, Role::Assistant, json::field(item, "content"), kind);
                    let message = conversation.assistant(at);
                    message.texts.extend(read.texts);
                    message.media.extend(read.media);
                }
                "message" => conversation.messages.push(json::message(at, Role::User, json::field(item, "content"), kind)),
                "reasoning" | "item_reference" => {}
                kind if kind.ends_with("_call_output") => {
                    conversation.push_result_of_id(at, Spot::NewMessage, json::text(item, "call_id"));
                    json::measure_result(&mut conversation, json::field(item, "output"));
                }
                "function_call" => {
                    let (id, name) = (json::text(item, "call_id"), json::text(item, "name"));
                    json::push_function_call(conversation.assistant(at), at, id, name, json::field(item, "arguments"));
                }
                "custom_tool_call" => {
                    let call = json::call(json::text(item, "call_id"), json::text(item, "name"), json::field(item, "input"));
                    conversation.assistant(at).calls.push(call);
                }
                kind if kind.ends_with("_call") => {
                    let arguments = json::field(item, "action").or_else(|| json::field(item, "arguments"));
                    let call = json::call(json::text(item, "call_id"), kind, arguments);
                    conversation.assistant(at).calls.push(call);
                }
                _ => {}
            }
        }
        conversation
    }

    fn write(&self, mut request: Value, edits: &Edits) -> Value {
        if let Some(system) = &edits.system {
            let callers = json::field(&request, "instructions").and_then(Value::as_str).unwrap_or_default();
            let instructions = system.in_front_of(callers);
            if instructions != callers {
                request["instructions"] = instructions.into();
            }
        }
        tools::add(&mut request, &edits.tools, Format::OpenAiResponses);
        json::describe(json::list_mut(&mut request, "tools").iter_mut().filter(|tool| is_the_callers(tool)), edits);
        match json::field_mut(&mut request, "input") {
            Some(input @ Value::String(_)) if !edits.leaves(0) => {
                let mut content = input.take();
                PARTS.edit(&mut content, 0, edits, false);
                *input = if content.is_array() { json!([message_item(&content)]) } else { content };
            }
            Some(Value::Array(items)) => {
                let old = mem::take(items);
                items.reserve(old.len() + 1);
                for (at, mut item) in old.into_iter().enumerate() {
                    match item_kind(&item) {
                        kind if kind.ends_with("_call_output") => json::cut_result(&mut item, "output", edits),
                        "function_call" => json::cut_arguments(&mut item, edits),
                        _ => {}
                    }
                    if edits.leaves(at) {
                        items.push(item);
                        continue;
                    }
                    if !edits.removals_at(at).iter().any(|removal| matches!(removal, Removal::Message { .. })) {
                        if item_kind(&item) == "message" {
                            PARTS.edit(json::field_or_null(&mut item, "content"), at, edits, false);
                        }
                        items.push(item);
                    }
                    let behind = edits.appends_at(at).iter().filter(|append| append.spot == Spot::NewMessage);
                    items.extend(behind.map(|append| message_item(&json!([PARTS.text(&append.text)]))));
                }
            }
            _ => {}
        }
        if let Some(marks) = &edits.cache {
            marks.set_key(&mut request);
        }
        request
    }
}
