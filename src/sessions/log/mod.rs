//! A session's events in a file of JSON Lines: appended and synced before the request is sent, and read back up to any byte where it broke off.

mod file;
mod line;
mod scan;
#[cfg(test)]
mod tests;

use super::StoreError;
use crate::blocking::{FILE_DEADLINE, off_the_executor_within};
use crate::layers::{Appending, Diagnostic, JournalError, LoadingEvents, Session, SessionEvent, SessionJournal};
use line::Content;
#[cfg(any(feature = "store-sqlite", feature = "store-postgres"))]
pub(super) use line::rfc3339;
pub use line::{LoggedMessage, Speaker};
use scan::{Bounds, End};
use std::fmt;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// One session's events in a file, an event a line: `{"seq":3,"time":"2026-07-01T12:30:15Z","event":"text_anchored",...}`. It holds what was sent and
/// the key of the session's anchors, so it is made for its owner alone (mode 0600).
///
/// A line that broke off at the end, when the process or the machine stopped, is left out with a diagnostic, and makes way for the next. Anything else
/// that can't be understood is an error, and nothing is changed: what stands behind it may rest on it. At most 256 MiB are read, and nothing is written
/// beyond.
///
/// Several processes may use one file, on Unix: it is locked while something is added, and who finds that another was first takes that over. Cheap to
/// clone.
#[derive(Clone)]
pub struct SessionLog {
    path: Arc<Path>,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    bounds: Bounds,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Locked for as long as it is open.
    held: Option<File>,
    /// Which file was read, and how far.
    known: Option<(Option<(u64, u64)>, End)>,
}

/// A session out of its log. See [`SessionLog::open`].
#[derive(Debug)]
#[non_exhaustive]
pub struct OpenedLog {
    /// What its events make of it. It stores what comes in the log.
    pub session: Session,
    /// The messages that stand beside its events, in their order.
    pub messages: Vec<LoggedMessage>,
    /// What was found while it was read.
    pub diagnostics: Vec<Diagnostic>,
}

/// All that stands in a log.
#[derive(Default)]
struct Contents {
    events: Vec<SessionEvent>,
    messages: Vec<LoggedMessage>,
    diagnostics: Vec<Diagnostic>,
}

impl SessionLog {
    /// In this file, which is made when there is something to store. It is locked while something is added, and let go between.
    pub fn at(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().into();
        Self { path, clock: Arc::new(SystemTime::now), bounds: Bounds::default(), state: Arc::default() }
    }
    /// Tells the time of what is added by this clock.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }
    /// The same log, locked from now until it and its clones are gone, so that nothing comes between what is read and what is added. Makes the file.
    /// Blocks for as long as another holds it.
    pub fn lock(self) -> Result<Self, StoreError> {
        let file = self.file(true)?;
        self.state().held = file;
        Ok(self)
    }
    /// What its events make of the session, or a new session where there are none.
    pub async fn open(&self) -> Result<OpenedLog, StoreError> {
        let opened = self.off_the_executor(|log| {
            let Contents { events, messages, diagnostics } = log.read()?;
            let replayed = if events.is_empty() { Ok(Session::new()) } else { Session::replay(events) };
            let session = replayed.map_err(|reason| StoreError::Replay { place: log.place(), reason })?;
            Ok(OpenedLog { session, messages, diagnostics })
        });
        let OpenedLog { session, messages, diagnostics } = opened.await?;
        Ok(OpenedLog { session: session.stored_in(self.clone()), messages, diagnostics })
    }
    /// Adds messages behind all that stands there, for a caller that keeps no history of its own. The session knows nothing of them.
    pub async fn add_messages(&self, messages: Vec<LoggedMessage>) -> Result<(), StoreError> {
        self.off_the_executor(move |log| log.add(&Addition::Messages(&messages)).map(drop)).await
    }

