//! In a table of `PostgreSQL`.

use super::shared;
use crate::postgres_place::PostgresPlace;
use crate::*;
use sqlx::{Connection, PgConnection};
use std::time::{Duration, UNIX_EPOCH};
use tower_prompt::sessions::{PostgresStore, StoreError};

async fn store(place: &PostgresPlace) -> PostgresStore {
    connect(place.url.clone()).await
}
async fn connect(url: String) -> PostgresStore {
    let noon = UNIX_EPOCH + Duration::from_secs(1_782_909_015);
    PostgresStore::connect(&url).await.unwrap().clock(move || noon)
}

#[tokio::test]
async fn postgres_is_a_store() {
    let Some(place) = PostgresPlace::new().await else { return };
    is_a_store(&store(&place).await).await;
    place.end().await;
}

#[tokio::test]
async fn requests_at_once_through_two_handles_lose_nothing_and_only_grow() {
    let Some(place) = PostgresPlace::new().await else { return };
    let stores = [store(&place).await, store(&place).await];
    shared::requests_at_once_lose_nothing_and_only_grow(stores, &store(&place).await).await;
    place.end().await;
}

#[tokio::test]
async fn one_that_is_held_takes_over_what_another_stored() {
    let Some(place) = PostgresPlace::new().await else { return };
    shared::one_that_is_held_takes_over_what_another_stored([store(&place).await, store(&place).await]).await;
    place.end().await;
}

#[tokio::test]
async fn a_new_database_may_be_opened_by_several_at_once() {
    let Some(place) = PostgresPlace::new().await else { return };
    let connecting = (0..8).map(|_| tokio::spawn(connect(place.url.clone())));
    shared::several_open_at_once(connecting.collect::<Vec<_>>()).await;
    place.end().await;
}

#[tokio::test]
async fn an_append_that_is_given_up_leaves_the_next_to_store_it() {
    let Some(place) = PostgresPlace::new().await else { return };
    shared::an_append_that_is_given_up_leaves_the_next_to_store_it(async || store(&place).await).await;
    place.end().await;
}

#[tokio::test]
async fn events_are_rows_with_number_and_time() {
    let Some(place) = PostgresPlace::new().await else { return };
    // An id is never a part of a statement, and no character of a text is lost.
    let odd = id("../a'; DROP TABLE tower_prompt_session_events; --");
    send(&store(&place).await.open(&odd).await.unwrap(), "\u{0}\u{fffd}\u{10ffff} 日本", &[user("hi")]).await;
    let rows = "SELECT seq || ' ' || time || ' ' || split_part(event, chr(34), 4) FROM tower_prompt_session_events ORDER BY seq";
    let noon = "2026-07-01T12:30:15Z";
    assert_eq!(
        place.change(rows).await,
        [format!("0 {noon} started"), format!("1 {noon} system_rendered"), format!("2 {noon} text_anchored")]
    );
    let total = "SELECT (SUM(octet_length(event)) - MAX(bytes))::text FROM tower_prompt_session_events";
    assert_eq!(place.change(total).await, ["0"], "the last row knows how much there is");
    place.end().await;
}

