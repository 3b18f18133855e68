//! What the JSON wires share.

mod canonical;
mod plain;

use super::edits::{Append, Edits, Removal, SystemEdit};
use super::tool_output::{each_result_text, result_chars};
use super::{Conversation, GAP, Message, Part, Role, Spot, ToolCall};
pub(crate) use canonical::canonical;
use serde_json::{Map, Value};
use std::mem;

/// How a format writes a list of content parts.
pub(super) struct Parts {
    /// Of a text part: its `type`, where it has one.
    pub(super) kind: Option<&'static str>,
}

impl Parts {
    pub(super) fn text(&self, text: &str) -> Value {
        let mut part = Map::new();
        if let Some(kind) = self.kind {
            part.insert("type".into(), kind.into());
        }
        part.insert("text".into(), text.into());
        part.into()
    }

    /// Removes and appends within one message's content. A string stays a string where `string_stays`, else becomes a list with a text in it.
    pub(super) fn edit(&self, content: &mut Value, at: usize, edits: &Edits, string_stays: bool) {
        if edits.leaves(at) {
            return;
        }
        let removals = edits.removals_at(at);
        for removal in removals {
            if let Removal::Cut { part, keep, .. } = *removal
                && let Some(Value::String(text)) = if content.is_string() { Some(&mut *content) } else { text_of(content, part) }
            {
                text.truncate(keep);
            }
        }
        let goes_in = edits.appends_at(at).iter().any(|append| append.spot != Spot::NewMessage);
        if goes_in && matches!(content, Value::Object(_) | Value::Bool(_) | Value::Number(_)) {
            *content = vec![content.take()].into();
        }
        let ours = |spot: Spot| edits.appends_at(at).iter().filter(move |append| append.spot == spot);
        let is_removed = |index| removals.iter().any(|removal| matches!(removal, Removal::Part { part, .. } if *part == index));
        match content {
            Value::String(text) if string_stays => {
                ours(Spot::Content).for_each(|append| push_behind(text, append));
            }
            Value::Array(parts) => {
                let mut edited = Vec::with_capacity(parts.len() + 1);
                for (index, part) in mem::take(parts).into_iter().enumerate() {
                    if !is_removed(index) {
                        edited.push(part);
                    }
                    edited.extend(ours(Spot::BehindPart(index)).map(|append| self.text(&append.text)));
                }
                edited.extend(ours(Spot::Content).map(|append| self.text(&append.text)));
                *parts = edited;
            }
            other if ours(Spot::Content).next().is_some() => {
                let callers = if let Value::String(text) = other { Some(self.text(text)) } else { None };
                *other = callers.into_iter().chain(ours(Spot::Content).map(|append| self.text(&append.text))).collect();
            }
            _ => {}
        }
    }

    /// Our system text as the first part, ahead of the caller's.
    pub(super) fn system(&self, callers: Value, system: &SystemEdit) -> Value {
        let mut parts = match callers {
            Value::Array(parts) => parts,
            // An empty text is no part that these formats take.
            Value::String(text) if !text.is_empty() => vec![self.text(&text)],
            Value::String(_) | Value::Null => Vec::new(),
            part => vec![part],
        };
        let ours = system.ours();
        if let Some(Value::String(first)) = parts.first_mut().and_then(|part| field_mut(part, "text")) {
            let callers = system.callers(first);
            if callers.is_empty() && !first.is_empty() {
                if ours.is_empty() {
                    parts.remove(0);
                } else {
                    // The caller may have put a mark on it, which stays.
                    ours.as_ref().clone_into(first);
                }
                return parts.into();
            } else if callers.len() < first.len() {
                *first = callers.to_owned();
            }
        }
        if !ours.is_empty() {
            parts.insert(0, self.text(&ours));
        }
        parts.into()
    }
}

/// A system prompt of no parts is none: where a purge left nothing of ours, the field goes.
pub(super) fn put_system(request: &mut Value, name: &str, system: Value) {
    let parts = field(&system, "parts").unwrap_or(&system);
    if !parts.as_array().is_some_and(Vec::is_empty) {
        request[name] = system;
    } else if let Some(fields) = request.as_object_mut() {
        fields.shift_remove(name);
    }
}

fn text_of(content: &mut Value, part: usize) -> Option<&mut Value> {
    content.get_mut(part)?.get_mut("text")
}

/// Our text behind the caller's, in one string.
pub(super) fn push_behind(text: &mut String, append: &Append) {
    text.reserve_exact(GAP.len() + append.text.len());
    text.push_str(GAP);
    text.push_str(&append.text);
}

/// Objects of these formats have a few fields. To look at each costs less than to hash a name, and dozens are looked up in a request.
const FEW_FIELDS: usize = 16;

