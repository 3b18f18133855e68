//! What can't be read reaches the API byte for byte, and what the upstream does wrong is said in the form of the API.

use super::world::{Upstream, World, json_answer};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use std::io::Write;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tower_prompt::layers::Context;
use tower_prompt::layers::wire::Format;
use tower_prompt::proxy::Handling;

const MESSAGES: &str = r#""messages":[{"role":"user","content":"hi"}]"#;

#[tokio::test]
async fn what_cannot_be_read_passes_byte_for_byte() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("", &upstream.url()).await;
    let deep = format!("{{{MESSAGES},\"x\":{}{}}}", "[".repeat(2000), "]".repeat(2000));
    let bodies: Vec<Vec<u8>> = vec![
        b"".into(),
        b"not json".into(),
        b"\xff\xfe{}".into(),
        format!("\u{feff}{{{MESSAGES}}}").into(),
        format!("{{{MESSAGES}").into(),
        format!("{{{MESSAGES},{MESSAGES}}}").into(),
        format!("{{{MESSAGES},\"x\":{{\"a\":1,\"\\u0061\":2}}}}").into(),
        format!("{{{MESSAGES},\"x\":\"\\ud800\"}}").into(),
        format!("{{{MESSAGES},\"x\":1e400}}").into(),
        format!("{{{MESSAGES},\"x\":[0.1,0.10000000000000000001]}}").into(),
        deep.into(),
        b"[]".into(),
        b"null".into(),
        b"{}".into(),
        br#"{"messages":{"0":1}}"#.into(),
        br#"{"messages":["hi"]}"#.into(),
        br#"{"model":"m","prompt":"hi"}"#.into(),
    ];
    for body in bodies {
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        assert_eq!(proxy.post("/v1/chat/completions", body.clone()).await.status, 200, "{shown}");
        assert_eq!(upstream.seen().await.body, body, "{shown}");
        assert!(matches!(proxy.access().await.handling, Handling::Untouched(_)), "{shown}");
    }
}

#[tokio::test]
async fn numbers_reach_the_upstream_as_they_were_written() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("", &upstream.url()).await;
    let numbers = "\"seed\":123456789012345678901234567890,\"temperature\":1.0,\"top_p\":1e-05,\"n\":-0";
    proxy.post("/v1/chat/completions", format!("{{{numbers},{MESSAGES}}}")).await;
    let seen = String::from_utf8(upstream.seen().await.body.to_vec()).unwrap();
    assert!(seen.starts_with(&format!("{{{numbers},")) && seen.contains("Frobnicates."), "{seen}");
}

/// Arbitrary bodies: what arrives is what the stack made, or what was sent.
#[test]
fn any_body_arrives_assembled_or_untouched() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let world = World::new();
    let field = prop_oneof![
        Just(MESSAGES.to_owned()),
        Just(r#""messages":[]"#.to_owned()),
        r#""[a-c]":("\\u[d0-9][89c0][0-9]{2}"|-?[0-9]{1,25}(\.[0-9]{1,3})?(e[-+]?[0-9]{1,3})?|null|\{"a":1\})"#,
    ];
    let body = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        proptest::collection::vec(field, 0..5).prop_map(|fields| format!("{{{}}}", fields.join(" , ")).into_bytes()),
    ];
    let stack = world.assembly("").stack(Format::OpenAiChat);
    TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() })
        .run(&body, |body| {
            let (seen, handling) = runtime.block_on(async {
                // A conversation that the proxy knows already would be told less.
                let mut upstream = Upstream::new().await;
                let proxy = world.proxy("", &upstream.url()).await;
                let answer = proxy.post("/v1/chat/completions", body.clone()).await;
                assert_eq!(answer.status, 200);
                (upstream.seen().await.body, proxy.access().await.handling)
            });
            if handling == Handling::Assembled {
                let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
                let expected = runtime.block_on(stack.assemble(value, Context::default()));
                let seen: serde_json::Value = serde_json::from_slice(&seen).unwrap();
                prop_assert_eq!(seen, expected);
            } else {
                prop_assert_eq!(seen, body);
            }
            Ok(())
        })
        .unwrap();
}

type Compress = fn(&[u8]) -> Vec<u8>;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}
fn zlib(text: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}
/// One frame with one raw block (RFC 8878).
fn zstd(text: &[u8]) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap();
    let block = (u32::from(length) << 3 | 1).to_le_bytes();
    [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, length], &block[..3], text].concat()
}
/// One uncompressed meta-block, and an empty last one (RFC 7932).
fn brotli(text: &[u8]) -> Vec<u8> {
    let head = ((u32::try_from(text.len()).unwrap() - 1) << 4 | 1 << 20).to_le_bytes();
    [&head[..3], text, &[3]].concat()
}

