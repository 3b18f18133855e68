//! Cache marks: where a provider is told that a prefix is worth keeping.
//!
//! Anthropic keeps what ends at a mark (`cache_control`), at most four of them: the end of what is the same for every conversation, the end of the
//! system prompt, the last block of the request, and where a turn adds more blocks than the provider looks back, the end of the request before. Who
//! marks blocks himself decides alone. OpenAI finds prefixes by itself, and sooner where requests of one conversation name one key.

use super::anthropic::is_result;
use super::json;
use super::{Format, Role, ToolDefinition};
use serde_json::{Value, json};

/// Blocks in which the provider looks for an earlier mark: the marked one is the first of them.
const LOOK_BACK: usize = 20;

/// Bytes that make a token at least: what may be under a minimum is taken to be.
pub(crate) const BYTES_A_TOKEN: usize = 4;

/// How a request is marked.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CacheMarks {
    /// Tokens from which on a prefix is kept.
    pub minimum: usize,
    /// Bytes of our system prompt that are the same for every conversation.
    pub stable: usize,
    /// The message behind which the request before ended.
    pub previous: Option<usize>,
    /// Messages, of the user's or of results, that came without a mark when a request first ended there: one that a host keeps there is ours.
    pub ended: Vec<(usize, Role)>,
    /// So did the system text, at the conversation's start.
    pub system_came_unmarked: bool,
    /// Names the conversation to providers that look for its prefix by a key.
    pub key: Option<String>,
}

impl CacheMarks {
    /// Whether our system prompt is two blocks, the first of which is worth keeping by itself. The same in each request with these tools.
    fn splits(&self, tools: usize) -> bool {
        self.stable > 0 && (tools + self.stable) / BYTES_A_TOKEN >= self.minimum
    }
    /// Bytes of our system prompt that are a block of their own in this request; 0 where it is one block.
    pub(super) fn first_block(&self, request: &Value) -> usize {
        if self.splits(json::field(request, "tools").map_or(0, bytes)) { self.stable } else { 0 }
    }
    /// A key for the conversation, unless the caller gave one.
    pub(super) fn set_key(&self, request: &mut Value) {
        if let Some(key) = &self.key
            && let Some(fields) = request.as_object_mut()
            && !fields.contains_key("prompt_cache_key")
        {
            fields.insert("prompt_cache_key".to_owned(), key.as_str().into());
        }
    }

    /// Marks a request of Anthropic's, which holds no mark.
    pub(super) fn mark(&self, request: &mut Value) {
        let tools = json::field(request, "tools").map_or(0, bytes);
        let system = json::field(request, "system").map_or(0, bytes);
        let is_kept = |bytes: usize| bytes / BYTES_A_TOKEN >= self.minimum;
        if let Some(Value::Array(blocks)) = json::field_mut(request, "system") {
            if blocks.len() > 1 && self.splits(tools) {
                set(&mut blocks[0]);
            }
            if is_kept(tools + system)
                && let Some(last) = blocks.last_mut()
            {
                set(last);
            }
        }
        let Some(Value::Array(messages)) = json::field_mut(request, "messages") else { return };
        let Some(end) = messages.iter().rposition(|message| message["role"] != "assistant") else { return };
        let before: usize = messages[..=end].iter().map(bytes).sum();
        if !is_kept(tools + system + before) {
            return;
        }
        if let Some(previous) = self.previous.filter(|previous| *previous < end) {
            let added: usize = messages[previous + 1..=end].iter().map(blocks).sum();
            let until: usize = messages[..=previous].iter().map(bytes).sum();
            if added >= LOOK_BACK && is_kept(tools + system + until) {
                set_last(&mut messages[previous]);
            }
        }
        set_last(&mut messages[end]);
    }
}

/// As a request is measured that holds these tools too.
pub(crate) fn bytes_of_tools(definitions: &[ToolDefinition]) -> usize {
    definitions.iter().filter_map(|definition| definition.written(Format::Anthropic)).map(|tool| bytes(&tool)).sum()
}

fn bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + bytes(value)).sum(),
        _ => 4,
    }
}

fn blocks(message: &Value) -> usize {
    json::field(message, "content").and_then(Value::as_array).map_or(1, Vec::len)
}

const MARK: &str = "cache_control";

