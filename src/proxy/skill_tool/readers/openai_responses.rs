//! Events of OpenAI Responses.

use super::{Across, Fate, Reader, goes_on};
use crate::layers::wire::Format;
use crate::proxy::skill_tool::judged;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Reading {
    /// The response as it was told last.
    told: Map<String, Value>,
    items: BTreeMap<u64, Item>,
    has_ended: bool,
}

struct Item {
    /// When it is done.
    value: Option<Value>,
    /// By which index the client knows it; none of ours.
    shown: Option<u64>,
}

impl Reading {
    /// The events of an item.
    fn item(&mut self, event: &mut Value, across: &mut Across) -> Fate {
        let Some(index) = event["output_index"].as_u64() else { return Fate::Passes };
        let kind = event["type"].as_str().unwrap_or_default();
        let (is_added, is_done) = (kind == "response.output_item.added", kind == "response.output_item.done");
        if is_added || is_done {
            let value = &event["item"];
            let item = self.items.entry(index).or_insert_with(|| {
                let is_ours = judged::is_call_of(Format::OpenAiResponses, value, &across.tool);
                across.has_held |= is_ours;
                Item { value: None, shown: (!is_ours).then(|| across.show(index)) }
            });
            if is_done {
                item.value = Some(value.clone());
            }
        }
        match self.items.get(&index).map(|item| item.shown) {
            Some(None) => Fate::Held,
            Some(Some(shown)) if shown != index => {
                event["output_index"] = shown.into();
                Fate::Changed
            }
            _ => Fate::Passes,
        }
    }
    fn output(&self) -> Vec<Value> {
        let done: Vec<Value> = self.items.values().filter_map(|item| item.value.clone()).collect();
        match self.told.get("output") {
            Some(Value::Array(told)) if done.is_empty() => told.clone(),
            _ => done,
        }
    }
    /// The end, as the client sees it.
    fn end(&self, event: &mut Value, across: &Across) -> Fate {
        let has_ours = self.items.values().any(|item| item.shown.is_none());
        if !across.is_later && !has_ours {
            return Fate::Passes;
        }
        let Some(response) = event.get_mut("response").filter(|response| response.is_object()) else { return Fate::Passes };
        let is_others = |item: &Value| !judged::is_call_of(Format::OpenAiResponses, item, &across.tool);
        let output = across.items.iter().cloned().chain(self.output().into_iter().filter(is_others));
        response["output"] = output.collect();
        judged::charge(Format::OpenAiResponses, response, &across.spent);
        Fate::Changed
    }
}

impl Reader for Reading {
    fn event(&mut self, event: &mut Value, across: &mut Across) -> Fate {
        if let Some(told) = event.get("response").and_then(Value::as_object) {
            self.told.clone_from(told);
        }
        let fate = match event["type"].as_str().unwrap_or_default() {
            "response.created" | "response.in_progress" | "response.queued" if across.is_later => Fate::Held,
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.has_ended = true;
                if goes_on(Format::OpenAiResponses, &self.response(), across) { Fate::Held } else { self.end(event, across) }
            }
            _ => self.item(event, across),
        };
        let Some(sequence) = event.get_mut("sequence_number").filter(|_| fate != Fate::Held) else { return fate };
        if !across.is_later && !across.has_held {
            across.sequence = sequence.as_u64().unwrap_or_default().saturating_add(1);
            return fate;
        }
        let is_moved = sequence.as_u64() != Some(across.sequence);
        *sequence = across.sequence.into();
        across.sequence = across.sequence.saturating_add(1);
        if is_moved { Fate::Changed } else { fate }
    }
    fn response(&self) -> Value {
        let mut response = self.told.clone();
        response.insert("output".into(), self.output().into());
        response.into()
    }
    fn has_ended(&self) -> bool {
        self.has_ended
    }
    fn hand_over(&self, across: &mut Across) {
        let others = self.items.values().filter(|item| item.shown.is_some());
        across.items.extend(others.filter_map(|item| item.value.clone()));
    }
}
