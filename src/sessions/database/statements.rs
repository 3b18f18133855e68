//! What is said to a database: the same statements for each.

use sqlx::{ColumnIndex, Connection, Database, Decode, Encode, Executor, IntoArguments, Type};
use std::pin::Pin;

const LAST: &str = "SELECT seq, bytes FROM tower_prompt_session_events WHERE session = $1 ORDER BY seq DESC LIMIT 1";
const INSERT: &str = "INSERT INTO tower_prompt_session_events (session, seq, time, bytes, event) VALUES ($1, $2, $3, $4, $5)";
const ALL: &str = "SELECT seq, event FROM tower_prompt_session_events WHERE session = $1 ORDER BY seq";
const REMOVE: &str = "DELETE FROM tower_prompt_session_events WHERE session = $1";

/// What differs between databases.
pub(in crate::sessions) trait Dialect: Database {
    /// Begins a transaction in which nothing is read on an older ground than what is written.
    const BEGIN: &'static str;
    /// Waits until no other transaction changes the session of this id, where to begin is not to wait already.
    const LOCK: Option<&'static str>;
}

/// Under way. It does not block.
pub(super) type Asking<'c, T> = Pin<Box<dyn Future<Output = sqlx::Result<T>> + Send + 'c>>;

/// A row that is to be stored.
pub(super) struct Row {
    pub(super) seq: i64,
    /// Of all events of the session up to this one.
    pub(super) bytes: i64,
    pub(super) event: String,
}

/// The statements, on a connection that is this transaction's alone.
pub(super) trait Statements: Dialect {
    /// The number of the session's last event, and the bytes of all.
    fn last<'c>(connection: &'c mut Self::Connection, session: &'c str) -> Asking<'c, Option<(i64, i64)>>;
    fn insert<'c>(connection: &'c mut Self::Connection, session: &'c str, time: &'c str, row: &'c Row) -> Asking<'c, ()>;
    fn all<'c>(connection: &'c mut Self::Connection, session: &'c str) -> Asking<'c, Vec<(i64, String)>>;
    fn remove<'c>(connection: &'c mut Self::Connection, session: &'c str) -> Asking<'c, ()>;
    fn lock<'c>(connection: &'c mut Self::Connection, session: &'c str) -> Asking<'c, ()>;
    fn begin(connection: &mut Self::Connection) -> Asking<'_, sqlx::Transaction<'_, Self>> {
        Box::pin(connection.begin_with(Self::BEGIN))
    }
}

impl<D: Dialect> Statements for D
where
    for<'q> D::Arguments<'q>: IntoArguments<'q, D>,
    for<'c> &'c mut D::Connection: Executor<'c, Database = D>,
    for<'q> &'q str: Encode<'q, D> + Type<D>,
    for<'q> i64: Encode<'q, D> + Decode<'q, D> + Type<D>,
    for<'q> String: Decode<'q, D> + Type<D>,
    usize: ColumnIndex<D::Row>,
{
    fn last<'c>(connection: &'c mut D::Connection, session: &'c str) -> Asking<'c, Option<(i64, i64)>> {
        Box::pin(sqlx::query_as(LAST).bind(session).fetch_optional(connection))
    }
    fn insert<'c>(connection: &'c mut D::Connection, session: &'c str, time: &'c str, row: &'c Row) -> Asking<'c, ()> {
        let insert = sqlx::query(INSERT).bind(session).bind(row.seq).bind(time).bind(row.bytes).bind(&*row.event);
        Box::pin(async move { insert.execute(connection).await.map(drop) })
    }
    fn all<'c>(connection: &'c mut D::Connection, session: &'c str) -> Asking<'c, Vec<(i64, String)>> {
        Box::pin(sqlx::query_as(ALL).bind(session).fetch_all(connection))
    }
    fn remove<'c>(connection: &'c mut D::Connection, session: &'c str) -> Asking<'c, ()> {
        Box::pin(async move { sqlx::query(REMOVE).bind(session).execute(connection).await.map(drop) })
    }
    fn lock<'c>(connection: &'c mut D::Connection, session: &'c str) -> Asking<'c, ()> {
        Box::pin(async move {
            match D::LOCK {
                Some(lock) => sqlx::query(lock).bind(session).execute(connection).await.map(drop),
                None => Ok(()),
            }
        })
    }
}
