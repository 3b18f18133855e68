//! An upstream, and the two proxies before it.

use axum::Router;
use axum::body::Body;
use http::header::{CONNECTION, HOST, TRANSFER_ENCODING};
use http::{Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::OnceLock;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tower::ServiceExt;
use tower_prompt::proxy::Proxy;
use tower_prompt::{Assembly, Environment, Workspace};

const SKILLS: usize = 100;

/// What the upstream says.
const ANSWER: &str = r#"{"id":"1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"I had a look; the parser is as it was."},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":12,"total_tokens":112}}"#;

async fn listening() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback is to be had");
    let address = listener.local_addr().expect("it is bound");
    (listener, address)
}

/// As the proxy serves its own routes.
async fn serve(router: Router) -> SocketAddr {
    let (listener, address) = listening().await;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let router = router.clone();
            let service = service_fn(move |request: Request<Incoming>| router.clone().oneshot(request.map(Body::new)));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    address
}

pub(crate) async fn upstream() -> SocketAddr {
    serve(Router::new().fallback(async |request: Request<Body>| {
        let _ = axum::body::to_bytes(request.into_body(), usize::MAX).await;
        Response::builder().header("content-type", "application/json").body(Body::from(ANSWER)).expect("an answer of ours")
    }))
    .await
}

/// A proxy that changes nothing.
pub(crate) async fn plain(upstream: SocketAddr) -> SocketAddr {
    let client: Client<_, Body> = Client::builder(TokioExecutor::new()).build_http();
    serve(Router::new().fallback(move |mut request: Request<Body>| {
        let client = client.clone();
        async move {
            let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
            *request.uri_mut() = Uri::builder()
                .scheme("http")
                .authority(upstream.to_string())
                .path_and_query(path)
                .build()
                .expect("an address and a path are a URL");
            for name in [HOST, CONNECTION, TRANSFER_ENCODING] {
                request.headers_mut().remove(name);
            }
            client.request(request).await.map_or_else(|_| bad_gateway(), |answer| answer.map(Body::new))
        }
    }))
    .await
}

fn bad_gateway() -> Response<Body> {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::BAD_GATEWAY;
    answer
}

/// Ours, with a workspace of skills.
pub(crate) async fn ours(upstream: SocketAddr) -> SocketAddr {
    static PLACE: OnceLock<TempDir> = OnceLock::new();
    let place = PLACE.get_or_init(|| tempfile::tempdir().expect("there is room")).path();
    for n in 0..SKILLS {
        skill(place, n).expect("there is room");
    }
    let environment = Environment::new(place).home(place.join("home")).variable("TZ", "UTC");
    let assembly = Assembly::load(&environment, &Workspace::at(place)).expect("there is no configuration");
    let proxy = Proxy::new(&assembly, format!("http://{upstream}").parse().expect("an address is a URL"));
    let (listener, address) = listening().await;
    tokio::spawn(proxy.serve(listener, std::future::pending()));
    address
}

fn skill(place: &Path, n: usize) -> std::io::Result<()> {
    let folder = place.join(format!("skills/skill-{n}"));
    std::fs::create_dir_all(&folder)?;
    let description = "Finds what is slow in a program, and says what to do about it.";
    std::fs::write(folder.join("SKILL.md"), format!("---\nname: skill-{n}\ndescription: {description}\n---\n\nMeasure first.\n"))
}
