//! An answer as a whole: whose calls are in it, what it cost, and what a client sees of it.

use crate::layers::wire::{Format, ToolCalls};
use serde_json::{Map, Value, json};

/// What becomes of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// It calls nothing of ours.
    Plain,
    /// It calls our tool alone: it is answered here, and the model asked again.
    GoesOn,
    /// It calls our tool beside the client's: those are the client's, and ours go with them at its next request.
    Mixed,
    /// It calls our tool, and broke off there or may not any more: that call is dropped.
    Dropped,
}

pub(super) fn verdict(format: Format, tool: &str, response: &Value, is_last: bool) -> Verdict {
    let calls = ToolCalls::in_response(format, response);
    let ours = calls.iter().filter(|call| call.name == tool).count();
    match ours {
        0 => Verdict::Plain,
        _ if is_cut(format, response) => Verdict::Dropped,
        ours if ours < calls.len() => Verdict::Mixed,
        _ if is_last => Verdict::Dropped,
        _ => Verdict::GoesOn,
    }
}

/// It ended before its end, so that its last call need not be whole.
fn is_cut(format: Format, response: &Value) -> bool {
    let says = |path: &str| response.pointer(path).and_then(Value::as_str).unwrap_or_default();
    match format {
        Format::OpenAiChat => matches!(says("/choices/0/finish_reason"), "length" | "content_filter"),
        Format::OpenAiResponses => !matches!(says("/status"), "" | "completed"),
        Format::Anthropic => matches!(says("/stop_reason"), "max_tokens" | "refusal" | "model_context_window_exceeded"),
        Format::Gemini => !matches!(says("/candidates/0/finishReason"), "" | "STOP" | "FINISH_REASON_UNSPECIFIED"),
        _ => says("/done_reason") == "length",
    }
}

/// Whether this is a call of the tool, as it stands in an answer.
pub(super) fn is_call_of(format: Format, call: &Value, tool: &str) -> bool {
    let name = |holder: Option<&Value>| holder.and_then(|holder| holder.get("name")).is_some_and(|name| name == tool);
    match format {
        Format::OpenAiResponses => matches!(call["type"].as_str(), Some("function_call" | "custom_tool_call")) && name(Some(call)),
        Format::Anthropic => call["type"] == "tool_use" && name(Some(call)),
        Format::Gemini => name(call.get("functionCall").or_else(|| call.get("function_call"))),
        _ => name(call.get("function")) || name(call.get("custom")),
    }
}

/// Takes the calls of the tool out of an answer.
pub(super) fn strip(format: Format, response: &mut Value, tool: &str) {
    let is_others = |call: &Value| !is_call_of(format, call, tool);
    let keep = |holder: Option<&mut Value>, field: &str| {
        let Some(calls) = holder.and_then(|holder| holder.get_mut(field)?.as_array_mut()) else { return true };
        let before = calls.len();
        calls.retain(is_others);
        calls.len() == before || !calls.is_empty()
    };
    match format {
        Format::OpenAiChat => {
            let message = response.pointer_mut("/choices/0/message");
            let mut has_calls = keep(message, "tool_calls");
            if let Some(fields) = response.pointer_mut("/choices/0/message").and_then(Value::as_object_mut) {
                if !has_calls {
                    fields.shift_remove("tool_calls");
                }
                if fields.get("function_call").is_some_and(|call| call["name"] == tool) {
                    fields.shift_remove("function_call");
                    has_calls = false;
                }
            }
            end(response.pointer_mut("/choices/0/finish_reason"), !has_calls, &["tool_calls", "function_call"], "stop");
        }
        Format::OpenAiResponses => {
            keep(Some(response), "output");
        }
        Format::Anthropic => {
            keep(Some(response), "content");
            let calls = response["content"].as_array().is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "tool_use"));
            end(response.get_mut("stop_reason"), !calls, &["tool_use"], "end_turn");
        }
        Format::Gemini => {
            keep(response.pointer_mut("/candidates/0/content"), "parts");
        }
        _ => {
            if !keep(response.get_mut("message"), "tool_calls")
                && let Some(message) = response.get_mut("message").and_then(Value::as_object_mut)
            {
                message.shift_remove("tool_calls");
            }
        }
    }
}

