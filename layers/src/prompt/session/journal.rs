//! Keeping a session's events: who is told of them, who stores them, and how they are stored before a request is sent.
//!
//! Requests of one session may settle at the same time. One of them stores what all have settled so far, the others wait for it; so events are stored
//! in the order in which they happened. Where another process has stored something meanwhile, the session takes that over; what was settled here
//! on an older ground is settled again, and what the host said here meanwhile is said on the new one.

use super::Session;
use super::event::SessionEvent;
use super::state::State;
use crate::prompt::Diagnostic;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// What can't be played again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ReplayError {
    /// There is no event.
    Empty,
    /// The first event does not tell how the session was made.
    NoBeginning,
    /// The events are of a version that is not understood here.
    Version(u32),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no event of a session"),
            Self::NoBeginning => f.write_str("the first event does not tell how the session was made"),
            Self::Version(version) => write!(f, "the events are of version {version}, which is not understood here"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// Is told of each event, in order. Closures are sinks.
pub trait EventSink: Send + Sync {
    /// Called while the session is locked: it must not block, and not call the session.
    fn record(&self, event: &SessionEvent);
}

impl<F: Fn(&SessionEvent) + Send + Sync> EventSink for F {
    fn record(&self, event: &SessionEvent) {
        self(event);
    }
}

/// Why events were not stored.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// There are more events already, or fewer, than were expected.
    Conflict,
    /// It could not be done now.
    Failed(Diagnostic),
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict => f.write_str("another process stored events of this session"),
            Self::Failed(diagnostic) => diagnostic.fmt(f),
        }
    }
}

impl std::error::Error for JournalError {}

/// Storing under way. It does not block.
pub type Appending = Pin<Box<dyn Future<Output = Result<(), JournalError>> + Send>>;
/// Loading under way. It does not block.
pub type LoadingEvents = Pin<Box<dyn Future<Output = Result<Vec<SessionEvent>, JournalError>> + Send>>;

/// Stores one session's events, durably and in order.
pub trait SessionJournal: Send + Sync {
    /// Stores these behind the first `expected` ones, all or none; [`JournalError::Conflict`] where there is another number of them already. If the
    /// future is dropped they may be stored or not.
    fn append(&self, expected: u64, events: Arc<[SessionEvent]>) -> Appending;
    /// All events.
    fn load(&self) -> LoadingEvents;
}

impl<T: SessionJournal + ?Sized> SessionJournal for Arc<T> {
    fn append(&self, expected: u64, events: Arc<[SessionEvent]>) -> Appending {
        (**self).append(expected, events)
    }
    fn load(&self) -> LoadingEvents {
        (**self).load()
    }
}

/// What a session's events go to.
#[derive(Default)]
pub(super) struct Record {
    sinks: Vec<Arc<dyn EventSink>>,
    journal: Option<Arc<dyn SessionJournal>>,
    /// How many are stored.
    stored: u64,
    /// Not stored yet.
    events: VecDeque<SessionEvent>,
    /// One request stores for all.
    is_storing: bool,
    waiting: Vec<Waker>,
    /// How often what another process stored was taken over.
    taken_over: u64,
}

