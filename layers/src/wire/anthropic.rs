//! Anthropic Messages.
//!
//! | what | where |
//! | --- | --- |
//! | system prompt | `system`, as the first text block |
//! | text at a user message | a text block behind its content |
//! | text in a tool round | a text block behind the tool results, ahead of what the user says beside them |

use super::cache::{self, is_marked};
use super::json::{self, PartKind, Parts};
use super::{Conversation, Edits, Format, GAP, Message, Role, Spot, SystemEdit, Wire, tools};
use crate::prompt::BLOCK_START;
use serde_json::Value;

/// Anthropic Messages.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Anthropic;

const PARTS: Parts = Parts { kind: Some("text") };

fn kind(block: &Value) -> PartKind {
    match json::text(block, "type") {
        "text" => PartKind::Text,
        "thinking" | "redacted_thinking" | "tool_use" | "tool_result" => PartKind::NotSeen,
        _ => PartKind::Media,
    }
}

pub(super) fn is_result(block: &Value) -> bool {
    json::text(block, "type") == "tool_result"
}

/// The caller's own tool: those of the provider take no description.
fn is_the_callers(tool: &Value) -> bool {
    matches!(json::text(tool, "type"), "" | "custom")
}

/// Whether a system block is ours, or one of the two that ours may be split into.
fn is_part_of(text: &str, system: &SystemEdit) -> bool {
    let ours = system.ours();
    let all = [&*ours].into_iter().chain(system.former.iter().map(|former| &**former));
    !text.is_empty()
        && all.into_iter().any(|ours| ours.strip_prefix(text).is_some_and(is_end) || ours.strip_suffix(text).is_some_and(is_beginning))
}
fn is_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(GAP)
}
fn is_beginning(rest: &str) -> bool {
    rest.is_empty() || rest.ends_with(GAP)
}

/// What is the same for every conversation, and the rest.
fn split(ours: &str, stable: usize) -> Option<(&str, &str)> {
    let (first, rest) = ours.split_at_checked(stable)?;
    Some((first, rest.strip_prefix(GAP)?)).filter(|_| !first.is_empty())
}

/// Our system text in front of the caller's, in two blocks where only the first is the same for every conversation.
fn system_blocks(callers: Value, system: &SystemEdit, stable: usize) -> Value {
    // Nearly always the caller has none, and no text of many bytes has to be looked through.
    if callers.is_null() {
        let ours = system.ours();
        return match split(&ours, stable) {
            _ if ours.is_empty() => Value::Array(Vec::new()),
            Some((first, rest)) => [first, rest].map(|text| PARTS.text(text)).into_iter().collect(),
            None => [PARTS.text(&ours)].into_iter().collect(),
        };
    }
    let mut blocks = callers;
    // What a caller kept may be split already.
    if let Value::Array(kept) = &mut blocks
        && let [first, second, ..] = kept.as_slice()
    {
        let joined = [json::text(first, "text"), json::text(second, "text")].join(GAP);
        if joined == *system.ours() || system.former.iter().any(|former| **former == *joined) {
            kept[0]["text"] = joined.into();
            kept.remove(1);
        }
    }
    let mut blocks = PARTS.system(blocks, system);
    if let Value::Array(blocks) = &mut blocks
        && let Some(Value::String(text)) = blocks.first_mut().and_then(|first| json::field_mut(first, "text"))
        && *text == *system.ours()
        && let Some((_, rest)) = split(text, stable)
    {
        let rest = PARTS.text(rest);
        text.truncate(stable);
        blocks.insert(1, rest);
    }
    blocks
}

impl Wire<Value> for Anthropic {
    fn read(&self, request: &Value) -> Conversation {
        if !json::is_list_of_objects(request, "messages") {
            return Conversation::foreign();
        }
        let tools = json::described(json::list(request, "tools").iter().filter(|tool| is_the_callers(tool)));
        let system = json::system(json::field(request, "system"));
        let tool_names = tools::names(request);
        let system_is_marked = json::list(request, "system").iter().any(is_marked);
        let mut conversation =
            Conversation { model: json::model(request), system, system_is_marked, tools, tool_names, ..Conversation::default() };
        conversation.unmarked_bytes = cache::unmarked_bytes(request);
        conversation.messages.reserve(json::list(request, "messages").len());
        for (at, message) in json::list(request, "messages").iter().enumerate().filter(|(_, message)| !json::is_system(message)) {
            let blocks = json::parts(message, "content");
            if json::text(message, "role") == "assistant" {
                let mut read = json::message(at, Role::Assistant, json::field(message, "content"), kind);
                let calls = blocks.iter().filter(|block| json::text(block, "type") == "tool_use");
                let call = |block: &Value| json::call(json::text(block, "id"), json::text(block, "name"), json::field(block, "input"));
                read.calls = calls.map(call).collect();
                conversation.messages.push(read);
                continue;
            }
            let last_result = blocks.iter().rposition(is_result);
            for block in blocks.iter().filter(|block| is_result(block)) {
                let spot = Spot::BehindPart(last_result.unwrap_or_default());
                conversation.push_result_of_id(at, spot, json::text(block, "tool_use_id"));
                json::measure_result(&mut conversation, json::field(block, "content"));
            }
            if let Some(run) = conversation.messages.last_mut().filter(|_| last_result.is_some()) {
                run.is_marked |= blocks.iter().any(|block| is_result(block) && is_marked(block));
            }
            if last_result.is_none() || !blocks.iter().all(is_result) {
                let is_marked = blocks.iter().any(|block| !is_result(block) && is_marked(block));
                conversation.messages.push(Message { is_marked, ..json::message(at, Role::User, json::field(message, "content"), kind) });
            }
        }
        conversation
    }

    fn write(&self, mut request: Value, edits: &Edits) -> Value {
        tools::add(&mut request, &edits.tools, Format::Anthropic);
        // Ahead of all that looks at how long the tools are: what a caller kept is described already.
        json::describe(json::list_mut(&mut request, "tools").iter_mut().filter(|tool| is_the_callers(tool)), edits);
        let is_ours = |text: &str| text.starts_with(BLOCK_START) || edits.system.as_ref().is_some_and(|system| is_part_of(text, system));
        let marks = edits.cache.as_ref().filter(|marks| marks.unmark(&mut request, is_ours));
        if let Some(system) = edits.system.as_ref().filter(|system| !system.is_nothing()) {
            let stable = edits.cache.as_ref().map_or(0, |marks| marks.first_block(&request));
            let callers = json::field_mut(&mut request, "system").map(Value::take).unwrap_or_default();
            let blocks = system_blocks(callers, system, stable);
            json::put_system(&mut request, "system", blocks);
        }
        if let Some(Value::Array(messages)) = json::field_mut(&mut request, "messages") {
            for (at, message) in messages.iter_mut().enumerate() {
                if edits.tool_output.is_some() {
                    let results = json::parts_mut(message, "content").iter_mut().filter(|block| is_result(block));
                    results.for_each(|block| json::cut_result(block, "content", edits));
                }
                if edits.leaves(at) {
                    continue;
                }
                PARTS.edit(json::field_or_null(message, "content"), at, edits, false);
            }
        }
        if let Some(marks) = marks {
            marks.mark(&mut request);
        }
        request
    }
}
