//! One conversation: what was said at each place of it, and how a new place is settled. A pure state machine under one short lock.

mod alike;
mod budgeted;
mod effects;
mod entry;
mod event;
mod evict;
mod fitting;
mod hashing;
mod held;
mod host;
mod in_results;
mod interned;
mod journal;
mod key;
#[cfg(all(test, shuttle))]
mod orders;
mod places;
mod rendering;
mod said;
mod settle;
mod state;
mod told;
mod tools;

use super::manifest::{CallersMessage, Manifest};
use super::{Context, Entry, Purpose, Round, Settings, Turn};
use crate::skill::{ActiveSkill, SkillActivationMode, SkillId};
use crate::sync::{Mutex, MutexGuard};
use crate::wire::{Conversation, Edits, Removal, Role};
pub(crate) use alike::LastSystem;
pub(crate) use entry::Told;
pub use event::{AnchoredText, Beginning, ForgottenPlaces, NamedHistory, Revisit, SessionEvent, SystemText};
pub(crate) use journal::Commit;
pub use journal::{Appending, EventSink, JournalError, LoadingEvents, ReplayError, SessionJournal};
pub use key::SessionKey;
use places::{Anchor, Place};
pub use places::{AnchorKey, Opening};
pub(crate) use places::{BLOCK_END, BLOCK_START};
use state::State;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError, Weak};

/// How many places a session keeps unless told otherwise.
const MAX_PLACES: usize = 4096;

