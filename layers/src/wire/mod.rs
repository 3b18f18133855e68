//! Wires: how a request type is read, and the one place where it is changed.
//!
//! A [`Wire`] is a strategy on a marker type, since five formats share one type (a JSON value) and a client's own type is foreign. Positions are
//! those of the request as it came. System messages are no part of the view: they are not hashed and never move; the leading one alone gets our
//! system prompt in front.

mod anthropic;
mod cache;
mod conversation;
mod edits;
mod format;
mod gemini;
mod json;
mod models;
mod ollama;
mod openai_chat;
mod openai_responses;
mod tool_output;
mod tools;

pub use anthropic::Anthropic;
pub use cache::CacheMarks;
pub(crate) use cache::{BYTES_A_TOKEN, bytes_of_tools};
pub use conversation::{Conversation, HeldHistory, Message, Part, Role, Spot, ToolCall};
pub use edits::{Append, Edits, Removal, SystemEdit};
pub use format::{Format, UnknownFormat};
pub use gemini::Gemini;
pub(crate) use json::canonical as canonical_json;
pub use models::{ModelFacts, ModelTable, Vocabulary};
pub use ollama::{OllamaChat, OllamaGenerate};
pub use openai_chat::OpenAiChat;
pub use openai_responses::OpenAiResponses;
pub use tool_output::{ToolOutputArchive, ToolOutputBound};
pub use tools::{ResponseCall, ToolAnswer, ToolCalls, ToolDefinition, UnansweredCalls, gemini_schema};

pub use crate::text::GAP;

/// How a request type is read and written.
///
/// `read` gives the messages as they are; `write` applies the [`Edits`] and changes nothing else. Both are pure.
pub trait Wire<R> {
    /// The conversation as all wires see it.
    fn read(&self, request: &R) -> Conversation;
    /// The request with the edits applied.
    fn write(&self, request: R, edits: &Edits) -> R;
}

impl<R, W: Wire<R> + ?Sized> Wire<R> for &W {
    fn read(&self, request: &R) -> Conversation {
        (**self).read(request)
    }
    fn write(&self, request: R, edits: &Edits) -> R {
        (**self).write(request, edits)
    }
}
