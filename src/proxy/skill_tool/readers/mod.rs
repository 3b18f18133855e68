//! Streams of each format, read event by event: what passes, what is held back, and the answer as a whole.

mod anthropic;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;

use super::judged::{Verdict, verdict};
use crate::layers::wire::Format;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What the client was sent in the rounds before this one, and what all rounds know.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Default)]
pub(super) struct Across {
    /// The tool that is answered here.
    pub(super) tool: Arc<str>,
    /// The model may not call it any more.
    pub(super) is_last: bool,
    /// This is not the first round.
    pub(super) is_later: bool,
    /// What the rounds before cost.
    pub(super) spent: Value,
    /// What the client knows the answer by: fields of its first event.
    head: Map<String, Value>,
    /// Blocks or items that the client was sent.
    shown: u64,
    /// Something was held back.
    has_held: bool,
    /// Items of the rounds before.
    items: Vec<Value>,
    /// Of the next event.
    sequence: u64,
    /// The client was told who speaks.
    has_role: bool,
    /// The text so far ends without white space, and was of a round before.
    wants_gap: bool,
}

impl Across {
    pub(super) fn new(tool: &str) -> Self {
        Self { tool: tool.into(), ..Self::default() }
    }
    /// Space between the texts of two rounds, where they run into one.
    fn gap(&mut self, text: &mut Value) -> bool {
        let Value::String(text) = text else { return false };
        if text.is_empty() || !std::mem::take(&mut self.wants_gap) || text.starts_with(char::is_whitespace) {
            return false;
        }
        text.insert_str(0, "\n\n");
        true
    }
    /// In the first round nothing is changed; what it said last and isn't empty is what the client knows.
    fn keep_head(&mut self, event: &mut Value, fields: &[&str]) -> bool {
        let Some(event) = event.as_object_mut() else { return false };
        if !self.is_later {
            let said = fields.iter().filter_map(|name| Some(((*name).to_owned(), event.get(*name)?.clone())));
            self.head.extend(said.filter(|(_, value)| !(value.is_null() || *value == "" || *value == 0)));
            return false;
        }
        let mut changed = false;
        for (name, value) in &self.head {
            if let Some(found) = event.get_mut(name).filter(|found| *found != value) {
                value.clone_into(found);
                changed = true;
            }
        }
        changed
    }
    /// By which index the client knows a block or an item: by its own, as long as nothing was held back.
    fn show(&mut self, index: u64) -> u64 {
        let shown = if self.is_later || self.has_held { self.shown } else { index };
        self.shown = shown.saturating_add(1);
        shown
    }
}

/// What becomes of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// It passes byte for byte.
    Passes,
    /// It is sent as it now is.
    Changed,
    /// The client doesn't see it.
    Held,
}

impl Fate {
    fn changed(is_changed: bool) -> Self {
        if is_changed { Self::Changed } else { Self::Passes }
    }
}

/// Reads one round.
pub(super) trait Reader: Send {
    fn event(&mut self, event: &mut Value, across: &mut Across) -> Fate;
    /// As an answer that doesn't stream has it.
    fn response(&self) -> Value;
    /// The model has ended its answer; what it cost may yet be told.
    fn has_ended(&self) -> bool;
    /// The next round begins.
    fn hand_over(&self, _: &mut Across) {}
}

pub(super) fn reader(format: Format) -> Box<dyn Reader> {
    match format {
        Format::OpenAiResponses => Box::<openai_responses::Reading>::default(),
        Format::Anthropic => Box::<anthropic::Reading>::default(),
        Format::Gemini => Box::<gemini::Reading>::default(),
        Format::Ollama | Format::OllamaGenerate => Box::<ollama::Reading>::default(),
        Format::OpenAiChat | _ => Box::<openai_chat::Reading>::default(),
    }
}

fn goes_on(format: Format, response: &Value, across: &Across) -> bool {
    verdict(format, &across.tool, response, across.is_last) == Verdict::GoesOn
}

