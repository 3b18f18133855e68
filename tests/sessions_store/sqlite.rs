//! In a file of `SQLite`.

use super::shared;
use crate::*;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection, Row, SqliteConnection};
use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};
use tokio::time::timeout;
use tower_prompt::sessions::{SqliteStore, StoreError};

async fn connect(path: &Path) -> SqliteStore {
    let noon = UNIX_EPOCH + Duration::from_secs(1_782_909_015);
    SqliteStore::connect(path).await.unwrap().clock(move || noon)
}
/// The database without the store.
async fn change(path: &Path, statement: &'static str) -> Vec<String> {
    let mut database = SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap();
    let rows = sqlx::query(statement).fetch_all(&mut database).await.unwrap();
    database.close().await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn sqlite_is_a_store() {
    let folder = tempfile::tempdir().unwrap();
    is_a_store(&connect(&folder.path().join("s.db")).await).await;
}

#[tokio::test]
async fn requests_at_once_through_two_handles_lose_nothing_and_only_grow() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let stores = [connect(&path).await, connect(&path).await];
    shared::requests_at_once_lose_nothing_and_only_grow(stores, &connect(&path).await).await;
}

#[tokio::test]
async fn one_that_is_held_takes_over_what_another_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    shared::one_that_is_held_takes_over_what_another_stored([connect(&path).await, connect(&path).await]).await;
}

#[tokio::test]
async fn a_new_file_may_be_opened_by_several_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let connecting = (0..8).map(|_| path.clone()).map(|path| tokio::spawn(async move { connect(&path).await }));
    shared::several_open_at_once(connecting.collect::<Vec<_>>()).await;
}

#[tokio::test]
async fn a_new_file_that_another_writes_to_is_waited_for_but_not_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut other = SqliteConnection::connect_with(&options).await.unwrap();
    let writing = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    match SqliteStore::connect(&path).await {
        Err(StoreError::Database { place, reason }) => assert!(place.ends_with("s.db") && reason.contains("locked"), "{place}: {reason}"),
        other => panic!("{other:?}"),
    }
    let mut connecting = tokio::spawn(async move { connect(&path).await });
    timeout(Duration::from_millis(100), &mut connecting).await.expect_err("it waits");
    writing.rollback().await.unwrap();
    shared::several_open_at_once([connecting]).await;
}

#[tokio::test]
async fn an_append_that_is_given_up_leaves_the_next_to_store_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    shared::an_append_that_is_given_up_leaves_the_next_to_store_it(async || connect(&path).await).await;
}

#[tokio::test]
async fn events_are_rows_with_number_and_time_and_the_file_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let store = connect(&path).await;
    // An id is never a path, nor a part of a statement.
    let odd = id("../a'; DROP TABLE tower_prompt_session_events; --");
    send(&store.open(&odd).await.unwrap(), "x", &[user("hi")]).await;
    let rows = "SELECT seq || ' ' || time || ' ' || json_extract(event, '$.event') FROM tower_prompt_session_events ORDER BY seq";
    let noon = "2026-07-01T12:30:15Z";
    assert_eq!(
        change(&path, rows).await,
        [format!("0 {noon} started"), format!("1 {noon} system_rendered"), format!("2 {noon} text_anchored")]
    );
    let total = "SELECT CAST((SELECT SUM(LENGTH(CAST(event AS BLOB))) FROM tower_prompt_session_events) - MAX(bytes) AS TEXT) FROM tower_prompt_session_events";
    assert_eq!(change(&path, total).await, ["0"], "the last row knows how much there is");
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        assert!(entry.file_name().to_str().unwrap().starts_with("s.db"), "{entry:?}");
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&entry.metadata().unwrap().permissions()) & 0o777, 0o600, "{entry:?}");
    }
}

#[tokio::test]
async fn what_can_not_be_read_says_where_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    send(&connect(&path).await.open(&id("s")).await.unwrap(), "x", &[user("hi")]).await;
    for (statement, reason) in [
        ("UPDATE tower_prompt_session_events SET bytes = 1 << 30 WHERE seq = 2", "1073741824 bytes, of which at most 268435456 are read"),
        ("UPDATE tower_prompt_session_events SET bytes = 1, event = 'garbage' WHERE seq = 2", ":3: not understood"),
        (
            "UPDATE tower_prompt_session_events SET event = '{\"event\":\"dreamt\"}' WHERE seq = 2",
            "perhaps of a later version: unknown variant `dreamt`",
        ),
        ("DELETE FROM tower_prompt_session_events WHERE seq = 1", ":2: number 2, where 1 was expected"),
        ("DELETE FROM tower_prompt_session_events WHERE seq = 2", ""),
        ("UPDATE tower_prompt_session_events SET event = json_set(event, '$.version', 2)", "the events are of version 2"),
    ] {
        change(&path, statement).await;
        let opened = connect(&path).await.open(&id("s")).await;
        match opened {
            Ok(_) => assert_eq!(reason, "", "{statement}"),
            Err(error) => {
                assert!(!reason.is_empty() && error.to_string().contains(reason) && error.to_string().contains("session \"s\""), "{error}");
            }
        }
    }
    assert!(connect(&path).await.open(&id("another")).await.is_ok(), "and the others are as they were");
    let text = folder.path().join("text");
    fs::write(&text, "x".repeat(4096)).unwrap();
    assert!(matches!(SqliteStore::connect(&text).await, Err(StoreError::Database { .. })));
    assert_eq!(fs::read_to_string(&text).unwrap().len(), 4096);
    assert!(matches!(SqliteStore::connect(folder.path()).await, Err(StoreError::Database { .. })));
    assert!(matches!(SqliteStore::connect(folder.path().join("no/s.db")).await, Err(StoreError::Io { .. })));
}
