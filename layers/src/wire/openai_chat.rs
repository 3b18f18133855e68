//! OpenAI Chat Completions, and the many servers that speak it.
//!
//! | what | where |
//! | --- | --- |
//! | system prompt | one `system` message at the front (`developer`, if the caller uses it), ahead of the caller's own words |
//! | text at a user message | behind its content: a string stays a string, a list gets a text part |
//! | text in a tool round | a user message behind the last `tool` message |

use super::json::{self, PartKind, Parts};
use super::{Conversation, Edits, Role, Spot, Wire};
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

impl Wire<Value> for OpenAiChat {
    fn read(&self, request: &Value) -> Conversation {
        if !json::is_list_of_objects(request, "messages") {
            return Conversation::foreign();
        }
        let speaks_as_developer = json::list(request, "messages").iter().any(|message| json::text(message, "role") == "developer");
        let mut conversation = Conversation { model: json::model(request), speaks_as_developer, ..Conversation::default() };
        for (at, message) in json::list(request, "messages").iter().enumerate().filter(|(_, message)| !json::is_system(message)) {
            match json::text(message, "role") {
                "tool" => conversation.push_result_of_id(at, Spot::NewMessage, json::text(message, "tool_call_id")),
                "function" => conversation.push_result_of_name(at, Spot::NewMessage, json::text(message, "name")),
                "assistant" => {
                    let mut read = json::message(at, Role::Assistant, message.get("content"), kind);
                    let function = |call: &Value, id: &str| json::call(id, json::text(call, "name"), call.get("arguments"));
                    for call in json::list(message, "tool_calls") {
                        let body = call.get("function").or_else(|| call.get("custom")).unwrap_or(&Value::Null);
                        read.calls.push(match body.get("input") {
                            Some(input) => json::call(json::text(call, "id"), json::text(body, "name"), Some(input)),
                            None => function(body, json::text(call, "id")),
                        });
                    }
                    read.calls.extend(message.get("function_call").filter(|call| call.is_object()).map(|call| function(call, "")));
                    conversation.messages.push(read);
                }
                _ => conversation.messages.push(json::message(at, Role::User, message.get("content"), kind)),
            }
        }
        conversation
    }

    fn write(&self, mut request: Value, edits: &Edits) -> Value {
        let edit = |message: &mut Value, at: usize| {
            if !edits.leaves(at) {
                PARTS.edit(&mut message["content"], at, edits, true);
            }
        };
        json::write_messages(&mut request, edits, &PARTS, edit, |text| json!({"role": "user", "content": text}));
        request
    }
}
