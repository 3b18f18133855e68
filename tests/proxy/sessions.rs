//! Which conversation a request belongs to: by its header, by its messages, by what the API answered; and never another caller's.

use super::world::{Upstream, World, json_answer};
use http::Response;
use http_body_util::Full;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tower_prompt::sessions::{MemoryStore, OpeningSession, RemovingSession, SessionId, SessionStore};

fn body(messages: &[&str]) -> String {
    let role = |n: usize| if n.is_multiple_of(2) { "user" } else { "assistant" };
    let messages: Vec<Value> = messages.iter().enumerate().map(|(n, text)| json!({"role": role(n), "content": text})).collect();
    json!({"model": "m", "messages": messages}).to_string()
}

async fn messages(upstream: &mut Upstream) -> Vec<Value> {
    let body: Value = serde_json::from_slice(&upstream.seen().await.body).unwrap();
    body["messages"].as_array().unwrap().clone()
}

async fn input(upstream: &mut Upstream) -> String {
    let body: Value = serde_json::from_slice(&upstream.seen().await.body).unwrap();
    body["input"].to_string()
}

#[derive(Clone, Default)]
struct Recorded(MemoryStore, Arc<Mutex<Vec<SessionId>>>);

impl SessionStore for Recorded {
    fn open(&self, id: &SessionId) -> OpeningSession {
        self.1.lock().unwrap().push(id.clone());
        self.0.open(id)
    }
    fn remove(&self, id: &SessionId) -> RemovingSession {
        self.0.remove(id)
    }
}

#[tokio::test]
async fn a_header_names_a_conversation_of_its_caller() {
    let (world, mut upstream, store) = (World::new(), Upstream::new().await, Recorded::default());
    let kept = store.clone();
    let proxy = world.changed_proxy("proxy.session_header = 'x-chat'", &upstream.url(), |proxy| proxy.sessions(kept)).await;
    let headers = |key, chat| [("authorization", key), ("x-chat", chat)];
    let calls = [("Bearer a", "1"), ("Bearer a", "1"), ("Bearer a", "2"), ("Bearer b", "1")];
    for (key, chat) in calls {
        proxy.send(proxy.request("/v1/chat/completions", &headers(key, chat), body(&["hi"]))).await;
        assert_eq!(upstream.seen().await.headers["x-chat"], chat);
    }
    proxy.post("/v1/chat/completions", body(&["hi"])).await;
    proxy.send(proxy.request("/v1/chat/completions", &[("x-session-id", "1"), ("x-chat", "")], body(&["hi"]))).await;
    let ids = store.1.lock().unwrap().clone();
    assert_eq!((ids.len(), ids[0] == ids[1]), (4, true));
    assert!(ids[0] != ids[2] && ids[0] != ids[3] && ids[2] != ids[3]);
    assert!(ids.iter().all(|id| id.as_str().len() == 64 && !id.as_str().contains("Bearer")));
}

#[tokio::test]
async fn with_a_header_or_without_a_conversation_grows_at_its_end() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    for headers in [&[("x-session-id", "1")][..], &[]] {
        let proxy = world.proxy("", &upstream.url()).await;
        let mut before: Vec<Value> = Vec::new();
        for said in [&["hi"][..], &["hi", "yes?", "go"], &["hi", "yes?", "go", "done", "thanks"]] {
            proxy.send(proxy.request("/v1/chat/completions", headers, body(said))).await;
            let sent = messages(&mut upstream).await;
            assert!(sent.len() > before.len() && sent[..before.len()] == before[..], "{sent:?}");
            before = sent;
        }
        assert!(before[1]["content"].as_str().unwrap().contains("<context"));
    }
}

#[tokio::test]
async fn callers_with_other_credentials_share_nothing() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("", &upstream.url()).await;
    let second = body(&["hi", "yes?", "go"]);
    let first = proxy.request("/v1/chat/completions?key=a", &[("authorization", "Bearer a")], body(&["hi"]));
    proxy.send(first).await;
    messages(&mut upstream).await;
    for (path, key, is_known) in [
        ("/v1/chat/completions?key=a", ("authorization", "Bearer b"), false),
        ("/v1/chat/completions?key=b", ("authorization", "Bearer a"), false),
        ("/v1/chat/completions?key=a", ("x-api-key", "Bearer a"), false),
        ("/v1/chat/completions?key=a", ("authorization", "Bearer a"), true),
    ] {
        proxy.send(proxy.request(path, &[key], second.clone())).await;
        let opening = messages(&mut upstream).await[1]["content"].clone();
        assert_eq!(opening != "hi", is_known, "{path} {key:?}: {opening}");
    }
}

#[tokio::test]
async fn what_the_api_holds_is_known_by_the_id_that_it_answered() {
    let world = World::new();
    let answer = r#"{"id":"resp_1","object":"response","usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4}}}"#;
    let stream = format!("event: response.created\ndata: {{\"type\":\"response.created\",\"response\":{answer}}}\n\n");
    for (kind, said) in [("application/json", answer.to_owned()), ("text/event-stream", stream)] {
        let told = said.clone();
        let answer = move |_: &_| match kind {
            "application/json" => json_answer(told.clone()),
            _ => Response::builder().header("content-type", kind).body(Full::from(told.clone())).unwrap(),
        };
        let mut upstream = Upstream::answering(answer).await;
        let proxy = world.proxy("", &upstream.url()).await;
        let first = proxy.post("/v1/responses", json!({"model": "m", "input": "hi"}).to_string()).await;
        assert_eq!(first.body, said);
        let first = input(&mut upstream).await;
        assert!(first.contains("<context"), "{first}");
        for (id, is_known) in [("resp_1", true), ("resp_of_another", false)] {
            let more = json!({"model": "m", "input": "more", "previous_response_id": id}).to_string();
            proxy.post("/v1/responses", more).await;
            let sent = input(&mut upstream).await;
            assert_eq!(!sent.contains("<context"), is_known, "{kind} {id}: {sent}");
        }
        let metrics = String::from_utf8(proxy.get("/__prompt/metrics").await.body.to_vec()).unwrap();
        assert!(
            metrics.contains("tower_prompt_input_tokens_total 27\n") && metrics.contains("tower_prompt_cached_tokens_total 12\n"),
            "{metrics}"
        );
        assert!(metrics.contains("tower_prompt_requests_total{handling=\"assembled\"} 3\n"), "{metrics}");
    }
}
