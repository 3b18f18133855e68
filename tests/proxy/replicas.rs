//! Processes of `tower-prompt serve` behind one store: they carry a conversation together, and are killed in the midst of it.

use super::program::{Server, address, serve};
use super::world::{Never, within};
use crate::place::Place;
use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http1 as client;
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Read;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

/// A request that reached the upstream, and whose answer has begun. It ends when this is dropped.
struct Seen {
    turn: u32,
    body: String,
    _end: oneshot::Sender<()>,
}

/// An upstream whose answers begin at once, and end when the test says so.
async fn upstream() -> (String, mpsc::UnboundedReceiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (told, seen) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let told = told.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let told = told.clone();
                async move {
                    let (parts, body) = request.into_parts();
                    // Of one who was killed while he sent it.
                    let Ok(body) = body.collect().await else { return Err("the request broke off") };
                    let (end, ended) = oneshot::channel();
                    let body = String::from_utf8(body.to_bytes().to_vec()).unwrap();
                    let turn = parts.headers["x-turn"].to_str().unwrap().parse().unwrap();
                    told.send(Seen { turn, body, _end: end }).map_err(|_| "the test is over")?;
                    let begin = stream::iter([Ok::<_, Never>(piece("data: {\"choices\":[]}\n\n"))]);
                    let rest = stream::once(async {
                        let _ = ended.await;
                        Ok(piece("data: [DONE]\n\n"))
                    });
                    let answer = StreamBody::new(stream::StreamExt::chain(begin, rest));
                    Ok(Response::builder().header("content-type", "text/event-stream").body(BodyExt::boxed_unsync(answer)).unwrap())
                }
            });
            tokio::spawn(server::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    (url, seen)
}

fn piece(text: &'static str) -> Frame<Bytes> {
    Frame::data(Bytes::from_static(text.as_bytes()))
}

/// One that runs.
struct Replica {
    server: Server,
    address: String,
}

/// Their workspace, their upstream, their store.
struct World {
    place: Place,
    upstream: String,
    seen: mpsc::UnboundedReceiver<Seen>,
    store: String,
    /// What reached the upstream in each turn.
    sent: BTreeMap<u32, Vec<String>>,
}

impl World {
    async fn new(store: impl FnOnce(&Place) -> String) -> Self {
        let place = Place::new();
        place.skill("frobnicate", "Frobnicates.", "Turn it.");
        let (upstream, seen) = upstream().await;
        let store = store(&place);
        Self { place, upstream, seen, store, sent: BTreeMap::new() }
    }
    /// What it says of a turn is what no other says: the time of another zone.
    async fn replica(&self, zone: &str) -> Replica {
        let arguments = ["--upstream", &self.upstream, "--listen", "127.0.0.1:0", "--store", &self.store, "--quiet"];
        let (server, line, mut talk) = Server::listening(serve(&self.place, &arguments).env("TZ", zone)).await;
        // Nobody reads what it says; it must not wait for that.
        std::thread::spawn(move || talk.read_to_end(&mut Vec::new()));
        Replica { server, address: address(&line) }
    }
    fn keep(&mut self, seen: Seen) {
        self.sent.entry(seen.turn).or_default().push(seen.body);
    }
    /// What this turn sends, and keeps what one that was killed sent before.
    async fn next(&mut self, turn: u32) -> Seen {
        loop {
            let seen = within(self.seen.recv()).await.unwrap();
            if seen.turn == turn {
                return seen;
            }
            self.keep(seen);
        }
    }
    /// Whatever was sent, by whomever: within a turn the same, and each turn is what the one before was and more.
    fn only_grew(&mut self) {
        while let Ok(seen) = self.seen.try_recv() {
            self.keep(seen);
        }
        let mut before: Option<&str> = None;
        for (turn, bodies) in &self.sent {
            assert!(bodies.iter().all(|body| *body == bodies[0]), "turn {turn}: {bodies:#?}");
            if let Some(before) = before {
                // All messages; what closes the list is behind them.
                let messages = &before[..before.rfind(']').unwrap()];
                assert!(bodies[0].starts_with(messages) && bodies[0].len() > before.len(), "turn {turn}: {before}\n{}", bodies[0]);
            }
            before = Some(&bodies[0]);
        }
        let last = before.unwrap();
        assert!(last.contains("<available_skills>") && last.contains("<context"), "{last}");
    }
}

const ZONES: [&str; 2] = ["UTC", "Asia/Tokyo"];

/// The whole answer.
async fn post(address: String, turn: u32, history: &[Value]) -> Result<String, Box<dyn Error + Send + Sync>> {
    let mut answer = begin(address, turn, history).await?;
    let mut whole = Vec::new();
    while let Some(frame) = answer.frame().await {
        whole.extend_from_slice(frame?.data_ref().ok_or("trailers")?);
    }
    Ok(String::from_utf8(whole)?)
}

/// The answer from its first piece on.
async fn begin(address: String, turn: u32, history: &[Value]) -> Result<Incoming, Box<dyn Error + Send + Sync>> {
    let body = json!({"model": "m", "stream": true, "messages": history}).to_string();
    let request = Request::post("/v1/chat/completions").header("host", &address).header("x-session-id", "s");
    let request = request.header("authorization", "Bearer k").header("x-turn", turn).body(Full::new(Bytes::from(body)))?;
    let (mut sender, connection) = client::handshake(TokioIo::new(TcpStream::connect(address).await?)).await?;
    tokio::spawn(connection);
    Ok(sender.send_request(request).await?.into_body())
}

