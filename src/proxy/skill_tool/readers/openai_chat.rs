//! Chunks of OpenAI Chat Completions.

use super::{Across, Fate, Reader, ends_open, goes_on, grow};
use crate::layers::wire::Format;
use crate::proxy::skill_tool::judged;
use serde_json::{Map, Value, json};

#[derive(Default)]
pub(super) struct Reading {
    message: Map<String, Value>,
    calls: Vec<Call>,
    finish: Value,
    usage: Value,
    /// Calls that the client was sent.
    shown: u64,
    goes_on: bool,
}

struct Call {
    index: u64,
    value: Map<String, Value>,
    whose: Whose,
}

enum Whose {
    /// It has no name yet.
    Unknown,
    Ours,
    /// By which index the client knows it.
    Theirs(u64),
}

impl Reading {
    /// What of these pieces of calls the client is sent.
    fn calls(&mut self, pieces: Vec<Value>, across: &mut Across, changed: &mut bool) -> Vec<Value> {
        let mut sent = Vec::new();
        for (nth, piece) in pieces.into_iter().enumerate() {
            let Value::Object(mut piece) = piece else { continue };
            let index = piece.get("index").and_then(Value::as_u64).unwrap_or(nth as u64);
            let id = piece.get("id").and_then(Value::as_str).unwrap_or_default();
            // Some servers number all calls alike.
            let is_same =
                |call: &Call| call.index == index && (id.is_empty() || call.value.get("id").is_none_or(|known| known == id || known == ""));
            let at = self.calls.iter().rposition(is_same).unwrap_or_else(|| {
                self.calls.push(Call { index, value: Map::new(), whose: Whose::Unknown });
                self.calls.len() - 1
            });
            let call = &mut self.calls[at];
            let is_first = call.value.is_empty();
            merge(&mut call.value, &piece);
            let name = ["function", "custom"].iter().find_map(|kind| call.value.get(*kind)?.get("name")?.as_str());
            match (&call.whose, name.unwrap_or_default()) {
                (Whose::Ours, _) | (Whose::Unknown, "") => *changed = true,
                (Whose::Unknown, name) if *name == *across.tool => {
                    call.whose = Whose::Ours;
                    (across.has_held, *changed) = (true, true);
                }
                (Whose::Unknown, _) => {
                    // By its own, as long as nothing was held back.
                    let shown = if across.is_later || across.has_held { self.shown } else { index };
                    call.whose = Whose::Theirs(shown);
                    // All of it that was held back.
                    piece.clone_from(&call.value);
                    *changed |= index != shown || !is_first;
                    piece.insert("index".into(), shown.into());
                    self.shown = shown.saturating_add(1);
                    sent.push(piece.into());
                }
                (Whose::Theirs(known), _) => {
                    *changed |= index != *known;
                    piece.insert("index".into(), (*known).into());
                    sent.push(piece.into());
                }
            }
        }
        sent
    }
    /// Calls that were held back until the end for a name that didn't come: they are none of ours.
    fn release(&mut self) -> Vec<Value> {
        let mut sent = Vec::new();
        for call in &mut self.calls {
            if matches!(call.whose, Whose::Unknown) {
                call.whose = Whose::Theirs(self.shown);
                let mut piece = call.value.clone();
                piece.insert("index".into(), self.shown.into());
                self.shown = self.shown.saturating_add(1);
                sent.push(piece.into());
            }
        }
        sent
    }
}

fn put_back(choice: &mut Value, calls: Vec<Value>) {
    if calls.is_empty() {
        return;
    }
    if !choice["delta"].is_object() {
        choice["delta"] = json!({});
    }
    match &mut choice["delta"]["tool_calls"] {
        Value::Array(sent) => sent.extend(calls),
        other => *other = calls.into(),
    }
}

/// As [`grow`], for a call: its arguments grow, the rest is said once.
fn merge(call: &mut Map<String, Value>, piece: &Map<String, Value>) {
    for (name, value) in piece.iter().filter(|(_, value)| !value.is_null()) {
        match (call.get_mut(name), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => {
                for (name, more) in more.iter().filter(|(_, more)| !more.is_null()) {
                    match (inner.get_mut(name), more) {
                        (Some(Value::String(text)), Value::String(more)) if matches!(name.as_str(), "arguments" | "input") => {
                            text.push_str(more);
                        }
                        (Some(known), _) if *known != "" => {}
                        _ => drop(inner.insert(name.clone(), more.clone())),
                    }
                }
            }
            (Some(known), _) if *known != "" => {}
            _ => drop(call.insert(name.clone(), value.clone())),
        }
    }
}

