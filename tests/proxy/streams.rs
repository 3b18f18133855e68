//! Answers stream as they come, end where the client ends, and are read along without a change.

use super::world::{Never, World, within};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::json;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

/// Pieces of an answer, as the test gives them.
struct Pieces(mpsc::UnboundedReceiver<Option<&'static str>>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;
    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        self.0.poll_recv(cx).map(|piece| match piece {
            Some(Some(piece)) => Some(Ok(Frame::data(piece.into()))),
            // Broken off.
            Some(None) => Some(Err(std::io::ErrorKind::BrokenPipe.into())),
            None => None,
        })
    }
}

/// An upstream whose one answer comes by hand; it tells when that is dropped.
async fn by_hand() -> (String, mpsc::UnboundedSender<Option<&'static str>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (piece, pieces) = mpsc::unbounded_channel();
    let pieces = Arc::new(Mutex::new(Some(pieces)));
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let service = service_fn(move |request: Request<Incoming>| {
            let pieces = pieces.clone();
            async move {
                request.into_body().collect().await.unwrap();
                let body = Pieces(pieces.lock().unwrap().take().expect("it is asked once"));
                Ok::<_, Never>(Response::builder().header("content-type", "text/event-stream").body(body).unwrap())
            }
        });
        // How it ends is what the tests look at from the other side.
        let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    });
    (url, piece)
}

fn body() -> String {
    json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]}).to_string()
}

async fn next(body: &mut Incoming) -> Option<Bytes> {
    within(body.frame()).await.map(|frame| frame.unwrap().into_data().unwrap())
}

#[tokio::test]
async fn each_piece_comes_before_the_next_is_sent() {
    let (world, (url, piece)) = (World::new(), by_hand().await);
    let proxy = world.proxy("", &url).await;
    let (head, mut answer) = proxy.begin(proxy.request("/v1/chat/completions", &[], body())).await.into_parts();
    assert_eq!(head.headers["content-type"], "text/event-stream");
    let texts = ["data: {\"a\":", "1}\n\nda", "ta: [DONE]\n\n"];
    for text in texts {
        piece.send(Some(text)).unwrap();
        assert_eq!(next(&mut answer).await.unwrap(), text);
    }
    drop(piece);
    assert!(next(&mut answer).await.is_none());
    let access = proxy.access().await;
    assert_eq!((access.sent, access.is_whole), (texts.concat().len() as u64, true));
}

#[tokio::test]
async fn a_client_that_hangs_up_ends_the_upstreams_call() {
    let (world, (url, piece)) = (World::new(), by_hand().await);
    let proxy = world.proxy("", &url).await;
    let (_, mut answer) = proxy.begin(proxy.request("/v1/messages", &[], body())).await.into_parts();
    piece.send(Some("data: 1\n\n")).unwrap();
    assert!(next(&mut answer).await.is_some());
    drop(answer);
    within(piece.closed()).await;
    assert!(!proxy.access().await.is_whole);
}

#[tokio::test]
async fn a_client_that_hangs_up_before_the_answer_ends_the_call_too() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (asked, is_asked) = oneshot::channel();
    let upstream = tokio::spawn(async move {
        use tokio::io::AsyncReadExt;
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = vec![0; 1 << 16];
        assert!(stream.read(&mut buffer).await.unwrap() > 0);
        asked.send(()).unwrap();
        // Until it is closed.
        while stream.read(&mut buffer).await.is_ok_and(|bytes| bytes > 0) {}
    });
    let proxy = World::new().proxy("", &url).await;
    let request = proxy.request("/v1/chat/completions", &[], body());
    {
        let mut call = std::pin::pin!(proxy.begin(request));
        tokio::select! {
            _ = &mut call => panic!("nothing was answered"),
            asked = is_asked => asked.unwrap(),
        }
    }
    within(upstream).await.unwrap();
    assert_eq!(proxy.access().await.status, None);
}

#[tokio::test]
async fn an_answer_that_breaks_off_breaks_off_for_the_client() {
    let (world, (url, piece)) = (World::new(), by_hand().await);
    let proxy = world.proxy("", &url).await;
    let (_, mut answer) = proxy.begin(proxy.request("/api/chat", &[], body())).await.into_parts();
    piece.send(Some("data: 1\n\n")).unwrap();
    assert!(next(&mut answer).await.is_some());
    piece.send(None).unwrap();
    assert!(within(answer.frame()).await.unwrap().is_err());
    assert!(!proxy.access().await.is_whole);
}

#[tokio::test]
async fn a_shutdown_lets_running_streams_end_and_takes_nothing_new() {
    let (world, (url, piece)) = (World::new(), by_hand().await);
    let mut proxy = world.proxy("", &url).await;
    let (_, mut answer) = proxy.begin(proxy.request("/v1/chat/completions", &[], body())).await.into_parts();
    piece.send(Some("data: 1\n\n")).unwrap();
    assert!(next(&mut answer).await.is_some());
    proxy.stop();
    // The listener is closed, so a new connection is refused, sooner or later.
    within(async { while tokio::net::TcpStream::connect(proxy.address).await.is_ok() {} }).await;
    assert!(!proxy.is_over());
    piece.send(Some("data: 2\n\n")).unwrap();
    assert_eq!(next(&mut answer).await.unwrap(), "data: 2\n\n");
    drop(piece);
    assert!(next(&mut answer).await.is_none());
    proxy.ended().await;
}

#[tokio::test]
async fn an_upload_that_only_passes_streams_too() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (told, mut pieces) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let service = service_fn(move |request: Request<Incoming>| {
            let told = told.clone();
            async move {
                let mut body = request.into_body();
                while let Some(Ok(frame)) = body.frame().await {
                    told.send(frame.into_data().unwrap()).unwrap();
                }
                Ok::<_, Never>(Response::new(http_body_util::Empty::<Bytes>::new()))
            }
        });
        let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    });
    let proxy = World::new().proxy("proxy.max_body_bytes = 4", &url).await;
    let stream = tokio::net::TcpStream::connect(proxy.address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let (piece, body) = mpsc::unbounded_channel();
    let request = Request::post("/v1/files").header("host", "localhost").body(Pieces(body)).unwrap();
    let answer = tokio::spawn(async move { sender.send_request(request).await.unwrap().status() });
    for text in ["first piece", "second piece"] {
        piece.send(Some(text)).unwrap();
        assert_eq!(within(pieces.recv()).await.unwrap(), text);
    }
    drop(piece);
    assert_eq!(within(answer).await.unwrap(), 200);
}
