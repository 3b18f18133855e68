//! Bounds on tool output: how much of a tool's result is sent, as a function of that result alone.
//!
//! | a result is | counted and cut |
//! | --- | --- |
//! | a text | its characters |
//! | a list of parts | the characters of its texts as one; images and documents stay |
//! | an object with one text alone | that text |
//! | any other object | its JSON text; if it is over the bound, it becomes `{"output": ".."}` with that text cut |

use crate::text::{Limit, MiddleCut, Room, cut_middle};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Where a host keeps tool results whole. Closures are archives.
pub trait ToolOutputArchive: Send + Sync {
    /// What the model's file tool opens to read this result whole; `None` where it isn't kept. Of the same result always the same, or the cached
    /// prefix breaks.
    fn location(&self, result: &str) -> Option<String>;
}

impl<F: Fn(&str) -> Option<String> + Send + Sync> ToolOutputArchive for F {
    fn location(&self, result: &str) -> Option<String> {
        self(result)
    }
}

/// How much of each tool result is sent, in characters; head and tail stay. Part of the session from its start, so that an old result is cut in
/// later requests as it was in the first.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct ToolOutputBound {
    /// Of a result; `None`: all of it.
    pub max_chars: Option<NonZeroUsize>,
    /// Of the arguments of a past call that are no JSON where JSON is due. Arguments that are structured are never cut.
    pub max_malformed_argument_chars: Option<NonZeroUsize>,
    /// Where results are kept whole. No part of the session: it is asked anew for each request.
    #[serde(skip)]
    pub archive: Option<Arc<dyn ToolOutputArchive>>,
    /// Bodies of skills that count as said in the results that hold them, which are sent whole.
    #[serde(skip)]
    pub(crate) whole: Vec<Arc<str>>,
}

impl PartialEq for ToolOutputBound {
    /// Archives are the same where they are one.
    fn eq(&self, other: &Self) -> bool {
        let archives_are_one = match (&self.archive, &other.archive) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        archives_are_one && (self.max_chars, self.max_malformed_argument_chars) == (other.max_chars, other.max_malformed_argument_chars)
    }
}
impl Eq for ToolOutputBound {}

impl fmt::Debug for ToolOutputBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolOutputBound")
            .field("max_chars", &self.max_chars)
            .field("max_malformed_argument_chars", &self.max_malformed_argument_chars)
            .field("archive", &self.archive.is_some())
            .field("whole", &self.whole.len())
            .finish()
    }
}

impl ToolOutputBound {
    /// A result's text as it is sent; `None` where it is sent whole.
    pub fn result(&self, text: &str) -> Option<String> {
        Some(self.cut(text)?.apply(text))
    }
    /// The arguments of a call as they are sent; `None` where they are sent whole.
    pub fn malformed_arguments(&self, arguments: &str) -> Option<String> {
        let room = Room::UNLIMITED.with(Limit::Chars(self.max_malformed_argument_chars?.get()));
        // JSON in JSON is a text too.
        let is_structured = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|parsed| !parsed.is_string());
        if room.holds(arguments) || is_structured(arguments) {
            return None;
        }
        Some(cut_middle(arguments, &room, |left_out| marker(left_out, None))?.apply(arguments))
    }

    /// A skill's body counts as said in the result that holds it.
    pub(crate) fn keeps_whole(&self, block: &str) -> bool {
        self.whole.iter().any(|whole| **whole == *block)
    }

    fn cut(&self, text: &str) -> Option<MiddleCut> {
        let room = Room::UNLIMITED.with(Limit::Chars(self.max_chars?.get()));
        if room.holds(text) {
            return None;
        }
        if self.whole.iter().any(|block| text.contains(&**block)) {
            return None;
        }
        let location = self.archive.as_ref().and_then(|archive| archive.location(text));
        let with_location = cut_middle(text, &room, |left_out| marker(left_out, location.as_deref()))?;
        if location.is_none() || !with_location.marker.is_empty() {
            return Some(with_location);
        }
        // Where the location has no room, the count may.
        cut_middle(text, &room, |left_out| marker(left_out, None))
    }

    /// Cuts a result as a JSON format keeps it: a text, a list of parts, an object.
    pub fn cut_result(&self, result: &mut Value) {
        match result {
            Value::String(text) => {
                if let Some(cut) = self.result(text) {
                    *text = cut;
                }
            }
            Value::Array(parts) => self.cut_parts(parts),
            Value::Object(fields) => match only_text(fields) {
                Some(text) => {
                    if let Some(cut) = self.result(text) {
                        *text = cut;
                    }
                }
                None => {
                    if let Some(cut) = self.result(&Value::Object(fields.clone()).to_string()) {
                        *fields = Map::from_iter([("output".to_owned(), cut.into())]);
                    }
                }
            },
            _ => {}
        }
    }

    /// The texts of the parts are cut as one; a part that loses all of its text goes.
    fn cut_parts(&self, parts: &mut Vec<Value>) {
        let all: String = parts.iter().flat_map(texts).map(String::as_str).collect();
        let Some(MiddleCut { left_out, marker, .. }) = self.cut(&all) else { return };
        let (mut at, mut marked) = (0, false);
        parts.retain_mut(|part| {
            let (mut had_text, mut has_text) = (false, false);
            for text in texts_mut(part) {
                let end = at + text.len();
                let within = |place: usize| place.clamp(at, end) - at;
                let (head, tail) = (&text[..within(left_out.start)], &text[within(left_out.end)..]);
                let marker = if !marked && end >= left_out.start { &*marker } else { "" };
                marked |= end >= left_out.start;
                let kept = [head, marker, tail].concat();
                had_text |= !text.is_empty();
                has_text |= !kept.is_empty();
                at = end;
                *text = kept;
            }
            has_text || !had_text
        });
    }
}