fn ours() -> Value {
    json!({"type": "ephemeral"})
}

fn set(block: &mut Value) {
    if let Some(block) = block.as_object_mut() {
        block.insert(MARK.to_owned(), ours());
    }
}

/// Marks a message's last block that takes a mark.
fn set_last(message: &mut Value) {
    let Some(content) = json::field_mut(message, "content") else { return };
    if let Value::String(text) = content
        && !text.is_empty()
    {
        *content = json!([{"type": "text", "text": text}]);
    }
    let takes_a_mark = |block: &&mut Value| match block["type"].as_str() {
        Some("text") => block["text"].as_str().is_some_and(|text| !text.is_empty()),
        Some("tool_result" | "tool_use" | "image" | "document") => true,
        _ => false,
    };
    if let Some(block) = content.as_array_mut().and_then(|blocks| blocks.iter_mut().rev().find(takes_a_mark)) {
        set(block);
    }
}

impl CacheMarks {
    /// Takes the marks off that are ours, which a caller may have kept: those on texts of ours, where we would set any, and those where earlier requests
    /// ended. False where there is any other, and then none is taken off.
    pub(super) fn unmark(&self, request: &mut Value, ours: impl Fn(&str) -> bool) -> bool {
        let all = ["tools", "system", "messages"].map(|field| json::field(request, field).map_or(0, bytes));
        let is_short = all.iter().sum::<usize>() / BYTES_A_TOKEN < self.minimum;
        if is_short {
            return !holds_a_mark(request);
        }
        if self.is_marked_by_the_caller(request, ours) {
            return false;
        }
        unmark(request);
        true
    }
}

/// Wherever one may stand: the request itself takes one, and so do the parts of a result.
fn holds_a_mark(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(name, value)| name == MARK || holds_a_mark(value)),
        Value::Array(items) => items.iter().any(holds_a_mark),
        _ => false,
    }
}

fn unmark(request: &mut Value) {
    let unmark = |blocks: Option<&mut Value>| {
        for block in blocks.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut) {
            block.shift_remove(MARK);
        }
    };
    unmark(json::field_mut(request, "system"));
    for message in json::field_mut(request, "messages").and_then(Value::as_array_mut).into_iter().flatten() {
        unmark(json::field_mut(message, "content"));
    }
}

/// Of tools and system text; `None` where the request is marked.
pub(super) fn unmarked_bytes(request: &Value) -> Option<usize> {
    let is_marked = |holder: &Value, field: &str| json::list(holder, field).iter().any(is_marked);
    let ahead = || ["tools", "system"].map(|field| json::field(request, field).map_or(0, bytes)).iter().sum();
    let in_a_message = || json::list(request, "messages").iter().any(|message| is_marked(message, "content"));
    (!is_marked(request, "tools") && !is_marked(request, "system") && !in_a_message()).then(ahead)
}

impl CacheMarks {
    /// Another mark than those that we would have set.
    fn is_marked_by_the_caller(&self, request: &Value, is_ours: impl Fn(&str) -> bool) -> bool {
        let is_callers = |block: &Value, may_be_ours: &dyn Fn() -> bool| {
            let is_ours = |mark: &Value| block["text"].as_str().is_some_and(&is_ours) || (*mark == ours() && may_be_ours());
            let own = json::field(block, MARK).is_some_and(|mark| !is_ours(mark));
            own || block.as_object().is_some_and(|fields| fields.iter().any(|(name, value)| name != MARK && holds_a_mark(value)))
        };
        let system = json::list(request, "system").iter().any(|block| is_callers(block, &|| self.system_came_unmarked));
        let in_message = |(at, message): (usize, &Value)| {
            let ended = |block: &Value| self.ended.contains(&(at, if is_result(block) { Role::Tool } else { Role::User }));
            json::list(message, "content").iter().any(|block| is_callers(block, &|| ended(block)))
        };
        let elsewhere = request.as_object().into_iter().flatten().filter(|(name, _)| !matches!(name.as_str(), "system" | "messages"));
        elsewhere.into_iter().any(|(name, value)| name == MARK || holds_a_mark(value))
            || system
            || json::list(request, "messages").iter().enumerate().any(in_message)
    }
}

/// Whether this very block carries one.
pub(super) fn is_marked(block: &Value) -> bool {
    json::field(block, MARK).is_some()
}
