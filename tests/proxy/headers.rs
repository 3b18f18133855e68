//! Headers: kept, dropped, and never taken for something else.

use super::world::{Upstream, World, json_answer};
use http::Response;
use http_body_util::Full;
use serde_json::json;
use tower_prompt::proxy::Handling;

fn body() -> String {
    json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).to_string()
}

#[tokio::test]
async fn a_requests_headers_reach_the_upstream_and_those_of_the_connection_do_not() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("", &upstream.url()).await;
    let headers = [
        ("authorization", "Bearer secret"),
        ("anthropic-version", "2023-06-01"),
        ("user-agent", "me/1"),
        ("accept-encoding", "gzip, br"),
        ("x-session-id", "a"),
        ("connection", "x-hop"),
        ("x-hop", "1"),
        ("proxy-authorization", "Basic x"),
        ("te", "trailers"),
        ("upgrade", "h2c"),
        ("x-tower-prompt-purpose", "converse"),
        ("x-tower-prompt-compacted", "true"),
        ("expect", "100-continue"),
    ];
    for path in ["/v1/messages", "/v1/models/x"] {
        proxy.send(proxy.request(path, &headers, body())).await;
        let seen = upstream.seen().await;
        for (name, value) in &headers[..5] {
            assert_eq!(seen.headers[*name], *value, "{path}");
        }
        for (name, _) in &headers[5..] {
            assert!(!seen.headers.contains_key(*name), "{path} {name}");
        }
        assert_eq!(seen.headers["host"], upstream.address.to_string());
        assert_eq!(seen.headers["content-length"], seen.body.len().to_string());
        for invented in ["forwarded", "x-forwarded-for", "x-forwarded-host", "via", "transfer-encoding"] {
            assert!(!seen.headers.contains_key(invented), "{path} {invented}");
        }
    }
}

#[tokio::test]
async fn an_answer_comes_as_it_is() {
    let world = World::new();
    let upstream = Upstream::answering(|seen| {
        let answer = Response::builder().header("x-request-id", "7").header("set-cookie", "a=1").header("set-cookie", "b=2");
        let answer = answer.header("connection", "x-hop").header("x-hop", "1").header("keep-alive", "timeout=5");
        match &*seen.path {
            "/limited" => answer.status(429).header("retry-after", "3").header("content-type", "text/html"),
            _ => answer.header("content-encoding", "gzip"),
        }
        .body(Full::from("\x1f not gzip <html>"))
        .unwrap()
    })
    .await;
    let proxy = world.proxy("", &upstream.url()).await;
    for (path, status) in [("/v1/chat/completions", 200), ("/limited", 429)] {
        let answer = proxy.post(path, body()).await;
        assert_eq!((answer.status.as_u16(), &*answer.body), (status, &b"\x1f not gzip <html>"[..]));
        assert_eq!(answer.headers["x-request-id"], "7");
        assert_eq!(answer.headers.get_all("set-cookie").iter().count(), 2);
        assert!(!answer.headers.contains_key("x-hop") && !answer.headers.contains_key("keep-alive"));
        if status == 429 {
            assert_eq!(
                (&answer.headers["retry-after"], &answer.headers["content-type"]),
                (&"3".parse().unwrap(), &"text/html".parse().unwrap())
            );
        }
    }
}

#[tokio::test]
async fn an_answer_to_head_keeps_its_length() {
    let (world, upstream) = (World::new(), Upstream::answering(|_| json_answer("{\"seven\":7}")).await);
    let proxy = world.proxy("", &upstream.url()).await;
    let answer = proxy.raw("HEAD /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await;
    assert!(answer.contains("content-length: 11\r\n") && answer.ends_with("\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn one_request_is_never_read_as_two() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("", &upstream.url()).await;
    let hidden = "GET /hidden HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let chunked = format!("0\r\n\r\n{hidden}");
    for head in [
        // Of two lengths one is false.
        format!("content-length: 0\r\ncontent-length: {}", hidden.len()),
        "content-length: +5".to_owned(),
        "content-length: 5, 6".to_owned(),
        "transfer-encoding: chunked, identity".to_owned(),
        "transfer-encoding: xchunked".to_owned(),
        "transfer-encoding : chunked".to_owned(),
        "x: a\0b".to_owned(),
    ] {
        let answer = proxy.raw(format!("POST /v1/other HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{head}\r\n\r\n{chunked}")).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{head}: {answer}");
        assert!(upstream.has_seen_nothing(), "{head}");
    }
    // Chunks count where a length stands beside them, and the upstream is told one of the two.
    let both = format!(
        "POST /v1/other HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n{chunked}"
    );
    let answer = proxy.raw(both).await;
    if answer.starts_with("HTTP/1.1 200") {
        let seen = upstream.seen().await;
        assert!(seen.body.is_empty() && seen.headers.contains_key("content-length") != seen.headers.contains_key("transfer-encoding"));
    }
    assert!(upstream.has_seen_nothing(), "{answer}");
}

#[tokio::test]
async fn it_is_a_proxy_for_no_other_host() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("", &upstream.url()).await;
    for request in [
        "GET http://elsewhere.example/v1/models HTTP/1.1\r\nhost: elsewhere.example",
        "GET http://localhost/v1/models HTTP/1.1\r\nhost: localhost",
        "GET /v1/models HTTP/1.1\r\nhost: rebound.example",
        "GET /v1/models HTTP/1.1\r\nhost: localhost\r\nhost: elsewhere.example",
    ] {
        let answer = proxy.raw(format!("{request}\r\nconnection: close\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 421") || answer.starts_with("HTTP/1.1 400"), "{request}: {answer}");
    }
    let answer = proxy.raw("CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: elsewhere.example:443\r\nconnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    assert!(upstream.has_seen_nothing());
}

#[tokio::test]
async fn a_body_that_is_signed_is_left_alone() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("", &upstream.url()).await;
    for header in [("content-digest", "sha-256=:x:"), ("authorization", "AWS4-HMAC-SHA256 Credential=x"), ("content-md5", "x")] {
        proxy.send(proxy.request("/v1/messages", &[header], body())).await;
        assert_eq!(upstream.seen().await.body, body());
        assert_eq!(proxy.access().await.handling, Handling::Untouched("its headers sign the body".into()));
    }
}
