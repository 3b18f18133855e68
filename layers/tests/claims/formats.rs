//! Each format: what we add, where, and that all else stays as it was, in its order.
//!
//! A case is the body as it is sent. What stands between guillemets is ours: without it, it is the body as it came. `OURS` is our text at the
//! tail.

use crate::common::*;
use serde_json::Value;
use tower_prompt_layers::wire::Format;
use tower_prompt_layers::{Context, PromptStack, Session, Settings};

struct Case {
    came: Value,
    sent: String,
}

fn case(text: &str) -> Case {
    let escaped = Value::from(ours("1")).to_string();
    let text = text.replace("OURS", escaped.trim_matches('"'));
    let came: String = text.split('«').map(|part| part.split_once('»').map_or(part, |(_, callers)| callers)).collect();
    let sent: Value = serde_json::from_str(&text.replace(['«', '»'], "")).unwrap();
    Case { came: serde_json::from_str(&came).unwrap(), sent: sent.to_string() }
}

async fn holds(format: Format, text: &str) {
    let Case { came, sent } = case(text);
    let stack = PromptStack::new(format, Settings::default()).with(base()).with(clock("1"));
    let context = Context::default().session(Session::new());
    let first = stack.assemble(came, context.clone()).await;
    assert_eq!(first.to_string(), sent, "{format}");
    assert_eq!(stack.assemble(first, context).await.to_string(), sent, "{format}, assembled again");
}

#[tokio::test]
async fn openai_chat_keeps_all_that_is_the_callers_in_its_order() {
    let text = r#"{"zeta": 1, "model": "m", "messages": [«{"role": "system", "content": "BASE"},»
        {"role": "user", "name": "eve", "content": [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
            {"type": "text", "text": "what is this? ", "unknown": [3, 2]}«, {"type": "text", "text": "OURS"}»]},
        {"role": "assistant", "reasoning_content": "hm", "refusal": null, "content": "I "}],
        "tools": [{"type": "function", "function": {"name": "ls", "strict": true}}], "alpha": {"z": 0, "a": 0.7}}"#;
    holds(Format::OpenAiChat, text).await;
}

#[tokio::test]
async fn openai_chat_speaks_as_developer_where_the_caller_does_and_moves_no_system_message() {
    let text = r#"{"messages": [«{"role": "developer", "content": "BASE"},» {"role": "user", "content": "one"},
        {"role": "developer", "content": "be brief"}, {"role": "user", "content": "two«\n\nOURS»"}]}"#;
    holds(Format::OpenAiChat, text).await;
    let leading = r#"{"messages": [{"role": "developer", "content": "«BASE\n\n»HOST"}, {"role": "user", "content": "one«\n\nOURS»"}]}"#;
    holds(Format::OpenAiChat, leading).await;
    let parts = r#"{"messages": [{"role": "system", "content": [«{"type": "text", "text": "BASE"},» {"type": "text", "text": "HOST"}]},
        {"role": "user", "content": "one«\n\nOURS»"}]}"#;
    holds(Format::OpenAiChat, parts).await;
}

#[tokio::test]
async fn a_leading_system_message_without_content_gets_ours() {
    let text = r#"{"messages": [{"role": "system"«, "content": "BASE"»}, {"role": "user", "content": "one«\n\nOURS»"}]}"#;
    for format in [Format::OpenAiChat, Format::Ollama] {
        holds(format, text).await;
    }
}

#[tokio::test]
async fn openai_responses_keeps_all_that_is_the_callers_in_its_order() {
    let text = r#"{"store": false, "model": "m", "instructions": "«BASE\n\n»HOST", "input": [
        {"type": "message", "role": "developer", "content": "be brief"},
        {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "c2ln"},
        {"id": "msg", "type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "what is this?"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}«, {"type": "input_text", "text": "OURS"}»]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I ", "annotations": []}]}],
        "include": ["reasoning.encrypted_content"], "alpha": 0}"#;
    holds(Format::OpenAiResponses, text).await;
}

