//! What the proxy did by itself, put back into the next request: so the provider reads what it said and was told, and the conversation only grows at its
//! end.

use super::remembered::{Chain, Kept, Remembered, Rounds, Scope};
use crate::layers::wire::{Conversation, Format, Role, Wire};
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::Arc;

/// A request as it was read.
pub(super) struct Restored {
    /// Of its messages as the caller wrote them.
    pub(super) chain: Chain,
    /// Something was put back.
    pub(super) is_changed: bool,
}

/// Puts back what belongs into this request. `None`: it is no conversation.
pub(super) fn restore(remembered: &Remembered, scope: &Scope, format: Format, request: &mut Value) -> Option<Restored> {
    let conversation = format.read(request);
    if conversation.is_foreign {
        return None;
    }
    let mut chain = remembered.chain(scope, format);
    let mut found: Vec<(Range<usize>, Arc<Kept>)> = Vec::new();
    for message in &conversation.messages {
        chain.push(message);
        if message.role == Role::Assistant
            && let Some(kept) = remembered.get(chain.key(), scope)
            && let Some(range) = range(format, request, message.at, &conversation)
        {
            found.push((range, kept));
        }
    }
    let mut is_changed = !found.is_empty();
    // From the end, so that places stay what they are.
    for (range, kept) in found.into_iter().rev() {
        if let Kept::Rounds(rounds) = &*kept {
            put_back(format, request, range, rounds);
        }
    }
    if format == Format::OpenAiResponses && conversation.held_by_provider.is_some() {
        is_changed |= answer_what_is_held(remembered, scope, request);
    }
    Some(Restored { chain, is_changed })
}

/// The hash alone. `None`: it is no conversation.
pub(super) fn chain(remembered: &Remembered, scope: &Scope, format: Format, request: &Value) -> Option<Chain> {
    let conversation = format.read(request);
    let mut chain = remembered.chain(scope, format);
    conversation.messages.iter().for_each(|message| chain.push(message));
    (!conversation.is_foreign).then_some(chain)
}

/// The list that a format's messages stand in.
pub(super) fn field(format: Format) -> &'static str {
    match format {
        Format::OpenAiResponses => "input",
        Format::Gemini => "contents",
        _ => "messages",
    }
}

/// Where the answer that begins here stands. In Responses it is a run of items.
fn range(format: Format, request: &Value, at: usize, conversation: &Conversation) -> Option<Range<usize>> {
    if format != Format::OpenAiResponses {
        return Some(at..at + 1);
    }
    let items = request.get("input")?.as_array()?;
    let is_the_models = |item: &Value| {
        let kind = item.get("type").and_then(Value::as_str).unwrap_or("message");
        match kind {
            "message" => item.get("role").is_some_and(|role| role == "assistant"),
            "item_reference" => false,
            kind => kind == "reasoning" || kind.ends_with("_call"),
        }
    };
    let before = items[..at].iter().rev().take_while(|item| is_the_models(item)).count();
    let behind = items[at..].iter().take_while(|item| is_the_models(item)).count();
    let range = at - before..at + behind;
    // Something of the caller's in its midst would stand twice, or be torn from it.
    let alone = format.read(&json!({"input": &items[range.clone()]})).messages;
    let whole = conversation.messages.iter().find(|message| message.at == at)?;
    let is_all = |found: &crate::layers::wire::Message| found.texts.len() == whole.texts.len() && found.calls == whole.calls;
    (alone.len() == 1 && is_all(&alone[0])).then_some(range)
}

