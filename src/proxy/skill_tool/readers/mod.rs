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
    head: Option<Map<String, Value>>,
    /// Blocks or items that the client was sent.
    shown: u64,
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
    fn keep_head(&mut self, event: &mut Value, fields: &[&str]) -> bool {
        let Some(event) = event.as_object_mut() else { return false };
        let of_first = |event: &Map<String, Value>| {
            let known = fields.iter().filter_map(|name| Some(((*name).to_owned(), event.get(*name)?.clone())));
            known.collect::<Map<_, _>>()
        };
        let head = self.head.get_or_insert_with(|| of_first(event));
        let mut changed = false;
        for (name, value) in head {
            if let Some(found) = event.get_mut(name).filter(|found| *found != value) {
                value.clone_into(found);
                changed = true;
            }
        }
        changed
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
