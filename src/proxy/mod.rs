//! The stack as a proxy before an LLM's API, for clients of any language.
//!
//! It takes requests on the usual paths of OpenAI, Anthropic, Gemini and Ollama, assembles the conversations among them, sends them on with the caller's
//! own headers, and streams the answers through as they come. All other paths pass through. What can't be read, or not be written again exactly as it
//! was meant, is sent on byte for byte: the proxy never turns a request that the API would accept into one that it refuses, its own limits apart.
//!
//! | header of a request | what it says |
//! | --- | --- |
//! | `proxy.session_header` | which conversation this is, among those of the same credentials; without it a conversation is known by its messages |
//! | `x-tower-prompt-purpose` | `converse`, `same-prefix` or `bare`: see [`Purpose`](crate::layers::Purpose) |
//! | `x-tower-prompt-compacted` | `true`: the host compacted the history, and kept its head |
//! | `x-tower-prompt-assembled` | set by the proxy: another one passes the request on untouched |
//!
//! **Skills for clients that know nothing of them** (`proxy.answer_skill_tool`, `serve --tools`, [`Proxy::answer_skill_tool`]): the skill tool is offered to the
//! model, and its calls are answered here, in at most eight rounds for a request. The client sees one answer, whole or as one stream, with its own calls
//! in it and none of ours; what was done here is put back into its next requests, from a bounded table in memory, so that the conversation
//! still only grows at its end. A tool of that name that the client defines is the client's, and no request is refused because of ours: where one
//! is, the API is asked once more with the client's own.
//!
//! ```no_run
//! use tower_prompt::proxy::Proxy;
//! use tower_prompt::{Assembly, Environment, Workspace};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let environment = Environment::of_process();
//! let assembly = Assembly::load(&environment, &Workspace::around(environment.working_directory()))?;
//! let proxy = Proxy::new(&assembly, "http://127.0.0.1:11434".parse()?);
//!
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8484").await?;
//! proxy.serve(listener, async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await?;
//! # Ok(()) }
//! ```

mod answer;
mod assemble;
mod body;
mod errors;
mod forward;
mod headers;
mod last;
mod learn;
mod log;
mod lossless;
mod named;
mod routes;
mod serve;
mod service;
mod skill_tool;
mod upstream;

pub use log::{Access, Handling};
pub use service::{ProxyBody, ProxyService};
pub use upstream::{InvalidUpstream, Upstream};

use crate::Assembly;
use crate::sessions::SessionStore;
use assemble::Stacks;
use axum::body::Body;
use http::HeaderName;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use last::Last;
use log::{Metrics, Observer};
use named::NamedSessions;
use skill_tool::Answering;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Conversations named by a header that are kept in memory.
const NAMED_SESSIONS: usize = 4096;

/// How long the proxy waits, and for how much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a conversation's body, as it comes and without its compression. What only passes through is not held, and so not bounded.
    pub body_bytes: usize,
    /// Requests at the same time, until the last byte of their answers.
    pub concurrent_requests: usize,
    /// Bytes of a request's head: 128 KiB.
    pub header_bytes: usize,
    /// For a request's head to come: a minute.
    pub header_time: Duration,
    /// Between two pieces of a conversation's body: a minute.
    pub body_pause: Duration,
    /// For a connection to the upstream: ten seconds.
    pub connect_time: Duration,
    /// For the upstream's answer to begin: half an hour. Models think long, and a client that waits no longer hangs up. An answer that has begun is
    /// waited for as long as the client does.
    pub answer_time: Duration,
}

/// A proxy. Cheap to clone.
#[derive(Clone)]
pub struct Proxy(Arc<Shared>);

#[derive(Clone)]
struct Shared {
    stacks: Stacks,
    upstream: Upstream,
    client: Client<HttpsConnector<HttpConnector>, Body>,
    limits: Limits,
    running: Arc<Semaphore>,
    sessions: Arc<dyn SessionStore>,
    session_header: Option<HeaderName>,
    /// The skill tool is answered here.
    answering: Option<Arc<Answering>>,
    /// So many large bodies are read at a time.
    large: Arc<Semaphore>,
    /// Where requests are shown.
    last: Option<Arc<Last>>,
    metrics: Arc<Metrics>,
    observer: Option<Observer>,
}

