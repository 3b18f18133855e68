//! What an answer says of itself, read from the bytes as they pass: its id, and the tokens that it cost. It neither holds nor changes a byte.

use super::body;
use super::log::Metrics;
use crate::layers::wire::Format;
use crate::layers::{Report, TokenUsage};
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use std::mem;
use std::sync::Arc;

/// Bytes of an answer, or of a line of it, that are looked at.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Reads along.
pub(super) struct Learner {
    shape: Shape,
    kept: Vec<u8>,
    /// What is kept is not whole.
    is_over: bool,
    answer: Answer,
}

/// Where what is learned goes.
#[derive(Clone)]
struct Answer {
    format: Format,
    report: Report,
    metrics: Arc<Metrics>,
}

enum Shape {
    /// Events or values, a line each.
    Lines,
    /// One value.
    Whole,
    /// Either, compressed: read behind its end, since it is not kept back.
    Compressed(Box<HeaderMap>),
}

impl Learner {
    /// For an answer with this head; `None` where there is nothing to learn.
    pub(super) fn of(format: Format, report: &Report, metrics: &Arc<Metrics>, status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?.to_ascii_lowercase();
        if !status.is_success() || !["json", "event-stream"].iter().any(|known| kind.contains(known)) {
            return None;
        }
        let is_plain = headers.get(CONTENT_ENCODING).is_none_or(|coding| coding == "identity");
        let shape = match () {
            () if !is_plain => Shape::Compressed(Box::new(headers.clone())),
            () if has_lines(headers) => Shape::Lines,
            () => Shape::Whole,
        };
        let answer = Answer { format, report: report.clone(), metrics: metrics.clone() };
        Some(Self { shape, kept: Vec::new(), is_over: false, answer })
    }
    /// These bytes pass.
    pub(super) fn see(&mut self, bytes: &[u8]) {
        if !matches!(self.shape, Shape::Lines) {
            return self.keep(bytes);
        }
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.keep(&rest[..end]);
            if !mem::take(&mut self.is_over) {
                self.answer.line(&self.kept);
            }
            self.kept.clear();
            rest = &rest[end + 1..];
        }
        self.keep(rest);
    }
    /// The answer has ended.
    pub(super) fn end(&mut self) {
        let kept = mem::take(&mut self.kept);
        if mem::take(&mut self.is_over) || kept.is_empty() {
            return;
        }
        match mem::replace(&mut self.shape, Shape::Whole) {
            Shape::Lines => self.answer.line(&kept),
            Shape::Whole => self.answer.document(&kept),
            Shape::Compressed(headers) => {
                let answer = self.answer.clone();
                tokio::spawn(async move {
                    let Ok(plain) = body::decompressed(&headers, Bytes::from(kept), MAX_BYTES).await else { return };
                    if has_lines(&headers) {
                        plain.split(|byte| *byte == b'\n').for_each(|line| answer.line(line));
                    } else {
                        answer.document(&plain);
                    }
                });
            }
        }
    }
    fn keep(&mut self, bytes: &[u8]) {
        if self.is_over || self.kept.len() + bytes.len() > MAX_BYTES {
            self.is_over = true;
            self.kept.clear();
        } else {
            self.kept.extend_from_slice(bytes);
        }
    }
}

fn has_lines(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(|kind| kind.as_bytes().to_ascii_lowercase()).unwrap_or_default();
    kind.starts_with(b"text/event-stream") || kind.starts_with(b"application/x-ndjson")
}

impl Answer {
    /// Of a stream: an event's data, or a value.
    fn line(&self, line: &[u8]) {
        let Ok(text) = str::from_utf8(line) else { return };
        let text = text.strip_prefix("data:").unwrap_or(text);
        // Most lines bring a few letters of the answer, and are not worth reading.
        if ["usage", "response.created", "prompt_eval_count"].iter().any(|told| text.contains(told)) {
            self.document(text.as_bytes());
        }
    }
    fn document(&self, json: &[u8]) {
        match serde_json::from_slice(json) {
            Ok(Value::Array(parts)) => parts.iter().for_each(|part| self.value(part)),
            Ok(value) => self.value(&value),
            Err(_) => {}
        }
    }
    fn value(&self, value: &Value) {
        let within = ["response", "message"].iter().find_map(|field| value.get(field).filter(|inner| inner.is_object()));
        let told = match self.format {
            Format::OpenAiResponses | Format::Anthropic => within.unwrap_or(value),
            _ => value,
        };
        if self.format == Format::OpenAiResponses
            && let Some(id) = told.get("id").and_then(Value::as_str).filter(|_| told.get("object").is_some_and(|kind| kind == "response"))
        {
            self.report.record_response_id(id);
        }
        if let Some(usage) = usage(self.format, told) {
            let before = self.report.usage().unwrap_or_default();
            self.metrics.tokens(before, usage);
            self.report.record_usage(usage);
        }
    }
}

