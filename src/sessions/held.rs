//! Which sessions of a store are held in this process.

use super::{SessionId, StoreError};
use crate::layers::{Session, WeakSession};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The sessions of a store that someone holds, so that two who open one have the same. For stores of one's own; its clones are the same table.
///
/// ```
/// use tower_prompt::layers::{Session, skill::SkillId};
/// use tower_prompt::sessions::{OpenSessions, SessionId};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (open, id) = (OpenSessions::default(), SessionId::new("42")?);
/// let session = open.get(&id, async { Ok(Session::new()) }).await?;
/// session.activate(SkillId::new("rust")?, None);
/// assert_eq!(open.get(&id, async { Ok(Session::new()) }).await?.active().len(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct OpenSessions(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    slots: HashMap<SessionId, Slot>,
    /// At so many those that no one holds are taken out.
    swept_at: usize,
}

type Slot = Arc<tokio::sync::Mutex<Option<WeakSession>>>;

impl OpenSessions {
    /// The one that is held, else what `load` brings. Who comes while another loads it waits for that.
    pub async fn get(&self, id: &SessionId, load: impl Future<Output = Result<Session, StoreError>>) -> Result<Session, StoreError> {
        let slot = self.slot(id);
        let mut held = slot.lock().await;
        if let Some(session) = held.as_ref().and_then(WeakSession::upgrade) {
            return Ok(session);
        }
        let session = load.await?;
        *held = Some(session.downgrade());
        Ok(session)
    }
    /// Who opens it from now on gets another.
    pub fn forget(&self, id: &SessionId) {
        self.table().slots.remove(id);
    }

    fn slot(&self, id: &SessionId) -> Slot {
        let table = &mut *self.table();
        if let Some(slot) = table.slots.get(id) {
            return slot.clone();
        }
        if table.slots.len() >= table.swept_at {
            // One that is being opened is held by whoever opens it.
            table.slots.retain(|_, slot| Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|held| is_held(held.as_ref())));
            table.swept_at = (2 * table.slots.len()).max(64);
        }
        table.slots.entry(id.clone()).or_default().clone()
    }
    fn table(&self) -> MutexGuard<'_, Table> {
        // Each change is one insertion, one removal, or a sweep of what no one holds.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for OpenSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSessions").field("known", &self.table().slots.len()).finish()
    }
}

fn is_held(session: Option<&WeakSession>) -> bool {
    session.is_some_and(|session| session.upgrade().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocking::tests::wait;

    #[test]
    fn sessions_that_no_one_holds_are_let_go_and_those_that_are_held_stay() {
        let open = OpenSessions::default();
        let id = |n: usize| SessionId::new(&n.to_string()).unwrap();
        let get = |n: usize| wait(open.get(&id(n), async { Ok(Session::new()) })).unwrap();
        let kept = get(0);
        for n in 1..10_000 {
            get(n);
        }
        assert!(open.table().slots.len() <= 128, "{}", open.table().slots.len());
        kept.dismiss_suggestion(crate::layers::skill::SkillId::new("x").unwrap());
        assert!(get(0).is_dismissed(&crate::layers::skill::SkillId::new("x").unwrap()));
    }

    #[test]
    fn what_could_not_be_loaded_is_tried_anew() {
        let open = OpenSessions::default();
        let id = SessionId::new("a").unwrap();
        let late = async { Err(StoreError::Late { place: "a".into() }) };
        assert!(wait(open.get(&id, late)).is_err());
        assert!(wait(open.get(&id, async { Ok(Session::new()) })).is_ok());
    }
}
