//! Request bodies: what `-m` becomes in each format.

use crate::layers::wire::Format;
use crate::sessions::{LoggedMessage, Speaker};
use serde_json::{Value, json};

/// A body of one user message, with what the API requires and nothing else.
pub(super) fn of_message(format: Format, model: &str, text: &str) -> Value {
    match format {
        Format::OpenAiResponses => json!({"model": model, "input": text}),
        Format::Anthropic => json!({"model": model, "max_tokens": 4096, "messages": [{"role": "user", "content": text}]}),
        // The model stands in the URL.
        Format::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}),
        Format::OllamaGenerate => json!({"model": model, "prompt": text}),
        _ => json!({"model": model, "messages": [{"role": "user", "content": text}]}),
    }
}

/// A body of a whole conversation. Each message stands as it will in the next call, so that the provider finds what it has seen. Ollama's generate
/// has room for the last alone.
pub(super) fn of_messages(format: Format, model: &str, messages: &[LoggedMessage]) -> Value {
    let role = |message: &LoggedMessage| match (message.role, format) {
        (Speaker::User, _) => "user",
        (Speaker::Assistant, Format::Gemini) => "model",
        (Speaker::Assistant, _) => "assistant",
    };
    let last = messages.last().map_or("", |message| &message.text);
    let messages: Value = match format {
        Format::Gemini => messages.iter().map(|message| json!({"role": role(message), "parts": [{"text": message.text}]})).collect(),
        _ => messages.iter().map(|message| json!({"role": role(message), "content": message.text})).collect(),
    };
    match format {
        Format::OpenAiResponses => json!({"model": model, "input": messages}),
        Format::Anthropic => json!({"model": model, "max_tokens": 4096, "messages": messages}),
        Format::Gemini => json!({"contents": messages}),
        Format::OllamaGenerate => json!({"model": model, "prompt": last}),
        _ => json!({"model": model, "messages": messages}),
    }
}

/// An assembled body as a person reads it: the system prompt, then the messages. It is that of [`Format::OpenAiChat`].
pub(super) fn as_text(body: &Value) -> String {
    let mut out = String::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or_default();
        out.push_str(&format!("--- {role} ---\n{}\n\n", message["content"].as_str().unwrap_or_default()));
    }
    out.truncate(out.trim_end().len());
    out
}