impl Proxy {
    /// Before this API, with the settings of `[proxy]`. Reads the system's certificates, and blocks while it does.
    pub fn new(assembly: &Assembly, upstream: Upstream) -> Self {
        let settings = &assembly.config().proxy;
        let limits = Limits {
            body_bytes: settings.max_body_bytes.get(),
            concurrent_requests: settings.max_concurrent_requests.get(),
            header_bytes: 128 * 1024,
            header_time: Duration::from_secs(60),
            body_pause: Duration::from_secs(60),
            connect_time: Duration::from_secs(10),
            answer_time: Duration::from_secs(30 * 60),
        };
        let proxy = Self(Arc::new(Shared {
            stacks: Stacks::of(assembly),
            upstream,
            client: client(&limits),
            limits,
            running: running(&limits),
            sessions: Arc::new(NamedSessions::new(NAMED_SESSIONS)),
            // Checked when the configuration was read.
            session_header: settings.session_header.parse().ok(),
            answering: None,
            large: Arc::new(Semaphore::new(std::thread::available_parallelism().map_or(1, NonZeroUsize::get))),
            last: settings.show_last.then(Arc::default),
            metrics: Arc::default(),
            observer: None,
        }));
        if settings.answer_skill_tool { proxy.answer_skill_tool(assembly) } else { proxy }
    }
    /// Offers the skill tool with the skills of this assembly and answers it here, whatever `proxy.answer_skill_tool` says: so a client that knows nothing
    /// of skills has them. A client that defines a tool of that name itself answers it itself.
    pub fn answer_skill_tool(self, assembly: &Assembly) -> Self {
        let assembly = assembly.clone().answer_skill_tool();
        self.with(|shared| {
            shared.stacks = Stacks::of(&assembly);
            shared.answering = Some(Arc::new(Answering::new(assembly.skill_tool())));
        })
    }
    /// Within other limits.
    pub fn limits(self, change: impl FnOnce(&mut Limits)) -> Self {
        self.with(|shared| {
            change(&mut shared.limits);
            (shared.client, shared.running) = (client(&shared.limits), running(&shared.limits));
        })
    }
    /// Keeps the conversations that a header names here. Their ids in it are hashes.
    pub fn sessions(self, store: impl SessionStore + 'static) -> Self {
        self.with(|shared| shared.sessions = Arc::new(store))
    }
    /// Tells of each request when it has ended. `tracing` is told the same, under the target `tower_prompt::access`.
    pub fn on_access(self, observer: impl Fn(&Access) + Send + Sync + 'static) -> Self {
        self.with(|shared| shared.observer = Some(Arc::new(observer)))
    }
    /// Where it sends requests on to.
    pub fn upstream(&self) -> &Upstream {
        &self.0.upstream
    }

    fn with(self, change: impl FnOnce(&mut Shared)) -> Self {
        let mut shared = Arc::unwrap_or_clone(self.0);
        change(&mut shared);
        Self(Arc::new(shared))
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("upstream", &self.0.upstream).field("limits", &self.0.limits).finish_non_exhaustive()
    }
}

fn running(limits: &Limits) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(limits.concurrent_requests.min(Semaphore::MAX_PERMITS)))
}

fn client(limits: &Limits) -> Client<HttpsConnector<HttpConnector>, Body> {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(limits.connect_time));
    connector.set_nodelay(true);
    connector.set_keepalive(Some(Duration::from_secs(60)));
    let provider = rustls::crypto::ring::default_provider;
    let schemes = HttpsConnectorBuilder::new().with_provider_and_native_roots(provider());
    // Small containers have no roots.
    let schemes = schemes.or_else(|_| HttpsConnectorBuilder::new().with_provider_and_webpki_roots(provider()));
    let builder = schemes.expect("ring knows the versions of TLS that are built in");
    let connector = builder.https_or_http().enable_http1().wrap_connector(connector);
    Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).pool_idle_timeout(Duration::from_secs(60)).build(connector)
}
