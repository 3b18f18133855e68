//! An upstream, a proxy before it, and a client.

use crate::place::Place;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1 as client;
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tower_prompt::proxy::{Access, Proxy};
use tower_prompt::{Assembly, Environment, Workspace};

/// What reached the upstream.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) method: Method,
    /// With its query.
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// A server that answers all alike, and tells what it was asked.
pub(super) struct Upstream {
    pub(super) address: SocketAddr,
    seen: mpsc::UnboundedReceiver<Seen>,
}

impl Upstream {
    pub(super) async fn answering(answer: impl Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, answer) = (listener.local_addr().unwrap(), Arc::new(answer));
        let (told, seen) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (told, answer) = (told.clone(), answer.clone());
                let service = service_fn(move |request: Request<Incoming>| {
                    let (told, answer) = (told.clone(), answer.clone());
                    async move {
                        let (parts, body) = request.into_parts();
                        let Ok(body) = body.collect().await else { return Err("the request broke off") };
                        let seen =
                            Seen { method: parts.method, path: parts.uri.to_string(), headers: parts.headers, body: body.to_bytes() };
                        let answer = answer(&seen);
                        told.send(seen).map_err(|_| "the test is over")?;
                        Ok(answer)
                    }
                });
                tokio::spawn(server::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, seen }
    }
    /// That answers `{}`.
    pub(super) async fn new() -> Self {
        Self::answering(|_| json_answer("{}")).await
    }
    pub(super) async fn seen(&mut self) -> Seen {
        within(self.seen.recv()).await.unwrap()
    }
    pub(super) fn has_seen_nothing(&mut self) -> bool {
        self.seen.try_recv().is_err()
    }
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

pub(super) fn json_answer(body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    Response::builder().header("content-type", "application/json").body(Full::new(body.into())).unwrap()
}

/// A test that hangs fails.
pub(super) async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(30), future).await.expect("it takes no half minute")
}

/// A workspace with a skill, by a clock that stands still: two assemblies of it say the same.
pub(super) struct World {
    place: Place,
}

impl World {
    pub(super) fn new() -> Self {
        let place = Place::new();
        place.skill("frobnicate", "Frobnicates.", "Turn it.");
        Self { place }
    }
    pub(super) fn assembly(&self, config: &str) -> Assembly {
        let time = || -> SystemTime { UNIX_EPOCH + Duration::from_secs(1_782_909_015) };
        let environment = Environment::new(self.place.at("work")).home(self.place.at("home")).variable("TZ", "UTC").clock(time);
        let environment = environment.variable("BCODE_CONFIG_TOML", format!("system_prompt.sections.git_revision = false\n{config}"));
        Assembly::load(&environment, &Workspace::at(self.place.at("work"))).unwrap()
    }
    pub(super) async fn proxy(&self, config: &str, upstream: &str) -> Running {
        self.changed_proxy(config, upstream, |proxy| proxy).await
    }
    pub(super) async fn changed_proxy(&self, config: &str, upstream: &str, change: impl FnOnce(Proxy) -> Proxy) -> Running {
        let (told, log) = mpsc::unbounded_channel();
        let proxy = change(Proxy::new(&self.assembly(config), upstream.parse().unwrap()));
        let proxy = proxy.on_access(move |access| {
            // The test may be over.
            let _ = told.send(access.clone());
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(proxy.serve(listener, async {
            let _ = stopped.await;
        }));
        Running { address, log: Mutex::new(log), stop: Some(stop), task }
    }
}

pub(super) struct Running {
    pub(super) address: SocketAddr,
    log: Mutex<mpsc::UnboundedReceiver<Access>>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<std::io::Result<()>>,
}

/// An answer, whole.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }
}

impl Running {
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
    /// What it says of the next request that has ended.
    #[expect(clippy::await_holding_lock, reason = "one task alone waits")]
    pub(super) async fn access(&self) -> Access {
        within(self.log.lock().unwrap().recv()).await.unwrap()
    }
    /// Its answer's head, and the rest as it comes.
    pub(super) async fn begin(&self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = client::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        within(sender.send_request(request)).await.unwrap()
    }
    pub(super) async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        let (parts, body) = self.begin(request).await.into_parts();
        Answer { status: parts.status, headers: parts.headers, body: within(body.collect()).await.unwrap().to_bytes() }
    }
    pub(super) async fn post(&self, path: &str, body: impl Into<Bytes>) -> Answer {
        self.send(self.request(path, &[], body)).await
    }
    pub(super) async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).header("host", self.address.to_string()).body(Full::default()).unwrap()).await
    }
    pub(super) fn request(&self, path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Request<Full<Bytes>> {
        let request = Request::post(path).header("host", self.address.to_string()).header("content-type", "application/json");
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).body(Full::new(body.into())).unwrap()
    }
    /// These bytes on a connection of their own, and all that comes back until it is closed.
    pub(super) async fn raw(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes.as_ref()).await.unwrap();
        let mut answer = Vec::new();
        // Closed or reset, what came before counts.
        let _ = within(stream.read_to_end(&mut answer)).await;
        String::from_utf8_lossy(&answer).into_owned()
    }
    pub(super) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }
    pub(super) fn is_over(&self) -> bool {
        self.task.is_finished()
    }
    pub(super) async fn ended(self) {
        within(self.task).await.unwrap().unwrap();
    }
}

/// Nothing is caught here: for services that can't fail.
pub(super) type Never = Infallible;