/// In place of what was left out. On a line of its own where a line ends ahead of it or behind it.
fn marker(left_out: &str, location: Option<&str>) -> String {
    let whole = location.map(|location| format!("; the whole is in {location}")).unwrap_or_default();
    let line_end = if left_out.contains('\n') { "\n" } else { "" };
    format!("{line_end}[{} characters cut{whole}]{line_end}", left_out.chars().count())
}

/// The texts of a result, as they are counted here; none of what is only cut as JSON.
pub(super) fn each_result_text(result: &Value, each: impl FnMut(&str)) {
    match result {
        Value::String(text) => std::iter::once(text.as_str()).for_each(each),
        Value::Array(parts) => parts.iter().flat_map(texts).map(String::as_str).for_each(each),
        Value::Object(fields) if fields.len() == 1 => fields.values().filter_map(Value::as_str).for_each(each),
        _ => {}
    }
}

/// How many characters a result has, as they are counted here.
pub(super) fn result_chars(result: &Value) -> usize {
    match result {
        Value::String(text) => text.chars().count(),
        Value::Array(parts) => parts.iter().flat_map(texts).map(|text| text.chars().count()).sum(),
        Value::Object(fields) if fields.len() == 1 && fields.values().all(Value::is_string) => {
            fields.values().filter_map(Value::as_str).map(|text| text.chars().count()).sum()
        }
        Value::Object(_) => result.to_string().chars().count(),
        _ => 0,
    }
}

fn only_text(fields: &mut Map<String, Value>) -> Option<&mut String> {
    if fields.len() != 1 {
        return None;
    }
    match fields.values_mut().next() {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// The fields of a part that hold what a tool printed.
const TEXT_FIELDS: [&str; 3] = ["text", "stdout", "stderr"];

/// Parts stand in parts so deep.
const DEPTH: usize = 3;

/// Whether a field of a part holds text, or parts that do.
fn has_text(is_text: bool, name: &str, value: &Value, depth: usize) -> bool {
    match value {
        Value::String(_) => TEXT_FIELDS.contains(&name) || (is_text && name == "data"),
        Value::Array(_) => name == "content" && depth > 0,
        Value::Object(_) => name == "source" && depth > 0,
        _ => false,
    }
}
fn is_text(fields: &Map<String, Value>) -> bool {
    fields.get("type").is_some_and(|kind| kind == "text")
}

fn texts(part: &Value) -> Vec<&String> {
    fn collect<'v>(part: &'v Value, depth: usize, texts: &mut Vec<&'v String>) {
        match part {
            Value::String(text) => texts.push(text),
            Value::Array(parts) if depth > 0 => parts.iter().for_each(|part| collect(part, depth - 1, texts)),
            Value::Object(fields) => {
                let is_text = is_text(fields);
                let holders = fields.iter().filter(|(name, value)| has_text(is_text, name, value, depth));
                holders.for_each(|(_, value)| collect(value, depth.saturating_sub(usize::from(value.is_object())), texts));
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    collect(part, DEPTH, &mut all);
    all
}
fn texts_mut(part: &mut Value) -> Vec<&mut String> {
    fn collect<'v>(part: &'v mut Value, depth: usize, texts: &mut Vec<&'v mut String>) {
        match part {
            Value::String(text) => texts.push(text),
            Value::Array(parts) if depth > 0 => parts.iter_mut().for_each(|part| collect(part, depth - 1, texts)),
            Value::Object(fields) => {
                let is_text = is_text(fields);
                let holders = fields.iter_mut().filter(|(name, value)| has_text(is_text, name, value, depth));
                holders.for_each(|(_, value)| collect(value, depth.saturating_sub(usize::from(value.is_object())), texts));
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    collect(part, DEPTH, &mut all);
    all
}

#[cfg(test)]
mod tests;
