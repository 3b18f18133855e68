//! Sessions in stores: one for all who hold it, and nothing lost where several write.

#[cfg(feature = "store-postgres")]
mod postgres_place;
#[cfg(any(feature = "store-sqlite", feature = "store-postgres"))]
mod sessions_store {
    #[cfg(feature = "store-postgres")]
    mod postgres;
    pub(super) mod shared;
    #[cfg(feature = "store-sqlite")]
    mod sqlite;
}

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
#[cfg(any(feature = "store-sqlite", feature = "store-postgres"))]
fn says(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
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