/// What a value says of the request's tokens. Anthropic counts what it read from its cache, and what it wrote to it, beside the rest.
fn usage(format: Format, value: &Value) -> Option<TokenUsage> {
    let number = |path: &str| value.pointer(path).and_then(Value::as_u64);
    let all = |input: &str, cached: &str| Some(TokenUsage::new(number(input)?, number(cached).unwrap_or_default()));
    match format {
        Format::OpenAiChat => all("/usage/prompt_tokens", "/usage/prompt_tokens_details/cached_tokens"),
        Format::OpenAiResponses => all("/usage/input_tokens", "/usage/input_tokens_details/cached_tokens"),
        Format::Anthropic => {
            let cached_tokens = number("/usage/cache_read_input_tokens").unwrap_or_default();
            let written = number("/usage/cache_creation_input_tokens").unwrap_or_default();
            let input_tokens = number("/usage/input_tokens")?.saturating_add(cached_tokens).saturating_add(written);
            Some(TokenUsage::new(input_tokens, cached_tokens))
        }
        Format::Gemini => all("/usageMetadata/promptTokenCount", "/usageMetadata/cachedContentTokenCount"),
        Format::Ollama | Format::OllamaGenerate => all("/prompt_eval_count", "/none"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn learned(format: Format, kind: &'static str, body: &str, step: usize) -> Option<TokenUsage> {
        let report = Report::default();
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
        let mut learner = Learner::of(format, &report, &Arc::default(), StatusCode::OK, &headers)?;
        body.as_bytes().chunks(step).for_each(|bytes| learner.see(bytes));
        learner.end();
        report.usage()
    }

    #[test]
    fn tokens_are_read_from_each_form_however_it_comes() {
        let stream = "text/event-stream; charset=utf-8";
        for (format, kind, body, input_tokens, cached_tokens) in [
            (Format::OpenAiChat, "application/json", r#"{"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}}"#, 9, 4),
            (Format::OpenAiChat, stream, "data: {\"choices\":[]}\n\ndata: {\"usage\":{\"prompt_tokens\":9}}\r\n\ndata: [DONE]\n\n", 9, 0),
            (
                Format::OpenAiResponses,
                "application/json",
                r#"{"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4}}}"#,
                9,
                4,
            ),
            (Format::OpenAiResponses, stream, "event: x\ndata: {\"response\":{\"usage\":{\"input_tokens\":9}}}\n\n", 9, 0),
            (
                Format::Anthropic,
                "application/json",
                r#"{"usage":{"input_tokens":1,"cache_read_input_tokens":3,"cache_creation_input_tokens":5}}"#,
                9,
                3,
            ),
            (
                Format::Anthropic,
                stream,
                "data: {\"message\":{\"usage\":{\"input_tokens\":9}}}\n\ndata: {\"usage\":{\"output_tokens\":2}}\n\n",
                9,
                0,
            ),
            (
                Format::Gemini,
                "application/json",
                r#"[{"candidates":[]},{"usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":4}}]"#,
                9,
                4,
            ),
            (Format::Ollama, "application/x-ndjson", "{\"message\":{}}\n{\"done\":true,\"prompt_eval_count\":9}", 9, 0),
        ] {
            for step in [1, 7, 1000] {
                assert_eq!(learned(format, kind, body, step), Some(TokenUsage::new(input_tokens, cached_tokens)), "{format} {kind} {step}");
            }
        }
    }

    #[test]
    fn what_is_too_long_or_no_json_is_let_pass() {
        let long = format!("data: {{\"usage\":\"{}\"}}\ndata: {{\"usage\":{{\"prompt_tokens\":9}}}}\n", "x".repeat(MAX_BYTES));
        assert_eq!(learned(Format::OpenAiChat, "text/event-stream", &long, 1 << 16).unwrap().input_tokens, 9);
        for (kind, body) in [("application/json", "{\"usage\":"), ("text/html", "<p>usage</p>"), ("application/json", "")] {
            assert_eq!(learned(Format::OpenAiChat, kind, body, 3), None, "{kind}");
        }
    }
}
