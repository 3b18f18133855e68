//! Clients and late texts that a test decides about.

use crate::common::{behind, body, user};
use serde_json::Value;
use std::future::pending;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as Cx, Poll, Waker};
use tokio::sync::oneshot;
use tower::Service;
use tower_prompt_layers::{Context, Contribute, Fragment, Prompt, PromptStack, Session, Settings, Tier, Turn, wire::OpenAiChat};

pub(crate) fn hi() -> Value {
    body(&[user("hi")])
}
/// `hi` with a late text behind it.
pub(crate) fn hi_with(text: &str) -> Value {
    body(&[user(behind("hi", text))])
}
pub(crate) fn stack(session: &Session) -> PromptStack<OpenAiChat> {
    PromptStack::new(OpenAiChat, Settings::default().context(Context::default().session(session.clone())))
}

/// Polls once, as an executor would that is then told nothing.
pub(crate) fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Cx::from_waker(Waker::noop()))
}
pub(crate) fn poll_ready<R, S: Service<R>>(service: &mut S) -> Poll<Result<(), S::Error>> {
    service.poll_ready(&mut Cx::from_waker(Waker::noop()))
}
/// The inner service's readiness, and its call.
pub(crate) fn call<S: Service<Value>>(service: &mut S, request: Value) -> Pin<Box<S::Future>> {
    assert!(poll_ready(service).is_ready());
    Box::pin(service.call(request))
}

/// A text that comes when the test says so; of a second request it comes never. Counts how often it was asked for, and notes when it is dropped.
pub(crate) struct Late {
    pub(crate) asked: Arc<AtomicUsize>,
    pub(crate) is_dropped: Arc<AtomicBool>,
    sender: Option<oneshot::Sender<&'static str>>,
    receiver: Arc<Mutex<Option<oneshot::Receiver<&'static str>>>>,
}

impl Late {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = oneshot::channel();
        Self { asked: Arc::default(), is_dropped: Arc::default(), sender: Some(sender), receiver: Arc::new(Mutex::new(Some(receiver))) }
    }
    pub(crate) fn comes(&mut self, text: &'static str) {
        self.sender.take().expect("it comes once").send(text).expect("it is waited for");
    }
    pub(crate) fn layer(&self) -> impl Contribute + Clone + use<> {
        let (asked, is_dropped, receiver) = (self.asked.clone(), self.is_dropped.clone(), self.receiver.clone());
        move |_: &Turn, prompt: &mut Prompt| {
            prompt.add_later(Tier::Turn, || {
                asked.fetch_add(1, Ordering::Relaxed);
                let (receiver, guard) = (receiver.lock().unwrap().take(), Guard(is_dropped.clone()));
                async move {
                    let _guard = guard;
                    match receiver {
                        Some(receiver) => receiver.await.ok().map(|text| Fragment::new("late", text)),
                        None => pending().await,
                    }
                }
            });
        }
    }
}

/// Notes that it was dropped.
pub(crate) struct Guard(pub(crate) Arc<AtomicBool>);
impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What happened to the instances of one client, which are numbered: `0` is the first, each clone has the next number.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);
impl Log {
    fn note(&self, what: &str, instance: usize) {
        self.0.lock().unwrap().push(format!("{what} {instance}"));
    }
    /// What happened since it was last asked.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A client that notes which of its instances is made ready, called, and given up while it was ready. It answers with the request.
pub(crate) struct Instance {
    number: usize,
    is_ready: bool,
    instances: Arc<AtomicUsize>,
    log: Log,
}

impl Instance {
    pub(crate) fn first(log: &Log) -> Self {
        Self { number: 0, is_ready: false, instances: Arc::new(AtomicUsize::new(1)), log: log.clone() }
    }
}
impl Clone for Instance {
    fn clone(&self) -> Self {
        let number = self.instances.fetch_add(1, Ordering::Relaxed);
        Self { number, is_ready: false, instances: self.instances.clone(), log: self.log.clone() }
    }
}
impl Drop for Instance {
    fn drop(&mut self) {
        if self.is_ready {
            self.log.note("given back", self.number);
        }
    }
}
impl Service<Value> for Instance {
    type Response = Value;
    type Error = String;
    type Future = std::future::Ready<Result<Value, String>>;
    fn poll_ready(&mut self, _: &mut Cx<'_>) -> Poll<Result<(), String>> {
        if !self.is_ready {
            self.log.note("ready", self.number);
        }
        self.is_ready = true;
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Value) -> Self::Future {
        assert!(self.is_ready, "called before it was ready");
        self.is_ready = false;
        self.log.note("called", self.number);
        std::future::ready(Ok(request))
    }
}
