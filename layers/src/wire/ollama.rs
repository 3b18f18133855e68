//! Ollama's chat and generate.
//!
//! | what | where |
//! | --- | --- |
//! | system prompt | one `system` message at the front; `system` |
//! | text at a user message | behind its content; behind `prompt` |
//! | text in a tool round | a user message behind the last tool message |
//!
//! `raw` and `suffix` requests pass untouched: their prompt is no conversation.

use super::json::{self, PartKind, Parts};
use super::{Conversation, Edits, Format, HeldHistory, Message, Part, Removal, Role, Spot, Wire, tools};
use serde_json::{Value, json};

/// Ollama `/api/chat`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct OllamaChat;

/// Ollama `/api/generate`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct OllamaGenerate;

/// Who speaks these formats, and no other.
const PROVIDER: &str = "ollama";

/// Content is a string here; a list comes from clients of other formats.
const PARTS: Parts = Parts { kind: Some("text") };

fn images(holder: &Value) -> Vec<Part> {
    json::list(holder, "images").iter().map(|image| Part { index: 0, text: json::canonical(image) }).collect()
}

impl Wire<Value> for OllamaChat {
    fn read(&self, request: &Value) -> Conversation {
        // Without a message it loads or unloads the model.
        if !json::is_list_of_objects(request, "messages") || json::list(request, "messages").is_empty() {
            return Conversation::foreign();
        }
        let tools = json::described(json::list(request, "tools").iter().filter_map(|tool| json::field(tool, "function")));
        let (model, system, tool_names) = (json::model(request), json::leading_system(request), tools::names(request));
        let mut conversation = Conversation { model, system, provider: Some(PROVIDER), tools, tool_names, ..Conversation::default() };
        for (at, message) in json::list(request, "messages").iter().enumerate().filter(|(_, message)| !json::is_system(message)) {
            let kind = |part: &Value| if json::text(part, "type") == "text" { PartKind::Text } else { PartKind::Media };
            match json::text(message, "role") {
                "tool" => {
                    match json::text(message, "tool_call_id") {
                        "" => {
                            let name = json::field(message, "tool_name")
                                .or_else(|| json::field(message, "name"))
                                .and_then(Value::as_str)
                                .unwrap_or_default();
                            // Older clients name nothing: results come in the order of the calls.
                            conversation.push_result(at, Spot::NewMessage, |calls, before| {
                                let is_open = |n: &usize| !before.contains(&Some(*n)) && (name.is_empty() || calls[*n].name == name);
                                (0..calls.len()).find(is_open)
                            });
                        }
                        id => conversation.push_result_of_id(at, Spot::NewMessage, id),
                    }
                    json::measure_result(&mut conversation, json::field(message, "content"));
                }
                role => {
                    let role = if role == "assistant" { Role::Assistant } else { Role::User };
                    let mut read = json::message(at, role, json::field(message, "content"), kind);
                    read.media.extend(images(message));
                    for call in json::list(message, "tool_calls") {
                        let function = json::field(call, "function").unwrap_or(&Value::Null);
                        read.calls.push(json::call(
                            json::text(call, "id"),
                            json::text(function, "name"),
                            json::field(function, "arguments"),
                        ));
                    }
                    conversation.messages.push(read);
                }
            }
        }
        conversation
    }

    fn write(&self, mut request: Value, edits: &Edits) -> Value {
        tools::add(&mut request, &edits.tools, Format::Ollama);
        let functions = json::list_mut(&mut request, "tools").iter_mut().filter_map(|tool| json::field_mut(tool, "function"));
        json::describe(functions, edits);
        let edit = |message: &mut Value, at: usize| {
            if json::text(message, "role") == "tool" {
                json::cut_result(message, "content", edits);
            }
            if edits.leaves(at) {
                return;
            }
            let content = json::field_or_null(message, "content");
            if content.is_null() {
                *content = "".into();
            }
            PARTS.edit(content, at, edits, true);
        };
        json::write_messages(&mut request, edits, &PARTS, edit, |text| json!({"role": "user", "content": text}));
        request
    }
}

impl Wire<Value> for OllamaGenerate {
    fn read(&self, request: &Value) -> Conversation {
        let is_raw = json::field(request, "raw").and_then(Value::as_bool).unwrap_or_default();
        let has_suffix = !json::text(request, "suffix").is_empty();
        let Some(prompt) = json::field(request, "prompt")
            .and_then(Value::as_str)
            .filter(|prompt| !is_raw && !has_suffix && !prompt.is_empty() && json::is_text_or_nothing(request, "system"))
        else {
            return Conversation::foreign();
        };
        let held = json::field(request, "context").filter(|context| context.as_array().is_some_and(|tokens| !tokens.is_empty()));
        let texts = vec![Part { index: 0, text: prompt.to_owned() }];
        let message = Message { is_string: true, texts, media: images(request), ..Message::default() };
        Conversation {
            messages: vec![message],
            held_by_provider: held.map(|tokens| HeldHistory::Fixed(json::canonical(tokens))),
            model: json::model(request),
            system: json::system(json::field(request, "system")),
            provider: Some(PROVIDER),
            takes_no_tools: true,
            ..Conversation::default()
        }
    }

    fn write(&self, mut request: Value, edits: &Edits) -> Value {
        if let Some(system) = &edits.system {
            let callers = json::text(&request, "system");
            let text = system.in_front_of(callers);
            if text != callers {
                request["system"] = text.into();
            }
        }
        if let Some(Value::String(prompt)) = json::field_mut(&mut request, "prompt") {
            for removal in edits.removals_at(0) {
                if let Removal::Cut { keep, .. } = removal {
                    prompt.truncate(*keep);
                }
            }
            edits.appends_at(0).iter().for_each(|append| json::push_behind(prompt, append));
        }
        request
    }
}
