//! Limits hold, and are said in the form of the API.

use super::world::{Upstream, World, within};
use serde_json::json;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tower_prompt::proxy::Handling;

fn body(text: &str) -> String {
    json!({"model": "m", "messages": [{"role": "user", "content": text}]}).to_string()
}

/// An upstream that takes requests and answers none.
async fn silent() -> (String, tokio::sync::mpsc::UnboundedReceiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (told, asked) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let told = told.clone();
            tokio::spawn(async move {
                let mut buffer = vec![0; 1 << 16];
                while stream.read(&mut buffer).await.is_ok_and(|bytes| bytes > 0) {
                    // The test may be over.
                    let _ = told.send(());
                }
            });
        }
    });
    (url, asked)
}

#[tokio::test]
async fn a_conversation_that_is_too_large_is_refused() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("proxy.max_body_bytes = 200", &upstream.url()).await;
    let (large, small) = (body(&"x".repeat(200)), body("x"));
    for (path, kind) in [("/v1/chat/completions", "invalid_request_error"), ("/v1/messages", "request_too_large")] {
        let answer = proxy.post(path, large.clone()).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["error"]["type"]), (413, &json!(kind)));
    }
    // In chunks its length is not known ahead.
    let chunks = format!(
        "POST /api/chat HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{large}\r\n0\r\n\r\n",
        large.len()
    );
    let answer = proxy.raw(chunks.replace("host: localhost", "host: localhost\r\nconnection: close")).await;
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("{\"error\":\"tower-prompt: the request's body"), "{answer}");
    assert!(upstream.has_seen_nothing());
    assert_eq!(proxy.post("/v1/chat/completions", small).await.status, 200);
    // What is not held is not bounded.
    assert_eq!(proxy.post("/v1/files", large.clone()).await.status, 200);
    upstream.seen().await;
    assert_eq!(upstream.seen().await.body, large);
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let proxy = world.changed_proxy("", &upstream.url(), |proxy| proxy.limits(|limits| limits.header_bytes = 8192)).await;
    let fits = format!("GET /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx: {}\r\n\r\n", "x".repeat(4000));
    assert!(proxy.raw(fits).await.starts_with("HTTP/1.1 200"));
    upstream.seen().await;
    let large = format!("GET /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx: {}\r\n\r\n", "x".repeat(9000));
    let answer = proxy.raw(large).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    let many = format!("GET /v1/models HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "x: y\r\n".repeat(500));
    let answer = proxy.raw(many).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    assert!(upstream.has_seen_nothing());
}

#[tokio::test]
async fn beyond_so_many_at_once_requests_are_refused_until_one_ends() {
    let (world, (url, mut asked)) = (World::new(), silent().await);
    let proxy = world.proxy("proxy.max_concurrent_requests = 1", &url).await;
    {
        let mut first = std::pin::pin!(proxy.post("/v1/chat/completions", body("hi")));
        tokio::select! {
            _ = &mut first => panic!("nothing was answered"),
            asked = asked.recv() => asked.unwrap(),
        }
        for (path, kind) in [("/v1/chat/completions", "server_error"), ("/v1/messages", "overloaded_error")] {
            let answer = proxy.post(path, body("hi")).await;
            assert_eq!((answer.status.as_u16(), &answer.json()["error"]["type"]), (503, &json!(kind)));
            assert_eq!(answer.headers["retry-after"], "1");
            assert_eq!(proxy.access().await.handling, Handling::Refused("too_many_requests_at_once"));
        }
        // Who looks whether it lives counts for nothing.
        assert_eq!((&*proxy.get("/healthz").await.body, proxy.get("/__prompt/metrics").await.status.as_u16()), (&b"ok\n"[..], 200));
    }
    // It hung up.
    assert_eq!(proxy.access().await.status, None);
    let mut second = std::pin::pin!(proxy.post("/v1/chat/completions", body("hi")));
    tokio::select! {
        answer = &mut second => panic!("{answer:?}"),
        asked = within(asked.recv()) => asked.unwrap(),
    }
}

#[tokio::test]
async fn an_upstream_that_is_late_is_not_waited_for() {
    let (world, (url, _asked)) = (World::new(), silent().await);
    let soon = |proxy: tower_prompt::proxy::Proxy| proxy.limits(|limits| limits.answer_time = Duration::from_millis(30));
    let proxy = world.changed_proxy("", &url, soon).await;
    for (path, kind) in [("/v1/messages", "timeout_error"), ("/v1/other", "server_error")] {
        let answer = proxy.post(path, body("hi")).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["error"]["type"]), (504, &json!(kind)));
    }
}

#[tokio::test]
async fn a_client_that_is_slow_is_not_waited_for() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let soon = |proxy: tower_prompt::proxy::Proxy| {
        proxy.limits(|limits| (limits.body_pause, limits.header_time) = (Duration::from_millis(30), Duration::from_millis(30)))
    };
    let proxy = world.changed_proxy("", &upstream.url(), soon).await;
    let answer = proxy.raw("POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{\"mess").await;
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("body_timeout"), "{answer}");
    // A head that doesn't come closes the connection, with or without a word.
    let answer = proxy.raw("POST /v1/chat/comp").await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(upstream.has_seen_nothing());
}

#[tokio::test]
async fn a_large_conversation_is_assembled_like_a_small_one_while_others_are_served() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("", &upstream.url()).await;
    let text = "Look at this. ".repeat(100_000);
    let (large, small) = tokio::join!(proxy.post("/api/chat", body(&text)), proxy.post("/api/chat", body("hi")));
    assert_eq!((large.status.as_u16(), small.status.as_u16()), (200, 200));
    let (one, two) = (upstream.seen().await.body, upstream.seen().await.body);
    let (small, large) = if one.len() < two.len() { (one, two) } else { (two, one) };
    let read = |body: &[u8]| serde_json::from_slice::<serde_json::Value>(body).unwrap();
    let (small, large) = (read(&small).to_string(), read(&large).to_string());
    assert_eq!(small.replace("\"content\":\"hi", "\"content\":\""), large.replace(&text, ""));
    assert!(small.contains("<context"));
}