#[tokio::test]
async fn compressed_bodies_are_assembled_and_sent_plain_or_left_as_they_are() {
    let (world, mut upstream) = (World::new(), Upstream::new().await);
    let body = format!("{{{MESSAGES}}}");
    let expected = world.assembly("").stack(Format::OpenAiChat).assemble(serde_json::from_str(&body).unwrap(), Context::default()).await;
    let codings: [(&str, Compress); 5] = [("gzip", gzip), ("deflate", zlib), ("zstd", zstd), ("br", brotli), ("identity", <[u8]>::to_vec)];
    for (coding, compress) in codings {
        let proxy = world.proxy("", &upstream.url()).await;
        proxy.send(proxy.request("/v1/chat/completions", &[("content-encoding", coding)], compress(body.as_bytes()))).await;
        let seen = upstream.seen().await;
        assert_eq!(seen.body, expected.to_string(), "{coding}");
        assert!(!seen.headers.contains_key("content-encoding"));
        // What is no conversation keeps its compression.
        let other = compress(b"{\"other\":1}");
        proxy.send(proxy.request("/v1/chat/completions", &[("content-encoding", coding)], other.clone())).await;
        let seen = upstream.seen().await;
        assert_eq!((&seen.headers["content-encoding"], &*seen.body), (&coding.parse().unwrap(), &*other));
    }
    let proxy = world.proxy("", &upstream.url()).await;
    for (coding, bytes) in [("gzip", body.clone().into_bytes()), ("gzip, br", gzip(body.as_bytes())), ("other", gzip(body.as_bytes()))] {
        proxy.send(proxy.request("/v1/chat/completions", &[("content-encoding", coding)], bytes.clone())).await;
        assert_eq!(upstream.seen().await.body, bytes, "{coding}");
    }
    let bomb = gzip(&vec![b' '; 1 << 20]);
    let small = world.proxy("proxy.max_body_bytes = 65536", &upstream.url()).await;
    let answer = small.send(small.request("/v1/messages", &[("content-encoding", "gzip")], bomb)).await;
    assert_eq!((answer.status.as_u16(), &answer.json()["error"]["type"]), (413, &json!("request_too_large")));
}

#[tokio::test]
async fn an_upstream_that_is_not_there_is_said_in_each_form() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let proxy = World::new().proxy("", &gone).await;
    for (path, pointer, value) in [
        ("/v1/chat/completions", "/error/code", json!("upstream_unreachable")),
        ("/v1/models", "/error/type", json!("server_error")),
        ("/v1/messages", "/error/type", json!("api_error")),
        ("/v1beta/models/m:generateContent", "/error/status", json!("UNAVAILABLE")),
        ("/api/chat", "/error", json!("tower-prompt: the upstream can't be reached")),
    ] {
        let answer = proxy.post(path, format!("{{{MESSAGES}}}")).await;
        assert_eq!((answer.status.as_u16(), answer.json().pointer(pointer)), (502, Some(&value)), "{path}");
        assert_eq!(proxy.access().await.handling, Handling::Refused("upstream_unreachable"));
    }
}

#[tokio::test]
async fn an_upstream_that_closes_early_is_said_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        for answer in ["", "HTTP/1.1 200 O", "this is no HTTP\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"] {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buffer = vec![0; 1 << 16];
            assert!(stream.read(&mut buffer).await.unwrap() > 0);
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    let proxy = World::new().proxy("", &url).await;
    for _ in 0..3 {
        assert_eq!(proxy.post("/v1/chat/completions", format!("{{{MESSAGES}}}")).await.status, 502);
    }
    let half = proxy.raw("POST /v1/other HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}").await;
    assert!(half.contains("content-length: 9\r\n") && half.ends_with("half"), "{half}");
}

#[tokio::test]
async fn a_request_that_is_cut_off_reaches_nobody() {
    let (world, mut upstream) = (World::new(), Upstream::answering(|_| json_answer("{}")).await);
    let proxy = world.proxy("", &upstream.url()).await;
    let mut stream = tokio::net::TcpStream::connect(proxy.address).await.unwrap();
    let head = format!("POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 999\r\n\r\n{{{MESSAGES}");
    stream.write_all(head.as_bytes()).await.unwrap();
    drop(stream);
    assert!(proxy.access().await.status.is_none_or(|status| status == 400));
    assert!(upstream.has_seen_nothing());
}
