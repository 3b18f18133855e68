//! What tells one session from another.

use super::{Session, State};
use crate::sync::Mutex;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

/// Tells a session from all others, for as long as the key is kept. It keeps nothing of the conversation alive.
///
/// ```
/// use tower_prompt_layers::Session;
///
/// let session = Session::new();
/// let key = session.key();
/// assert!(key == session.clone().key() && key != Session::new().key());
/// drop(session);
/// assert!(!key.is_alive());
/// ```
#[derive(Clone)]
pub struct SessionKey(Weak<Mutex<State>>);

impl Session {
    /// What tells this session from others. A copy is another one.
    pub fn key(&self) -> SessionKey {
        SessionKey(Arc::downgrade(&self.0))
    }
}

impl SessionKey {
    /// Whether anyone still holds the session.
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
}

impl PartialEq for SessionKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}
impl Eq for SessionKey {}
impl Hash for SessionKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The address is not given to another session while a key holds it.
        self.0.as_ptr().hash(state);
    }
}

impl std::fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionKey").field("is_alive", &self.is_alive()).finish()
    }
}
