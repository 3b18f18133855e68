//! The ways into a stack, and what a request is for.

use crate::common::*;
use serde_json::json;
use std::time::Duration;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, limit::ConcurrencyLimitLayer, service_fn};
use tower_prompt_layers::wire::OpenAiChat;
use tower_prompt_layers::{
    AddLayer, Call, Context, Fragment, OpenLayer, Prompt, PromptStack, Purpose, RenderLayer, Report, Round, Session, Settings, Tier, Turn,
};

#[tokio::test]
async fn three_ways_in_give_the_same_bytes() {
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(base()).with(clock("12:00"));
    let by_stack = stack.layer(service_fn(echo)).oneshot(body(&[user("hi")])).await.unwrap();
    let by_hand = ServiceBuilder::new()
        .layer(OpenLayer::new(OpenAiChat, &Settings::default()))
        .layer(base())
        .layer(AddLayer(clock("12:00")))
        .layer(RenderLayer::new(OpenAiChat))
        .service(service_fn(echo));
    assert_eq!(by_stack, by_hand.oneshot(body(&[user("hi")])).await.unwrap());
    assert_eq!(by_stack, stack.assemble(body(&[user("hi")]), Context::default()).await);
    assert_eq!(texts(&by_stack), ["BASE", &behind("hi", "12:00")]);
}

#[tokio::test]
async fn it_boxes_and_buffers() {
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(base()).per_call();
    let service = ServiceBuilder::new().layer(stack).service(service_fn(echo));
    let boxed = tower::util::BoxCloneSyncService::new(service);
    let (mut buffered, worker) = tower::buffer::Buffer::pair(boxed, 4);
    tokio::spawn(worker);
    let call = Call::new(body(&[user("hi")]), Context::default());
    let sent = buffered.ready().await.unwrap().call(call).await.unwrap();
    assert_eq!(texts(&sent), ["BASE", "hi"]);
}

#[tokio::test(start_paused = true)]
async fn late_texts_wait_side_by_side_and_may_use_the_same_limited_client() {
    let client = ServiceBuilder::new().layer(ConcurrencyLimitLayer::new(1)).service(service_fn(echo));
    let same = client.clone();
    let selector = move |_: &Turn, prompt: &mut Prompt| {
        let same = same.clone();
        prompt.add_later(Tier::Turn, move || async move {
            let chosen = same.oneshot(json!("chosen")).await.unwrap();
            tokio::time::sleep(Duration::from_secs(1)).await;
            [Fragment::new("invariants", chosen.to_string())]
        });
    };
    let git = |_: &Turn, prompt: &mut Prompt| {
        prompt.add_later(Tier::Turn, || async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            None::<Fragment>
        });
    };
    let report = Report::default();
    let settings = Settings::default().context(Context::default().report(report.clone()));
    let mut service = PromptStack::new(OpenAiChat, settings).with(selector).with(git).layer(client);
    let start = tokio::time::Instant::now();
    let sent = service.ready().await.unwrap().call(body(&[user("hi")])).await.unwrap();
    assert!(sent.to_string().contains("chosen"));
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    assert_eq!(report.manifest().unwrap().said(), ["invariants"]);
}

#[tokio::test]
async fn bare_is_untouched_and_runs_no_layer() {
    let layer = |_: &Turn, _: &mut Prompt| panic!("a layer ran");
    let context = Context::default().purpose(Purpose::Bare);
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(layer).context(context.clone());
    let request = body(&[user("a title for this?")]);
    assert_eq!(stack.assemble(request.clone(), context).await, request);
    assert_eq!(stack.layer(service_fn(echo)).oneshot(request.clone()).await.unwrap(), request);
}

#[tokio::test]
async fn the_same_prefix_before_the_start_is_what_the_start_sends_and_is_not_kept() {
    let chat = chat(OpenAiChat);
    chat.world.is("clock", "1");
    let context = chat.context().purpose(Purpose::SamePrefix);
    let counted = chat.stack.assemble(body(&[user("hi")]), context).await;
    assert_eq!(chat.session.places(), 0);
    assert_eq!(counted, chat.send(&[user("hi")]).await);
}

#[tokio::test]
async fn the_same_prefix_later_is_what_was_sent_and_nothing_new() {
    let chat = chat(OpenAiChat);
    chat.world.is("clock", "1");
    let sent = chat.send(&[user("hi")]).await;
    chat.world.is("clock", "2");
    let summary = [user("hi"), says("ok"), user("summarise")];
    let request = chat.stack.begin(body(&summary), chat.context().purpose(Purpose::SamePrefix));
    assert_eq!(request.turn.round, Round::Settled);
    let summary = chat.stack.finish(request).await;
    assert_eq!(messages(&summary)[..1], messages(&sent));
    assert_eq!(last(&summary), "summarise");
    assert_eq!(chat.session.places(), 1);
}

#[tokio::test]
async fn without_a_session_or_a_table_each_request_stands_for_itself() {
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(clock("1"));
    let first = stack.assemble(body(&[user("hi")]), Context::default()).await;
    let second = stack.assemble(body(&[user("hi"), says("ok"), user("two")]), Context::default()).await;
    assert_eq!(texts(&first), [behind("hi", "1")]);
    assert_eq!(texts(&second), ["hi", "ok", &behind("two", "1")]);
    let session = Session::new();
    stack.assemble(body(&[user("hi")]), Context::default().session(session.clone())).await;
    let second = stack.assemble(body(&[user("hi"), says("ok"), user("two")]), Context::default().session(session)).await;
    assert_eq!(texts(&second), [&behind("hi", "1"), "ok", "two"]);
}
