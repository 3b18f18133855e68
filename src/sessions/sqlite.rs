//! Sessions in an embedded database, for several processes on one machine.

use super::error::StoreError;
use super::held::OpenSessions;
use super::log::rfc3339;
use super::store::{OpeningSession, RemovingSession, SessionId, SessionStore};
use crate::blocking::{FILE_DEADLINE, off_the_executor, off_the_executor_within};
use crate::layers::{Appending, JournalError, LoadingEvents, Session, SessionEvent, SessionJournal};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Bytes of one session's events that are read at most; nothing is written beyond.
const MAX_BYTES: i64 = 256 << 20;
/// One writes at a time; others read meanwhile.
const CONNECTIONS: u32 = 4;

/// `bytes` is of all events of the session up to this one.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS tower_prompt_session_events (
    session TEXT NOT NULL, seq INTEGER NOT NULL, time TEXT NOT NULL, bytes INTEGER NOT NULL, event TEXT NOT NULL, UNIQUE (session, seq))";
const LAST: &str = "SELECT seq, bytes FROM tower_prompt_session_events WHERE session = ? ORDER BY seq DESC LIMIT 1";
const INSERT: &str = "INSERT INTO tower_prompt_session_events (session, seq, time, bytes, event) VALUES (?, ?, ?, ?, ?)";
const ALL: &str = "SELECT seq, event FROM tower_prompt_session_events WHERE session = ? ORDER BY seq";
const REMOVE: &str = "DELETE FROM tower_prompt_session_events WHERE session = ?";

/// Sessions in one file of `SQLite`, whose events are rows: each session's are numbered, so who writes on an older ground than what is stored finds out,
/// takes that over and settles again. The file is made for its owner alone. Several processes may use it; its clones are the same store.
///
/// All of it must be awaited on a tokio runtime with its time enabled.
///
/// ```
/// use tower_prompt::layers::Context;
/// use tower_prompt::sessions::{SessionId, SessionStore, SqliteStore};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let store = SqliteStore::connect(folder.path().join("sessions.db")).await?;
/// let session = store.open(&SessionId::new("42")?).await?;
/// let context = Context::default().session(session);
/// # let _ = context;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    database: Database,
    open: OpenSessions,
}

#[derive(Clone)]
struct Database {
    pool: SqlitePool,
    path: Arc<Path>,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl SqliteStore {
    /// Opens the database, and makes it where there is none.
    pub async fn connect(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path: Arc<Path> = path.into().into();
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .journal_mode(SqliteJournalMode::Wal)
            // What is stored must be there when the request is sent, whatever becomes of the machine.
            .synchronous(SqliteSynchronous::Full);
        make_file(path.clone()).await?;
        let failed = |error: sqlx::Error| StoreError::Database { place: path.display().to_string(), reason: error.to_string() };
        let pool = SqlitePoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(FILE_DEADLINE)
            .connect_with(options)
            .await
            .map_err(failed)?;
        sqlx::query(TABLE).execute(&pool).await.map_err(failed)?;
        Ok(Self { database: Database { pool, path, clock: Arc::new(SystemTime::now) }, open: OpenSessions::default() })
    }
    /// Tells the time of events by this clock.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.database.clock = Arc::new(clock);
        self
    }
}

/// For its owner alone: it holds what was sent. `SQLite` gives its other files the same mode.
async fn make_file(path: Arc<Path>) -> Result<(), StoreError> {
    let place = path.display().to_string();
    let made = off_the_executor_within(FILE_DEADLINE, move || {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    });
    match made.await {
        Some(Err(reason)) if reason.kind() != std::io::ErrorKind::AlreadyExists => Err(StoreError::Io { place, reason }),
        Some(_) => Ok(()),
        None => Err(StoreError::Late { place }),
    }
}

impl SessionStore for SqliteStore {
    fn open(&self, id: &SessionId) -> OpeningSession {
        let (open, rows) = (self.open.clone(), Rows { database: self.database.clone(), id: id.clone() });
        Box::pin(async move { open.get(&rows.id, rows.session()).await })
    }
    fn remove(&self, id: &SessionId) -> RemovingSession {
        let (open, rows) = (self.open.clone(), Rows { database: self.database.clone(), id: id.clone() });
        Box::pin(async move {
            let removed = sqlx::query(REMOVE).bind(rows.id.as_str()).execute(&rows.database.pool).await;
            open.forget(&rows.id);
            removed.map(drop).map_err(|error| rows.failed(&error))
        })
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.database.path).field("open", &self.open).finish_non_exhaustive()
    }
}