impl Clone for Record {
    /// What happens to a copy goes nowhere.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Record {
    pub(super) fn begins_with(&mut self, event: SessionEvent) {
        self.events.push_back(event);
    }
    /// So many are stored. What was to be stored on another ground is given back.
    pub(super) fn holds(&mut self, stored: u64) -> VecDeque<SessionEvent> {
        self.stored = stored;
        std::mem::take(&mut self.events)
    }
    pub(super) fn push(&mut self, event: SessionEvent) {
        self.sinks.iter().for_each(|sink| sink.record(&event));
        self.store(event);
    }
    /// To be stored, and told to no one.
    pub(super) fn store(&mut self, event: SessionEvent) {
        // Without a journal the beginning alone is kept, for one that may come.
        if self.journal.is_some() {
            self.events.push_back(event);
        }
    }
    /// It is told what was not stored yet: of a new session, how it was made.
    pub(super) fn add_sink(&mut self, sink: Arc<dyn EventSink>) {
        self.events.iter().for_each(|event| sink.record(event));
        self.sinks.push(sink);
    }
    pub(super) fn set_journal(&mut self, journal: Arc<dyn SessionJournal>) {
        self.journal = Some(journal);
    }
    fn happened(&self) -> u64 {
        self.stored + self.events.len() as u64
    }
    /// Another may try.
    fn is_done(&mut self) {
        self.is_storing = false;
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

enum Stage {
    Waiting,
    Appending { append: Appending, batch: Arc<[SessionEvent]> },
    Loading { load: LoadingEvents, batch: Arc<[SessionEvent]> },
}

/// Stores what has happened so far. An error of [`JournalError::Conflict`] says that the session is another now.
pub(crate) struct Commit {
    session: Session,
    journal: Arc<dyn SessionJournal>,
    until: u64,
    taken_over: u64,
    stage: Stage,
}

impl Commit {
    /// `None` where there is nothing to store, or nowhere.
    pub(crate) fn of(session: &Session) -> Option<Self> {
        let state = session.lock();
        let record = &state.record;
        let journal = record.journal.clone().filter(|_| !record.events.is_empty())?;
        Some(Self { session: session.clone(), journal, until: record.happened(), taken_over: record.taken_over, stage: Stage::Waiting })
    }

    /// What another process stored, where it is not what this one was about to.
    fn take_over(&self, events: Vec<SessionEvent>, batch: &[SessionEvent]) -> Result<(), JournalError> {
        let mut state = self.session.lock();
        state.record.is_done();
        let (before, count) = (usize::try_from(state.record.stored).unwrap_or(usize::MAX), batch.len());
        // An append that was given up may have come through.
        if events.len() == before.saturating_add(count) && events[before..] == *batch {
            state.record.stored += count as u64;
            state.record.events.drain(..count);
            return Ok(());
        }
        let not_read = |error: ReplayError| JournalError::Failed(Diagnostic::error("session-unreadable", error.to_string()));
        let count = events.len() as u64;
        let mut stored = State::replay(events).map_err(not_read)?;
        stored.record = std::mem::take(&mut state.record);
        let unstored = stored.record.holds(count);
        stored.record.taken_over += 1;
        stored.is_told_again(unstored);
        *state = stored;
        Err(JournalError::Conflict)
    }
}

impl Future for Commit {
    type Output = Result<(), JournalError>;
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            match &mut this.stage {
                Stage::Waiting => {
                    let mut state = this.session.lock();
                    let record = &mut state.record;
                    if record.taken_over != this.taken_over {
                        return Poll::Ready(Err(JournalError::Conflict));
                    }
                    if record.stored >= this.until {
                        return Poll::Ready(Ok(()));
                    }
                    if record.is_storing {
                        // Polled again and again, it is woken once.
                        if !record.waiting.iter().any(|waiting| waiting.will_wake(cx.waker())) {
                            record.waiting.push(cx.waker().clone());
                        }
                        return Poll::Pending;
                    }
                    record.is_storing = true;
                    let batch: Arc<[SessionEvent]> = record.events.iter().cloned().collect();
                    let append = this.journal.append(record.stored, batch.clone());
                    drop(state);
                    this.stage = Stage::Appending { append, batch };
                }
                Stage::Appending { append, batch } => {
                    let Poll::Ready(appended) = append.as_mut().poll(cx) else { return Poll::Pending };
                    let batch = batch.clone();
                    match appended {
                        Ok(()) => {
                            this.stage = Stage::Waiting;
                            let record = &mut this.session.lock().record;
                            record.stored += batch.len() as u64;
                            record.events.drain(..batch.len());
                            record.is_done();
                        }
                        Err(JournalError::Conflict) => this.stage = Stage::Loading { load: this.journal.load(), batch },
                        Err(failed) => {
                            this.stage = Stage::Waiting;
                            this.session.lock().record.is_done();
                            return Poll::Ready(Err(failed));
                        }
                    }
                }
                Stage::Loading { load, batch } => {
                    let Poll::Ready(loaded) = load.as_mut().poll(cx) else { return Poll::Pending };
                    let batch = batch.clone();
                    this.stage = Stage::Waiting;
                    match loaded {
                        Ok(events) => this.take_over(events, &batch)?,
                        Err(failed) => {
                            this.session.lock().record.is_done();
                            return Poll::Ready(Err(failed));
                        }
                    }
                }
            }
        }
    }
}

impl Drop for Commit {
    /// Given up while it was storing: another may try, and finds out what came through.
    fn drop(&mut self) {
        if !matches!(self.stage, Stage::Waiting) {
            self.session.lock().record.is_done();
        }
    }
}
