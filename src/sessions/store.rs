//! Sessions under ids, kept by a host.

use super::StoreError;
use crate::layers::Session;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A session's name in a store: any text of at most 256 bytes without control characters. It is never a path.
///
/// ```
/// use tower_prompt::sessions::{InvalidSessionId, SessionId};
///
/// assert_eq!(SessionId::new("tenant/../42")?.as_str(), "tenant/../42");
/// assert_eq!(SessionId::new("a\0"), Err(InvalidSessionId::Character('\0')));
/// # Ok::<(), InvalidSessionId>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(Arc<str>);

/// What is no [`SessionId`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSessionId {
    /// Nothing.
    #[error("a session's id is empty")]
    Empty,
    /// More than 256 bytes.
    #[error("a session's id has {0} bytes, of which {MAX_ID_BYTES} are allowed")]
    TooLong(usize),
    /// A control character.
    #[error("a session's id holds the character {0:?}")]
    Character(char),
}

/// Bytes of an id.
const MAX_ID_BYTES: usize = 256;

impl SessionId {
    /// As it is: blanks count, and so does the form of its characters.
    pub fn new(id: &str) -> Result<Self, InvalidSessionId> {
        match id.chars().find(|c| c.is_control()) {
            _ if id.is_empty() => Err(InvalidSessionId::Empty),
            _ if id.len() > MAX_ID_BYTES => Err(InvalidSessionId::TooLong(id.len())),
            Some(character) => Err(InvalidSessionId::Character(character)),
            None => Ok(Self(id.into())),
        }
    }
    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = InvalidSessionId;
    fn from_str(id: &str) -> Result<Self, InvalidSessionId> {
        Self::new(id)
    }
}
impl TryFrom<String> for SessionId {
    type Error = InvalidSessionId;
    fn try_from(id: String) -> Result<Self, InvalidSessionId> {
        Self::new(&id)
    }
}
impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.as_str().to_owned()
    }
}
impl AsRef<str> for SessionId {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}
impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// Opening under way. It does not block.
pub type OpeningSession = Pin<Box<dyn Future<Output = Result<Session, StoreError>> + Send>>;
/// Removing under way. It does not block.
pub type RemovingSession = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

/// Keeps many sessions. A host with a database of its own implements this, with a [`SessionJournal`](crate::layers::SessionJournal) for each session.
pub trait SessionStore: Send + Sync {
    /// The session of this id, a new one where there is none. For as long as someone in this process holds a session it is one and the same for all
    /// who open it.
    fn open(&self, id: &SessionId) -> OpeningSession;
    /// Forgets a session. Who still holds it goes on with it, and what they say is stored no more, unless the id is opened anew.
    fn remove(&self, id: &SessionId) -> RemovingSession;
}

impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    fn open(&self, id: &SessionId) -> OpeningSession {
        (**self).open(id)
    }
    fn remove(&self, id: &SessionId) -> RemovingSession {
        (**self).remove(id)
    }
}

/// Sessions for as long as the process lives, or until they are removed. Its clones are the same store.
///
/// ```
/// use tower_prompt::layers::skill::SkillId;
/// use tower_prompt::sessions::{MemoryStore, SessionId, SessionStore};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::default();
/// let id = SessionId::new("42")?;
/// store.open(&id).await?.activate(SkillId::new("rust")?, None);
/// assert_eq!(store.open(&id).await?.active_by_host().len(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<HashMap<SessionId, Session>>>);

impl MemoryStore {
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        // Each change is one insertion or one removal.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionStore for MemoryStore {
    fn open(&self, id: &SessionId) -> OpeningSession {
        let session = self.sessions().entry(id.clone()).or_default().clone();
        Box::pin(std::future::ready(Ok(session)))
    }
    fn remove(&self, id: &SessionId) -> RemovingSession {
        self.sessions().remove(id);
        Box::pin(std::future::ready(Ok(())))
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("sessions", &self.sessions().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_id_says_why() {
        let long = "é".repeat(129);
        for (id, why) in
            [("", InvalidSessionId::Empty), (&*long, InvalidSessionId::TooLong(258)), ("a\nb", InvalidSessionId::Character('\n'))]
        {
            assert_eq!(SessionId::new(id), Err(why));
        }
        assert!(SessionId::new(&"é".repeat(128)).is_ok());
    }
}
