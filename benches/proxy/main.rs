//! What the proxy adds to a request over a plain reverse proxy of the same stack (axum, hyper on both sides), in one process with the upstream and the
//! clients. `cargo bench --features proxy --bench proxy` prints `NAME RATIO` lines:
//!
//! * `1/p50`, `1/p99`, `64/p50`, `64/p99`: the time of a request over that of the plain proxy, at so many connections;
//! * `1/requests`, `64/requests`: requests a second over those of the plain proxy;
//! * `memory/conversations`: what the process has grown by, over the bytes of all conversations as their last requests hold them, after 100,000 requests in
//!   1,000 named sessions. `-- 10000` makes that so many requests.
//!
//! A session is ten messages of the user's long, each answered; each request brings the whole conversation, as clients do. The plain proxy copies bytes; ours
//! reads, assembles and writes them. There are 100 skills, and no repository and no programs to ask, which a session would ask once.

mod servers;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Requests of a session.
const TURNS: usize = 10;
/// Sessions a connection goes through in one measurement, and how often both are measured in turns.
const SESSIONS: usize = 20;
const ROUNDS: usize = 9;

fn main() {
    let requests = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(100_000);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads are to be had");
    runtime.block_on(async {
        let upstream = servers::upstream().await;
        let (plain, ours) = (servers::plain(upstream).await, servers::ours(upstream).await);
        for connections in [1, 64] {
            compare(connections, plain, ours).await;
        }
        memory(ours, requests).await;
    });
}

/// The best of each over several rounds, since what else the machine does only adds.
async fn compare(connections: usize, plain: SocketAddr, ours: SocketAddr) {
    let sessions = (SESSIONS * 4 / connections).max(2);
    let mut best: [Option<Measured>; 2] = [None, None];
    for round in 0..ROUNDS {
        for (address, best) in [plain, ours].into_iter().zip(&mut best) {
            let measured = measure(address, connections, sessions, round).await;
            *best = Some(best.take().map_or(measured, |best| best.better(measured)));
        }
    }
    let [Some(plain), Some(ours)] = best else { return };
    eprintln!(
        "{connections} connections: p50 {:.1?}, p99 {:.1?}; of the plain proxy {:.1?}, {:.1?}",
        ours.p50, ours.p99, plain.p50, plain.p99
    );
    println!("{connections}/p50 {:.2}", ratio(ours.p50, plain.p50));
    println!("{connections}/p99 {:.2}", ratio(ours.p99, plain.p99));
    println!("{connections}/requests {:.2}", ratio(plain.per_request, ours.per_request));
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

#[derive(Clone, Copy)]
struct Measured {
    p50: Duration,
    p99: Duration,
    /// By the clock on the wall, over all connections.
    per_request: Duration,
}

impl Measured {
    fn better(self, other: Self) -> Self {
        Self { p50: self.p50.min(other.p50), p99: self.p99.min(other.p99), per_request: self.per_request.min(other.per_request) }
    }
}

async fn measure(address: SocketAddr, connections: usize, sessions: usize, round: usize) -> Measured {
    let mut running = JoinSet::new();
    let begun = Instant::now();
    for connection in 0..connections {
        running.spawn(async move {
            let mut client = connect(address).await;
            let mut took = Vec::with_capacity(sessions * TURNS);
            for session in 0..sessions {
                let id = format!("{round} {connection} {session}");
                for turn in 0..TURNS {
                    let request = request(&id, body(&id, turn));
                    let begun = Instant::now();
                    send(&mut client, request).await;
                    took.push(begun.elapsed());
                }
            }
            took
        });
    }
    let mut took = running.join_all().await.concat();
    let whole = begun.elapsed();
    took.sort_unstable();
    let count = u32::try_from(took.len()).expect("some thousand requests");
    Measured { p50: took[took.len() / 2], p99: took[took.len() * 99 / 100], per_request: whole / count }
}

/// Sessions one after another on eight connections, each of as many turns as its share of the requests.
async fn memory(address: SocketAddr, requests: usize) {
    const NAMED: usize = 1000;
    const CONNECTIONS: usize = 8;
    let turns = (requests / NAMED).max(1);
    let before = resident();
    let mut running = JoinSet::new();
    for connection in 0..CONNECTIONS {
        running.spawn(async move {
            let mut client = connect(address).await;
            let mut bytes = 0;
            for session in (connection..NAMED).step_by(CONNECTIONS) {
                let id = format!("named {session}");
                for turn in 0..turns {
                    let body = body(&id, turn);
                    bytes += if turn + 1 == turns { body.len() } else { 0 };
                    send(&mut client, request(&id, body)).await;
                }
            }
            bytes
        });
    }
    let bytes: usize = running.join_all().await.into_iter().sum();
    let (Some(before), Some(after)) = (before, resident()) else { return };
    let grown = after.saturating_sub(before);
    #[expect(clippy::cast_precision_loss, reason = "some hundred megabytes")]
    let ratio = grown as f64 / bytes as f64;
    println!("memory/conversations {ratio:.2} ({} requests in {NAMED} sessions, {} MiB)", turns * NAMED, grown >> 20);
}

/// Bytes of memory that the process holds; `None` where the system doesn't say.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok().map(|kib| kib * 1024)
}

/// The conversation at this turn.
fn body(session: &str, turn: usize) -> Bytes {
    let user = |n: usize| json!({"role": "user", "content": format!("In session {session}, please have a look at the parser for the time number {n}.")});
    let answer = |n: usize| json!({"role": "assistant", "content": format!("I had a look; the parser is as it was, number {n}. Shall I change it?")});
    let mut messages: Vec<Value> = (0..turn).flat_map(|n| [user(n), answer(n)]).collect();
    messages.push(user(turn));
    json!({"model": "m", "messages": messages}).to_string().into()
}

fn request(session: &str, body: Bytes) -> Request<Full<Bytes>> {
    let request = Request::post("/v1/chat/completions").header("host", "localhost").header("content-type", "application/json");
    request.header("x-session-id", session).body(Full::new(body)).expect("a request of ours")
}

async fn connect(address: SocketAddr) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(address).await.expect("it listens");
    stream.set_nodelay(true).expect("it is open");
    let (client, connection) = handshake(TokioIo::new(stream)).await.expect("it speaks HTTP");
    tokio::spawn(connection);
    client
}

async fn send(client: &mut SendRequest<Full<Bytes>>, request: Request<Full<Bytes>>) {
    client.ready().await.expect("it is open");
    let answer = client.send_request(request).await.expect("it answers");
    assert!(answer.status().is_success(), "{}", answer.status());
    answer.into_body().collect().await.expect("to the end");
}
