//! Conversations that a header names.

use crate::layers::Session;
use crate::sessions::{OpeningSession, RemovingSession, SessionId, SessionStore};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The sessions named last, in memory: callers name as many as they like.
pub(super) struct NamedSessions {
    max: usize,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    uses: u64,
    sessions: HashMap<SessionId, (Session, u64)>,
}

impl NamedSessions {
    pub(super) fn new(max: usize) -> Self {
        Self { max, table: Mutex::default() }
    }
    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic between two changes leaves one session too few.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn get(&self, id: &SessionId) -> Session {
        let table = &mut *self.table();
        table.uses += 1;
        if let Some((session, used)) = table.sessions.get_mut(id) {
            *used = table.uses;
            return session.clone();
        }
        if table.sessions.len() >= self.max
            && let Some(oldest) = table.sessions.iter().min_by_key(|(_, (_, used))| *used).map(|(id, _)| id.clone())
        {
            table.sessions.remove(&oldest);
        }
        let session = Session::new();
        table.sessions.insert(id.clone(), (session.clone(), table.uses));
        session
    }
}

impl SessionStore for NamedSessions {
    fn open(&self, id: &SessionId) -> OpeningSession {
        Box::pin(std::future::ready(Ok(self.get(id))))
    }
    fn remove(&self, id: &SessionId) -> RemovingSession {
        self.table().sessions.remove(id);
        Box::pin(std::future::ready(Ok(())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unused_goes() {
        let sessions = NamedSessions::new(2);
        let id = |name| SessionId::new(name).unwrap();
        let (a, b) = (sessions.get(&id("a")).key(), sessions.get(&id("b")).key());
        assert!(sessions.get(&id("a")).key() == a);
        sessions.get(&id("c"));
        assert!(sessions.get(&id("a")).key() == a, "a was used");
        assert!(sessions.get(&id("b")).key() != b, "b was not");
        assert_eq!(sessions.table().sessions.len(), 2);
    }
}
