//! A stream over several rounds: it comes as the model speaks, and ends with the client.

use super::CONFIG;
use super::model::{Api, Part, Text, Way, skill};
use crate::proxy::world::{Never, World, within};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

struct Pieces(mpsc::UnboundedReceiver<Bytes>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Never;
    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Never>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// An upstream whose answers come by hand: each request is told with where its pieces go.
async fn by_hand(kind: &'static str) -> (String, mpsc::UnboundedReceiver<mpsc::UnboundedSender<Bytes>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (told, asked) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let told = told.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let told = told.clone();
                async move {
                    request.into_body().collect().await.unwrap();
                    let (piece, pieces) = mpsc::unbounded_channel();
                    told.send(piece).unwrap();
                    Ok::<_, Never>(Response::builder().header("content-type", kind).body(Pieces(pieces)).unwrap())
                }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    (url, asked)
}

/// The events of a round.
async fn events(way: Way, parts: &[Part], round: usize) -> (&'static str, Vec<Bytes>) {
    let (parts, body) = way.answer(parts, round).into_parts();
    let kind = if parts.headers["content-type"] == "text/event-stream" { "text/event-stream" } else { "application/x-ndjson" };
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    let end = if kind == "text/event-stream" { "\n\n" } else { "\n" };
    (kind, text.split_inclusive(end).map(|event| Bytes::from(event.to_owned())).collect())
}

#[tokio::test]
async fn text_comes_before_the_next_is_said_in_each_round_and_a_hang_up_ends_the_call() {
    for way in [Api::Chat, Api::Responses, Api::Anthropic, Api::Gemini, Api::Ollama].map(|api| Way(api, true)) {
        let world = World::new();
        let (kind, first) = events(way, &[Text("Before."), skill("c1", "frobnicate")], 0).await;
        let (url, mut asked) = by_hand(kind).await;
        let proxy = world.proxy(CONFIG, &url).await;
        let request = proxy.request(way.path(), &[], way.request(&[way.user("hi")]).to_string());
        let begun = tokio::spawn(async move { (proxy.begin(request).await, proxy) });
        let upstream = within(asked.recv()).await.unwrap();
        let (answer, proxy) = within(begun).await.unwrap();
        let mut body = answer.into_body();
        let seen = Arc::new(Mutex::new(String::new()));
        let mut until = async |text: &str| {
            while !seen.lock().unwrap().contains(text) {
                let piece = within(body.frame()).await.unwrap().unwrap().into_data().unwrap();
                seen.lock().unwrap().push_str(str::from_utf8(&piece).unwrap());
            }
        };
        let (text, rest): (Vec<Bytes>, Vec<Bytes>) = {
            let call = first.iter().position(|event| str::from_utf8(event).unwrap().contains("skill")).unwrap();
            (first[..call].to_vec(), first[call..].to_vec())
        };
        text.into_iter().for_each(|event| upstream.send(event).unwrap());
        // Each half of the text is an event of its own; the second comes while the upstream is silent.
        until(if way.0 == Api::Gemini { "Before." } else { "re." }).await;
        rest.into_iter().for_each(|event| upstream.send(event).unwrap());
        drop(upstream);
        let second = within(asked.recv()).await.unwrap();
        let (_, events) = events(way, &[Text("Behind.")], 1).await;
        let half = events.iter().position(|event| str::from_utf8(event).unwrap().contains("ind.")).unwrap();
        events[..=half].iter().for_each(|event| second.send(event.clone()).unwrap());
        until("ind.").await;
        assert!(!seen.lock().unwrap().contains("frobnicate"), "{way:?}: {seen:?}");
        drop(body);
        within(second.closed()).await;
        assert!(!proxy.access().await.is_whole);
    }
}

#[tokio::test]
async fn a_client_that_hangs_up_between_rounds_ends_the_call_too() {
    for streams in [true, false] {
        let way = Way(Api::Anthropic, streams);
        let world = World::new();
        let (parts, body) = way.answer(&[skill("c1", "frobnicate")], 0).into_parts();
        let kind = if parts.headers["content-type"] == "application/json" { "application/json" } else { "text/event-stream" };
        let (url, mut asked) = by_hand(kind).await;
        let proxy = world.proxy(CONFIG, &url).await;
        let request = proxy.request(way.path(), &[], way.request(&[way.user("hi")]).to_string());
        let call = tokio::spawn(async move {
            let answer = proxy.begin(request).await;
            // Until it is dropped.
            let _ = answer.into_body().collect().await;
        });
        let first = within(asked.recv()).await.unwrap();
        first.send(body.collect().await.unwrap().to_bytes()).unwrap();
        drop(first);
        let second = within(asked.recv()).await.unwrap();
        call.abort();
        within(second.closed()).await;
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_in_a_call_breaks_off_for_the_client_and_nobody_is_asked_again() {
    let way = Way(Api::Anthropic, true);
    let world = World::new();
    let (kind, events) = events(way, &[Text("Before."), skill("c1", "frobnicate")], 0).await;
    let (url, mut asked) = by_hand(kind).await;
    let proxy = world.proxy(CONFIG, &url).await;
    let request = proxy.request(way.path(), &[], way.request(&[way.user("hi")]).to_string());
    let call = tokio::spawn(async move { proxy.send(request).await });
    let upstream = within(asked.recv()).await.unwrap();
    let call_at = events.iter().position(|event| str::from_utf8(event).unwrap().contains("frobnicate")).unwrap_or(events.len() - 4);
    events[..call_at].iter().for_each(|event| upstream.send(event.clone()).unwrap());
    drop(upstream);
    let text = String::from_utf8(within(call).await.unwrap().body.to_vec()).unwrap();
    assert!(text.contains("Bef") && !text.contains("skill") && !text.contains("message_stop"), "{text}");
    assert!(asked.try_recv().is_err());
}
