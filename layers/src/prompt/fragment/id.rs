//! What fragments are known by, from one request to the next.

use crate::text::hash::hash;
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Unique in a request, and the same thing's in every request: `skill_catalog`, `instructions:api/AGENTS.md`.
pub type FragmentId = Cow<'static, str>;

/// A fragment's own id, of which a clone is no copy: those that are ready-made give it in each request. It is looked up by a hash that it keeps.
#[derive(Clone)]
pub(crate) struct SharedId {
    id: Id,
    hash: u64,
}

#[derive(Clone)]
enum Id {
    Static(&'static str),
    Shared(Arc<str>),
}

impl SharedId {
    /// A hash of the text, and of nothing else.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }
}

impl std::ops::Deref for SharedId {
    type Target = str;
    fn deref(&self) -> &str {
        match &self.id {
            Id::Static(id) => id,
            Id::Shared(id) => id,
        }
    }
}
impl PartialEq for SharedId {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
impl Eq for SharedId {}
impl Hash for SharedId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}
impl From<FragmentId> for SharedId {
    fn from(id: FragmentId) -> Self {
        let hash = hash(&id);
        let id = match id {
            Cow::Borrowed(id) => Id::Static(id),
            Cow::Owned(id) => Id::Shared(id.into()),
        };
        Self { id, hash }
    }
}
impl From<&SharedId> for FragmentId {
    fn from(id: &SharedId) -> Self {
        match &id.id {
            Id::Static(id) => Self::Borrowed(id),
            Id::Shared(id) => Self::Owned(id.as_ref().to_owned()),
        }
    }
}
impl fmt::Display for SharedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
