//! Lines of Ollama's chat.

use super::{Across, Fate, Reader, ends_open, goes_on, grow};
use crate::layers::wire::Format;
use crate::proxy::skill_tool::judged;
use serde_json::{Map, Value, json};

#[derive(Default)]
pub(super) struct Reading {
    message: Map<String, Value>,
    /// The line that ended it.
    last: Option<Map<String, Value>>,
}

impl Reader for Reading {
    fn event(&mut self, event: &mut Value, across: &mut Across) -> Fate {
        let (mut changed, mut says_something) = (false, false);
        if let Some(message) = event.get_mut("message").and_then(Value::as_object_mut) {
            grow(&mut self.message, message);
            if let Some(calls) = message.get_mut("tool_calls").and_then(Value::as_array_mut) {
                let before = calls.len();
                calls.retain(|call| !judged::is_call_of(Format::Ollama, call, &across.tool));
                changed = calls.len() != before;
                if changed && calls.is_empty() {
                    message.shift_remove("tool_calls");
                }
            }
            if let Some(content) = message.get_mut("content") {
                changed |= across.gap(content);
            }
            says_something = message.iter().any(|(name, value)| name != "role" && !(value.is_null() || value == ""));
        }
        if event["done"] == true {
            self.last = event.as_object().cloned();
            if goes_on(Format::Ollama, &self.response(), across) {
                let Some(fields) = event.as_object_mut().filter(|_| says_something) else { return Fate::Held };
                fields.retain(|name, _| matches!(name.as_str(), "model" | "created_at" | "message" | "done"));
                fields.insert("done".into(), false.into());
                return Fate::Changed;
            }
            if across.is_later {
                judged::charge(Format::Ollama, event, &across.spent);
                return Fate::Changed;
            }
            return Fate::changed(changed);
        }
        if changed && !says_something { Fate::Held } else { Fate::changed(changed) }
    }
    fn response(&self) -> Value {
        let mut response = self.last.clone().unwrap_or_default();
        let mut message = self.message.clone();
        message.entry("role").or_insert_with(|| "assistant".into());
        message.entry("content").or_insert_with(|| "".into());
        response.insert("message".into(), json!(message));
        response.into()
    }
    fn has_ended(&self) -> bool {
        self.last.is_some()
    }
    fn hand_over(&self, across: &mut Across) {
        across.wants_gap = self.message.get("content").and_then(ends_open).unwrap_or(across.wants_gap);
    }
}