#[tokio::test]
async fn connections_that_are_ended_lose_nothing_that_was_stored() {
    let Some(place) = PostgresPlace::new().await else { return };
    let named = format!("{}&application_name={}", place.url, place.schema);
    let (ended, other) = (connect(named.clone()).await, store(&place).await);
    let mut history = vec![user("u0")];
    let mut before: Vec<Value> = Vec::new();
    for turn in 1..6 {
        // Between requests: the session is opened, and stored, on connections that are none any more.
        assert!(place.end_connections().await > 0);
        let session = ended.open(&id("s")).await.unwrap();
        place.end_connections().await;
        let (sent, codes) = send(&session, &format!("fact {turn}"), &history).await;
        assert!(codes.is_empty() && sent.starts_with(&before), "{codes:?} {before:#?} {sent:#?}");
        drop(session);
        assert_eq!(send(&other.open(&id("s")).await.unwrap(), "other", &history).await.0, sent);
        before = sent;
        history.extend([says("a"), user(&format!("u{turn}"))]);
    }
    // While it waits for another that holds the table.
    let session = ended.open(&id("s")).await.unwrap();
    let mut holder = PgConnection::connect(&place.url).await.unwrap();
    let mut held = holder.begin().await.unwrap();
    sqlx::query("LOCK TABLE tower_prompt_session_events IN SHARE MODE").execute(&mut *held).await.unwrap();
    let (sending, told) = (session.clone(), history.clone());
    let sent = tokio::spawn(async move { send(&sending, "late", &told).await });
    let waiting = "SELECT pid::text FROM pg_stat_activity WHERE application_name = current_schema() AND wait_event_type = 'Lock'";
    let waits = async { while place.change(waiting).await.is_empty() {} };
    tokio::time::timeout(Duration::from_secs(5), waits).await.expect("it waits for the table");
    assert!(place.end_connections().await > 0);
    held.rollback().await.unwrap();
    let (sent, codes) = sent.await.unwrap();
    assert!(codes.is_empty() && sent.starts_with(&before), "{codes:?} {before:#?} {sent:#?}");
    assert_eq!(send(&other.open(&id("s")).await.unwrap(), "other", &history).await.0, sent);
    place.end().await;
}

#[tokio::test]
async fn what_can_not_be_stored_is_told_and_the_request_goes_on() {
    let Some(place) = PostgresPlace::new().await else { return };
    let session = store(&place).await.open(&id("s")).await.unwrap();
    let (before, _) = send(&session, "x", &[user("u0")]).await;
    place.change("ALTER TABLE tower_prompt_session_events RENAME TO elsewhere").await;
    let history = [user("u0"), says("a0"), user("u1")];
    let (sent, codes) = send(&session, "y", &history).await;
    assert!(codes == ["session-not-stored"] && sent.starts_with(&before), "{codes:?} {sent:#?}");
    place.change("ALTER TABLE elsewhere RENAME TO tower_prompt_session_events").await;
    let (again, codes) = send(&session, "z", &history).await;
    assert!(codes.is_empty() && again == sent, "{codes:?} {again:#?}");
    let fresh = store(&place).await.open(&id("s")).await.unwrap();
    assert_eq!(send(&fresh, "other", &history).await.0, sent, "what could not be stored then is stored with the next");
    place.end().await;
}

#[tokio::test]
async fn what_can_not_be_read_says_where_and_why() {
    let Some(place) = PostgresPlace::new().await else { return };
    send(&store(&place).await.open(&id("s")).await.unwrap(), "x", &[user("hi")]).await;
    for (statement, reason) in [
        ("UPDATE tower_prompt_session_events SET bytes = 1 << 30 WHERE seq = 2", "1073741824 bytes, of which at most 268435456 are read"),
        ("UPDATE tower_prompt_session_events SET bytes = 1, event = 'garbage' WHERE seq = 2", ":3: not understood"),
        ("DELETE FROM tower_prompt_session_events WHERE seq = 1", ":2: number 2, where 1 was expected"),
        ("DELETE FROM tower_prompt_session_events WHERE seq > 0", ""),
    ] {
        place.change(statement).await;
        match store(&place).await.open(&id("s")).await {
            Ok(_) => assert_eq!(reason, "", "{statement}"),
            Err(error) => {
                let told = error.to_string();
                assert!(
                    !reason.is_empty() && told.contains(reason) && told.contains("session \"s\"") && told.contains("postgres://"),
                    "{told}"
                );
            }
        }
    }
    let nowhere = place.url.replace("options[search_path]=", "options[search_path]=no_");
    let nobody = place.url.replace("postgres://", "postgres://nobody:SECRET@").replacen(&user_of(&place.url), "", 1);
    for url in [nowhere, nobody] {
        let error = PostgresStore::connect(&url).await.unwrap_err();
        assert!(matches!(error, StoreError::Database { .. }) && !error.to_string().contains("SECRET"), "{error}");
    }
    place.end().await;
}

/// `USER@` of a URL, or nothing.
fn user_of(url: &str) -> String {
    let authority = url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    authority.rsplit_once('@').map(|(user, _)| format!("{user}@")).unwrap_or_default()
}