/// Why an answer ended, where it was for calls that are gone.
pub(super) fn end(reason: Option<&mut Value>, are_gone: bool, for_calls: &[&str], otherwise: &str) {
    if let Some(reason) = reason.filter(|reason| are_gone && reason.as_str().is_some_and(|reason| for_calls.contains(&reason))) {
        *reason = otherwise.into();
    }
}

/// Of Ollama's answers.
const COUNTS: [&str; 6] = ["total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration", "eval_count", "eval_duration"];

/// What an answer says that it cost.
pub(super) fn usage(format: Format, response: &Value) -> Value {
    match format {
        Format::Gemini => response.get("usageMetadata").cloned().unwrap_or_default(),
        Format::Ollama | Format::OllamaGenerate => {
            let counts = COUNTS.into_iter().filter_map(|name| Some((name.to_owned(), response.get(name)?.clone())));
            counts.collect::<Map<_, _>>().into()
        }
        _ => response.get("usage").cloned().unwrap_or_default(),
    }
}

/// Adds what the rounds before cost to what an answer says.
pub(super) fn charge(format: Format, response: &mut Value, spent: &Value) {
    match format {
        Format::Ollama | Format::OllamaGenerate => add(response, spent),
        _ => {
            let field = if format == Format::Gemini { "usageMetadata" } else { "usage" };
            if let Some(usage) = response.get_mut(field).filter(|usage| usage.is_object()) {
                add(usage, spent);
            }
        }
    }
}

/// Numbers are added, fields of `more` that are missing taken over.
pub(super) fn add(sum: &mut Value, more: &Value) {
    match (sum, more) {
        (sum @ Value::Null, more) => *sum = more.clone(),
        (Value::Object(sum), Value::Object(more)) => {
            for (name, more) in more {
                match sum.get_mut(name) {
                    Some(sum) => add(sum, more),
                    None => {
                        sum.insert(name.clone(), more.clone());
                    }
                }
            }
        }
        (sum @ Value::Number(_), Value::Number(more)) => {
            *sum = match (sum.as_u64(), more.as_u64()) {
                (Some(one), Some(two)) => one.saturating_add(two).into(),
                _ => json!(sum.as_f64().unwrap_or_default() + more.as_f64().unwrap_or_default()),
            };
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_apart_and_taken_out() {
        let chat =
            |calls: Value, reason: &str| json!({"choices": [{"message": {"content": null, "tool_calls": calls}, "finish_reason": reason}]});
        let named = |name: &str| json!({"id": name, "function": {"name": name, "arguments": "{}"}});
        let judged = |response: &Value, is_last| verdict(Format::OpenAiChat, "skill", response, is_last);
        assert_eq!(judged(&chat(json!([named("ls")]), "tool_calls"), false), Verdict::Plain);
        let ours = chat(json!([named("skill"), named("skill")]), "tool_calls");
        assert_eq!((judged(&ours, false), judged(&ours, true)), (Verdict::GoesOn, Verdict::Dropped));
        assert_eq!(judged(&chat(json!([named("skill")]), "length"), false), Verdict::Dropped);
        let mut mixed = chat(json!([named("skill"), named("ls")]), "tool_calls");
        assert_eq!(judged(&mixed, true), Verdict::Mixed);
        strip(Format::OpenAiChat, &mut mixed, "skill");
        assert_eq!(mixed, chat(json!([named("ls")]), "tool_calls"));
        let mut alone = ours;
        strip(Format::OpenAiChat, &mut alone, "skill");
        assert_eq!(alone, json!({"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}));
    }

    #[test]
    fn costs_are_added_at_each_depth() {
        let mut usage = json!({"prompt_tokens": 5, "details": {"cached": 1}, "tier": "a", "cost": 0.5});
        add(&mut usage, &json!({"prompt_tokens": 7, "details": {"cached": 2, "audio": 3}, "tier": "b", "cost": 0.25}));
        assert_eq!(usage, json!({"prompt_tokens": 12, "details": {"cached": 3, "audio": 3}, "tier": "a", "cost": 0.75}));
        let mut ollama = json!({"message": {}, "eval_count": 2});
        charge(Format::Ollama, &mut ollama, &json!({"eval_count": 3}));
        assert_eq!(ollama["eval_count"], 5);
    }
}