    /// All that stands in it, which is nothing where there is no file. Blocks.
    fn read(&self) -> Result<Contents, StoreError> {
        let mut state = self.state();
        let opened;
        let file = match &state.held {
            Some(held) => held,
            None => match self.file(false)? {
                Some(file) => {
                    opened = file;
                    &opened
                }
                None => return Ok(Contents::default()),
            },
        };
        let (mut events, mut messages) = (Vec::new(), Vec::new());
        let each = |content| match content {
            Content::Event(event) => events.push(*event),
            Content::Message(message) => messages.push(message),
        };
        let (end, mut diagnostics) = scan::scan(file, &self.place(), self.bounds, End::default(), each)?;
        if file::is_open_to_others(file) {
            let message = "others than its owner may open it: it holds what was sent";
            diagnostics.push(Diagnostic::warning("session-log-open", message).at(self.place()));
        }
        let identity = file::identity(file);
        state.known = Some((identity, end));
        Ok(Contents { events, messages, diagnostics })
    }
    /// Adds this, all of it or nothing; `false` where it does not fit what is there. Blocks until it is on the disk.
    fn add(&self, addition: &Addition<'_>) -> Result<bool, StoreError> {
        let io = |reason: io::Error| StoreError::Io { place: self.place(), reason };
        let too_large = |bytes: u64, max: u64| StoreError::TooLarge { place: self.place(), bytes, max };
        let mut state = self.state();
        let known = state.known.take();
        let opened = if state.held.is_some() { None } else { self.file(true)? };
        let Some(file) = state.held.as_ref().or(opened.as_ref()) else { return Ok(false) };
        let (identity, bytes) = (file::identity(file), file.metadata().map_err(io)?.len());
        // Only what others added since is read.
        let from = known.filter(|(of, end)| *of == identity && end.offset <= bytes).map(|(_, end)| end).unwrap_or_default();
        let (end, found) = scan::scan(file, &self.place(), self.bounds, from, drop)?;
        found.iter().for_each(|found| tracing::warn!("{found}"));
        if addition.expected().is_some_and(|expected| expected != end.events) {
            state.known = Some((identity, end));
            return Ok(false);
        }
        let lines = addition.lines(end.seq, &line::rfc3339((self.clock)())).map_err(|error| io(error.into()))?;
        let mut text = if end.is_unended { b"\n".to_vec() } else { Vec::new() };
        for line in &lines {
            let bytes = line.len() as u64 + 1;
            if bytes > self.bounds.line {
                return Err(too_large(bytes, self.bounds.line));
            }
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        let after = End {
            offset: end.offset + text.len() as u64,
            lines: end.lines + lines.len(),
            seq: end.seq + lines.len() as u64,
            events: end.events + addition.events().len() as u64,
            is_unended: false,
        };
        if after.offset > self.bounds.file {
            return Err(too_large(after.offset, self.bounds.file));
        }
        write(file, end.offset, bytes, &text).map_err(io)?;
        state.known = Some((identity, after));
        Ok(true)
    }

    /// Opened and locked.
    fn file(&self, is_written: bool) -> Result<Option<File>, StoreError> {
        let file = file::open(&self.path, is_written)?;
        if let Some(file) = &file {
            file::lock(file, is_written).map_err(|reason| StoreError::Io { place: self.place(), reason })?;
        }
        Ok(file)
    }
    async fn off_the_executor<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let log = self.clone();
        let done = off_the_executor_within(FILE_DEADLINE, move || work(&log)).await;
        done.unwrap_or_else(|| Err(StoreError::Late { place: self.place() }))
    }
    fn place(&self) -> String {
        self.path.display().to_string()
    }
    fn state(&self) -> MutexGuard<'_, State> {
        // What is known of the file is taken out before it is changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is added at once.
enum Addition<'a> {
    /// Behind so many events.
    Events {
        expected: u64,
        events: &'a [SessionEvent],
    },
    Messages(&'a [LoggedMessage]),
}

impl Addition<'_> {
    fn expected(&self) -> Option<u64> {
        match self {
            Self::Events { expected, .. } => Some(*expected),
            Self::Messages(_) => None,
        }
    }
    fn events(&self) -> &[SessionEvent] {
        match self {
            Self::Events { events, .. } => events,
            Self::Messages(_) => &[],
        }
    }
    fn lines(&self, seq: u64, time: &str) -> serde_json::Result<Vec<Vec<u8>>> {
        match self {
            Self::Events { events, .. } => (seq..).zip(*events).map(|(seq, event)| line::of_event(seq, time, event)).collect(),
            Self::Messages(messages) => (seq..).zip(*messages).map(|(seq, message)| line::of_message(seq, time, message)).collect(),
        }
    }
}

/// Writes `text` at `offset`, in place of what broke off there, and waits until it is on the disk. Where that fails, the file is as before.
fn write(mut file: &File, offset: u64, bytes: u64, text: &[u8]) -> io::Result<()> {
    if bytes > offset {
        file.set_len(offset)?;
    }
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(text).and_then(|()| file.sync_data()).inspect_err(|_| {
        // Where even this fails the next reader drops what broke off, or finds the events that came through.
        let _ = file.set_len(offset);
    })
}

impl SessionJournal for SessionLog {
    fn append(&self, expected: u64, events: Arc<[SessionEvent]>) -> Appending {
        let log = self.clone();
        Box::pin(async move {
            let added = log.off_the_executor(move |log| log.add(&Addition::Events { expected, events: &events })).await?;
            if added { Ok(()) } else { Err(JournalError::Conflict) }
        })
    }
    fn load(&self) -> LoadingEvents {
        let log = self.clone();
        Box::pin(async move { Ok(log.off_the_executor(Self::read).await?.events) })
    }
}

impl fmt::Debug for SessionLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionLog").field("path", &self.path).finish_non_exhaustive()
    }
}