/// A field of an object.
pub(super) fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let fields = value.as_object()?;
    if fields.len() > FEW_FIELDS {
        return fields.get(name);
    }
    fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
}

/// A field of an object, to change.
pub(super) fn field_mut<'a>(value: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    let fields = value.as_object_mut()?;
    if fields.len() > FEW_FIELDS {
        return fields.get_mut(name);
    }
    fields.iter_mut().find(|(field, _)| *field == name).map(|(_, value)| value)
}

/// A field of an object, to change; where it has none, one of nothing.
pub(super) fn field_or_null<'a>(object: &'a mut Value, name: &str) -> &'a mut Value {
    if field(object, name).is_none() {
        return &mut object[name];
    }
    // An index would copy the name to look it up.
    field_mut(object, name).expect("it is there")
}

/// A field's items; none where it is no list.
pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    field(value, name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A field's text; empty where it is none.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    field(value, name).and_then(Value::as_str).unwrap_or_default()
}

/// The model that a body names.
pub(super) fn model(body: &Value) -> Option<String> {
    field(body, "model").and_then(Value::as_str).map(str::to_owned)
}

/// A system text: a string, or parts with the same gaps between them as between ours and the caller's.
pub(super) fn system(content: Option<&Value>) -> Option<String> {
    match content? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        Value::Array(parts) => Some(parts.iter().map(|part| text(part, "text")).collect::<Vec<_>>().join(GAP)),
        part => Some(text(part, "text").to_owned()),
    }
}

/// As [`system`], of a list of messages.
pub(super) fn leading_system(body: &Value) -> Option<String> {
    system(list(body, "messages").first().filter(|first| is_system(first))?.get("content"))
}

/// The parts of a content that is no string. One that stands by itself is read as a list of it, which with our text it becomes: Gemini takes such, and
/// what no format takes is the caller's all the same.
fn as_parts(content: &Value) -> &[Value] {
    match content {
        Value::Array(parts) => parts,
        Value::String(_) | Value::Null => &[],
        part => std::slice::from_ref(part),
    }
}
/// The [parts](as_parts) under this field.
pub(super) fn parts<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    field(value, name).map_or(&[], as_parts)
}
/// As [`parts`], to be changed.
pub(super) fn parts_mut<'a>(value: &'a mut Value, name: &str) -> &'a mut [Value] {
    match field_mut(value, name) {
        Some(Value::Array(parts)) => parts,
        Some(part @ Value::Object(_)) => std::slice::from_mut(part),
        _ => &mut [],
    }
}

/// A message of this content, a string or a list of parts: what `of_part` finds to be text is text, what it leaves out is left out, all else is
/// media.
pub(super) fn message(at: usize, role: Role, content: Option<&Value>, kind_of: impl Fn(&Value) -> PartKind) -> Message {
    let mut message = Message { at, role, ..Message::default() };
    match content {
        Some(Value::String(text)) => {
            message.is_string = true;
            message.texts = vec![Part { index: 0, text: text.clone() }];
        }
        None | Some(Value::Null) => {}
        Some(content) => {
            for (index, part) in as_parts(content).iter().enumerate() {
                match kind_of(part) {
                    PartKind::Text => message.texts.push(Part { index, text: text(part, "text").to_owned() }),
                    PartKind::Media => message.media.push(Part { index, text: canonical(part) }),
                    PartKind::NotSeen => {}
                }
            }
        }
    }
    message
}

/// What a part of a message's content is to the view.
pub(super) enum PartKind {
    Text,
    Media,
    NotSeen,
}

/// A call; its arguments are a value, or a string that holds one.
pub(super) fn call(id: &str, name: &str, arguments: Option<&Value>) -> ToolCall {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok().map(|parsed| canonical(&parsed));
    let written = arguments.and_then(Value::as_str).and_then(|text| plain::canonical(text).or_else(|| parsed(text)));
    let arguments = written.unwrap_or_else(|| arguments.map_or_else(|| "null".to_owned(), canonical));
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments }
}

/// Adds a call of a function, whose arguments are JSON in a string. Arguments that are none are not looked at, since they may be sent cut; they are
/// measured.
pub(super) fn push_function_call(message: &mut Message, at: usize, id: &str, name: &str, arguments: Option<&Value>) {
    let text = arguments.and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let Some(text) = text else { return message.calls.push(call(id, name, arguments)) };
    let arguments = canonical_arguments(text).unwrap_or_else(|| {
        message.malformed_argument_chars.push((at, text.chars().count()));
        "malformed".to_owned()
    });
    message.calls.push(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments });
}

