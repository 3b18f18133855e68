//! The listener, the proxy's own paths, and who is asked for.

use super::last::{host_alone, is_at_this_machine, plain};
use super::{Proxy, Shared};
use axum::Router;
use axum::body::Body;
use axum::routing::get;
use http::header::HOST;
use http::request::Parts;
use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tower::ServiceExt;

/// Where a request came in.
#[derive(Clone, Copy)]
pub(super) struct Connection {
    pub(super) peer: SocketAddr,
    /// We listen on loopback.
    pub(super) is_local: bool,
}

impl Proxy {
    pub(super) fn router(&self) -> Router {
        let (all, shown, counted) = (self.0.clone(), self.0.clone(), self.0.clone());
        Router::new()
            .route("/healthz", get(|| async { plain(StatusCode::OK, "ok\n") }))
            .route("/__prompt/metrics", get(move || async move { plain(StatusCode::OK, counted.metrics.text()) }))
            .route("/__prompt/last", get(move |request: Request<Body>| async move { shown.show_last(request.into_parts().0).await }))
            .fallback(move |request: Request<Body>| async move { all.forward(request).await })
    }

    /// Takes requests until `shutdown`, then no new ones, and returns when the running ones have ended.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        let is_local = listener.local_addr()?.ip().is_loopback();
        let router = self.router();
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.0.limits.header_time).max_header_size(self.0.limits.header_bytes);
        let running = GracefulShutdown::new();
        let mut shutdown = pin!(shutdown);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut shutdown => break,
            };
            let Ok((stream, peer)) = accepted else {
                // Of a client that is gone already; or no file is to be had, and one has to be closed first.
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            };
            // Pieces of an answer are small, and wait for no others.
            let _ = stream.set_nodelay(true);
            let router = router.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let mut request = request.map(Body::new);
                request.extensions_mut().insert(Connection { peer, is_local });
                router.clone().oneshot(request)
            });
            let connection = running.watch(http.serve_connection(TokioIo::new(stream), service));
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!("a connection ended: {error}");
                }
            });
        }
        drop(listener);
        running.shutdown().await;
        Ok(())
    }
}

impl Shared {
    async fn show_last(self: Arc<Self>, request: Parts) -> http::Response<Body> {
        match &self.last {
            Some(last) if is_at_this_machine(request.extensions.get(), &request.headers) => {
                let session = request.uri.query().and_then(session_of);
                last.page(session.as_deref()).await
            }
            _ => plain(StatusCode::NOT_FOUND, "Not found.\n"),
        }
    }
}

/// `session=`, decoded.
fn session_of(query: &str) -> Option<String> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix("session="))?;
    let (mut bytes, mut rest) = (Vec::with_capacity(value.len()), value.as_bytes());
    while let Some((first, behind)) = rest.split_first() {
        let escaped = behind.get(..2).filter(|_| *first == b'%').and_then(|two| str::from_utf8(two).ok());
        let (byte, taken) = match escaped.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => (byte, 3),
            None => (if *first == b'+' { b' ' } else { *first }, 1),
        };
        bytes.push(byte);
        rest = &rest[taken..];
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// For another server than this one: as a proxy for any host we are not there. On loopback, a name that is none of this machine is one that a web
/// page had resolved to it, which the API behind would not see, since it is sent its own.
pub(super) fn is_for_another_host(parts: &Parts) -> bool {
    let hosts = parts.headers.get_all(HOST);
    if parts.method == Method::CONNECT || parts.uri.scheme().is_some() || parts.uri.authority().is_some() || hosts.iter().count() > 1 {
        return true;
    }
    let is_local = parts.extensions.get::<Connection>().is_some_and(|connection| connection.is_local);
    let Some(host) = hosts.iter().next().filter(|_| is_local) else { return false };
    let host = host_alone(host.to_str().unwrap_or_default()).to_ascii_lowercase();
    let is_address = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    let is_here = host.is_empty() || host == "localhost" || [".localhost", ".local", ".internal"].iter().any(|end| host.ends_with(end));
    !(is_address || is_here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_decoded() {
        for (query, session) in [
            ("session=a", Some("a")),
            ("x=1&session=a%20b+c%2F&y", Some("a b c/")),
            ("session=%zz%4", Some("%zz%4")),
            ("session=", Some("")),
            ("sessions=a", None),
        ] {
            assert_eq!(session_of(query).as_deref(), session, "{query}");
        }
    }

    #[test]
    fn names_that_are_none_of_this_machine_are_others() {
        let is_other = |uri: &str, hosts: &[&str], is_local| {
            let mut request = Request::builder().uri(uri);
            for host in hosts {
                request = request.header(HOST, *host);
            }
            let mut request = request.body(()).unwrap();
            request.extensions_mut().insert(Connection { peer: "127.0.0.1:1".parse().unwrap(), is_local });
            is_for_another_host(&request.into_parts().0)
        };
        for host in ["localhost:8484", "LOCALHOST", "127.0.0.1:8484", "[::1]:8484", "10.0.0.1", "host.docker.internal:8484", "me.local"] {
            assert!(!is_other("/v1/models", &[host], true), "{host}");
        }
        for host in ["evil.example", "evil.example:8484", "localhost.evil.example", "127.0.0.1.evil.example"] {
            assert!(is_other("/v1/models", &[host], true) && !is_other("/v1/models", &[host], false), "{host}");
        }
        assert!(!is_other("/", &[], true));
        assert!(is_other("/", &["a", "a"], false) && is_other("http://localhost/", &["localhost"], false));
    }
}