/// A conversation's memory: its system prompt, what was said at each place, the skills in force. Cheap to clone, and safe to share.
///
/// ```
/// use tower_prompt_layers::{Session, skill::SkillId};
///
/// let session = Session::new();
/// session.activate(SkillId::new("rust-debugging")?, Some("borrow checker"));
/// assert_eq!(session.clone().active_by_host().len(), 1);
/// # Ok::<(), tower_prompt_layers::skill::InvalidSkillId>(())
/// ```
#[derive(Clone)]
pub struct Session(Arc<Mutex<State>>);

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// A conversation that has not begun. Keeps 4,096 places.
    pub fn new() -> Self {
        Self::with_key(AnchorKey::random())
    }
    /// One that can be found by how its conversation begins: a table of conversations gives all of its sessions one key.
    pub fn with_key(key: AnchorKey) -> Self {
        Self(Arc::new(Mutex::new(State::new(key, MAX_PLACES))))
    }
    /// Keeps about so many places. Beyond it the longest unused are forgotten; what says something in the conversation of the last request stays.
    pub fn with_max_places(places: NonZeroUsize) -> Self {
        Self(Arc::new(Mutex::new(State::new(AnchorKey::random(), places.get()))))
    }
    /// What these events make of it: see [`on_event`](Self::on_event). The first tells how it was made.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use tower_prompt_layers::{Session, SessionEvent, skill::SkillId};
    ///
    /// let events: Arc<Mutex<Vec<SessionEvent>>> = Arc::default();
    /// let kept = events.clone();
    /// let session = Session::new().on_event(move |event: &SessionEvent| kept.lock().unwrap().push(event.clone()));
    /// session.activate(SkillId::new("rust")?, None);
    ///
    /// let again = Session::replay(events.lock().unwrap().clone())?;
    /// assert_eq!(again.active_by_host(), session.active_by_host());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replay(events: impl IntoIterator<Item = SessionEvent>) -> Result<Self, ReplayError> {
        Ok(Self(Arc::new(Mutex::new(State::replay(events)?))))
    }
    /// Tells this sink of all events: of how it was made, and of each that comes.
    pub fn on_event(self, sink: impl EventSink + 'static) -> Self {
        self.lock().record.add_sink(Arc::new(sink));
        self
    }
    /// Stores its events here before each request that brings some is sent. For a session that is new, or whose events come from this journal.
    pub fn stored_in(self, journal: impl SessionJournal + 'static) -> Self {
        self.lock().record.set_journal(Arc::new(journal));
        self
    }
    /// Stores what has happened so far, such as an activation behind which no request comes. Without a journal there is nothing to do.
    pub async fn store(&self) -> Result<(), JournalError> {
        match Commit::of(self) {
            Some(commit) => commit.await,
            None => Ok(()),
        }
    }
    /// Settling on the copy leaves this one as it is. What happens to the copy is told and stored nowhere.
    pub fn copy(&self) -> Self {
        Self(Arc::new(Mutex::new(self.lock().clone())))
    }
    /// The same session for as long as someone else holds it.
    pub fn downgrade(&self) -> WeakSession {
        WeakSession(Arc::downgrade(&self.0))
    }
    /// A conversation that begins here, such as a sub-agent's: nothing was said in it, and the skills that the host activated are in force.
    pub fn child(&self) -> Self {
        let child = Self::new();
        self.active_by_host().into_iter().for_each(|skill| child.lock().activate(skill));
        child
    }
    /// How many places it keeps.
    pub fn places(&self) -> usize {
        self.lock().places()
    }
    /// Brings a skill into force in all branches, by the host's word. Its body stands in the next request.
    pub fn activate(&self, skill: SkillId, arguments: Option<&str>) {
        self.lock().activate(ActiveSkill::explicit(skill, arguments));
    }
    /// Switches a skill off in all branches, until it is activated anew. What was said stays; the next request says that it no longer applies.
    pub fn deactivate(&self, skill: &SkillId) {
        self.lock().deactivate(skill);
    }
    /// The skills that the host activated, in order.
    pub fn active_by_host(&self) -> Vec<ActiveSkill> {
        self.lock().active_by_host().to_vec()
    }
    /// The skills in force at the place of the last request, and what the host activated, in order.
    pub fn active(&self) -> Vec<ActiveSkill> {
        let state = self.lock();
        state.in_force(state.last()).into_vec()
    }
    /// Switches a skill off, and takes its body out of all that was sent: a break of the cached prefix, which the next request's manifest reports.
    /// Whether there was a body.
    pub fn purge(&self, skill: &SkillId) -> bool {
        self.lock().purge(skill)
    }
    /// The user took up the suggestion of a skill: it comes into force.
    pub fn accept_suggestion(&self, skill: SkillId) {
        let mut state = self.lock();
        state.happens(SessionEvent::SuggestionAccepted { id: skill.clone() });
        state.activate(ActiveSkill { id: skill, arguments: None, mode: SkillActivationMode::Suggested });
    }
    /// The user wants to hear no more of a skill: it is not suggested again.
    pub fn dismiss_suggestion(&self, skill: SkillId) {
        self.lock().happens(SessionEvent::SuggestionDismissed { id: skill });
    }
    /// Whether the user wants to hear no more of a skill.
    pub fn is_dismissed(&self, skill: &SkillId) -> bool {
        self.lock().dismissed.contains(skill)
    }
    /// The next request renders the system prompt anew; what stands at places stays. Breaks the cached prefix, once.
    pub fn rebase(&self) {
        self.lock().rebase();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A text's own code may panic while it is rendered; the state is written behind that.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it knows a history that the provider holds under this name.
    pub fn knows_history(&self, name: &str) -> bool {
        self.lock().knows_history(name)
    }
    /// How many of the first places of `conversation` this session has seen: the one that has seen most is the one that it belongs to.
    pub fn known_places(&self, conversation: &Conversation) -> usize {
        self.lock().memory.known_places(conversation)
    }

    /// The conversation that a request belongs to, and whether it is known by its messages alone. Before its start there is no prefix to be the
    /// same as: what would be sent is tried on a copy.
    pub(crate) fn of(context: &Context, conversation: &Conversation, settings: &Settings) -> (Self, bool) {
        let named = context.session.clone();
        let found = || settings.sessions.as_ref().filter(|_| settings.recognises(context)).map(|table| table.find(conversation, context));
        let is_named = named.is_some();
        let session = named.or_else(found).unwrap_or_default();
        let started = session.lock().has_started();
        let session = if context.purpose == Purpose::SamePrefix && !started { session.copy() } else { session };
        (session, is_named)
    }

    pub(crate) fn open(&self, mut conversation: Conversation, context: Context, settings: &Settings, is_named: bool) -> (Turn, Opened) {
        let skills = settings.skills.snapshot();
        let mut state = self.lock();
        let seed = state.seed(&conversation, context.purpose);
        let reading = state.memory.read(&mut conversation, seed.unwrap_or_default());
        let places = reading.places;
        let round = state.round(&places, seed, &context);
        let held = state.newest(&places).or(seed.filter(|seed| state.has_entry(*seed)));
        // A compacted history may hold nothing of its branch; the last request says which it was.
        let from = if round == Round::Compacted { state.last() } else { held };
        let (inherited, active) = (state.active_at(from), state.in_force(from));
        // What stands at a place already is part of its own turn.
        let is_new_turn = matches!(round, Round::User | Round::Compacted);
        let with_system = state.has_started();
        let told = state.told(held, &conversation, settings.placement, (is_new_turn, with_system));
        let tail_takes_text = !(conversation.results_stand_alone && places.last().is_some_and(|here| here.role == Role::Tool));
        let said_before = state.said_before(held, active.as_slice(), &told);
        let opened =
            Opened { removals: reading.removals, messages: reading.messages.into(), places, held, seed, tail_takes_text, at: state.now() };
        let may_activate = is_named || conversation.messages.iter().any(|message| message.role == Role::Assistant);
        let session = self.key();
        let (active, dismissed) = (active.into_vec(), state.dismissed.clone());
        (
            Turn { conversation, context, session, round, active, skills, told, inherited, said_before, dismissed, may_activate, is_named },
            opened,
        )
    }

    /// `collected`: for which round, and what.
    pub(crate) fn settle(&self, turn: &Turn, opened: Opened, collected: (Round, &[Entry]), settings: &Settings) -> (Edits, Manifest) {
        settle::settle(&mut self.lock(), turn, opened, collected, settings)
    }

    pub(crate) fn bookmark(&self, opened: &Opened) -> Option<Bookmark> {
        let anchor = opened.places.last()?.anchor;
        Some(Bookmark { session: self.clone(), anchor })
    }
}

