//! Sessions in `PostgreSQL`, for replicas on several machines.

use super::statements::Dialect;
use super::{ACQUIRE_DEADLINE, Sessions};
use crate::sessions::{OpeningSession, RemovingSession, SessionId, SessionStore, StoreError};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sqlx::{Connection, Executor, Postgres};
use std::fmt;
use std::time::SystemTime;

/// So many speak to it at once; a server has a hundred for all, unless told otherwise.
const CONNECTIONS: u32 = 8;

/// Bounds what a statement waits for, and how long a client that is gone without a word holds what it locked; and what is stored is on the server's
/// disk, where the database does not ask for that by itself.
const OF_EACH_CONNECTION: &str = "SET statement_timeout = '8s'; SET lock_timeout = '8s'; SET idle_in_transaction_session_timeout = '10s';
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// One at a time makes the table: two that do it at once are refused. Who may not make one may use it.
const LOCK_TABLE: &str = "SELECT pg_advisory_xact_lock(hashtextextended('tower_prompt_session_events', 0))";
const IS_THERE: &str = "SELECT to_regclass('tower_prompt_session_events') IS NOT NULL";
/// `bytes` is of all events of the session up to this one. Events are text, which comes back byte for byte; ids are compared by their bytes.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS tower_prompt_session_events (
    session TEXT COLLATE \"C\" NOT NULL, seq BIGINT NOT NULL, time TEXT NOT NULL, bytes BIGINT NOT NULL, event TEXT NOT NULL,
    PRIMARY KEY (session, seq))";

impl Dialect for Postgres {
    const BEGIN: &'static str = BEGIN;
    const LOCK: Option<&'static str> = Some("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))");
}

/// Sessions in a table of `PostgreSQL` (11 or later), whose events are rows: each session's are numbered, so who writes on an older ground than what is
/// stored finds out, takes that over and settles again. So any of several replicas can take a conversation's next request. Its clones are the same
/// store.
///
/// What is stored is on the server's disk before the request is sent. A connection that is lost is made anew, and what was to be stored on it is
/// stored once; a server that stays away is an error, which the request that could not be stored tells as a diagnostic.
///
/// All of it must be awaited on a tokio runtime with its time and its network enabled.
///
/// ```no_run
/// use tower_prompt::layers::Context;
/// use tower_prompt::sessions::{PostgresStore, SessionId, SessionStore};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = PostgresStore::connect("postgres://proxy@db.internal/sessions").await?;
/// let session = store.open(&SessionId::new("42")?).await?;
/// let context = Context::default().session(session);
/// # let _ = context;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct PostgresStore(Sessions<Postgres>);

impl PostgresStore {
    /// Opens the database of this URL (`postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full`), and makes the table where there is none, in the first
    /// schema of the user's search path. What the URL leaves out comes from `PGHOST` and its like; a password that it leaves out from `PGPASSWORD`, or
    /// from the file of `PGPASSFILE`. No error shows a password.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let refused = |place: &str, reason: String| StoreError::Database { place: place.to_owned(), reason };
        let options: PgConnectOptions = match url.parse() {
            Ok(options) if url.starts_with("postgres://") || url.starts_with("postgresql://") => options,
            Ok(_) => return Err(refused("PostgreSQL", "its URL begins with `postgres://`".into())),
            Err(error) => return Err(refused("PostgreSQL", format!("its URL is not understood: {error}"))),
        };
        let place = place(&options);
        let failed = |error: sqlx::Error| refused(&place, error.to_string());
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(ACQUIRE_DEADLINE)
            .after_connect(|connection, _| Box::pin(async { connection.execute(OF_EACH_CONNECTION).await.map(drop) }))
            .connect_with(options)
            .await
            .map_err(failed)?;
        let mut connection = pool.acquire().await.map_err(failed)?;
        make_table(&mut connection).await.map_err(failed)?;
        let encoding: String = sqlx::query_scalar("SHOW server_encoding").fetch_one(&mut *connection).await.map_err(failed)?;
        if encoding != "UTF8" {
            return Err(refused(&place, format!("the database's encoding is {encoding}, which has not every character; it needs UTF8")));
        }
        Ok(Self(Sessions::new(pool, &place)))
    }
    /// Tells the time of events by this clock.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.0.clock(clock);
        self
    }
}

fn place(options: &PgConnectOptions) -> String {
    let (user, database) = (options.get_username(), options.get_database().unwrap_or(options.get_username()));
    match options.get_socket() {
        Some(socket) => format!("postgres://{user}@/{database}?host={}", socket.display()),
        None => format!("postgres://{user}@{}:{}/{database}", options.get_host(), options.get_port()),
    }
}

async fn make_table(connection: &mut PgConnection) -> sqlx::Result<()> {
    if sqlx::query_scalar(IS_THERE).fetch_one(&mut *connection).await? {
        return Ok(());
    }
    let mut transaction = connection.begin_with(BEGIN).await?;
    sqlx::query(LOCK_TABLE).execute(&mut *transaction).await?;
    sqlx::query(TABLE).execute(&mut *transaction).await?;
    transaction.commit().await
}

impl SessionStore for PostgresStore {
    fn open(&self, id: &SessionId) -> OpeningSession {
        self.0.open(id)
    }
    fn remove(&self, id: &SessionId) -> RemovingSession {
        self.0.remove(id)
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStore").field(&self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_shows_no_password() {
        for (url, shown) in [
            ("postgres://me:SECRET@db:5433/sessions", "postgres://me@db:5433/sessions"),
            ("postgresql://me@db/a%20b?password=SECRET", "postgres://me@db:5432/a b"),
            ("postgres://me@localhost/x?host=/run/postgresql", "postgres://me@/x?host=/run/postgresql"),
        ] {
            assert_eq!(place(&url.parse().unwrap()), shown);
        }
    }

    #[tokio::test]
    async fn what_is_no_url_says_so_and_shows_no_password() {
        for url in ["", "db:5432", "mysql://me:SECRET@db/x", "postgres://me:SECRET@db:port/x", "postgres://me:SECRET@[/x"] {
            let error = PostgresStore::connect(url).await.unwrap_err().to_string();
            assert!(error.contains("PostgreSQL") && error.contains("URL") && !error.contains("SECRET"), "{url}: {error}");
        }
    }
}
