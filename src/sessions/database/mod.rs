//! Sessions as rows of a database that several processes share: what does not depend on which database it is.
//!
//! Each session's events are numbered. Who writes on an older ground than what is stored finds out, takes that over and settles again.

#[cfg(feature = "store-postgres")]
mod postgres;
#[cfg(feature = "store-sqlite")]
mod sqlite;
mod statements;

#[cfg(feature = "store-postgres")]
pub use postgres::PostgresStore;
#[cfg(feature = "store-sqlite")]
pub use sqlite::SqliteStore;

use super::error::StoreError;
use super::held::OpenSessions;
use super::log::rfc3339;
use super::store::{OpeningSession, RemovingSession, SessionId};
use crate::blocking::{FILE_DEADLINE, off_the_executor};
use crate::layers::{Appending, JournalError, LoadingEvents, Session, SessionEvent, SessionJournal};
use sqlx::pool::PoolConnection;
use sqlx::{Pool, Transaction};
use statements::{Row, Statements};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::time::timeout;

/// Bytes of one session's events that are read at most; nothing is written beyond.
const MAX_BYTES: i64 = 256 << 20;
/// For a connection to be had.
const ACQUIRE_DEADLINE: Duration = FILE_DEADLINE;
/// For all that is said on one, which may wait for others.
const WORK_DEADLINE: Duration = Duration::from_secs(10);

/// Sessions in one database.
struct Sessions<D: Statements> {
    database: Database<D>,
    open: OpenSessions,
}

impl<D: Statements> Clone for Sessions<D> {
    fn clone(&self) -> Self {
        Self { database: self.database.clone(), open: self.open.clone() }
    }
}

struct Database<D: Statements> {
    pool: Pool<D>,
    /// Where it is, without a password.
    place: Arc<str>,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl<D: Statements> Clone for Database<D> {
    fn clone(&self) -> Self {
        Self { pool: self.pool.clone(), place: self.place.clone(), clock: self.clock.clone() }
    }
}

impl<D: Statements> Sessions<D> {
    fn new(pool: Pool<D>, place: &str) -> Self {
        Self { database: Database { pool, place: place.into(), clock: Arc::new(SystemTime::now) }, open: OpenSessions::default() }
    }
    fn clock(&mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) {
        self.database.clock = Arc::new(clock);
    }
    fn open(&self, id: &SessionId) -> OpeningSession {
        let (open, rows) = (self.open.clone(), Rows { database: self.database.clone(), id: id.clone() });
        Box::pin(async move { open.get(&rows.id, rows.session()).await })
    }
    fn remove(&self, id: &SessionId) -> RemovingSession {
        let (open, rows) = (self.open.clone(), Rows { database: self.database.clone(), id: id.clone() });
        Box::pin(async move {
            let removed = rows.remove().await;
            open.forget(&rows.id);
            removed.map_err(|trouble| rows.failed(trouble))
        })
    }
}

impl<D: Statements> fmt::Debug for Sessions<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("place", &self.database.place).field("open", &self.open).finish_non_exhaustive()
    }
}

/// What came between.
enum Trouble {
    Refused(sqlx::Error),
    Late,
    TooLarge(i64),
    /// There are more events already, or fewer, than were expected.
    Conflict,
}

impl From<sqlx::Error> for Trouble {
    fn from(error: sqlx::Error) -> Self {
        Self::Refused(error)
    }
}

impl Trouble {
    /// The connection was lost, with all that was not committed on it, and perhaps with the word that something was.
    fn is_loss(&self) -> bool {
        let Self::Refused(error) = self else { return false };
        match error {
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) => true,
            // Of the server, which closes (57P), or of the connection (08).
            sqlx::Error::Database(told) => told.code().is_some_and(|code| code.starts_with("57P") || code.starts_with("08")),
            _ => false,
        }
    }
}

/// One session's.
struct Rows<D: Statements> {
    database: Database<D>,
    id: SessionId,
}

impl<D: Statements> Clone for Rows<D> {
    fn clone(&self) -> Self {
        Self { database: self.database.clone(), id: self.id.clone() }
    }
}

