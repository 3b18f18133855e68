//! Readiness, back-pressure, the instance that is called, errors.

use crate::clients::{Instance, Late, Log, call, hi, hi_with, poll, poll_ready, stack};
use crate::common::{clock, says, user};
use serde_json::{Value, json};
use std::fmt::Debug;
use std::task::Poll;
use tower::{Layer, Service};
use tower_prompt_layers::wire::OpenAiChat;
use tower_prompt_layers::{AddLayer, Call, Context, OpenCallLayer, OpenLayer, PromptRequest, RenderLayer, Session, Settings};
use tower_test::mock::{self, Handle};

type Ready = PromptRequest<Value>;

fn opened() -> Ready {
    PromptRequest::open(&OpenAiChat, hi(), Context::default(), &Settings::default())
}

/// A layer's service is ready when its inner one is, fails when that fails, and asks anew for each call.
async fn hands_readiness_on<T: Send + 'static, R>(
    layer: impl Layer<mock::Mock<T, Value>, Service: Service<R, Error: Debug>>,
    request: fn() -> R,
) {
    let (inner, mut handle): (_, Handle<T, Value>) = mock::pair();
    let mut service = layer.layer(inner);
    handle.allow(0);
    assert!(poll_ready(&mut service).is_pending());
    handle.allow(1);
    assert!(matches!(poll_ready(&mut service), Poll::Ready(Ok(()))));
    let answer = service.call(request());
    let (_, respond) = handle.next_request().await.unwrap();
    assert!(poll_ready(&mut service).is_pending(), "no second call was allowed");
    respond.send_response(json!("done"));
    assert!(answer.await.is_ok());
    handle.send_error("closed");
    assert!(matches!(poll_ready(&mut service), Poll::Ready(Err(_))));
}

#[tokio::test]
async fn open_hands_readiness_on() {
    hands_readiness_on::<Ready, _>(OpenLayer::new(OpenAiChat, &Settings::default()), hi).await;
}
#[tokio::test]
async fn open_call_hands_readiness_on() {
    let call = || Call::new(hi(), Context::default());
    hands_readiness_on::<Ready, _>(OpenCallLayer::new(OpenAiChat, &Settings::default()), call).await;
}
#[tokio::test]
async fn add_hands_readiness_on() {
    hands_readiness_on::<Ready, _>(AddLayer(clock("1")), opened).await;
}
#[tokio::test]
async fn render_hands_readiness_on() {
    hands_readiness_on::<Value, _>(RenderLayer::new(OpenAiChat), opened).await;
}
#[tokio::test]
async fn a_stack_hands_readiness_on() {
    hands_readiness_on::<Value, _>(stack(&Session::new()).with(clock("1")), hi).await;
    let call = || Call::new(hi(), Context::default());
    hands_readiness_on::<Value, _>(stack(&Session::new()).per_call(), call).await;
}

#[tokio::test]
async fn where_nothing_is_late_the_instance_that_was_polled_ready_is_called() {
    let log = Log::default();
    let mut service = stack(&Session::new()).with(clock("1")).layer(Instance::first(&log));
    for _ in 0..2 {
        assert_eq!(call(&mut service, hi()).await, Ok(hi_with("1")));
        assert_eq!(log.take(), ["ready 0", "called 0"]);
    }
}

#[tokio::test]
async fn with_late_texts_the_ready_instance_is_given_back_and_a_fresh_clone_readied() {
    let (log, mut late) = (Log::default(), Late::new());
    let mut service = stack(&Session::new()).with(late.layer()).layer(Instance::first(&log));
    let mut answer = call(&mut service, hi());
    assert_eq!(log.take(), ["ready 0", "given back 0"], "before the text is waited for");
    assert!(poll(&mut answer).is_pending());
    assert_eq!(log.take(), Vec::<String>::new());
    late.comes("1");
    assert_eq!(answer.await, Ok(hi_with("1")));
    let [readied, called] = &log.take()[..] else { panic!("readied and called") };
    assert_eq!(readied.strip_prefix("ready "), called.strip_prefix("called "));
    assert_ne!(readied, "ready 0");
    // the service goes on, with an instance that asks for its own readiness
    let again = call(&mut service, hi()).await;
    assert_eq!(again, Ok(hi_with("1")), "a settled place waits for nothing");
    assert_eq!(log.take().len(), 2);
}

#[tokio::test]
async fn with_late_texts_back_pressure_is_respected_when_they_are_there() {
    let (inner, mut handle) = mock::pair::<Value, Value>();
    let mut late = Late::new();
    let mut service = stack(&Session::new()).with(late.layer()).layer(inner);
    handle.allow(1);
    let mut answer = call(&mut service, hi());
    handle.allow(0);
    late.comes("1");
    assert!(poll(&mut answer).is_pending());
    assert!(handle.poll_request().is_pending(), "it isn't called before it is ready");
    handle.allow(1);
    assert!(poll(&mut answer).is_pending());
    let (request, respond) = handle.next_request().await.unwrap();
    assert_eq!(request, hi_with("1"));
    respond.send_response(json!("done"));
    assert_eq!(answer.await.unwrap(), "done");
}

#[tokio::test]
async fn an_error_of_the_call_passes_through_unchanged() {
    let (inner, mut handle) = mock::pair::<Value, Value>();
    let mut service = stack(&Session::new()).layer(inner);
    let answer = call(&mut service, hi());
    handle.next_request().await.unwrap().1.send_error(std::fmt::Error);
    assert!(answer.await.unwrap_err().is::<std::fmt::Error>());
}

#[tokio::test]
async fn an_error_of_the_readiness_behind_late_texts_passes_through_unchanged() {
    let (inner, mut handle) = mock::pair::<Value, Value>();
    let mut late = Late::new();
    let mut service = stack(&Session::new()).with(late.layer()).layer(inner);
    let mut answer = call(&mut service, hi());
    assert!(poll(&mut answer).is_pending());
    handle.send_error(std::fmt::Error);
    late.comes("1");
    assert!(answer.await.unwrap_err().is::<std::fmt::Error>());
}

#[tokio::test]
async fn clones_are_independent() {
    let session = Session::new();
    let (inner, mut handle) = mock::pair::<Value, Value>();
    let mut one = stack(&session).with(clock("1")).layer(inner);
    assert!(poll_ready(&mut one).is_ready());
    handle.allow(0);
    let mut other = one.clone();
    assert!(poll_ready(&mut other).is_pending(), "the readiness of one is not the other's");
    handle.allow(2);
    assert!(poll_ready(&mut other).is_ready());
    let first = other.call(hi());
    drop(other);
    let second = one.call(crate::common::body(&[user("hi"), says("ok"), user("two")]));
    for _ in 0..2 {
        let (request, respond) = handle.next_request().await.unwrap();
        respond.send_response(request);
    }
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    assert_eq!(first, hi_with("1"));
    assert_eq!(second["messages"][0], first["messages"][0], "and yet they speak in one conversation");
}
