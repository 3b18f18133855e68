//! The last requests, for a person at the same machine to look at.

use super::serve::Connection;
use crate::blocking::off_the_executor;
use crate::layers::Manifest;
use crate::page;
use axum::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many conversations are kept, and so many bytes of their bodies.
const MAX_KEPT: usize = 16;
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The last request of each of the last conversations, the newest last.
#[derive(Default)]
pub(super) struct Last(Mutex<VecDeque<Arc<Request>>>);

struct Request {
    /// As the header named it.
    session: Option<String>,
    manifest: Manifest,
    /// Of the request before in the same conversation.
    previous: Option<Manifest>,
    body: Value,
    bytes: usize,
}

impl Last {
    fn kept(&self) -> MutexGuard<'_, VecDeque<Arc<Request>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(super) fn keep(&self, session: Option<String>, manifest: Manifest, body: Value, bytes: usize) {
        let kept = &mut *self.kept();
        let before = kept.iter().position(|one| one.session == session).and_then(|at| kept.remove(at));
        // Requests without a name need not be of one conversation.
        let previous = before.filter(|_| session.is_some()).map(|before| before.manifest.clone());
        kept.push_back(Arc::new(Request { session, manifest, previous, body, bytes }));
        while kept.len() > MAX_KEPT || kept.iter().map(|one| one.bytes).sum::<usize>() > MAX_BYTES {
            kept.pop_front();
        }
    }
    fn find(&self, session: Option<&str>) -> Option<Arc<Request>> {
        let kept = self.kept();
        kept.iter().rev().find(|one| session.is_none() || one.session.as_deref() == session).cloned()
    }
    /// The page; without a session the last request of all.
    pub(super) async fn page(&self, session: Option<&str>) -> Response<Body> {
        let Some(last) = self.find(session) else {
            return plain(StatusCode::NOT_FOUND, "No request of this conversation has been assembled.\n");
        };
        let page = off_the_executor(move || page::html(&last.manifest, &last.body, last.previous.as_ref())).await;
        let Some(page) = page else { return plain(StatusCode::INTERNAL_SERVER_ERROR, "The page could not be made.\n") };
        let mut answer = Response::new(Body::from(page));
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        private(answer.headers_mut());
        answer
    }
}

/// From this machine, by its own name, and not handed on by another server: a name that a web page had resolved to this machine doesn't count.
pub(super) fn is_at_this_machine(connection: Option<&Connection>, headers: &HeaderMap) -> bool {
    let is_handed_on =
        ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"].iter().any(|name| headers.contains_key(*name));
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let is_close = connection.is_some_and(|connection| connection.peer.ip().to_canonical().is_loopback() && connection.is_local);
    let is_loopback = |host: &str| {
        let host = host_alone(host);
        host == "localhost" || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    is_close && !is_handed_on && is_loopback(host)
}

/// A host without its port.
pub(super) fn host_alone(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((alone, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !alone.is_empty() => alone,
        _ => host,
    }
}

pub(super) fn plain(status: StatusCode, text: impl Into<Body>) -> Response<Body> {
    let mut answer = Response::new(text.into());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    private(answer.headers_mut());
    answer
}

fn private(headers: &mut HeaderMap) {
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers.insert("x-frame-options", HeaderValue::from_static("DENY"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
}
