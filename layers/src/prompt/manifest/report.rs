//! The handle by which a manifest reaches the host.

use super::Manifest;
use crate::prompt::session::Bookmark;
use crate::sync::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, PoisonError};

/// What the provider said of a response's tokens.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenUsage {
    /// All tokens of the request.
    pub input_tokens: u64,
    /// Of these, served from the cache.
    pub cached_tokens: u64,
}

impl TokenUsage {
    /// So many tokens of the request, of which so many were served from the cache.
    pub fn new(input_tokens: u64, cached_tokens: u64) -> Self {
        Self { input_tokens, cached_tokens }
    }
}

/// Where a request's manifest is left. A cheap handle: filled before the inner call, so it survives errors, streams, buffers and boxes.
#[derive(Clone, Default)]
pub struct Report(Arc<Mutex<Reported>>);

#[derive(Default)]
struct Reported {
    manifest: Option<Manifest>,
    usage: Option<TokenUsage>,
    bookmark: Option<Bookmark>,
}

impl Report {
    /// The manifest of the last request that reported here.
    pub fn manifest(&self) -> Option<Manifest> {
        self.lock().manifest.clone()
    }
    /// What the provider said.
    pub fn usage(&self) -> Option<TokenUsage> {
        self.lock().usage
    }
    /// Keeps what the provider said beside what was foreseen.
    pub fn record_usage(&self, usage: TokenUsage) {
        self.lock().usage = Some(usage);
    }
    /// The response's id: a later request that names it as its history goes on where this one ended.
    pub fn record_response_id(&self, id: &str) {
        let bookmark = self.lock().bookmark.clone();
        if let Some(bookmark) = bookmark {
            bookmark.bind(id);
        }
    }

    pub(crate) fn fill(&self, manifest: Manifest, bookmark: Option<Bookmark>) {
        *self.lock() = Reported { manifest: Some(manifest), usage: None, bookmark };
    }
    /// Nothing was added: what an earlier request said is no word about this one.
    pub(crate) fn clear(&self) {
        *self.lock() = Reported::default();
    }
    fn lock(&self) -> MutexGuard<'_, Reported> {
        // Nothing half-written can be seen: each write is one assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reported = self.lock();
        f.debug_struct("Report").field("filled", &reported.manifest.is_some()).field("usage", &reported.usage).finish()
    }
}
