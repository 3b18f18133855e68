//! Each path brings what the stack makes of its body; all else passes.

use super::world::{Upstream, World};
use http::Method;
use serde_json::{Value, json};
use tower_prompt::layers::wire::Format;
use tower_prompt::layers::{Context, Purpose};
use tower_prompt::proxy::Handling;

fn bodies() -> Vec<(&'static str, Format, Value)> {
    let messages = json!([{"role": "user", "content": "frobnicate it"}]);
    let contents = json!([{"role": "user", "parts": [{"text": "frobnicate it"}]}]);
    vec![
        ("/v1/chat/completions", Format::OpenAiChat, json!({"model": "m", "messages": messages, "temperature": 0.7})),
        ("/v1/responses", Format::OpenAiResponses, json!({"model": "m", "input": "frobnicate it"})),
        ("/v1/messages?beta=true", Format::Anthropic, json!({"model": "m", "max_tokens": 9, "messages": messages})),
        ("/v1beta/models/m:generateContent", Format::Gemini, json!({"contents": contents})),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", Format::Gemini, json!({"contents": contents})),
        ("/api/chat", Format::Ollama, json!({"model": "m", "messages": messages})),
        ("/api/generate", Format::OllamaGenerate, json!({"model": "m", "prompt": "frobnicate it"})),
    ]
}

#[tokio::test]
async fn a_body_is_what_the_stack_makes_of_it() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    for (path, format, body) in bodies() {
        let proxy = world.proxy("", &upstream.url()).await;
        let answer = proxy.post(path, body.to_string()).await;
        assert_eq!((answer.status.as_u16(), &*answer.body), (200, &b"{}"[..]), "{path}");
        let (seen, expected) = (upstream.seen().await, world.assembly("").stack(format).assemble(body, Context::default()).await);
        assert_eq!((seen.method, &*seen.path), (Method::POST, path));
        assert_eq!(String::from_utf8(seen.body.to_vec()).unwrap(), expected.to_string(), "{path}");
        assert!(expected.to_string().contains("Frobnicates."));
        assert_eq!(seen.headers["x-tower-prompt-assembled"], "1");
        assert_eq!(proxy.access().await.handling, Handling::Assembled);
    }
}

#[tokio::test]
async fn counting_tokens_brings_the_same_and_keeps_nothing() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("", &upstream.url()).await;
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    proxy.post("/v1/messages/count_tokens", body.to_string()).await;
    let counted = upstream.seen().await;
    let context = Context::default().purpose(Purpose::SamePrefix);
    let expected = world.assembly("").stack(Format::Anthropic).assemble(body.clone(), context).await;
    assert_eq!(counted.body, expected.to_string());
    proxy.post("/v1/messages", body.to_string()).await;
    let sent = upstream.seen().await;
    let expected = world.assembly("").stack(Format::Anthropic).assemble(body, Context::default()).await;
    assert_eq!(sent.body, expected.to_string());
}

#[tokio::test]
async fn other_paths_and_methods_pass_as_they_are() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("", &upstream.url()).await;
    let body = r#"{"model" : "m", "input":"hi", "input":1e400}"#;
    for path in ["/v1/embeddings?a=b%20c&key=k", "/v1beta/models/m:countTokens", "/v1/responses/input_tokens", "/api/embed"] {
        proxy.post(path, body).await;
        let seen = upstream.seen().await;
        assert_eq!((&*seen.path, &*seen.body), (path, body.as_bytes()));
        assert!(!seen.headers.contains_key("x-tower-prompt-assembled"));
        assert_eq!(proxy.access().await.handling, Handling::Passed);
    }
    assert_eq!(proxy.get("/v1/chat/completions?limit=2").await.status, 200);
    assert_eq!((upstream.seen().await.method, proxy.access().await.handling), (Method::GET, Handling::Passed));
}

#[tokio::test]
async fn the_upstreams_own_path_is_kept_and_not_said_twice() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("", &format!("{}/openai/v1/", upstream.url())).await;
    for path in ["/v1/chat/completions?x=1", "/chat/completions?x=1"] {
        proxy.post(path, bodies()[0].2.to_string()).await;
        assert_eq!(upstream.seen().await.path, "/openai/v1/chat/completions?x=1");
        assert_eq!(proxy.access().await.handling, Handling::Assembled, "{path}");
    }
}

#[tokio::test]
async fn two_proxies_in_a_row_add_once() {
    let (world, other, mut upstream) = (World::new(), World::new(), Upstream::new().await);
    let second = other.proxy("system_prompt.agent_suffix = 'SECOND'", &upstream.url()).await;
    let first = world.proxy("", &second.url()).await;
    for (path, format, body) in bodies() {
        first.post(path, body.to_string()).await;
        let expected = world.assembly("").stack(format).assemble(body.clone(), Context::default()).await;
        // The conversation is known by the first, so what is said may be less than at a start; nothing is said twice or by the second.
        let seen = String::from_utf8(upstream.seen().await.body.to_vec()).unwrap();
        assert_eq!(seen.matches("Frobnicates.").count(), expected.to_string().matches("Frobnicates.").count(), "{path}");
        assert!(!seen.contains("SECOND"));
        assert_eq!(second.access().await.handling, Handling::Untouched("another proxy assembled it".into()));
        let bare = first.request(path, &[("x-tower-prompt-purpose", "bare")], body.to_string());
        first.send(bare).await;
        let seen = upstream.seen().await;
        assert_eq!((&*seen.body, seen.headers.contains_key("x-tower-prompt-purpose")), (body.to_string().as_bytes(), false));
        second.access().await;
    }
}
