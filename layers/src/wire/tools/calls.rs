//! What a model calls, read from a response body of any format, and the results in the next request: for loops that answer calls themselves.

use super::super::Format;
use super::super::json::{list, text};
use serde_json::{Map, Value, json};
use std::fmt;

/// A call in a response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResponseCall {
    /// By which its result names it; empty in formats without ids.
    pub id: String,
    /// The tool.
    pub name: String,
    /// As the format has them: an object, or a text that should hold one.
    pub arguments: Value,
    /// A free text in place of arguments: OpenAI's custom tools.
    is_custom: bool,
}

/// The result of a call.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct ToolAnswer {
    /// What the model reads.
    pub text: String,
    /// The call came to nothing.
    pub is_error: bool,
}

impl ToolAnswer {
    /// The model reads this.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }
    /// The call came to nothing, for this reason.
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }
}

impl From<String> for ToolAnswer {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// Not each call has its answer: a provider would refuse the request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UnansweredCalls {
    /// How many calls there are.
    pub calls: usize,
    /// How many answers were given.
    pub answers: usize,
}

impl fmt::Display for UnansweredCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} calls have {} answers; each call wants one, in the order of the calls", self.calls, self.answers)
    }
}
impl std::error::Error for UnansweredCalls {}

/// The calls that a model makes in one response, in their order, and what it said with them.
///
/// ```
/// use serde_json::json;
/// use tower_prompt_layers::wire::{Format, ToolCalls};
///
/// let response = json!({"content": [{"type": "tool_use", "id": "1", "name": "clock", "input": {}}]});
/// let calls = ToolCalls::in_response(Format::Anthropic, &response);
/// assert_eq!(calls.iter().map(|call| &*call.name).collect::<Vec<_>>(), ["clock"]);
///
/// let mut request = json!({"messages": [{"role": "user", "content": "What time is it?"}]});
/// calls.append(&mut request, &["Noon.".to_owned().into()])?;
/// assert_eq!(request["messages"][2]["content"][0]["tool_use_id"], "1");
/// # Ok::<(), tower_prompt_layers::wire::UnansweredCalls>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct ToolCalls {
    format: Format,
    calls: Vec<ResponseCall>,
    /// The model's message, or its items, as a request holds them.
    said: Vec<Value>,
    response_id: Option<String>,
}

impl ToolCalls {
    /// Of a whole response body; none where it is no such body. Of several choices or candidates the first counts. Calls that the provider answers
    /// itself are not among them.
    pub fn in_response(format: Format, response: &Value) -> Self {
        let (said, calls) = match format {
            Format::OpenAiChat => list(response, "choices").first().map(|choice| openai_chat(&choice["message"])).unwrap_or_default(),
            Format::OpenAiResponses => openai_responses(list(response, "output")),
            Format::Anthropic => anthropic(list(response, "content")),
            Format::Gemini => list(response, "candidates").first().map(|candidate| gemini(&candidate["content"])).unwrap_or_default(),
            Format::Ollama => ollama(&response["message"]),
            Format::OllamaGenerate => Default::default(),
        };
        Self { format, calls, said, response_id: response.get("id").and_then(Value::as_str).map(str::to_owned) }
    }
    /// In the order in which the model makes them.
    pub fn iter(&self) -> std::slice::Iter<'_, ResponseCall> {
        self.calls.iter()
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.calls.len()
    }
    /// The model calls nothing: its turn is over.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
    /// Puts what the model said and the answers, one for each call in the order of the calls, behind the caller's own request. Where the provider holds
    /// the history, the answers alone are its new input.
    pub fn append(&self, request: &mut Value, answers: &[ToolAnswer]) -> Result<(), UnansweredCalls> {
        if answers.len() != self.calls.len() {
            return Err(UnansweredCalls { calls: self.calls.len(), answers: answers.len() });
        }
        let results: Vec<Value> = self.calls.iter().zip(answers).map(|(call, answer)| self.result(call, answer)).collect();
        match self.format {
            Format::OpenAiChat | Format::Ollama => push(request, "messages", self.said.iter().cloned().chain(results)),
            Format::Anthropic => push(request, "messages", self.said.iter().cloned().chain(of_user("content", results))),
            Format::Gemini => push(request, "contents", self.said.iter().cloned().chain(of_user("parts", results))),
            Format::OpenAiResponses => self.append_items(request, results),
            Format::OllamaGenerate => {}
        }
        Ok(())
    }

    fn result(&self, call: &ResponseCall, answer: &ToolAnswer) -> Value {
        let ResponseCall { id, name, .. } = call;
        let text = &*answer.text;
        match self.format {
            Format::OpenAiChat if id.is_empty() => json!({"role": "function", "name": name, "content": text}),
            Format::OpenAiChat => json!({"role": "tool", "tool_call_id": id, "content": text}),
            Format::OpenAiResponses => {
                let kind = if call.is_custom { "custom_tool_call_output" } else { "function_call_output" };
                json!({"type": kind, "call_id": id, "output": text})
            }
            Format::Anthropic if answer.is_error => json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": true}),
            Format::Anthropic => json!({"type": "tool_result", "tool_use_id": id, "content": text}),
            Format::Gemini => {
                let response = Map::from_iter([(if answer.is_error { "error" } else { "output" }.to_owned(), text.into())]);
                let mut result = json!({"name": name, "response": response});
                if !id.is_empty() {
                    result["id"] = id.as_str().into();
                }
                json!({"functionResponse": result})
            }
            Format::Ollama | Format::OllamaGenerate => {
                let mut result = json!({"role": "tool", "tool_name": name, "content": text});
                if !id.is_empty() {
                    result["tool_call_id"] = id.as_str().into();
                }
                result
            }
        }
    }

    fn append_items(&self, request: &mut Value, results: Vec<Value>) {
        let has = |field: &str| request.get(field).is_some_and(|value| !value.is_null());
        let (is_chained, is_held) = (has("previous_response_id"), has("conversation"));
        // What is not kept can't be referred to by its id.
        let is_kept = request.get("store").and_then(Value::as_bool).unwrap_or(true);
        let Some(fields) = request.as_object_mut() else { return };
        if is_chained && let Some(id) = &self.response_id {
            fields.insert("previous_response_id".into(), id.as_str().into());
            fields.insert("input".into(), results.into());
            return;
        }
        if is_held {
            fields.insert("input".into(), results.into());
            return;
        }
        let mut items = match fields.remove("input") {
            Some(Value::Array(items)) => items,
            Some(Value::String(text)) => vec![json!({"type": "message", "role": "user", "content": text})],
            _ => Vec::new(),
        };
        let is_readable = |item: &&Value| is_kept || text(item, "type") != "reasoning" || item.get("encrypted_content").is_some();
        items.extend(self.said.iter().filter(is_readable).cloned().map(|mut item| {
            if let Some(fields) = item.as_object_mut().filter(|_| !is_kept) {
                fields.shift_remove("id");
            }
            item
        }));
        items.extend(results);
        fields.insert("input".into(), items.into());
    }
}