/// Arguments are an object; JSON in JSON is no more than a text.
fn canonical_arguments(text: &str) -> Option<String> {
    plain::canonical(text).or_else(|| {
        let parsed: Value = serde_json::from_str(text).ok()?;
        (!parsed.is_string()).then(|| canonical(&parsed))
    })
}

/// The names of tools that have a description, or could have one.
pub(super) fn described<'a>(tools: impl Iterator<Item = &'a Value>) -> Vec<String> {
    tools.filter(|tool| takes_a_description(tool)).filter_map(|tool| Some(field(tool, "name")?.as_str()?.to_owned())).collect()
}

/// What is no text stays the caller's, for the provider to refuse.
fn takes_a_description(tool: &Value) -> bool {
    field(tool, "description").is_none_or(|description| description.is_string() || description.is_null())
}

/// Changes the descriptions of these tools.
pub(super) fn describe<'a>(tools: impl Iterator<Item = &'a mut Value>, edits: &Edits) {
    for tool in tools.filter(|tool| takes_a_description(tool)) {
        let Some(change) = field(tool, "name").and_then(Value::as_str).and_then(|name| edits.tool_descriptions.get(name)) else { continue };
        let description = change.apply(text(tool, "description")).into_owned();
        if !(description.is_empty() && field(tool, "description").is_none()) {
            tool["description"] = description.into();
        }
    }
}

/// A field's items, to change; none where it is no list.
pub(super) fn list_mut<'a>(value: &'a mut Value, name: &str) -> &'a mut [Value] {
    field_mut(value, name).and_then(Value::as_array_mut).map_or(&mut [], Vec::as_mut_slice)
}

/// Notes of the result that was pushed last how long it is, and which bodies of skills it holds.
pub(super) fn measure_result(conversation: &mut Conversation, result: Option<&Value>) {
    conversation.measure_result(result.map_or(0, result_chars));
    if let Some(result) = result {
        each_result_text(result, |text| conversation.note_skill_blocks(text));
    }
}

/// Cuts a field that holds a tool's result.
pub(super) fn cut_result(holder: &mut Value, name: &str, edits: &Edits) {
    if let Some(bound) = &edits.tool_output
        && let Some(result) = field_mut(holder, name)
    {
        bound.cut_result(result);
    }
}

/// Cuts a field that should hold JSON in a string, and does not.
pub(super) fn cut_arguments(holder: &mut Value, edits: &Edits) {
    if let Some(bound) = &edits.tool_output
        && let Some(Value::String(arguments)) = field_mut(holder, "arguments")
        && let Some(cut) = bound.malformed_arguments(arguments)
    {
        *arguments = cut;
    }
}

/// Messages with a `role`, the leading system message among them: ours goes in front of that, or becomes one.
pub(super) fn write_messages(
    body: &mut Value,
    edits: &Edits,
    parts: &Parts,
    edit: impl Fn(&mut Value, usize),
    new_message: impl Fn(&str) -> Value,
) {
    let Some(Value::Array(messages)) = field_mut(body, "messages") else { return };
    let old = mem::take(messages);
    messages.reserve(old.len() + 2);
    if let Some(system) = &edits.system
        && !old.first().is_some_and(is_system)
        && !system.ours().is_empty()
    {
        let role = if system.as_developer { "developer" } else { "system" };
        messages.push(serde_json::json!({"role": role, "content": &*system.ours()}));
    }
    for (at, mut message) in old.into_iter().enumerate() {
        if at == 0
            && let Some(system) = edits.system.as_ref().filter(|system| is_system(&message) && !system.is_nothing())
        {
            // One without content gets it.
            let content = &mut message["content"];
            *content = match content.take() {
                Value::String(text) => system.in_front_of(&text).into(),
                Value::Null => (&*system.ours()).into(),
                list => parts.system(list, system),
            };
        }
        if !edits.removals_at(at).iter().any(|removal| matches!(removal, Removal::Message { .. })) {
            edit(&mut message, at);
            messages.push(message);
        }
        let behind = edits.appends_at(at).iter().filter(|append| append.spot == Spot::NewMessage);
        messages.extend(behind.map(|append| new_message(&append.text)));
    }
}

pub(super) fn is_system(message: &Value) -> bool {
    matches!(text(message, "role"), "system" | "developer")
}

/// What this field takes where it takes a text alone. Another value is the API's to refuse, as it came.
pub(super) fn is_text_or_nothing(body: &Value, name: &str) -> bool {
    field(body, name).is_none_or(|value| value.is_string() || value.is_null())
}

/// A list of objects under this field: what a conversation is made of.
pub(super) fn is_list_of_objects(body: &Value, name: &str) -> bool {
    field(body, name).and_then(Value::as_array).is_some_and(|items| items.iter().all(Value::is_object))
}

#[cfg(test)]
mod tests;
