//! A request body as a person reads it: messages in their order, with our texts taken out of the strings that they stand in.
//!
//! Any of the JSON formats, told by its fields. Our texts stand in a body in the order of the manifest, each in front of the system text, or at the
//! end of a user's string, or alone in one: so they are found without knowing the format.

use super::markup::{Markup, counted};
use crate::layers::wire::GAP;
use crate::layers::{Manifest, Placement, RenderedText};
use serde_json::Value;
use std::borrow::Cow;

/// Characters of a text of the caller's that are shown; ours are shown whole.
const SHOWN: usize = 20_000;
/// A text of the caller's of more characters or lines is shown when it is asked for.
const OPEN_CHARS: usize = 1_200;
const OPEN_LINES: usize = 24;

/// A part of a message.
pub(super) enum Piece<'a> {
    /// A text of ours, and the number of its first fragment among all.
    Ours { text: &'a RenderedText, first: usize },
    /// Of the caller: what it is, and its text.
    Callers { label: &'static str, text: Cow<'a, str> },
}

/// A message, as it is shown.
pub(super) struct Shown<'a> {
    pub(super) role: String,
    /// As the request counted it that the caller sent, from 1.
    pub(super) number: Option<usize>,
    pub(super) pieces: Vec<Piece<'a>>,
}

/// Ours that are not found yet.
struct Reader<'a> {
    texts: &'a [RenderedText],
    fragments: usize,
}

pub(super) fn of<'a>(manifest: &'a Manifest, body: &'a Value) -> Vec<Shown<'a>> {
    let mut reader = Reader { texts: &manifest.texts, fragments: 0 };
    let mut all = Vec::new();
    let tools = body.get("tools").and_then(Value::as_array).map_or(0, Vec::len);
    if tools > 0 {
        let text = Cow::Owned(format!("{} of the caller's", counted(tools, "definition")));
        all.push(Shown { role: "tools".into(), number: None, pieces: vec![Piece::Callers { label: "", text }] });
    }
    let system = ["system", "instructions", "systemInstruction", "system_instruction"].into_iter().find_map(|field| body.get(field));
    if let Some(system) = system {
        let mut pieces = Vec::new();
        let parts = system.get("parts").unwrap_or(system);
        strings(parts).for_each(|text| reader.system(text, &mut pieces));
        all.push(Shown { role: "system".into(), number: None, pieces });
    }
    let messages = ["messages", "input", "contents", "prompt"].into_iter().find_map(|field| body.get(field));
    let messages = match messages {
        Some(Value::Array(messages)) => &**messages,
        Some(message) => std::slice::from_ref(message),
        None => &[],
    };
    let begin = all.len();
    all.extend(messages.iter().map(|message| reader.message(message)));
    number(&mut all[begin..], manifest);
    // What a body of another request does not hold is shown all the same.
    while let Some(piece) = reader.next() {
        all.push(Shown { role: "not found in the body".into(), number: None, pieces: vec![piece] });
    }
    all.retain(|message| !message.pieces.is_empty());
    all
}

