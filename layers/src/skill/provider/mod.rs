//! Skills that someone else provides: `bcode.skill/v1`, one service interface for folders, plugins and hosts.
//!
//! A [`SkillProvider`] is a `tower::Service` over [`SkillRequest`] and [`SkillResponse`]; [`MergedSkills`] makes one of several. Over a pipe each
//! message is a line of JSON: [`write_request`] and [`read_answer`] are a host's side of it, [`serve`] is a provider's. Whatever a provider says is
//! as untrusted as a file, and it gets nothing from here: no file, no process, no permission.
//!
//! ```
//! use std::convert::Infallible;
//! use tower::service_fn;
//! use tower_prompt_layers::skill::provider::{SharedProvider, SkillError, SkillRequest, SkillResponse};
//! use tower_prompt_layers::skill::SkillList;
//!
//! let nothing = SharedProvider::new(service_fn(|request: SkillRequest| async move {
//!     match request {
//!         SkillRequest::List => Ok(SkillResponse::List(SkillList::default())),
//!         other => Err(SkillError::unsupported(other.kind())),
//!     }
//! }));
//! # let _ = nothing;
//! ```
//!
//! On the wire a request is `{"api": "bcode.skill/v1", "id": 1, "kind": "list"}`; `describe`, `context` and `invoke` name their `skill`, `context`
//! may say `max_bytes`, `invoke` an `input`. An answer repeats `api`, `id` and `kind`:
//!
//! | kind | holds |
//! | --- | --- |
//! | `list` | `skills`: each with an `id` and a `description`, and what else a [`SkillSummary`](super::SkillSummary) has; `diagnostics`; `more: true` where another line of this answer follows |
//! | `describe` | `manifest`: a [`SkillManifest`](super::SkillManifest) |
//! | `context` | `body`, `diagnostics` |
//! | `invoke` | `text`, `is_error` |
//! | `error` | `code`, `message` |
//!
//! Fields that are not known are passed over; a kind that is not known is answered with an error.

mod error;
mod line;
mod merged;
mod message;
mod said;
mod serve;
mod shared;

pub use error::{SkillError, SkillErrorCode};
pub use line::{
    AnswerLine, MAX_ANSWER_BYTES, MAX_LIST_LINE_BYTES, RequestLine, read_answer, read_line, read_request, write_answer, write_request,
};
pub use merged::MergedSkills;
pub use message::{
    API, InvokeSkillRequest, InvokeSkillResponse, SkillContextRequest, SkillContextResponse, SkillProvider, SkillRequest, SkillResponse,
};
pub use serve::serve;
pub use shared::{Answering, SharedProvider};

#[cfg(test)]
mod tests;
