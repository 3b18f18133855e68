//! What is shown and said of requests, and to whom.

use super::world::{Answer, Running, Upstream, World};
use http::Request;
use http_body_util::Full;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tower_prompt::proxy::Proxy;

fn body(text: &str) -> String {
    json!({"model": "m", "messages": [{"role": "user", "content": text}]}).to_string()
}

async fn last(proxy: &Running, query: &str, headers: &[(&str, &str)]) -> Answer {
    let request =
        headers.iter().fold(Request::get(format!("/__prompt/last{query}")), |request, (name, value)| request.header(*name, *value));
    proxy.send(request.body(Full::default()).unwrap()).await
}

#[tokio::test]
async fn the_last_request_is_shown_where_that_is_switched_on() {
    let (world, upstream) = (World::new(), Upstream::new().await);
    let here = [("host", "localhost:8484")];
    let off = world.proxy("", &upstream.url()).await;
    off.post("/v1/chat/completions", body("hi")).await;
    assert_eq!(last(&off, "", &here).await.status, 404);
    let proxy = world.proxy("proxy.show_last = true", &upstream.url()).await;
    assert_eq!(last(&proxy, "", &here).await.status, 404);
    for (session, text) in [("a b", "ONE <b>"), ("c", "OTHER")] {
        proxy.send(proxy.request("/v1/chat/completions", &[("x-session-id", session)], body(text))).await;
    }
    for (query, text, other) in [("", "OTHER", "ONE"), ("?session=a%20b", "ONE &lt;b&gt;", "OTHER"), ("?session=c", "OTHER", "ONE")] {
        let page = last(&proxy, query, &here).await;
        let html = String::from_utf8(page.body.to_vec()).unwrap();
        assert_eq!((page.status.as_u16(), &page.headers["content-type"]), (200, &"text/html; charset=utf-8".parse().unwrap()));
        assert!(html.contains(text) && !html.contains(other) && html.contains("Frobnicates."), "{query}");
        assert_eq!(page.headers["cache-control"], "no-store");
    }
    assert_eq!(last(&proxy, "?session=unknown", &here).await.status, 404);
}

#[tokio::test]
async fn the_last_request_is_shown_to_this_machine_alone() {
    let (world, upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("proxy.show_last = true", &upstream.url()).await;
    proxy.post("/v1/chat/completions", body("hi")).await;
    assert_eq!(last(&proxy, "", &[("host", "127.0.0.1")]).await.status, 200);
    // A web page whose name was resolved to this machine, and a server before this one.
    for headers in
        [&[("host", "rebound.example")][..], &[("host", "localhost"), ("x-forwarded-for", "10.0.0.1")], &[("host", "10.0.0.1")], &[]]
    {
        assert_eq!(last(&proxy, "", headers).await.status, 404, "{headers:?}");
    }
    // One that other machines can reach shows nothing to anyone.
    let open = Proxy::new(&world.assembly("proxy.show_last = true"), upstream.url().parse().unwrap());
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(open.serve(listener, std::future::pending()));
    for (request, status) in [
        (
            format!(
                "POST /api/chat HTTP/1.1\r\nhost: other.example\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{}",
                body("hi").len(),
                body("hi")
            ),
            "200",
        ),
        ("GET /__prompt/last HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n".to_owned(), "404"),
    ] {
        let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
}

#[tokio::test]
async fn the_log_holds_no_prompt_no_key_and_no_session() {
    let (world, upstream) = (World::new(), Upstream::new().await);
    let proxy = world.proxy("", &upstream.url()).await;
    let headers = [("authorization", "Bearer SECRET"), ("x-session-id", "SECRET"), ("cookie", "SECRET")];
    for (path, body) in [
        ("/v1/chat/completions?key=SECRET", body("SECRET")),
        ("/v1/chat/completions?key=SECRET", "{\"SECRET\":SECRET".to_owned()),
        ("/v1/other?key=SECRET", "SECRET".to_owned()),
    ] {
        proxy.send(proxy.request(path, &headers, body)).await;
        let access = proxy.access().await;
        let (said, whole) = (access.to_string(), format!("{access:?}"));
        assert!(!said.contains("SECRET") && !whole.contains("SECRET"), "{said} {whole}");
        let (path, _) = path.split_once('?').unwrap();
        assert!(said.starts_with(&format!("POST {path} 200 2 B ")), "{said}");
    }
    let metrics = proxy.get("/__prompt/metrics").await;
    assert!(!String::from_utf8_lossy(&metrics.body).contains("SECRET"));
}