impl<D: Statements> Rows<D> {
    fn place(&self) -> String {
        format!("{}: session {:?}", self.database.place, self.id)
    }
    fn failed(&self, trouble: Trouble) -> StoreError {
        let place = self.place();
        match trouble {
            Trouble::Refused(error) => StoreError::Database { place, reason: error.to_string() },
            Trouble::Late => StoreError::Late { place },
            Trouble::TooLarge(bytes) => StoreError::TooLarge { place, bytes: bytes.unsigned_abs(), max: MAX_BYTES.unsigned_abs() },
            Trouble::Conflict => StoreError::Database { place, reason: "another was first".into() },
        }
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
        let rows = self.rows().await.map_err(|trouble| self.failed(trouble))?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
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

    /// Again where the connection was lost, as after a restart of the server.
    async fn rows(&self) -> Result<Vec<(i64, String)>, Trouble> {
        match self.rows_once().await {
            Err(trouble) if trouble.is_loss() => self.rows_once().await,
            read => read,
        }
    }
    async fn rows_once(&self) -> Result<Vec<(i64, String)>, Trouble> {
        let mut connection = self.database.pool.acquire().await?;
        let read = timeout(WORK_DEADLINE, async {
            match D::last(&mut connection, self.id.as_str()).await? {
                None => Ok(Vec::new()),
                Some((_, bytes)) if bytes > MAX_BYTES => Err(Trouble::TooLarge(bytes)),
                Some(_) => Ok(D::all(&mut connection, self.id.as_str()).await?),
            }
        });
        let read = read.await;
        given_back(connection, read)
    }

    async fn remove(&self) -> Result<(), Trouble> {
        let mut connection = self.database.pool.acquire().await?;
        let removed = timeout(WORK_DEADLINE, async {
            let mut transaction = self.begin(&mut connection).await?;
            D::remove(&mut transaction, self.id.as_str()).await?;
            Ok(transaction.commit().await?)
        });
        let removed = removed.await;
        given_back(connection, removed)
    }

    /// Again where the connection was lost: by the number that is expected it turns out whether the first was stored.
    async fn add(&self, expected: u64, events: &[SessionEvent]) -> Result<(), Trouble> {
        match self.add_once(expected, events).await {
            Err(trouble) if trouble.is_loss() => self.add_once(expected, events).await,
            added => added,
        }
    }
    async fn add_once(&self, expected: u64, events: &[SessionEvent]) -> Result<(), Trouble> {
        let time = rfc3339((self.database.clock)());
        let mut connection = self.database.pool.acquire().await?;
        let added = timeout(WORK_DEADLINE, async {
            let mut transaction = self.begin(&mut connection).await?;
            let last = D::last(&mut transaction, self.id.as_str()).await?;
            let (next, mut bytes) = last.map_or((0, 0), |(seq, bytes)| (seq + 1, bytes));
            if u64::try_from(next) != Ok(expected) {
                return Err(Trouble::Conflict);
            }
            for (seq, event) in (next..).zip(events) {
                let event = serde_json::to_string(event).map_err(|error| sqlx::Error::Encode(error.into()))?;
                bytes = bytes.saturating_add(i64::try_from(event.len()).unwrap_or(i64::MAX));
                if bytes > MAX_BYTES {
                    return Err(Trouble::TooLarge(bytes));
                }
                D::insert(&mut transaction, self.id.as_str(), &time, &Row { seq, bytes, event }).await?;
            }
            Ok(transaction.commit().await?)
        });
        let added = added.await;
        match given_back(connection, added) {
            Err(Trouble::Refused(sqlx::Error::Database(told))) if told.is_unique_violation() => Err(Trouble::Conflict),
            added => added,
        }
    }

    async fn begin<'c>(&self, connection: &'c mut D::Connection) -> Result<Transaction<'c, D>, Trouble> {
        let mut transaction = D::begin(connection).await?;
        D::lock(&mut transaction, self.id.as_str()).await?;
        Ok(transaction)
    }
}

/// A connection on which something is under way still, or that is lost, serves no one else.
fn given_back<D: Statements, T>(
    mut connection: PoolConnection<D>,
    result: Result<Result<T, Trouble>, tokio::time::error::Elapsed>,
) -> Result<T, Trouble> {
    let result = result.unwrap_or(Err(Trouble::Late));
    if result.as_ref().is_err_and(|trouble| matches!(trouble, Trouble::Late) || trouble.is_loss()) {
        connection.close_on_drop();
    }
    result
}

impl<D: Statements> SessionJournal for Rows<D> {
    fn append(&self, expected: u64, events: Arc<[SessionEvent]>) -> Appending {
        let rows = self.clone();
        Box::pin(async move {
            let place = rows.place();
            // A transaction that is given up in its midst may hold the database for a while: this one comes to its end all the same.
            let added = tokio::spawn(async move {
                match rows.add(expected, &events).await {
                    Ok(()) => Ok(()),
                    Err(Trouble::Conflict) => Err(JournalError::Conflict),
                    Err(trouble) => Err(rows.failed(trouble).into()),
                }
            });
            added.await.unwrap_or_else(|_| Err(StoreError::Late { place }.into()))
        })
    }
    fn load(&self) -> LoadingEvents {
        let rows = self.clone();
        Box::pin(async move { Ok(rows.events().await?) })
    }
}
