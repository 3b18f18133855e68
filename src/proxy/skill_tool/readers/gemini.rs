//! Chunks of Gemini's streamGenerateContent.

use super::{Across, Fate, Reader, ends_open, goes_on};
use crate::layers::wire::Format;
use crate::proxy::skill_tool::judged;
use serde_json::{Value, json};

#[derive(Default)]
pub(super) struct Reading {
    parts: Vec<Value>,
    finish: Value,
    usage: Value,
    goes_on: bool,
}

impl Reading {
    fn keep(&mut self, part: &Value) {
        let is_plain = |part: &Value| part.as_object().is_some_and(|fields| fields.keys().all(|name| name == "text" || name == "thought"));
        if let Some(last) =
            self.parts.last_mut().filter(|last| is_plain(last) && is_plain(part) && last.get("thought") == part.get("thought"))
            && let (Some(Value::String(text)), Some(Value::String(more))) = (last.get_mut("text"), part.get("text"))
        {
            text.push_str(more);
        } else {
            self.parts.push(part.clone());
        }
    }
}

impl Reader for Reading {
    fn event(&mut self, event: &mut Value, across: &mut Across) -> Fate {
        let mut changed = across.keep_head(event, &["responseId"]);
        let mut says_something = false;
        if let Some(usage) = event.get("usageMetadata") {
            self.usage = usage.clone();
        }
        if let Some(candidate) = event.pointer_mut("/candidates/0") {
            let parts = candidate.pointer_mut("/content/parts").and_then(Value::as_array_mut);
            if let Some(parts) = parts {
                parts.iter().for_each(|part| self.keep(part));
                let before = parts.len();
                parts.retain(|part| !judged::is_call_of(Format::Gemini, part, &across.tool));
                changed |= parts.len() != before;
                for part in parts.iter_mut().filter(|part| part.get("thought").is_none()) {
                    changed |= part.get_mut("text").is_some_and(|text| across.gap(text));
                }
                says_something = parts.iter().any(|part| part.as_object().is_none_or(|fields| fields.values().any(|value| *value != "")));
            }
            if let Some(finish) = candidate.get("finishReason").filter(|finish| !finish.is_null()) {
                self.finish = finish.clone();
                self.goes_on = goes_on(Format::Gemini, &self.response(), across);
                if self.goes_on {
                    candidate.as_object_mut().map(|fields| fields.shift_remove("finishReason"));
                    changed = true;
                } else {
                    says_something = true;
                }
            }
        }
        if self.goes_on {
            changed |= event.as_object_mut().is_some_and(|fields| fields.shift_remove("usageMetadata").is_some());
        } else if across.is_later && event.get("usageMetadata").is_some() {
            judged::charge(Format::Gemini, event, &across.spent);
            changed = true;
        }
        if (changed || self.goes_on) && !says_something { Fate::Held } else { Fate::changed(changed) }
    }
    fn response(&self) -> Value {
        let mut candidate = json!({"content": {"role": "model", "parts": self.parts}});
        if !self.finish.is_null() {
            candidate["finishReason"] = self.finish.clone();
        }
        json!({"candidates": [candidate], "usageMetadata": self.usage})
    }
    fn has_ended(&self) -> bool {
        !self.finish.is_null()
    }
    fn hand_over(&self, across: &mut Across) {
        let texts = self.parts.iter().filter(|part| part.get("thought").is_none()).filter_map(|part| part.get("text"));
        across.wants_gap = texts.filter_map(ends_open).next_back().unwrap_or(across.wants_gap);
    }
}
