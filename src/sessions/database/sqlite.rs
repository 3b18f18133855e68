//! Sessions in an embedded database, for several processes on one machine.

use super::statements::Dialect;
use super::{ACQUIRE_DEADLINE, Sessions};
use crate::blocking::{FILE_DEADLINE, off_the_executor_within};
use crate::sessions::{OpeningSession, RemovingSession, SessionId, SessionStore, StoreError};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Sqlite, SqlitePool};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, sleep};

/// One writes at a time; others read meanwhile.
const CONNECTIONS: u32 = 4;

/// Between two tries to connect where another writes.
const BETWEEN_TRIES: Duration = Duration::from_millis(5);
const SQLITE_BUSY: u32 = 5;

/// `bytes` is of all events of the session up to this one.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS tower_prompt_session_events (
    session TEXT NOT NULL, seq INTEGER NOT NULL, time TEXT NOT NULL, bytes INTEGER NOT NULL, event TEXT NOT NULL, UNIQUE (session, seq))";

impl Dialect for Sqlite {
    const BEGIN: &'static str = "BEGIN IMMEDIATE";
    const LOCK: Option<&'static str> = None;
}

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
pub struct SqliteStore(Sessions<Sqlite>);

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
        let place = path.display().to_string();
        let failed = |error: sqlx::Error| StoreError::Database { place: place.clone(), reason: error.to_string() };
        let pool = connect_patiently(options).await.map_err(failed)?;
        sqlx::query(TABLE).execute(&pool).await.map_err(failed)?;
        Ok(Self(Sessions::new(pool, &place)))
    }
    /// Tells the time of events by this clock.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.0.clock(clock);
        self
    }
}

/// Connects again while another writes, up to [`ACQUIRE_DEADLINE`].
///
/// A connection waits for others by itself, but not when it is the first to set the journal's mode: that reads before it writes, and of two that have read
/// one would wait for the other for ever. So `SQLite` refuses it at once. Once the mode is set it stays, and connecting writes no more.
async fn connect_patiently(options: SqliteConnectOptions) -> sqlx::Result<SqlitePool> {
    let until = Instant::now() + ACQUIRE_DEADLINE;
    loop {
        let pool = SqlitePoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(ACQUIRE_DEADLINE);
        match pool.connect_with(options.clone()).await {
            Err(error) if is_busy(&error) && Instant::now() < until => sleep(BETWEEN_TRIES).await,
            connected => return connected,
        }
    }
}

fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|told| told.code()?.parse::<u32>().ok());
    // The lowest byte is the kind, what is above it the particular.
    code.is_some_and(|code| code & 0xff == SQLITE_BUSY)
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
        self.0.open(id)
    }
    fn remove(&self, id: &SessionId) -> RemovingSession {
        self.0.remove(id)
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqliteStore").field(&self.0).finish()
    }
}
