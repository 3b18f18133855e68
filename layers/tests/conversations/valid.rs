//! What each API asks of a body, as its documentation says: a request that breaks it is refused.

use serde_json::Value;
use tower_prompt_layers::wire::Format;

/// Results stand directly behind their calls, nothing of another's between; at most four marks, and none on a block that takes none.
pub(crate) fn is_valid(format: Format, body: &Value) -> Result<(), String> {
    let list = |field: &str| body[field].as_array().map(Vec::as_slice).unwrap_or_default();
    let fault = match format {
        Format::Anthropic => anthropic(list("messages")).or_else(|| marks(body)),
        Format::Gemini => gemini(list("contents")),
        Format::OpenAiResponses => responses(list("input")),
        _ => chat(list("messages")),
    };
    fault.map_or(Ok(()), |fault| Err(format!("{fault}: {body}")))
}

fn blocks<'a>(message: &'a Value, field: &str) -> &'a [Value] {
    message[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn anthropic(messages: &[Value]) -> Option<&'static str> {
    for (n, message) in messages.iter().enumerate() {
        let calls: Vec<&Value> = blocks(message, "content").iter().filter_map(|block| block.get("id")).collect();
        let next = messages.get(n + 1).map_or(&[][..], |next| blocks(next, "content"));
        let answers: Vec<&Value> = next.iter().map_while(|block| block.get("tool_use_id")).collect();
        if n + 1 < messages.len() && calls != answers {
            return Some("results do not stand first behind their calls");
        }
        if message["content"].as_array().is_some_and(Vec::is_empty) {
            return Some("a message is empty");
        }
    }
    None
}

fn marks(body: &Value) -> Option<&'static str> {
    let messages = blocks(body, "messages").iter().flat_map(|message| blocks(message, "content"));
    let marked: Vec<&Value> = blocks(body, "system").iter().chain(messages).filter(|block| block.get("cache_control").is_some()).collect();
    if marked.len() > 4 || marked.len() != body.to_string().matches("\"cache_control\"").count() {
        return Some("more than four marks, or one elsewhere than on a block");
    }
    marked.iter().any(|block| block["text"] == "").then_some("an empty text is marked")
}

/// What is said beside results is the caller's.
fn gemini(contents: &[Value]) -> Option<&'static str> {
    let is_result = |part: &Value| part.get("functionResponse").is_some();
    for (n, content) in contents.iter().enumerate() {
        let calls = blocks(content, "parts").iter().filter(|part| part.get("functionCall").is_some()).count();
        let next = contents.get(n + 1).map_or(&[][..], |next| blocks(next, "parts"));
        if n + 1 < contents.len() && next.iter().take_while(|part| is_result(part)).count() != calls {
            return Some("responses do not stand first behind their calls");
        }
        if n > 0 && is_result(&content["parts"][0]) && contents[n - 1]["role"] != "model" {
            return Some("a response without its call before it");
        }
    }
    None
}

fn responses(items: &[Value]) -> Option<&'static str> {
    let kind = |item: &Value| item["type"].as_str().map(str::to_owned);
    let ids = |of: &str, items: &[Value]| -> Vec<Value> {
        items.iter().take_while(|item| kind(item).as_deref() == Some(of)).map(|item| item["call_id"].clone()).collect()
    };
    let begins = |n: &usize| kind(&items[*n]).as_deref() == Some("function_call") && (*n == 0 || kind(&items[n - 1]) != kind(&items[*n]));
    for n in (0..items.len()).filter(begins) {
        let calls = ids("function_call", &items[n..]);
        if calls != ids("function_call_output", &items[n + calls.len()..]) {
            return Some("outputs do not stand directly behind their calls");
        }
    }
    None
}

fn chat(messages: &[Value]) -> Option<&'static str> {
    for (n, message) in messages.iter().enumerate() {
        let calls = blocks(message, "tool_calls").len();
        let results = messages[n + 1..].iter().take_while(|message| message["role"] == "tool").count();
        if message["role"] != "tool" && calls != results {
            return Some("results do not stand directly behind their calls");
        }
        if n > 0 && message["role"] == "system" {
            return Some("a second system message");
        }
    }
    None
}
