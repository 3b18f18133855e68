//! What is remembered of each conversation, for as long as its session lives.

use super::call::CallHandle;
use super::choice::Choice;
use super::sidecar::Sidecar;
use crate::layers::{Diagnostic, SessionKey};
use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{OnceCell, watch};

/// Diagnostics that wait for the next prompt.
const MAX_NOTICED: usize = 16;
/// Conversations from which on those whose sessions are gone are looked for.
const LOOK_FROM: usize = 64;

/// By session. A session that is gone takes its conversation along when the table has grown to twice what lived at the last look.
#[derive(Default)]
pub(super) struct Conversations {
    table: HashMap<SessionKey, Arc<Conversation>>,
    look_at: usize,
}

impl Conversations {
    pub(super) fn of(&mut self, session: &SessionKey) -> Arc<Conversation> {
        if let Some(known) = self.known(session) {
            return known;
        }
        if self.table.len() >= self.look_at.max(LOOK_FROM) {
            self.table.retain(|session, _| session.is_alive());
            self.look_at = self.table.len() * 2;
        }
        Arc::clone(self.table.entry(session.clone()).or_default())
    }
    pub(super) fn known(&self, session: &SessionKey) -> Option<Arc<Conversation>> {
        self.table.get(session).cloned()
    }
}

#[derive(Default)]
pub(super) struct Conversation {
    choice: Mutex<Choice<CallHandle>>,
    noticed: Mutex<Vec<Diagnostic>>,
    pub(super) sidecar: OnceLock<Sidecar>,
    /// What was kept was looked at.
    pub(super) restored: OnceCell<()>,
    /// Tasks that have not ended.
    busy: watch::Sender<usize>,
}

impl Conversation {
    /// Nothing is awaited and nobody's code runs under this lock.
    pub(super) fn choice(&self) -> MutexGuard<'_, Choice<CallHandle>> {
        self.choice.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Told with the next prompt: of calls in the background no request hears.
    pub(super) fn notice(&self, diagnostic: Diagnostic) {
        tracing::debug!(code = %diagnostic.code, "{diagnostic}");
        let mut noticed = self.noticed.lock().unwrap_or_else(PoisonError::into_inner);
        if noticed.len() < MAX_NOTICED {
            noticed.push(diagnostic);
        }
    }
    pub(super) fn take_noticed(&self) -> Vec<Diagnostic> {
        mem::take(&mut *self.noticed.lock().unwrap_or_else(PoisonError::into_inner))
    }
    pub(super) fn task_begins(&self) {
        self.busy.send_modify(|tasks| *tasks += 1);
    }
    pub(super) fn task_ends(&self) {
        self.busy.send_modify(|tasks| *tasks -= 1);
    }
    pub(super) async fn idle(&self) {
        // The sender lives as long as this conversation.
        let _ = self.busy.subscribe().wait_for(|tasks| *tasks == 0).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::Session;

    #[test]
    fn conversations_go_with_their_sessions() {
        let mut conversations = Conversations::default();
        let kept = Session::new();
        let first = conversations.of(&kept.key());
        for _ in 0..10_000 {
            conversations.of(&Session::new().key());
        }
        assert!(conversations.table.len() <= 2 * LOOK_FROM, "{}", conversations.table.len());
        assert!(Arc::ptr_eq(&first, &conversations.of(&kept.clone().key())));
    }
}