/// One session's.
#[derive(Clone)]
struct Rows {
    database: Database,
    id: SessionId,
}

impl Rows {
    fn place(&self) -> String {
        format!("{}: session {:?}", self.database.path.display(), self.id)
    }
    fn failed(&self, error: &sqlx::Error) -> StoreError {
        StoreError::Database { place: self.place(), reason: error.to_string() }
    }
    fn too_large(&self, bytes: i64) -> StoreError {
        StoreError::TooLarge { place: self.place(), bytes: bytes.unsigned_abs(), max: MAX_BYTES.unsigned_abs() }
    }

    async fn session(&self) -> Result<Session, StoreError> {
        let events = self.events().await?;
        let place = self.place();
        // Of a long conversation this is work.
        let replayed = off_the_executor(move || {
            let replayed = if events.is_empty() { Ok(Session::new()) } else { Session::replay(events) };
            replayed.map_err(|reason| StoreError::Replay { place, reason })
        });
        let session = replayed.await.unwrap_or_else(|| Err(StoreError::Late { place: self.place() }))?;
        Ok(session.stored_in(self.clone()))
    }

    async fn events(&self) -> Result<Vec<SessionEvent>, StoreError> {
        let last: Option<(i64, i64)> = self.last(&self.database.pool).await.map_err(|error| self.failed(&error))?;
        match last {
            None => return Ok(Vec::new()),
            Some((_, bytes)) if bytes > MAX_BYTES => return Err(self.too_large(bytes)),
            Some(_) => {}
        }
        let all = sqlx::query_as(ALL).bind(self.id.as_str()).fetch_all(&self.database.pool).await;
        let rows: Vec<(i64, String)> = all.map_err(|error| self.failed(&error))?;
        let place = self.place();
        let read = off_the_executor(move || {
            let damaged = |line: usize, reason: String| StoreError::Damaged { place: place.clone(), line: line + 1, reason };
            let read = |(n, (seq, event)): (usize, (i64, String))| {
                if usize::try_from(seq) != Ok(n) {
                    return Err(damaged(n, format!("number {seq}, where {n} was expected: events are missing before it")));
                }
                serde_json::from_str(&event).map_err(|error| damaged(n, format!("not understood, and perhaps of a later version: {error}")))
            };
            rows.into_iter().enumerate().map(read).collect()
        });
        read.await.unwrap_or_else(|| Err(StoreError::Late { place: self.place() }))
    }
    async fn last(&self, connection: impl sqlx::SqliteExecutor<'_>) -> sqlx::Result<Option<(i64, i64)>> {
        sqlx::query_as(LAST).bind(self.id.as_str()).fetch_optional(connection).await
    }

    async fn add(&self, expected: u64, events: &[SessionEvent]) -> Result<(), JournalError> {
        let failed = |error: sqlx::Error| match error.as_database_error() {
            Some(refused) if refused.is_unique_violation() => JournalError::Conflict,
            _ => self.failed(&error).into(),
        };
        let time = rfc3339((self.database.clock)());
        // Nothing is read on an older ground than what is written.
        let mut transaction = self.database.pool.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        let (next, mut bytes) = self.last(&mut *transaction).await.map_err(failed)?.map_or((0, 0), |(seq, bytes)| (seq + 1, bytes));
        if u64::try_from(next) != Ok(expected) {
            return Err(JournalError::Conflict);
        }
        for (seq, event) in (next..).zip(events) {
            let text = serde_json::to_string(event).map_err(|error| failed(sqlx::Error::Encode(error.into())))?;
            bytes = bytes.saturating_add(i64::try_from(text.len()).unwrap_or(i64::MAX));
            if bytes > MAX_BYTES {
                return Err(self.too_large(bytes).into());
            }
            let row = sqlx::query(INSERT).bind(self.id.as_str()).bind(seq).bind(&time).bind(bytes).bind(text);
            row.execute(&mut *transaction).await.map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)
    }
}

impl SessionJournal for Rows {
    fn append(&self, expected: u64, events: Arc<[SessionEvent]>) -> Appending {
        let rows = self.clone();
        Box::pin(async move {
            let place = rows.place();
            // A transaction that is given up in its midst may hold the database for a while: this one comes to its end all the same.
            let added = tokio::spawn(async move { rows.add(expected, &events).await }).await;
            added.unwrap_or_else(|_| Err(StoreError::Late { place }.into()))
        })
    }
    fn load(&self) -> LoadingEvents {
        let rows = self.clone();
        Box::pin(async move { Ok(rows.events().await?) })
    }
}
