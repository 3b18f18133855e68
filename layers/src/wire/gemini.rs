//! Gemini generateContent.
//!
//! | what | where |
//! | --- | --- |
//! | system prompt | `systemInstruction.parts`, as the first part |
//! | text at a user message | a part behind its content |
//! | text in a tool round | waits for the user's next text: parts beside a `functionResponse` are refused now and then |
//!
//! Fields are read in both spellings of the API (`systemInstruction`, `system_instruction`). With `cachedContent` no system text is added, since that
//! request would be refused.

use super::json::{self, PartKind, Parts};
use super::{Conversation, Edits, Format, HeldHistory, Role, Spot, Wire, tools};
use serde_json::{Value, json};

/// Gemini generateContent.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Gemini;

const PARTS: Parts = Parts { kind: None };

/// A field in either spelling.
fn either<'a>(value: &'a Value, camel: &str, snake: &str) -> Option<&'a Value> {
    json::field(value, camel).or_else(|| json::field(value, snake))
}
fn function_call(part: &Value) -> Option<&Value> {
    either(part, "functionCall", "function_call")
}
fn function_response(part: &Value) -> Option<&Value> {
    either(part, "functionResponse", "function_response")
}

fn function_response_mut(part: &mut Value) -> Option<&mut Value> {
    let field = if json::field(part, "functionResponse").is_some() { "functionResponse" } else { "function_response" };
    json::field_mut(part, field)
}
/// The functions that a tool declares.
fn declarations(tool: &Value) -> &[Value] {
    either(tool, "functionDeclarations", "function_declarations").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
fn declarations_mut(tool: &mut Value) -> &mut [Value] {
    let field = if json::field(tool, "functionDeclarations").is_some() { "functionDeclarations" } else { "function_declarations" };
    json::list_mut(tool, field)
}

/// Whether functions may be declared. Beside the provider's own tools, and where the answer is to be JSON, some models refuse them.
fn takes_functions(request: &Value) -> bool {
    let tools = json::list(request, "tools");
    let config = either(request, "generationConfig", "generation_config").unwrap_or(&Value::Null);
    let answers_in_json = either(config, "responseMimeType", "response_mime_type").is_some_and(|kind| kind != "text/plain");
    tools.iter().any(|tool| !declarations(tool).is_empty()) || (tools.is_empty() && !answers_in_json)
}

fn kind(part: &Value) -> PartKind {
    let is_thought = json::field(part, "thought").and_then(Value::as_bool).unwrap_or_default();
    if is_thought || function_call(part).is_some() || function_response(part).is_some() {
        PartKind::NotSeen
    } else if json::field(part, "text").is_some() {
        PartKind::Text
    } else {
        PartKind::Media
    }
}

impl Wire<Value> for Gemini {
    fn read(&self, request: &Value) -> Conversation {
        if !json::is_list_of_objects(request, "contents") {
            return Conversation::foreign();
        }
        let cached = either(request, "cachedContent", "cached_content").and_then(Value::as_str);
        let mut conversation = Conversation {
            model: json::model(request),
            system: json::system(
                either(request, "systemInstruction", "system_instruction").map(|system| json::field(system, "parts").unwrap_or(system)),
            ),
            results_stand_alone: true,
            held_by_provider: cached.map(|name| HeldHistory::Fixed(name.to_owned())),
            system_is_held: cached.is_some(),
            tools: json::described(json::list(request, "tools").iter().flat_map(declarations)),
            tool_names: tools::names(request),
            takes_no_tools: cached.is_some() || !takes_functions(request),
            ..Conversation::default()
        };
        for (at, content) in json::list(request, "contents").iter().enumerate() {
            let parts = json::parts(content, "parts");
            if json::text(content, "role") == "model" {
                let mut read = json::message(at, Role::Assistant, json::field(content, "parts"), kind);
                let calls = parts.iter().filter_map(function_call);
                read.calls =
                    calls.map(|call| json::call(json::text(call, "id"), json::text(call, "name"), json::field(call, "args"))).collect();
                conversation.messages.push(read);
                continue;
            }
            for response in parts.iter().filter_map(function_response) {
                match json::text(response, "id") {
                    "" => conversation.push_result_of_name(at, Spot::Content, json::text(response, "name")),
                    id => conversation.push_result_of_id(at, Spot::Content, id),
                }
                json::measure_result(&mut conversation, json::field(response, "response"));
            }
            if parts.is_empty() || parts.iter().any(|part| function_response(part).is_none()) {
                conversation.messages.push(json::message(at, Role::User, json::field(content, "parts"), kind));
            }
        }
        conversation
    }

    fn write(&self, mut request: Value, edits: &Edits) -> Value {
        if let Some(system) = edits.system.as_ref().filter(|system| !system.is_nothing()) {
            let field = if json::field(&request, "system_instruction").is_some() { "system_instruction" } else { "systemInstruction" };
            let callers = json::field_mut(&mut request, field).map(Value::take).unwrap_or_default();
            let system = match callers {
                Value::Object(mut content) => {
                    let parts = content.get_mut("parts").map(Value::take).unwrap_or_default();
                    content.insert("parts".into(), PARTS.system(parts, system));
                    content.into()
                }
                // The API's clients let a bare string pass.
                text => json!({"parts": PARTS.system(text, system)}),
            };
            json::put_system(&mut request, field, system);
        }
        tools::add(&mut request, &edits.tools, Format::Gemini);
        json::describe(json::list_mut(&mut request, "tools").iter_mut().flat_map(declarations_mut), edits);
        if let Some(Value::Array(contents)) = json::field_mut(&mut request, "contents") {
            for (at, content) in contents.iter_mut().enumerate() {
                if edits.tool_output.is_some() {
                    let responses = json::parts_mut(content, "parts").iter_mut().filter_map(function_response_mut);
                    responses.for_each(|response| json::cut_result(response, "response", edits));
                }
                if edits.leaves(at) {
                    continue;
                }
                PARTS.edit(json::field_or_null(content, "parts"), at, edits, false);
            }
        }
        request
    }
}
