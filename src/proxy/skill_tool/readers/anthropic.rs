//! Events of Anthropic Messages.

use super::{Across, Fate, Reader, goes_on};
use crate::layers::wire::Format;
use crate::proxy::skill_tool::judged;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Reading {
    message: Map<String, Value>,
    blocks: BTreeMap<u64, Block>,
    has_ended: bool,
    goes_on: bool,
}

struct Block {
    value: Value,
    /// Arguments as they come.
    json: String,
    /// By which index the client knows it; none of ours.
    shown: Option<u64>,
}

impl Block {
    fn grow(&mut self, delta: &Value) {
        let mut push = |field: &str| {
            let more = delta[field].as_str().unwrap_or_default();
            match &mut self.value[field] {
                Value::String(text) => text.push_str(more),
                other => *other = more.into(),
            }
        };
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => push("text"),
            "thinking_delta" => push("thinking"),
            "signature_delta" => push("signature"),
            "input_json_delta" => self.json.push_str(delta["partial_json"].as_str().unwrap_or_default()),
            "citations_delta" => {
                let citations = &mut self.value["citations"];
                match citations {
                    Value::Array(known) => known.push(delta["citation"].clone()),
                    other => *other = json!([delta["citation"]]),
                }
            }
            _ => {}
        }
    }
    fn whole(&self) -> Value {
        let mut value = self.value.clone();
        // What broke off has the arguments that it began with.
        if let Ok(input) = serde_json::from_str::<Value>(&self.json) {
            value["input"] = input;
        }
        value
    }
}

impl Reading {
    fn block(&mut self, event: &mut Value, across: &mut Across) -> Fate {
        let index = event["index"].as_u64().unwrap_or_default();
        if event["type"] == "content_block_start" {
            let value = event["content_block"].take();
            let is_ours = judged::is_call_of(Format::Anthropic, &value, &across.tool);
            event["content_block"] = value.clone();
            across.has_held |= is_ours;
            let shown = (!is_ours).then(|| across.show(index));
            // What is no block takes no pieces.
            let value = if value.is_object() { value } else { json!({}) };
            self.blocks.insert(index, Block { value, json: String::new(), shown });
        } else if let (Some(block), Some(delta)) = (self.blocks.get_mut(&index), event.get("delta")) {
            block.grow(delta);
        }
        match self.blocks.get(&index).map(|block| block.shown) {
            Some(None) => Fate::Held,
            Some(Some(shown)) if shown != index => {
                event["index"] = shown.into();
                Fate::Changed
            }
            _ => Fate::Passes,
        }
    }
}

impl Reader for Reading {
    fn event(&mut self, event: &mut Value, across: &mut Across) -> Fate {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.message = event["message"].as_object().cloned().unwrap_or_default();
                if across.is_later { Fate::Held } else { Fate::Passes }
            }
            "content_block_start" | "content_block_delta" | "content_block_stop" => self.block(event, across),
            "message_delta" => {
                self.has_ended = true;
                if let Some(delta) = event["delta"].as_object() {
                    self.message.extend(delta.clone());
                }
                let usage = self.message.entry("usage").or_insert_with(|| json!({}));
                if let (Some(usage), Some(more)) = (usage.as_object_mut(), event["usage"].as_object()) {
                    usage.extend(more.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.clone(), value.clone())));
                }
                self.goes_on = goes_on(Format::Anthropic, &self.response(), across);
                if self.goes_on {
                    return Fate::Held;
                }
                let is_theirs = |block: &Block| block.value["type"] == "tool_use" && block.shown.is_some();
                // What ended without a call of ours ended as it says.
                let has_ours = self.blocks.values().any(|block| block.shown.is_none());
                let are_gone = has_ours && !self.blocks.values().any(is_theirs);
                let reason = event["delta"].get_mut("stop_reason");
                let before = reason.as_deref().cloned();
                judged::end(reason, are_gone, &["tool_use"], "end_turn");
                let mut changed = event["delta"].get("stop_reason").cloned() != before;
                if across.is_later {
                    let mut usage = self.message["usage"].clone();
                    judged::add(&mut usage, &across.spent);
                    (event["usage"], changed) = (usage, true);
                }
                Fate::changed(changed)
            }
            "message_stop" if self.goes_on => Fate::Held,
            _ => Fate::Passes,
        }
    }
    fn response(&self) -> Value {
        let mut message = self.message.clone();
        message.insert("content".into(), self.blocks.values().map(Block::whole).collect());
        message.into()
    }
    fn has_ended(&self) -> bool {
        self.has_ended
    }
}
