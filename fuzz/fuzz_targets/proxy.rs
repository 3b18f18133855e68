//! A whole request through the proxy, and an answer through it back, before an upstream on loopback: it never panics, refuses nothing with an error of
//! its own, and what is no conversation, or an answer that calls nothing of ours, passes byte for byte.
//!
//! An input is a line of words (the method, the path, then what is on), the request's body, a line `===`, and the answer's body.
#![no_main]

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use libfuzzer_sys::fuzz_target;
use std::cell::OnceCell;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tower::ServiceExt;
use tower_prompt::proxy::Proxy;
use tower_prompt::{Assembly, Environment, Workspace};

const BREAK: &[u8] = b"\n===\n";

/// What the upstream answers, and what it was sent.
#[derive(Default)]
struct Told {
    kind: &'static str,
    status: u16,
    answer: Bytes,
    seen: Vec<Bytes>,
}

struct World {
    runtime: Runtime,
    /// With the skill tool answered, and without.
    proxies: [Proxy; 2],
    told: Arc<Mutex<Told>>,
}

impl World {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime is to be had");
        let told: Arc<Mutex<Told>> = Arc::default();
        let answering = told.clone();
        let address = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback is to be had");
            let address = listener.local_addr().expect("it is bound");
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let told = answering.clone();
                    let service = service_fn(move |request: Request<Incoming>| {
                        let told = told.clone();
                        async move {
                            let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
                            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                            told.seen.push(body);
                            let answer = Response::builder().status(told.status).header("content-type", told.kind);
                            Ok::<_, Infallible>(answer.body(Full::new(told.answer.clone())).expect("an answer of ours"))
                        }
                    });
                    tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
                }
            });
            address
        });
        let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/workspace");
        let proxies = [true, false].map(|answers| {
            let config = format!(
                "proxy.answer_skill_tool = {answers}\nproxy.max_body_bytes = 65536\n[system_prompt.sections]\ngit_revision = false\n\
                 dynamic_repository_context = false\ntoolchain_context = false\nworktree_context = false\n"
            );
            let environment = Environment::new(place).variable("BCODE_CONFIG_TOML", config);
            let assembly = Assembly::load(&environment, &Workspace::at(place)).expect("the configuration is right");
            Proxy::new(&assembly, format!("http://{address}").parse().expect("an address is a URL"))
        });
        Self { runtime, proxies, told }
    }
}

thread_local! {
    static WORLD: OnceCell<World> = const { OnceCell::new() };
}

fn is_of_a_conversation(method: &str, path: &str) -> bool {
    const ENDS: [&str; 8] = [
        ":generateContent",
        ":streamGenerateContent",
        "/chat/completions",
        "/responses",
        "/v1/messages",
        "/v1/messages/count_tokens",
        "/api/chat",
        "/api/generate",
    ];
    method == "POST" && ENDS.iter().any(|end| path.trim_end_matches('/').ends_with(end))
}

fuzz_target!(|bytes: &[u8]| WORLD.with(|world| run(world.get_or_init(World::new), bytes)));

fn run(world: &World, bytes: &[u8]) {
    let Some(line) = bytes.iter().position(|byte| *byte == b'\n') else { return };
    let (Ok(line), rest) = (str::from_utf8(&bytes[..line]), &bytes[line + 1..]) else { return };
    let at = rest.windows(BREAK.len()).position(|window| window == BREAK);
    let (body, answer) = at.map_or((rest, &b"{}"[..]), |at| (&rest[..at], &rest[at + BREAK.len()..]));
    let words: Vec<&str> = line.split(' ').collect();
    let [method, path, on @ ..] = &*words else { return };
    let is_on = |word: &str| on.contains(&word);
    let kind = match () {
        () if is_on("sse") => "text/event-stream",
        () if is_on("ndjson") => "application/x-ndjson",
        () if is_on("html") => "text/html",
        () => "application/json",
    };
    let status = if is_on("400") { 400 } else { 200 };
    let mut request = Request::builder().method(*method).uri(*path).header("host", "localhost");
    for (word, name, value) in [
        ("session", "x-session-id", "1"),
        ("same", "x-tower-prompt-purpose", "same-prefix"),
        ("bare", "x-tower-prompt-purpose", "bare"),
        ("compacted", "x-tower-prompt-compacted", "true"),
        ("gzip", "content-encoding", "gzip"),
        ("key", "authorization", "Bearer k"),
    ] {
        if is_on(word) {
            request = request.header(name, value);
        }
    }
    let Ok(request) = request.body(Full::new(Bytes::copy_from_slice(body))) else { return };
    // CONNECT and whole URLs are for other hosts.
    let is_for_us = path.starts_with('/') && *method != "CONNECT";
    let (path, is_own) = (request.uri().path().to_owned(), path.starts_with("/__prompt") || path.starts_with("/healthz"));
    *world.told.lock().unwrap_or_else(PoisonError::into_inner) =
        Told { kind, status, answer: Bytes::copy_from_slice(answer), seen: Vec::new() };
    let service = world.proxies[usize::from(!is_on("tools"))].service();
    let (got, body_got) = world.runtime.block_on(async move {
        let Ok(answer) = service.oneshot(request).await;
        let (parts, body) = answer.into_parts();
        (parts.status.as_u16(), body.collect().await.map(|body| body.to_bytes()))
    });
    assert!(got < 500, "{got}: {body_got:?}");
    if is_own || !is_for_us {
        return;
    }
    let told = world.told.lock().unwrap_or_else(PoisonError::into_inner);
    let is_conversation = is_of_a_conversation(method, &path);
    if told.seen.is_empty() {
        assert!(got >= 400 && body.len() > 65536 || got == 400 && !is_conversation, "{got} was answered by ourselves");
        return;
    }
    let is_object = serde_json::from_slice::<serde_json::Value>(body).is_ok_and(|value| value.is_object());
    if !is_conversation || !is_object && !is_on("gzip") {
        assert_eq!(told.seen, [body], "what is no conversation was changed");
    }
    let text = String::from_utf8_lossy(answer);
    // A call waits for its name.
    let may_wait = text.contains("tool_calls") && kind == "text/event-stream";
    let is_looked_at = is_on("tools") && is_conversation && status == 200 && (text.contains("skill") || text.contains("\\u") || may_wait);
    // An array is written anew.
    let is_array = kind == "application/json" && path.ends_with(":streamGenerateContent");
    if !is_looked_at && !is_array && *method != "HEAD" {
        assert!(body_got.is_ok_and(|body| body == answer), "an answer was changed");
    }
}
