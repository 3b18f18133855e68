//! Conversations without a session: known by their own messages, in memory.

use crate::layers::wire::{Conversation, Role};
use crate::layers::{AnchorKey, Context, Host, Opening, Session, Sessions};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An opening message alone shares a conversation that is younger.
const SHARED_FOR: Duration = Duration::from_secs(5 * 60);

/// A bounded table of the conversations used last. It finds a request's by the longest chain of messages that one of them has seen; of equal ones
/// the last used. A wrong guess costs a cache miss at worst: within a scope, conversations that begin alike may share a beginning, and never another's
/// text.
///
/// ```
/// use tower_prompt::RecentSessions;
/// use tower_prompt::layers::Settings;
///
/// let settings = Settings::default().sessions(RecentSessions::default());
/// # let _ = settings;
/// ```
pub struct RecentSessions {
    key: AnchorKey,
    max: NonZeroUsize,
    clock: Arc<dyn Fn() -> Instant + Send + Sync>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    conversations: Vec<Known>,
    uses: u64,
}

struct Known {
    scope: Scope,
    opening: Opening,
    session: Session,
    begun: Instant,
    used: u64,
}

/// Whose conversation it is.
type Scope = (Option<String>, Host);

impl Default for RecentSessions {
    /// Of 1,024 conversations.
    fn default() -> Self {
        const MANY: NonZeroUsize = NonZeroUsize::new(1024).expect("it is not zero");
        Self::new(MANY)
    }
}

impl RecentSessions {
    /// Of so many conversations (`context.unnamed_sessions`): beyond, the one longest unused goes.
    pub fn new(max: NonZeroUsize) -> Self {
        Self { key: AnchorKey::random(), max, clock: Arc::new(Instant::now), table: Mutex::default() }
    }
    /// By this clock.
    pub fn clock(mut self, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }
    /// How many conversations it knows.
    pub fn len(&self) -> usize {
        self.lock().conversations.len()
    }
    /// It knows none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Table> {
        // Each change is one push or one removal.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sessions for RecentSessions {
    fn find(&self, conversation: &Conversation, context: &Context) -> Session {
        let openings = self.key.openings(conversation);
        let Some(as_it_stands) = openings.first() else { return Session::with_key(self.key) };
        let now = (self.clock)();
        let scope = (context.scope.clone(), context.host.clone());
        let is_opening_alone = conversation.messages.iter().filter(|message| message.role != Role::Assistant).nth(1).is_none();
        let table = &mut *self.lock();
        table.uses += 1;
        let alike = table.conversations.iter_mut().filter(|known| known.scope == scope && openings.contains(&known.opening));
        let found = if is_opening_alone {
            alike.filter(|known| now.saturating_duration_since(known.begun) < SHARED_FOR).max_by_key(|known| known.used)
        } else {
            let measured = alike.map(|known| (known.session.known_places(conversation), known)).filter(|(places, _)| *places > 0);
            measured.max_by_key(|(places, known)| (*places, known.used)).map(|(_, known)| known)
        };
        if let Some(known) = found {
            known.used = table.uses;
            return known.session.clone();
        }
        if table.conversations.len() >= self.max.get()
            && let Some(oldest) = (0..table.conversations.len()).min_by_key(|n| table.conversations[*n].used)
        {
            table.conversations.swap_remove(oldest);
        }
        let session = Session::with_key(self.key);
        let known = Known { scope, opening: *as_it_stands, session: session.clone(), begun: now, used: table.uses };
        table.conversations.push(known);
        session
    }
}

impl fmt::Debug for RecentSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecentSessions").field("conversations", &self.len()).field("max", &self.max).finish_non_exhaustive()
    }
}