impl<'a> IntoIterator for &'a ToolCalls {
    type Item = &'a ResponseCall;
    type IntoIter = std::slice::Iter<'a, ResponseCall>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

fn push(request: &mut Value, field: &str, messages: impl IntoIterator<Item = Value>) {
    let Some(fields) = request.as_object_mut() else { return };
    if let Some(all) = fields.entry(field).or_insert_with(|| json!([])).as_array_mut() {
        all.extend(messages);
    }
}
/// Results stand together in one message; of no result there is none.
fn of_user(field: &str, results: Vec<Value>) -> Option<Value> {
    (!results.is_empty()).then(|| Map::from_iter([("role".to_owned(), "user".into()), (field.to_owned(), results.into())]).into())
}

type Said = (Vec<Value>, Vec<ResponseCall>);

fn call(id: &str, name: &str, arguments: Option<&Value>) -> ResponseCall {
    ResponseCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.cloned().unwrap_or_default(), is_custom: false }
}

fn openai_chat(message: &Value) -> Said {
    let Some(fields) = message.as_object() else { return Said::default() };
    let mut calls: Vec<ResponseCall> = Vec::new();
    for tool_call in list(message, "tool_calls") {
        let id = text(tool_call, "id");
        if let Some(function) = tool_call.get("function") {
            calls.push(call(id, text(function, "name"), function.get("arguments")));
        } else if let Some(custom) = tool_call.get("custom") {
            calls.push(ResponseCall { is_custom: true, ..call(id, text(custom, "name"), custom.get("input")) });
        }
    }
    if let Some(function) = message.get("function_call").filter(|call| call.is_object()) {
        calls.push(call("", text(function, "name"), function.get("arguments")));
    }
    // Fields that responses alone have.
    let is_kept = |name: &str, value: &Value| name == "content" || !(value.is_null() || name == "annotations");
    let mut said: Map<String, Value> =
        fields.iter().filter(|(name, value)| is_kept(name, value)).map(|(name, value)| (name.clone(), value.clone())).collect();
    if let Some(audio) = said.get_mut("audio") {
        *audio = json!({"id": audio["id"]});
    }
    (vec![said.into()], calls)
}

fn openai_responses(output: &[Value]) -> Said {
    let calls = output.iter().filter_map(|item| {
        let (id, name) = (text(item, "call_id"), text(item, "name"));
        match text(item, "type") {
            "function_call" => Some(call(id, name, item.get("arguments"))),
            "custom_tool_call" => Some(ResponseCall { is_custom: true, ..call(id, name, item.get("input")) }),
            _ => None,
        }
    });
    (output.to_vec(), calls.collect())
}

fn anthropic(content: &[Value]) -> Said {
    let uses = content.iter().filter(|block| text(block, "type") == "tool_use");
    let calls = uses.map(|block| call(text(block, "id"), text(block, "name"), block.get("input"))).collect();
    if content.is_empty() { Said::default() } else { (vec![json!({"role": "assistant", "content": content})], calls) }
}

fn gemini(content: &Value) -> Said {
    let parts = list(content, "parts").iter();
    let called = parts.filter_map(|part| part.get("functionCall").or_else(|| part.get("function_call")));
    let calls = called.map(|called| call(text(called, "id"), text(called, "name"), called.get("args"))).collect();
    if content.is_object() { (vec![content.clone()], calls) } else { Said::default() }
}

fn ollama(message: &Value) -> Said {
    let calls = list(message, "tool_calls").iter().filter_map(|tool_call| {
        let function = tool_call.get("function")?;
        Some(call(text(tool_call, "id"), text(function, "name"), function.get("arguments")))
    });
    if message.is_object() { (vec![message.clone()], calls.collect()) } else { Said::default() }
}

#[cfg(test)]
mod tests;
