//! Messages whose content is a list of typed parts, as genai and rig have them.

use crate::layers::wire::{Conversation, Edits, GAP, Message, Part as Seen, Removal, Role, Spot, ToolCall};
use std::mem;

/// A part of a message's content.
pub(super) trait Part: Sized {
    /// What it is to the view.
    fn kind(&self) -> Kind;
    /// The text that it is.
    fn text_mut(&mut self) -> Option<&mut String>;
    /// A text of ours.
    fn said(text: &str) -> Self;
    /// A tool's result, cut to its bound.
    fn cut(&mut self, edits: &Edits);
}

/// What a part is to the view.
pub(super) enum Kind {
    Text(String),
    Media(String),
    Call(ToolCall),
    /// Which call it answers, and its characters.
    Result(String, usize),
    NotSeen,
}

/// Adds a message to the view; with results and content of the user's own it is two of them.
pub(super) fn read<P: Part>(conversation: &mut Conversation, at: usize, role: Role, parts: &[P]) {
    let mut message = Message::new(at, role);
    let mut results = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        match part.kind() {
            Kind::Text(text) => message.texts.push(Seen::new(index, text)),
            Kind::Media(text) => message.media.push(Seen::new(index, text)),
            Kind::Call(call) => message.calls.push(call),
            Kind::Result(id, chars) => results.push((index, id, chars)),
            Kind::NotSeen => {}
        }
    }
    // A message that is one text: some providers are sent a string, and take nothing else.
    message.is_string = parts.len() == 1 && !message.texts.is_empty();
    let is_of_results = !results.is_empty() && message.texts.is_empty() && message.media.is_empty();
    for (index, id, chars) in results {
        let spot = if is_of_results { Spot::NewMessage } else { Spot::BehindPart(index) };
        conversation.push_result_of_id(at, spot, &id);
        conversation.measure_result(chars);
    }
    if !is_of_results && role != Role::Tool {
        conversation.messages.push(message);
    }
}

/// All messages, edited: what `edit` does in one, and texts of ours as messages of their own.
pub(super) fn edited<M>(messages: Vec<M>, edits: &Edits, edit: impl Fn(&mut M, usize), said: impl Fn(&str) -> M) -> Vec<M> {
    let mut written = Vec::with_capacity(messages.len() + 2);
    for (at, mut message) in messages.into_iter().enumerate() {
        if !edits.removals_at(at).iter().any(|removal| matches!(removal, Removal::Message { .. })) {
            edit(&mut message, at);
            written.push(message);
        }
        let behind = edits.appends_at(at).iter().filter(|append| append.spot == Spot::NewMessage);
        written.extend(behind.map(|append| said(&append.text)));
    }
    written
}

/// Removes and appends within one message's content.
pub(super) fn edit<P: Part>(parts: &mut Vec<P>, at: usize, edits: &Edits) {
    if edits.tool_output.is_some() {
        parts.iter_mut().for_each(|part| part.cut(edits));
    }
    if edits.leaves(at) {
        return;
    }
    let removals = edits.removals_at(at);
    for removal in removals {
        if let Removal::Cut { part, keep, .. } = *removal
            && let Some(text) = parts.get_mut(part).and_then(P::text_mut)
        {
            text.truncate(keep);
        }
    }
    let ours = |spot: Spot| edits.appends_at(at).iter().filter(move |append| append.spot == spot).map(|append| &*append.text);
    if let [one] = &mut **parts
        && let Some(text) = one.text_mut()
    {
        ours(Spot::Content).for_each(|ours| text.extend([GAP, ours]));
        return;
    }
    let is_removed = |index| removals.iter().any(|removal| matches!(removal, Removal::Part { part, .. } if *part == index));
    let mut edited = Vec::with_capacity(parts.len() + 1);
    for (index, part) in mem::take(parts).into_iter().enumerate() {
        if !is_removed(index) {
            edited.push(part);
        }
        edited.extend(ours(Spot::BehindPart(index)).map(P::said));
    }
    edited.extend(ours(Spot::Content).map(P::said));
    *parts = edited;
}
