//! Under and over other middleware.

use crate::clients::{hi, hi_with, stack};
use crate::common::clock;
use serde_json::Value;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::buffer::BufferLayer;
use tower::limit::ConcurrencyLimitLayer;
use tower::retry::{Policy, RetryLayer};
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use tower_prompt_layers::{Fragment, Prompt, Session, Tier, Turn};

/// Tries so many times more.
#[derive(Clone)]
struct Attempts(usize);

impl Policy<Value, Value, &'static str> for Attempts {
    type Future = Ready<()>;
    fn retry(&mut self, _: &mut Value, result: &mut Result<Value, &'static str>) -> Option<Ready<()>> {
        self.0 = self.0.checked_sub(usize::from(result.is_err()))?;
        result.is_err().then(|| ready(()))
    }
    fn clone_request(&mut self, request: &Value) -> Option<Value> {
        Some(request.clone())
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_outside_the_stack_sends_the_same_bytes_and_runs_no_probe_twice() {
    let (probes, sent) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (runs, receives) = (probes.clone(), sent.clone());
    let probe = move |_: &Turn, prompt: &mut Prompt| {
        prompt.add_later(Tier::Turn, || {
            let run = runs.fetch_add(1, Ordering::Relaxed);
            async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                [Fragment::new("probe", format!("run {run}"))]
            }
        });
    };
    let overloaded = service_fn(move |request: Value| {
        let mut sent = receives.lock().unwrap();
        sent.push(request.clone());
        ready(if sent.len() < 3 { Err("529") } else { Ok(request) })
    });
    let service = ServiceBuilder::new().layer(RetryLayer::new(Attempts(5))).layer(stack(&Session::new()).with(probe)).service(overloaded);
    assert_eq!(service.oneshot(hi()).await, Ok(hi_with("run 0")));
    assert_eq!(*sent.lock().unwrap(), [hi_with("run 0"), hi_with("run 0"), hi_with("run 0")]);
    assert_eq!(probes.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn it_stands_in_boxes_over_buffers_and_limits() {
    let inner = ServiceBuilder::new()
        .layer(BufferLayer::new(4))
        .layer(ConcurrencyLimitLayer::new(1))
        .service(service_fn(|request: Value| ready(Ok::<_, Infallible>(request))));
    let session = Session::new();
    let boxed = BoxCloneSyncService::new(stack(&session).with(clock("1")).layer(inner));
    let mut clones = [boxed.clone(), boxed];
    for service in &mut clones {
        assert_eq!(service.ready().await.unwrap().call(hi()).await.unwrap(), hi_with("1"));
    }
    assert_eq!(session.places(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_late_text_that_uses_the_same_client_behind_a_limit_of_one_does_not_deadlock() {
    let client = ServiceBuilder::new()
        .layer(ConcurrencyLimitLayer::new(1))
        .service(service_fn(|request: Value| ready(Ok::<_, Infallible>(request))));
    let same = client.clone();
    let selector = move |_: &Turn, prompt: &mut Prompt| {
        let same = same.clone();
        prompt.add_later(Tier::Turn, move || async move {
            let chosen = same.oneshot(Value::from("chosen")).await.unwrap();
            [Fragment::new("chosen", chosen.as_str().unwrap().to_owned())]
        });
    };
    let mut service = stack(&Session::new()).with(selector).layer(client);
    let answer = tokio::time::timeout(Duration::from_secs(1), service.ready().await.unwrap().call(hi())).await;
    assert_eq!(answer.expect("no deadlock").unwrap(), hi_with("chosen"));
}