/// A session that others hold: it keeps none alive. See [`Session::downgrade`].
#[derive(Clone)]
pub struct WeakSession(Weak<Mutex<State>>);

impl WeakSession {
    /// The session, if someone still holds it.
    pub fn upgrade(&self) -> Option<Session> {
        self.0.upgrade().map(Session)
    }
}

impl fmt::Debug for WeakSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSession").field("held", &(self.0.strong_count() > 0)).finish()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Session").field("started", &state.has_started()).field("places", &state.places()).finish()
    }
}

/// What Render must know of the request as it was read.
pub(crate) struct Opened {
    removals: Vec<Removal>,
    places: Vec<Place>,
    messages: Arc<[CallersMessage]>,
    /// The newest entry that the request held.
    held: Option<Anchor>,
    /// Where a history goes on that the provider holds.
    seed: Option<Anchor>,
    tail_takes_text: bool,
    /// When it was opened: what the host said later counts over what was collected.
    at: u64,
}

/// The place that a request settled, for a response id to name.
#[derive(Clone)]
pub(crate) struct Bookmark {
    session: Session,
    anchor: Anchor,
}
impl Bookmark {
    pub(crate) fn bind(&self, response: &str) {
        self.session.lock().bind(response, self.anchor);
    }
}

#[cfg(test)]
mod tests {
    use super::Session;

    #[test]
    fn a_weak_session_keeps_none_alive() {
        let session = Session::new();
        let weak = session.downgrade();
        assert!(weak.upgrade().is_some());
        drop(session);
        assert!(weak.upgrade().is_none());
    }
}