fn put_back(format: Format, request: &mut Value, range: Range<usize>, rounds: &Rounds) {
    let Some(messages) = request.get_mut(field(format)).and_then(Value::as_array_mut) else { return };
    let mut said = rounds.said.clone();
    if format == Format::Anthropic {
        keep_mark(&messages[range.start], &mut said);
    }
    let behind = range.start + said.len();
    messages.splice(range, said);
    match format {
        Format::Anthropic => beside(messages, behind, "content", rounds, |block| block["type"] == "tool_result"),
        Format::Gemini => {
            let is_response = |part: &Value| part.get("functionResponse").or_else(|| part.get("function_response")).is_some();
            beside(messages, behind, "parts", rounds, is_response);
        }
        _ => {
            for (ordinal, result) in &rounds.ours {
                let results = messages[behind..].iter().take_while(|message| message["role"] == "tool").count();
                messages.insert(behind + (*ordinal).min(results), result.clone());
            }
        }
    }
}

/// Results of one answer stand in one message.
fn beside(messages: &mut Vec<Value>, at: usize, field: &str, rounds: &Rounds, is_result: impl Fn(&Value) -> bool) {
    if rounds.ours.is_empty() {
        return;
    }
    let ours = rounds.ours.iter();
    let parts = messages.get_mut(at).and_then(|message| message.get_mut(field)?.as_array_mut());
    match parts.filter(|parts| parts.iter().any(&is_result)) {
        Some(parts) => {
            for (ordinal, result) in ours {
                let results = parts.iter().take_while(|part| is_result(part)).count();
                parts.insert((*ordinal).min(results), result.clone());
            }
        }
        None => messages.insert(at, json!({"role": "user", field: ours.map(|(_, result)| result).collect::<Vec<_>>()})),
    }
}

/// A cache mark of the caller's on the answer stays on it.
fn keep_mark(callers: &Value, said: &mut [Value]) {
    let Some(mark) = callers["content"].as_array().and_then(|blocks| blocks.iter().rev().find_map(|block| block.get("cache_control")))
    else {
        return;
    };
    let blocks = said.last_mut().and_then(|message| message.get_mut("content")?.as_array_mut());
    if let Some(last) = blocks.and_then(|blocks| blocks.last_mut())
        && !matches!(last["type"].as_str(), Some("thinking" | "redacted_thinking"))
        && let Some(fields) = last.as_object_mut()
    {
        fields.insert("cache_control".into(), mark.clone());
    }
}

/// The provider holds the calls, ours among them. Whether there is something of them to say.
fn answer_what_is_held(remembered: &Remembered, scope: &Scope, request: &mut Value) -> bool {
    let (mut outputs, mut is_changed): (Vec<Value>, bool) = (Vec::new(), false);
    if let Some(Value::String(id)) = request.get_mut("previous_response_id") {
        if let Some(kept) = remembered.get(remembered.id_key(scope, "response", id), scope)
            && let Kept::Goes(further) = &*kept
        {
            further.clone_into(id);
            is_changed = true;
        }
        if let Some(kept) = remembered.get(remembered.id_key(scope, "outputs", id), scope)
            && let Kept::Outputs(ours) = &*kept
        {
            outputs.extend(ours.iter().cloned());
        }
    }
    let items = request.get("input").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let ids: Vec<String> = items.iter().filter_map(|item| item.get("call_id")?.as_str().map(str::to_owned)).collect();
    for id in &ids {
        if let Some(kept) = remembered.get(remembered.id_key(scope, "call", id), scope)
            && let Kept::Outputs(ours) = &*kept
        {
            outputs.extend(ours.iter().cloned());
        }
    }
    let mut known = ids;
    outputs.retain(|output| {
        let id = output["call_id"].as_str().unwrap_or_default();
        let is_new = known.iter().all(|known| known != id);
        known.push(id.to_owned());
        is_new
    });
    if outputs.is_empty() {
        return is_changed;
    }
    match request.get_mut("input") {
        Some(Value::Array(items)) => drop(items.splice(0..0, outputs)),
        Some(input @ Value::String(_)) => {
            let text = input.take();
            outputs.push(json!({"type": "message", "role": "user", "content": text}));
            *input = outputs.into();
        }
        _ => {}
    }
    true
}
