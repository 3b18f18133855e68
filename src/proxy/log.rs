//! What is said of each request, and counted over all: never a prompt, a key, a query or a session's name.

use crate::layers::TokenUsage;
use http::{Method, StatusCode};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What became of a request's body.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Handling {
    /// It was assembled.
    Assembled,
    /// It came on a conversation's path, and was sent on byte for byte, for this reason.
    Untouched(Cow<'static, str>),
    /// Its path is none of a conversation.
    Passed,
    /// The proxy answered by itself, for this reason.
    Refused(&'static str),
}

/// One request, when the last byte of its answer has been sent or nobody waits for it any more.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Access {
    /// The method.
    pub method: Method,
    /// The path, without the query, which may hold a key.
    pub path: String,
    /// The answer's status; `None` where the client hung up before there was one.
    pub status: Option<StatusCode>,
    /// What became of the body.
    pub handling: Handling,
    /// From the request's head to the answer's end.
    pub took: Duration,
    /// Bytes of the answer's body that were handed to the client's connection.
    pub sent: u64,
    /// The answer was sent to its end.
    pub is_whole: bool,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, path, took, sent, .. } = self;
        let status = self.status.as_ref().map_or("-", StatusCode::as_str);
        write!(f, "{method} {path} {status} {sent} B {} ms ", took.as_millis())?;
        match &self.handling {
            Handling::Assembled => f.write_str("assembled")?,
            Handling::Untouched(why) => write!(f, "untouched: {why}")?,
            Handling::Passed => f.write_str("passed through")?,
            Handling::Refused(why) => write!(f, "refused: {why}")?,
        }
        f.write_str(if self.is_whole { "" } else { ", cut off" })
    }
}

pub(super) type Observer = Arc<dyn Fn(&Access) + Send + Sync>;

/// A request on its way: told when it is dropped.
pub(super) struct Passage {
    access: Access,
    begun: Instant,
    metrics: Arc<Metrics>,
    observer: Option<Observer>,
}

impl Passage {
    pub(super) fn new(method: Method, path: String, metrics: &Arc<Metrics>, observer: Option<Observer>) -> Self {
        metrics.in_flight.fetch_add(1, Ordering::Relaxed);
        let handling = Handling::Passed;
        let access = Access { method, path, status: None, handling, took: Duration::ZERO, sent: 0, is_whole: false };
        Self { access, begun: Instant::now(), metrics: metrics.clone(), observer }
    }
    pub(super) fn handling(&mut self, handling: Handling) {
        self.access.handling = handling;
    }
    pub(super) fn answered(&mut self, status: StatusCode) {
        self.access.status = Some(status);
    }
    pub(super) fn sent(&mut self, bytes: usize) {
        self.access.sent += bytes as u64;
    }
    pub(super) fn whole(&mut self) {
        self.access.is_whole = true;
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.access.took = self.begun.elapsed();
        self.metrics.count(&self.access);
        tracing::info!(target: "tower_prompt::access", "{}", self.access);
        if let Some(observer) = &self.observer {
            observer(&self.access);
        }
    }
}

/// Counts since the start.
#[derive(Default)]
pub(super) struct Metrics {
    in_flight: AtomicU64,
    assembled: AtomicU64,
    untouched: AtomicU64,
    passed: AtomicU64,
    refused: AtomicU64,
    cut_off: AtomicU64,
    upstream_errors: AtomicU64,
    bytes: AtomicU64,
    input_tokens: AtomicU64,
    cached_tokens: AtomicU64,
}

impl Metrics {
    fn count(&self, access: &Access) {
        let one = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        one(match access.handling {
            Handling::Assembled => &self.assembled,
            Handling::Untouched(_) => &self.untouched,
            Handling::Passed => &self.passed,
            Handling::Refused(_) => &self.refused,
        });
        if !access.is_whole {
            one(&self.cut_off);
        }
        if access.status.is_some_and(|status| !status.is_success()) && !matches!(access.handling, Handling::Refused(_)) {
            one(&self.upstream_errors);
        }
        self.bytes.fetch_add(access.sent, Ordering::Relaxed);
    }
    /// What an answer said so far, and what it says now: streams say it several times.
    pub(super) fn tokens(&self, before: TokenUsage, now: TokenUsage) {
        let more = |counter: &AtomicU64, before: u64, now: u64| counter.fetch_add(now.saturating_sub(before), Ordering::Relaxed);
        more(&self.input_tokens, before.input_tokens, now.input_tokens);
        more(&self.cached_tokens, before.cached_tokens, now.cached_tokens);
    }
    /// In the text format of Prometheus.
    pub(super) fn text(&self) -> String {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut text = String::from("# TYPE tower_prompt_requests_total counter\n");
        for (handling, counter) in
            [("assembled", &self.assembled), ("untouched", &self.untouched), ("passed", &self.passed), ("refused", &self.refused)]
        {
            text.push_str(&format!("tower_prompt_requests_total{{handling=\"{handling}\"}} {}\n", get(counter)));
        }
        for (name, counter) in [
            ("answers_cut_off", &self.cut_off),
            ("upstream_errors", &self.upstream_errors),
            ("answer_bytes", &self.bytes),
            ("input_tokens", &self.input_tokens),
            ("cached_tokens", &self.cached_tokens),
        ] {
            text.push_str(&format!("# TYPE tower_prompt_{name}_total counter\ntower_prompt_{name}_total {}\n", get(counter)));
        }
        text.push_str(&format!("# TYPE tower_prompt_requests_in_flight gauge\ntower_prompt_requests_in_flight {}\n", get(&self.in_flight)));
        text
    }
}
