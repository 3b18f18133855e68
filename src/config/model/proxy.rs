//! `[proxy]`.

use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// `[proxy]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProxyConfig {
    /// `HOST:PORT`; a name is resolved when it is bound.
    pub listen: String,
    /// The API's URL; `None`: it has to be given otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
    /// Bytes of a request's body, at most.
    pub max_body_bytes: NonZeroUsize,
    /// Requests at the same time, at most.
    pub max_concurrent_requests: NonZeroUsize,
    /// The header that names a conversation.
    pub session_header: String,
    /// `sqlite:PATH` or `postgres://USER@HOST/DATABASE`, where conversations that a header names are kept; `None`: in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// Whether the proxy answers calls of the skill tool itself.
    pub answer_skill_tool: bool,
    /// Whether the proxy shows its last request.
    pub show_last: bool,
}