impl Reader for Reading {
    fn event(&mut self, event: &mut Value, across: &mut Across) -> Fate {
        let mut changed = across.keep_head(event, &["id", "created", "model", "system_fingerprint"]);
        let choices = event.get_mut("choices").and_then(Value::as_array_mut);
        let choice = choices.and_then(|choices| choices.iter_mut().find(|choice| choice["index"].as_u64().unwrap_or_default() == 0));
        let has_choice = choice.is_some();
        let mut says_something = false;
        if let Some(choice) = choice {
            let mut said = choice.get_mut("delta").and_then(Value::as_object_mut);
            if let Some(delta) = &mut said {
                let pieces = delta.shift_remove("tool_calls");
                let legacy = delta.get("function_call").is_some().then(|| delta["function_call"].clone());
                delta.iter().filter(|(name, _)| *name != "function_call").for_each(|(name, piece)| {
                    grow(&mut self.message, &Map::from_iter([(name.clone(), piece.clone())]));
                });
                if let Some(Value::Object(piece)) = legacy {
                    let call = self.message.entry("function_call").or_insert_with(|| json!({})).as_object_mut();
                    call.into_iter().for_each(|call| grow(call, &piece));
                    if self.message["function_call"]["name"] == *across.tool {
                        delta.shift_remove("function_call");
                        changed = true;
                    }
                }
                match pieces {
                    Some(Value::Array(pieces)) => {
                        let kept = self.calls(pieces.clone(), across, &mut changed);
                        // What is not changed is as it was.
                        match (changed, kept.is_empty()) {
                            (false, _) => drop(delta.insert("tool_calls".into(), pieces.into())),
                            (true, false) => drop(delta.insert("tool_calls".into(), kept.into())),
                            (true, true) => {}
                        }
                    }
                    Some(other) => drop(delta.insert("tool_calls".into(), other)),
                    None => {}
                }
                if across.has_role {
                    changed |= delta.shift_remove("role").is_some() && across.is_later;
                }
                if let Some(content) = delta.get_mut("content") {
                    changed |= across.gap(content);
                }
                says_something = delta.iter().any(|(_, value)| !(value.is_null() || value == ""));
                across.has_role |= delta.contains_key("role") && says_something;
            }
            if let Some(finish) = choice.get_mut("finish_reason").filter(|finish| !finish.is_null()) {
                self.finish = finish.clone();
                let response = self.response();
                self.goes_on = goes_on(Format::OpenAiChat, &response, across);
                if self.goes_on {
                    (*finish, changed) = (Value::Null, true);
                } else {
                    let nameless = self.release();
                    let before = finish.clone();
                    let has_ours = self.calls.iter().any(|call| matches!(call.whose, Whose::Ours));
                    judged::end(Some(finish), has_ours && self.shown == 0, &["tool_calls", "function_call"], "stop");
                    changed |= *finish != before || !nameless.is_empty();
                    says_something = true;
                    put_back(choice, nameless);
                }
            }
        }
        if let Some(usage) = event.get_mut("usage").filter(|usage| usage.is_object()) {
            self.usage = usage.clone();
            if self.goes_on {
                (*usage, changed) = (Value::Null, true);
            } else if across.is_later {
                judged::add(usage, &across.spent);
                (changed, says_something) = (true, true);
            }
        }
        match (says_something, has_choice) {
            (false, false) if self.goes_on => Fate::Held,
            (false, true) if changed => Fate::Held,
            _ => Fate::changed(changed),
        }
    }
    fn response(&self) -> Value {
        let mut message = self.message.clone();
        if !self.calls.is_empty() {
            let calls = self.calls.iter().map(|call| {
                let mut call = call.value.clone();
                call.shift_remove("index");
                Value::from(call)
            });
            message.insert("tool_calls".into(), calls.collect());
        }
        message.entry("role").or_insert_with(|| "assistant".into());
        message.entry("content").or_insert(Value::Null);
        json!({"choices": [{"index": 0, "message": message, "finish_reason": self.finish}], "usage": self.usage})
    }
    fn has_ended(&self) -> bool {
        !self.finish.is_null()
    }
    fn hand_over(&self, across: &mut Across) {
        across.wants_gap = self.message.get("content").and_then(ends_open).unwrap_or(across.wants_gap);
    }
}