/// Messages that are ours alone were not in the request as it came. Where that doesn't add up (the caller kept some of them), none gets a number.
fn number(messages: &mut [Shown<'_>], manifest: &Manifest) {
    let Some(last) = manifest.caller.messages.last().map(|message| message.at + 1) else { return };
    let mut count = 0;
    for message in messages.iter_mut() {
        if !matches!(&*message.pieces, [Piece::Ours { .. }]) {
            count += 1;
            message.number = Some(count);
        }
    }
    if count != last {
        messages.iter_mut().for_each(|message| message.number = None);
    }
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<Piece<'a>> {
        let (text, rest) = self.texts.split_first()?;
        let first = self.fragments;
        (self.texts, self.fragments) = (rest, first + text.fragments.len());
        Some(Piece::Ours { text, first })
    }

    /// Ours stands in front.
    fn system(&mut self, text: &'a str, pieces: &mut Vec<Piece<'a>>) {
        let ours = self.texts.first().filter(|next| next.placement == Placement::System);
        match ours.and_then(|ours| text.strip_prefix(&*ours.text)) {
            Some(rest) => {
                pieces.extend(self.next());
                callers("", rest.strip_prefix(GAP).unwrap_or(rest), pieces);
            }
            None => callers("", text, pieces),
        }
    }
    /// Ours stands at the end.
    fn user(&mut self, text: &'a str, pieces: &mut Vec<Piece<'a>>) {
        let ours = self.texts.first().filter(|next| next.placement != Placement::System);
        match ours.and_then(|ours| text.strip_suffix(&*ours.text)) {
            Some(rest) => {
                callers("", rest.strip_suffix(GAP).unwrap_or(rest), pieces);
                pieces.extend(self.next());
            }
            None => callers("", text, pieces),
        }
    }

    fn message(&mut self, message: &'a Value) -> Shown<'a> {
        let field = |name: &str| message.get(name).and_then(Value::as_str);
        let role = field("role").or_else(|| field("type")).unwrap_or("user");
        let mut pieces = Vec::new();
        let content = message.get("content").or_else(|| message.get("parts")).or_else(|| message.get("output"));
        match content.unwrap_or(if message.is_string() { message } else { &Value::Null }) {
            Value::String(text) => self.part_text(role, text, &mut pieces),
            Value::Array(parts) => parts.iter().for_each(|part| self.part(role, part, &mut pieces)),
            Value::Null => {}
            other => callers("", other.to_string(), &mut pieces),
        }
        let is_item = content.is_none() && field("role").is_none() && message.is_object();
        let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        calls.chain(message.get("function_call")).for_each(|call| callers("call", compact(call), &mut pieces));
        if is_item {
            callers("item", compact(message), &mut pieces);
        }
        let images = message.get("images").and_then(Value::as_array).map_or(0, Vec::len);
        if images > 0 {
            callers("media", counted(images, "image"), &mut pieces);
        }
        let role = if role == "model" { "assistant" } else { role };
        Shown { role: role.to_owned(), number: None, pieces }
    }

    fn part_text(&mut self, role: &str, text: &'a str, pieces: &mut Vec<Piece<'a>>) {
        match role {
            "system" | "developer" => self.system(text, pieces),
            "user" => self.user(text, pieces),
            "assistant" | "model" => callers("answer", text, pieces),
            _ => callers("result", text, pieces),
        }
    }
    fn part(&mut self, role: &str, part: &'a Value, pieces: &mut Vec<Piece<'a>>) {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        match (part, part.get("text")) {
            (Value::String(text), _) | (_, Some(Value::String(text))) => self.part_text(role, text, pieces),
            _ if kind == "tool_result" || part.get("functionResponse").is_some() => callers("result", compact(part), pieces),
            _ if kind == "tool_use" || part.get("functionCall").is_some() => callers("call", compact(part), pieces),
            _ if kind.contains("thinking") || kind == "reasoning" => callers("thinking", compact(part), pieces),
            _ => callers("media", compact(part), pieces),
        }
    }
}

fn callers<'a>(label: &'static str, text: impl Into<Cow<'a, str>>, pieces: &mut Vec<Piece<'a>>) {
    let text = text.into();
    if !text.is_empty() {
        pieces.push(Piece::Callers { label, text });
    }
}

/// The texts of a content.
fn strings(content: &Value) -> impl Iterator<Item = &str> {
    let parts =
        content.as_array().map(Vec::as_slice).unwrap_or_default().iter().filter_map(|part| part.get("text").unwrap_or(part).as_str());
    content.as_str().into_iter().chain(parts)
}

/// A part as JSON, its long strings (images, signatures) cut.
fn compact(value: &Value) -> String {
    fn shortened(value: &Value) -> Value {
        const LONG: usize = 2_000;
        match value {
            Value::String(text) if text.len() > LONG => {
                let kept: String = text.chars().take(LONG / 10).collect();
                Value::String(format!("{kept}… ({})", counted(text.len(), "byte")))
            }
            Value::Array(items) => items.iter().map(shortened).collect(),
            Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), shortened(value))).collect(),
            plain => plain.clone(),
        }
    }
    serde_json::to_string_pretty(&shortened(value)).unwrap_or_default()
}

/// The caller's own words.
pub(super) fn show(page: &mut Markup, label: &str, text: &str) {
    let (kept, rest) = text.char_indices().nth(SHOWN).map_or((text, ""), |(at, _)| text.split_at(at));
    let chars = text.chars().count();
    let is_short = chars <= OPEN_CHARS && text.lines().nth(OPEN_LINES).is_none();
    page.raw("<details class=\"own\"").raw(if is_short { " open=\"open\">" } else { ">" }).raw("<summary>");
    page.text(if label.is_empty() { "the caller's own words" } else { label }).raw(" <span>").text(&counted(chars, "character"));
    page.raw("</span></summary>\n").preformatted("body", kept);
    if !rest.is_empty() {
        page.raw("<p class=\"more\">").text(&counted(rest.chars().count(), "character")).raw(" more, not shown here</p>\n");
    }
    page.raw("</details>\n");
}
