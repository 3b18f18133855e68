//! Sessions in stores: one for all who hold it, and nothing lost where several write.

use serde_json::{Value, json};
use tower_prompt::layers::skill::SkillId;
use tower_prompt::layers::wire::OpenAiChat;
use tower_prompt::layers::{Context, Fragment, Prompt, PromptStack, Report, Session, Settings, SystemPromptLayer, Tier, Turn};
use tower_prompt::sessions::{MemoryStore, SessionId, SessionStore};

fn id(id: &str) -> SessionId {
    SessionId::new(id).unwrap()
}
fn skill(id: &str) -> SkillId {
    SkillId::new(id).unwrap()
}
fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

/// Sends a history; each sender has another fact to tell.
async fn send(session: &Session, fact: &str, history: &[Value]) -> (Vec<Value>, Vec<String>) {
    let report = Report::default();
    let text = fact.to_owned();
    let facts = move |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Turn, || Fragment::new("fact", text.clone()));
    let base = SystemPromptLayer::replaced(format!("Base of {fact}."));
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(base).with(facts);
    let context = Context::default().session(session.clone()).report(report.clone());
    let sent = stack.assemble(json!({"messages": history}), context).await;
    let codes = report.manifest().unwrap().diagnostics.iter().map(|found| found.code.to_string()).collect();
    (sent["messages"].as_array().unwrap().clone(), codes)
}

/// What each store does.
async fn is_a_store(store: &dyn SessionStore) {
    let (one, same, other) =
        (store.open(&id("a")).await.unwrap(), store.open(&id("a")).await.unwrap(), store.open(&id("A")).await.unwrap());
    one.activate(skill("rust"), None);
    assert_eq!((same.active().len(), other.active().len()), (1, 0), "who opens one that is held has the same");
    let (sent, codes) = send(&one, "x", &[user("hi")]).await;
    assert!(codes.is_empty(), "{codes:?}");
    drop((one, same));
    let again = store.open(&id("a")).await.unwrap();
    assert_eq!(again.active().len(), 1);
    assert_eq!(send(&again, "y", &[user("hi")]).await.0, sent);
    store.remove(&id("a")).await.unwrap();
    store.remove(&id("never there")).await.unwrap();
    let new = store.open(&id("a")).await.unwrap();
    assert!(new.active().is_empty());
    assert_ne!(send(&new, "y", &[user("hi")]).await.0, sent);
    assert_eq!(again.active().len(), 1, "who holds it goes on with it");
}

#[tokio::test]
async fn memory_is_a_store() {
    is_a_store(&MemoryStore::default()).await;
}

#[cfg(feature = "store-sqlite")]
mod sqlite {
    use super::*;
    use sqlx::{Connection, Row, SqliteConnection};
    use std::fs;
    use std::future::poll_fn;
    use std::path::Path;
    use std::task::Poll;
    use std::time::{Duration, UNIX_EPOCH};
    use tower_prompt::sessions::{SqliteStore, StoreError};

    fn says(text: &str) -> Value {
        json!({"role": "assistant", "content": text})
    }
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
    async fn requests_at_once_through_two_handles_lose_nothing_and_only_grow() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        let stores = [connect(&path).await, connect(&path).await];
        let begin = [user("u0"), says("a0")];
        send(&stores[0].open(&id("s")).await.unwrap(), "first", &begin[..1]).await;
        let mut tasks = Vec::new();
        for n in 0..8 {
            let store = stores[n % 2].clone();
            let begin = begin.clone();
            tasks.push(tokio::spawn(async move {
                let session = store.open(&id("s")).await.unwrap();
                session.activate(skill(&format!("s{n}")), None);
                let mut history = begin.to_vec();
                let mut before: Vec<Value> = Vec::new();
                for turn in 0..4 {
                    history.push(user(&format!("branch {n} turn {turn}")));
                    let (sent, codes) = send(&session, &format!("fact {n} {turn}"), &history).await;
                    assert!(codes.iter().all(|code| code != "session-not-stored"), "{codes:?}");
                    assert!(sent.starts_with(&before), "{before:#?} {sent:#?}");
                    before = sent;
                    history.push(says("a"));
                }
                history.pop();
                (history, before)
            }));
        }
        let mut said = Vec::new();
        for task in tasks {
            said.push(task.await.unwrap());
        }
        let fresh = connect(&path).await.open(&id("s")).await.unwrap();
        for (history, sent) in &said {
            assert_eq!(send(&fresh, "other", history).await.0, *sent, "another process sends the same");
        }
    }

    #[tokio::test]
    async fn a_new_file_may_be_opened_by_several_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        let opening: Vec<_> = (0..8).map(|_| tokio::spawn(SqliteStore::connect(path.clone()))).collect();
        for store in opening {
            let session = store.await.unwrap().unwrap().open(&id("s")).await.unwrap();
            assert!(send(&session, "x", &[user("hi")]).await.1.is_empty());
        }
    }

    #[tokio::test]
    async fn an_append_that_is_given_up_leaves_the_next_to_store_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        let session = connect(&path).await.open(&id("s")).await.unwrap();
        for polls in 1..6 {
            let history = vec![user(&format!("u{polls}"))];
            let mut under_way = Box::pin(send(&session, "x", &history));
            for _ in 0..polls {
                if poll_fn(|cx| Poll::Ready(under_way.as_mut().poll(cx).is_ready())).await {
                    break;
                }
                tokio::task::yield_now().await;
            }
            drop(under_way);
            let (sent, codes) = send(&session, "x", &history).await;
            assert!(codes.is_empty(), "{codes:?}");
            let fresh = connect(&path).await.open(&id("s")).await.unwrap();
            assert_eq!(send(&fresh, "other", &history).await.0, sent);
        }
    }

    #[tokio::test]
    async fn what_can_not_be_read_says_where_and_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        send(&connect(&path).await.open(&id("s")).await.unwrap(), "x", &[user("hi")]).await;
        for (statement, reason) in [
            (
                "UPDATE tower_prompt_session_events SET bytes = 1 << 30 WHERE seq = 2",
                "1073741824 bytes, of which at most 268435456 are read",
            ),
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
                Err(error) => assert!(
                    !reason.is_empty() && error.to_string().contains(reason) && error.to_string().contains("session \"s\""),
                    "{error}"
                ),
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
}