/// A piece behind what came before: texts and lists grow, and what else is said counts.
fn grow(whole: &mut Map<String, Value>, piece: &Map<String, Value>) {
    for (name, more) in piece.iter().filter(|(_, more)| !more.is_null()) {
        match (whole.get_mut(name), more) {
            (Some(Value::String(text)), Value::String(more)) if !matches!(name.as_str(), "role" | "type" | "id") => text.push_str(more),
            (Some(Value::Array(list)), Value::Array(more)) => list.extend(more.iter().cloned()),
            _ => {
                whole.insert(name.clone(), more.clone());
            }
        }
    }
}

fn ends_open(text: &Value) -> Option<bool> {
    text.as_str().filter(|text| !text.is_empty()).map(|text| !text.ends_with(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_odd_and_none_of_ours_passes_as_it_came() {
        for (format, events) in [
            // An empty head, indexes that begin anywhere, calls numbered alike.
            (
                Format::OpenAiChat,
                vec![
                    json!({"id": "", "model": "", "created": 0, "choices": [], "prompt_filter_results": []}),
                    json!({"id": "a", "model": "m", "created": 7, "choices": [{"index": 0, "delta": {"role": "assistant", "content": null}}]}),
                    json!({"id": "b", "choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [
                        {"index": 3, "id": "1", "function": {"name": "ls", "arguments": "{}"}}]}}]}),
                    json!({"id": "b", "choices": [{"index": 0, "delta": {"tool_calls": [
                        {"index": 3, "id": "2", "function": {"name": "ls", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}]}),
                ],
            ),
            (
                Format::Anthropic,
                vec![
                    json!({"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}}),
                    json!({"type": "content_block_stop", "index": 2}),
                    json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
                    // It names calls that didn't come.
                    json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}}),
                ],
            ),
            (
                Format::OpenAiResponses,
                vec![
                    json!({"type": "response.created", "sequence_number": 0, "response": {"id": "r"}}),
                    json!({"type": "response.output_item.added", "sequence_number": 0, "output_index": 4, "item": {"type": "message"}}),
                    json!({"type": "response.completed", "sequence_number": 9, "response": {"id": "r", "output": []}}),
                ],
            ),
        ] {
            let (mut reader, mut across) = (reader(format), Across::new("skill"));
            for event in events {
                assert_eq!(reader.event(&mut event.clone(), &mut across), Fate::Passes, "{format}: {event}");
            }
        }
    }

    #[test]
    fn a_call_whose_name_comes_late_waits_for_it() {
        let delta = |piece: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]});
        for (name, is_ours) in [("skill", true), ("ls", false)] {
            let (mut reader, mut across) = (reader(Format::OpenAiChat), Across::new("skill"));
            let mut first = delta(json!({"index": 0, "id": "1", "type": "function", "function": {"arguments": ""}}));
            assert_eq!(reader.event(&mut first, &mut across), Fate::Held);
            let mut second = delta(json!({"index": 0, "function": {"name": name, "arguments": "{}"}}));
            assert_eq!(reader.event(&mut second, &mut across), if is_ours { Fate::Held } else { Fate::Changed });
            let call = json!({"index": 0, "id": "1", "type": "function", "function": {"name": name, "arguments": "{}"}});
            assert_eq!(second == delta(call), !is_ours, "{second}");
        }
    }

    #[test]
    fn a_call_whose_name_never_comes_is_told_at_the_end() {
        let (mut reader, mut across) = (reader(Format::OpenAiChat), Across::new("skill"));
        let piece = json!({"index": 0, "id": "1", "type": "function", "function": {"arguments": "{}"}});
        let mut first = json!({"choices": [{"index": 0, "delta": {"tool_calls": [piece.clone()]}}]});
        assert_eq!(reader.event(&mut first, &mut across), Fate::Held);
        let mut end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
        assert_eq!(reader.event(&mut end, &mut across), Fate::Changed);
        assert_eq!(end, json!({"choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": "tool_calls"}]}));
    }
}
