//! A future that is dropped cancels what it waits for, and leaves the session as good as before.

use crate::clients::{Guard, Late, call, hi, hi_with, poll, stack};
use crate::common::clock;
use serde_json::Value;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use tower::{Layer, ServiceExt, service_fn};
use tower_prompt_layers::{Context, Round, Session};
use tower_test::mock;

#[tokio::test]
async fn while_late_texts_are_waited_for_it_drops_them_and_settles_nothing() {
    let (session, late) = (Session::new(), Late::new());
    let (inner, mut handle) = mock::pair::<Value, Value>();
    let mut answer = call(&mut stack(&session).with(late.layer()).layer(inner), hi());
    assert!(poll(&mut answer).is_pending());
    drop(answer);
    assert!(late.is_dropped.load(Ordering::Relaxed));
    assert!(matches!(handle.poll_request(), Poll::Ready(None)), "the client is given up uncalled");
    assert_eq!(session.places(), 0);
    let next = stack(&session).with(clock("1")).begin(hi(), Context::default().session(session.clone()));
    assert_eq!(next.turn.round, Round::Start);
    assert_eq!(stack(&session).finish(next).await, hi_with("1"));
}

#[tokio::test]
async fn while_the_inner_service_is_readied_what_was_settled_stands() {
    let (session, mut late) = (Session::new(), Late::new());
    let (inner, mut handle) = mock::pair::<Value, Value>();
    let mut service = stack(&session).with(late.layer()).layer(inner);
    handle.allow(1);
    let mut answer = call(&mut service, hi());
    handle.allow(0);
    late.comes("1");
    assert!(poll(&mut answer).is_pending());
    assert_eq!(session.places(), 1);
    drop(answer);
    assert!(handle.poll_request().is_pending(), "it was never called");
    handle.allow(1);
    let again = call(&mut service, hi());
    let (request, respond) = handle.next_request().await.unwrap();
    assert_eq!(request, hi_with("1"), "a retry gets the same bytes");
    respond.send_response(request);
    again.await.unwrap();
    assert_eq!(late.asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn while_the_inner_service_answers_its_call_is_cancelled() {
    let session = Session::new();
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let cancelled = is_cancelled.clone();
    let client = service_fn(move |_: Value| {
        let guard = Guard(cancelled.clone());
        async move {
            let _guard = guard;
            pending::<Result<Value, String>>().await
        }
    });
    let mut answer = call(&mut stack(&session).with(clock("1")).layer(client), hi());
    assert!(poll(&mut answer).is_pending());
    assert!(!is_cancelled.load(Ordering::Relaxed));
    drop(answer);
    assert!(is_cancelled.load(Ordering::Relaxed));
    let again = stack(&session).with(clock("2")).layer(service_fn(crate::common::echo)).oneshot(hi()).await.unwrap();
    assert_eq!(again, hi_with("1"), "how the call ends plays no part");
}

#[tokio::test]
async fn before_render_a_dropped_request_settles_nothing() {
    let session = Session::new();
    let context = Context::default().session(session.clone());
    drop(stack(&session).with(clock("1")).begin(hi(), context.clone()));
    assert_eq!(session.places(), 0);
    assert_eq!(stack(&session).with(clock("2")).assemble(hi(), context).await, hi_with("2"));
}
