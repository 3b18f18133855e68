//! Cache marks: where a provider is told that a prefix is worth keeping.
//!
//! Anthropic keeps what ends at a mark (`cache_control`), at most four of them: the end of what is the same for every conversation, the end of the
//! system prompt, the last block of the request, and where a turn adds more blocks than the provider looks back, the end of the request before. Who
//! marks blocks himself decides alone. OpenAI finds prefixes by itself, and sooner where requests of one conversation name one key.

use serde_json::{Value, json};

/// Blocks before a mark in which the provider looks for an earlier one.
const LOOK_BACK: usize = 20;

/// Bytes that make a token at least: what may be under a minimum is taken to be.
pub(crate) const BYTES_A_TOKEN: usize = 4;

/// How a request is marked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheMarks {
    /// Tokens from which on a prefix is kept.
    pub minimum: usize,
    /// Bytes of our system prompt that are the same for every conversation.
    pub stable: usize,
    /// The message behind which the request before ended.
    pub previous: Option<usize>,
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
        if self.splits(request.get("tools").map_or(0, bytes)) { self.stable } else { 0 }
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
        let tools = request.get("tools").map_or(0, bytes);
        let system = request.get("system").map_or(0, bytes);
        let is_kept = |bytes: usize| bytes / BYTES_A_TOKEN >= self.minimum;
        if let Some(Value::Array(blocks)) = request.get_mut("system") {
            if blocks.len() > 1 && self.splits(tools) {
                set(&mut blocks[0]);
            }
            if is_kept(tools + system)
                && let Some(last) = blocks.last_mut()
            {
                set(last);
            }
        }
        let Some(Value::Array(messages)) = request.get_mut("messages") else { return };
        let Some(end) = messages.iter().rposition(|message| message["role"] != "assistant") else { return };
        let before: usize = messages[..=end].iter().map(bytes).sum();
        if !is_kept(tools + system + before) {
            return;
        }
        if let Some(previous) = self.previous.filter(|previous| *previous < end) {
            let added: usize = messages[previous + 1..=end].iter().map(blocks).sum();
            let until: usize = messages[..=previous].iter().map(bytes).sum();
            if added > LOOK_BACK && is_kept(tools + system + until) {
                set_last(&mut messages[previous]);
            }
        }
        set_last(&mut messages[end]);
    }
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
    message.get("content").and_then(Value::as_array).map_or(1, Vec::len)
}

fn set(block: &mut Value) {
    if let Some(block) = block.as_object_mut() {
        block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

/// Marks a message's last block that takes a mark.
fn set_last(message: &mut Value) {
    let Some(content) = message.get_mut("content") else { return };
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
    /// Takes the marks off that are ours, which a caller may have kept: those on texts of ours, where we would set any. False where there is any other,
    /// and then none is taken off.
    pub(super) fn unmark(&self, request: &mut Value, ours: impl Fn(&str) -> bool) -> bool {
        let all = ["tools", "system", "messages"].map(|field| request.get(field).map_or(0, bytes));
        let is_short = all.iter().sum::<usize>() / BYTES_A_TOKEN < self.minimum;
        if is_short {
            return !is_marked_by_the_caller(request, |_| false);
        }
        if is_marked_by_the_caller(request, ours) {
            return false;
        }
        unmark(request);
        true
    }
}

fn unmark(request: &mut Value) {
    let unmark = |blocks: Option<&mut Value>| {
        for block in blocks.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut) {
            block.shift_remove("cache_control");
        }
    };
    unmark(request.get_mut("system"));
    for message in request.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
        unmark(message.get_mut("content"));
    }
}

/// Of tools and system text; `None` where the request is marked.
pub(super) fn unmarked_bytes(request: &Value) -> Option<usize> {
    let ahead = || ["tools", "system"].map(|field| request.get(field).map_or(0, bytes)).iter().sum();
    (!is_marked_by_the_caller(request, |_| false)).then(ahead)
}

fn is_marked_by_the_caller(request: &Value, ours: impl Fn(&str) -> bool) -> bool {
    fn marked<'a>(holder: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
        super::json::list(holder, field).iter().filter(|block| block.get("cache_control").is_some())
    }
    let is_ours = |block: &Value| block["text"].as_str().is_some_and(&ours);
    let messages = super::json::list(request, "messages").iter();
    marked(request, "tools").next().is_some()
        || marked(request, "system").any(|block| !is_ours(block))
        || messages.flat_map(|message| marked(message, "content")).any(|block| !is_ours(block))
}
