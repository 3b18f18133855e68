//! OpenAI Chat Completions, and the many servers that speak it.
//!
//! | what | where |
//! | --- | --- |
//! | system prompt | one `system` message at the front (`developer`, if the caller uses it), ahead of the caller's own words |
//! | text at a user message | behind its content: a string stays a string, a list gets a text part |
//! | text in a tool round | a user message behind the last `tool` message |

use super::json::{self, PartKind, Parts};
use super::{Conversation, Edits, Format, Message, Role, Spot, Wire, tools};
use serde_json::{Value, json};

/// OpenAI Chat Completions.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct OpenAiChat;

const PARTS: Parts = Parts { kind: Some("text") };

fn kind(part: &Value) -> PartKind {
    match json::text(part, "type") {
        "text" => PartKind::Text,
        "thinking" | "redacted_thinking" | "reasoning" => PartKind::NotSeen,
        _ => PartKind::Media,
    }
}

/// What a tool is defined by: a function, or a custom tool.
fn definition(tool: &Value) -> Option<&Value> {
    json::field(tool, "function").or_else(|| json::field(tool, "custom"))
}
fn definition_mut(tool: &mut Value) -> Option<&mut Value> {
    let field = if json::field(tool, "function").is_some() { "function" } else { "custom" };
    json::field_mut(tool, field)
}

impl Wire<Value> for OpenAiChat {
    fn read(&self, request: &Value) -> Conversation {
        if !json::is_list_of_objects(request, "messages") {
            return Conversation::foreign();
        }
        let speaks_as_developer = json::list(request, "messages").iter().any(|message| json::text(message, "role") == "developer");
        let tools = json::described(json::list(request, "tools").iter().filter_map(definition).chain(json::list(request, "functions")));
        let (model, system, tool_names) = (json::model(request), json::leading_system(request), tools::names(request));
        let mut conversation = Conversation { speaks_as_developer, system, model, tools, tool_names, ..Conversation::default() };
        conversation.messages.reserve(json::list(request, "messages").len());
        for (at, message) in json::list(request, "messages").iter().enumerate().filter(|(_, message)| !json::is_system(message)) {
            match json::text(message, "role") {
                role @ ("tool" | "function") => {
                    if role == "tool" {
                        conversation.push_result_of_id(at, Spot::NewMessage, json::text(message, "tool_call_id"));
                    } else {
                        conversation.push_result_of_name(at, Spot::NewMessage, json::text(message, "name"));
                    }
                    json::measure_result(&mut conversation, json::field(message, "content"));
                }
                "assistant" => {
                    let mut read = json::message(at, Role::Assistant, json::field(message, "content"), kind);
                    let function = |read: &mut Message, call: &Value, id: &str| {
                        json::push_function_call(read, at, id, json::text(call, "name"), json::field(call, "arguments"));
                    };
                    for call in json::list(message, "tool_calls") {
                        let body = json::field(call, "function").or_else(|| json::field(call, "custom")).unwrap_or(&Value::Null);
                        match json::field(body, "input") {
                            Some(input) => read.calls.push(json::call(json::text(call, "id"), json::text(body, "name"), Some(input))),
                            None => function(&mut read, body, json::text(call, "id")),
                        }
                    }
                    if let Some(call) = json::field(message, "function_call").filter(|call| call.is_object()) {
                        function(&mut read, call, "");
                    }
                    conversation.messages.push(read);
                }
                _ => conversation.messages.push(json::message(at, Role::User, json::field(message, "content"), kind)),
            }
        }
        conversation
    }

    fn write(&self, mut request: Value, edits: &Edits) -> Value {
        tools::add(&mut request, &edits.tools, Format::OpenAiChat);
        json::describe(json::list_mut(&mut request, "tools").iter_mut().filter_map(definition_mut), edits);
        json::describe(json::list_mut(&mut request, "functions").iter_mut(), edits);
        let edit = |message: &mut Value, at: usize| {
            match json::text(message, "role") {
                "tool" | "function" => json::cut_result(message, "content", edits),
                "assistant" if edits.tool_output.is_some() => {
                    let calls = json::list_mut(message, "tool_calls").iter_mut().filter_map(|call| json::field_mut(call, "function"));
                    calls.for_each(|call| json::cut_arguments(call, edits));
                    if let Some(call) = json::field_mut(message, "function_call") {
                        json::cut_arguments(call, edits);
                    }
                }
                _ => {}
            }
            if !edits.leaves(at) {
                PARTS.edit(json::field_or_null(message, "content"), at, edits, true);
            }
        };
        json::write_messages(&mut request, edits, &PARTS, edit, |text| json!({"role": "user", "content": text}));
        if let Some(marks) = &edits.cache {
            marks.set_key(&mut request);
        }
        request
    }
}
