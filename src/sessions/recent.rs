//! Conversations without a session: known by their own messages, in memory.

use crate::layers::wire::{Conversation, Role};
use crate::layers::{AnchorKey, Context, Host, Opening, Purpose, Session, Sessions};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Conversations that begin alike: so many of them, those used last, are looked at.
const LOOKED_AT: usize = 64;

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

#[derive(Clone)]
struct Known {
    number: u64,
    scope: Scope,
    /// Where the provider holds no history before it.
    opening: Option<Opening>,
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
        let scope = (context.scope.clone(), context.host.clone());
        let openings = if conversation.held_by_provider.is_some() { Vec::new() } else { self.key.openings(conversation) };
        let found = match &conversation.held_by_provider {
            Some(history) => {
                let alike = self.last_used(|known| known.scope == scope);
                alike.into_iter().find(|known| known.session.knows_history(history.name()))
            }
            None if openings.is_empty() => return Session::with_key(self.key),
            None => self.by_messages(conversation, &scope, &openings),
        };
        let table = &mut *self.lock();
        table.uses += 1;
        if let Some(found) = found {
            let uses = table.uses;
            table.conversations.iter_mut().filter(|known| known.number == found.number).for_each(|known| known.used = uses);
            return found.session;
        }
        let session = Session::with_key(self.key);
        // Nothing is kept of what only asks for the prefix.
        if context.purpose == Purpose::SamePrefix {
            return session;
        }
        if table.conversations.len() >= self.max.get()
            && let Some(oldest) = (0..table.conversations.len()).min_by_key(|n| table.conversations[*n].used)
        {
            table.conversations.swap_remove(oldest);
        }
        let (opening, number) = (openings.first().copied(), table.uses);
        table.conversations.push(Known { scope, opening, session: session.clone(), begun: (self.clock)(), used: number, number });
        session
    }
}

impl RecentSessions {
    /// The conversations of this kind, the last used first. Copies: a session may be busy for a while, and the table is not to wait for it.
    fn last_used(&self, is_alike: impl Fn(&Known) -> bool) -> Vec<Known> {
        let mut alike: Vec<Known> = self.lock().conversations.iter().filter(|known| is_alike(known)).cloned().collect();
        alike.sort_by_key(|known| std::cmp::Reverse(known.used));
        alike
    }

    fn by_messages(&self, conversation: &Conversation, scope: &Scope, openings: &[Opening]) -> Option<Known> {
        let mut alike = self.last_used(|known| known.scope == *scope && known.opening.is_some_and(|opening| openings.contains(&opening)));
        alike.truncate(LOOKED_AT);
        let is_opening_alone = conversation.messages.iter().filter(|message| message.role != Role::Assistant).nth(1).is_none();
        if is_opening_alone {
            let now = (self.clock)();
            return alike.into_iter().find(|known| now.saturating_duration_since(known.begun) < SHARED_FOR);
        }
        let measured = alike.into_iter().map(|known| (known.session.known_places(conversation), known)).filter(|(places, _)| *places > 0);
        // Of equal ones the first, which is the last used.
        measured.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, known)| known)
    }
}

impl fmt::Debug for RecentSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecentSessions").field("conversations", &self.len()).field("max", &self.max).finish_non_exhaustive()
    }
}