/// What is said next: mostly the user speaks, each third time a tool has answered.
fn go_on(history: &mut Vec<Value>, turn: u32) {
    if turn == 0 {
        history.push(json!({"role": "user", "content": "u0"}));
    } else if turn.is_multiple_of(3) {
        let call = json!({"id": format!("c{turn}"), "type": "function", "function": {"name": "f", "arguments": "{}"}});
        history.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        history.push(json!({"role": "tool", "tool_call_id": format!("c{turn}"), "content": "done"}));
    } else {
        history.push(json!({"role": "assistant", "content": format!("a{turn}")}));
        history.push(json!({"role": "user", "content": format!("u{turn}")}));
    }
}

/// When one is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// So long after the request was sent, wherever it is by then.
    After(Duration),
    /// The upstream has it.
    Sent,
    /// The client has the beginning of the answer.
    Answered,
}

/// One is killed in each turn, and the request sent anew to the other, or where there is none, to the one that is started in its place.
async fn killed_in_each_turn(world: &mut World, replicas: usize) {
    let mut running = Vec::new();
    for zone in &ZONES[..replicas] {
        running.push(world.replica(zone).await);
    }
    let whiles = (0..16).map(|n| Moment::After(Duration::from_millis(3 * n)));
    let moments: Vec<Moment> = whiles.chain([Moment::Sent, Moment::Answered, Moment::Sent, Moment::Answered]).collect();
    let mut history = Vec::new();
    for (turn, moment) in (0..).zip(moments) {
        go_on(&mut history, turn);
        let victim = turn as usize % replicas;
        let asked = running[victim].address.clone();
        let told = history.clone();
        let mut request = tokio::spawn(async move { begin(asked, turn, &told).await });
        // An answer that has begun is held until its sender is dead.
        let (mut seen, mut answer) = (None, None);
        match moment {
            Moment::After(time) => answer = tokio::time::timeout(time, &mut request).await.ok(),
            Moment::Sent => seen = Some(world.next(turn).await),
            Moment::Answered => {
                seen = Some(world.next(turn).await);
                let mut begun = within(&mut request).await.unwrap().unwrap();
                assert!(within(begun.frame()).await.unwrap().unwrap().is_data());
                answer = Some(Ok(Ok(begun)));
            }
        }
        running[victim].server.0.kill().unwrap();
        running[victim].server.0.wait().unwrap();
        request.abort();
        drop(answer);
        seen.into_iter().for_each(|seen| world.keep(seen));
        if replicas == 1 {
            running[victim] = world.replica(ZONES[turn as usize % 2]).await;
        }
        let other = running[(victim + 1) % replicas].address.clone();
        let told = history.clone();
        let again = tokio::spawn(async move { post(other, turn, &told).await });
        // What the one that is dead had sent may be among it.
        let whole = async {
            let again = async { again.await.unwrap().unwrap() };
            tokio::pin!(again);
            loop {
                tokio::select! {
                    whole = &mut again => break whole,
                    seen = world.seen.recv() => world.keep(seen.unwrap()),
                }
            }
        };
        assert!(within(whole).await.ends_with("data: [DONE]\n\n"), "{moment:?}");
        if replicas > 1 {
            running[victim] = world.replica(ZONES[victim]).await;
        }
    }
    world.only_grew();
    assert_eq!(world.sent.len(), 20);
}

/// Each request is sent to both at once, as by a client that hedges.
async fn asked_at_once(world: &mut World) {
    let replicas = [world.replica(ZONES[0]).await, world.replica(ZONES[1]).await];
    let mut history = Vec::new();
    for turn in 0..6 {
        go_on(&mut history, turn);
        let asked = [0, 1, 0, 1].map(|n: usize| {
            let (address, told) = (replicas[n].address.clone(), history.clone());
            tokio::spawn(async move { post(address, turn, &told).await.unwrap() })
        });
        for _ in &asked {
            let seen = world.next(turn).await;
            world.keep(seen);
        }
        for asked in asked {
            assert!(within(asked).await.unwrap().ends_with("data: [DONE]\n\n"));
        }
    }
    world.only_grew();
}

#[cfg(feature = "store-sqlite")]
mod sqlite {
    use super::*;

    async fn world() -> World {
        World::new(|place| format!("sqlite:{}", place.at("home/sessions.db").display())).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn one_that_is_killed_in_each_turn_loses_nothing() {
        killed_in_each_turn(&mut world().await, 1).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn two_of_which_one_is_killed_in_each_turn_lose_nothing() {
        killed_in_each_turn(&mut world().await, 2).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn two_that_are_asked_at_once_send_the_same() {
        asked_at_once(&mut world().await).await;
    }
}

#[cfg(feature = "store-postgres")]
mod postgres {
    use super::*;
    use crate::postgres_place::PostgresPlace;

    #[tokio::test(flavor = "multi_thread")]
    async fn two_of_which_one_is_killed_in_each_turn_lose_nothing() {
        let Some(server) = PostgresPlace::new().await else { return };
        killed_in_each_turn(&mut World::new(|_| server.url.clone()).await, 2).await;
        server.end().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn two_that_are_asked_at_once_send_the_same() {
        let Some(server) = PostgresPlace::new().await else { return };
        asked_at_once(&mut World::new(|_| server.url.clone()).await).await;
        server.end().await;
    }
}
