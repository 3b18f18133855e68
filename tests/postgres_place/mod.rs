//! A schema of its own on the `PostgreSQL` server that `TOWER_PROMPT_TEST_POSTGRES` names, as `postgres://USER@HOST:PORT/DATABASE`, without a password.
//! The user must be a superuser there, for he ends connections. Without the variable the tests of it are left out, and that is said.

use sqlx::{Connection, PgConnection, Row};
use std::io::Write;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// A schema of its own.
pub(crate) struct PostgresPlace {
    /// Of the server, with this schema.
    pub(crate) url: String,
    pub(crate) schema: String,
}

impl PostgresPlace {
    pub(crate) async fn new() -> Option<Self> {
        static LEFT_OUT: Once = Once::new();
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let Ok(server) = std::env::var("TOWER_PROMPT_TEST_POSTGRES") else {
            // Past the harness, which keeps what a test that passes prints.
            let said = "\nTOWER_PROMPT_TEST_POSTGRES names no server: the tests of sessions in PostgreSQL were left out\n";
            LEFT_OUT.call_once(|| std::io::stderr().write_all(said.as_bytes()).unwrap());
            return None;
        };
        let schema = format!("tower_prompt_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let behind = if server.contains('?') { '&' } else { '?' };
        let place = Self { url: format!("{server}{behind}options[search_path]={schema}"), schema };
        place.change(&format!("DROP SCHEMA IF EXISTS {0} CASCADE; CREATE SCHEMA {0}", place.schema)).await;
        Some(place)
    }
    /// The database without the store.
    pub(crate) async fn change(&self, statement: &str) -> Vec<String> {
        let mut database = PgConnection::connect(&self.url).await.unwrap();
        let rows = sqlx::raw_sql(statement).fetch_all(&mut database).await.unwrap();
        database.close().await.unwrap();
        rows.iter().filter_map(|row| row.try_get(0).ok()).collect()
    }
    /// Ends the connections of all stores here, whatever they are about.
    pub(crate) async fn end_connections(&self) -> usize {
        let ended = "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE application_name = current_schema() AND pid <> pg_backend_pid()";
        self.change(ended).await.len()
    }
    pub(crate) async fn end(self) {
        self.change(&format!("DROP SCHEMA {} CASCADE", self.schema)).await;
    }
}