#[tokio::test]
async fn anthropic_keeps_all_that_is_the_callers_in_its_order() {
    let text = r#"{"max_tokens": 9, "system": [«{"type": "text", "text": "BASE"},»
            {"type": "text", "text": "HOST", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        "messages": [{"role": "user", "content": "one"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "AAAA"}, {"type": "text", "text": "ok", "citations": null}]},
        {"role": "user", "content": [{"type": "document", "source": {"type": "file", "file_id": "f"}},
            {"type": "text", "text": "two", "cache_control": {"type": "ephemeral"}}«, {"type": "text", "text": "OURS"}»]},
        {"role": "assistant", "content": "I"}], "model": "m", "thinking": {"type": "enabled", "budget_tokens": 8}}"#;
    holds(Format::Anthropic, text).await;
}

#[tokio::test]
async fn gemini_keeps_all_that_is_the_callers_in_its_order_and_spelling() {
    let text = r#"{"generationConfig": {"topK": 1}, "system_instruction": {"role": "user", "parts": [«{"text": "BASE"},» {"text": "HOST"}]},
        "contents": [{"role": "user", "parts": [{"text": "one"}]},
        {"role": "model", "parts": [{"thought": true, "text": "hm"}, {"text": "ok", "thoughtSignature": "c2ln"}]},
        {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}, {"text": "two"}«, {"text": "OURS"}»]},
        {"role": "model", "parts": [{"text": "I "}]}], "safetySettings": []}"#;
    holds(Format::Gemini, text).await;
    let bare = r#"{"contents": [{"parts": [{"text": "one"}«, {"text": "OURS"}»]}]«, "systemInstruction": {"parts": [{"text": "BASE"}]}»}"#;
    holds(Format::Gemini, bare).await;
}

#[tokio::test]
async fn gemini_gets_no_text_beside_a_function_response() {
    let text = r#"{"contents": [{"role": "user", "parts": [{"text": "one"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "1", "name": "ls", "args": {}}, "thoughtSignature": "c2ln"}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "ls", "response": {"output": "files"}}}]}]
        «, "systemInstruction": {"parts": [{"text": "BASE"}]}»}"#;
    holds(Format::Gemini, text).await;
}

#[tokio::test]
async fn ollama_keeps_all_that_is_the_callers_in_its_order() {
    let text = r#"{"stream": false, "model": "m", "messages": [{"role": "system", "content": "«BASE\n\n»HOST"},
        {"role": "user", "content": "one", "images": ["AAAA"]},
        {"role": "assistant", "thinking": "hm", "content": "ok"},
        {"role": "user", "images": ["BBBB"], "content": "«\n\nOURS»"},
        {"role": "assistant", "content": "I "}], "options": {"seed": 1, "num_ctx": 8192}, "keep_alive": "5m"}"#;
    holds(Format::Ollama, text).await;
    let generate =
        r#"{"template": "{{.Prompt}}", "prompt": "one«\n\nOURS»", "images": ["AAAA"], "system": "«BASE\n\n»HOST", "model": "m"}"#;
    holds(Format::OllamaGenerate, generate).await;
}

#[tokio::test]
async fn a_message_of_images_alone_gets_our_text_behind_them() {
    for (format, text) in [
        (
            Format::OpenAiChat,
            r#"{"messages": [«{"role": "system", "content": "BASE"},» {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}«,
                {"type": "text", "text": "OURS"}»]}]}"#,
        ),
        (
            Format::OpenAiResponses,
            r#"{"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:"}«, {"type": "input_text", "text": "OURS"}»]}]
                «, "instructions": "BASE"»}"#,
        ),
        (
            Format::Anthropic,
            r#"{"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u"}}«,
                {"type": "text", "text": "OURS"}»]}]«, "system": [{"type": "text", "text": "BASE"}]»}"#,
        ),
        (
            Format::Gemini,
            r#"{"contents": [{"role": "user", "parts": [{"fileData": {"fileUri": "u"}}«, {"text": "OURS"}»]}]
                «, "systemInstruction": {"parts": [{"text": "BASE"}]}»}"#,
        ),
    ] {
        holds(format, text).await;
    }
}
