//! Each built-in layer is a tower layer in its own right: readiness and errors pass through it, its future is the inner service's own, its clones
//! are independent, and by hand it says what it says in a stack.

use super::stage::{skill, skills};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::task::Poll;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use tower_prompt_layers::skill::SkillId;
use tower_prompt_layers::wire::OpenAiChat;
use tower_prompt_layers::{
    ActiveSkillsLayer, Contribute, Document, InvariantsLayer, OpenLayer, PromptRequest, PromptStack, RenderLayer, SectionsLayer, Session,
    Settings, SkillActivationLayer, SkillCatalogLayer, SkillToolLayer, SystemPromptLayer, TextSection, Tier, UserAuthorityLayer,
};

fn settings() -> Settings {
    let session = Session::new();
    session.activate(SkillId::new("rust").unwrap(), None);
    let context = tower_prompt_layers::Context::default().session(session);
    Settings::default().skills(skills([skill("rust", &["cargo"], "BODY"), skill("sql", &["sql"], "")])).context(context)
}

async fn keeps_the_contract<L>(layer: L)
where
    L: Contribute + Clone + 'static,
    L: Layer<RenderOfEcho> + Layer<tower_test::mock::Mock<PromptRequest<Value>, ()>>,
    <L as Layer<RenderOfEcho>>::Service: Service<PromptRequest<Value>, Response = Value, Error = Infallible> + Clone,
    <L as Layer<tower_test::mock::Mock<PromptRequest<Value>, ()>>>::Service:
        Service<PromptRequest<Value>, Response = (), Error = tower::BoxError>,
{
    // Readiness is the inner service's, and so is its error.
    let (mock, mut handle) = tower_test::mock::pair::<PromptRequest<Value>, ()>();
    let mut service = layer.layer(mock);
    handle.allow(0);
    let pending = std::future::poll_fn(|cx| Poll::Ready(service.poll_ready(cx).is_pending())).await;
    assert!(pending, "{} hides that the inner service is not ready", layer.name());
    let fails = async { handle.send_error("inner") };
    let (ready, ()) = tokio::join!(std::future::poll_fn(|cx| service.poll_ready(cx)), fails);
    assert_eq!(ready.unwrap_err().to_string(), "inner", "{} changes an error", layer.name());

    // By hand it says what it says in a stack.
    let request = || json!({"messages": [{"role": "user", "content": "cargo and sql"}]});
    let by_hand =
        ServiceBuilder::new().layer(OpenLayer::new(OpenAiChat, &settings())).service(Layer::<RenderOfEcho>::layer(&layer, render()));
    let clone = by_hand.clone();
    let in_a_stack = PromptStack::new(OpenAiChat, settings()).with(layer.clone()).layer(service_fn(echo as Echo));
    let sent = in_a_stack.oneshot(request()).await.unwrap();
    assert_eq!(by_hand.oneshot(request()).await.unwrap(), sent, "{}", layer.name());
    assert_eq!(clone.oneshot(request()).await.unwrap(), sent, "a clone of {}", layer.name());
    assert_ne!(sent, request(), "{} adds something", layer.name());
}

type Echo = fn(Value) -> std::future::Ready<Result<Value, Infallible>>;
type RenderOfEcho = tower_prompt_layers::Render<tower::util::ServiceFn<Echo>, OpenAiChat>;

fn echo(request: Value) -> std::future::Ready<Result<Value, Infallible>> {
    std::future::ready(Ok(request))
}
fn render() -> RenderOfEcho {
    RenderLayer::new(OpenAiChat).layer(service_fn(echo as Echo))
}

#[tokio::test]
async fn every_built_in_layer_keeps_towers_contract() {
    keeps_the_contract(SystemPromptLayer::default()).await;
    keeps_the_contract(UserAuthorityLayer).await;
    keeps_the_contract(InvariantsLayer::full(Document::new("* One."))).await;
    keeps_the_contract(SectionsLayer::default().with(TextSection::new("a", Tier::Turn, "b"))).await;
    keeps_the_contract(SkillCatalogLayer::default()).await;
    keeps_the_contract(ActiveSkillsLayer::default()).await;
    keeps_the_contract(SkillActivationLayer::default()).await;
    keeps_the_contract(SkillToolLayer::default()).await;
}
