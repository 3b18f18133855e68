//! Add: each layer of the prompt as a tower layer. All of them share one service, whose future is the inner service's own.

use super::open::PromptRequest;
use super::turn::Contribute;
use std::task::{Context as Cx, Poll};
use tower::{Layer, Service};

/// The one service of all prompt layers: lets its layer add to the prompt, and passes the request on.
#[derive(Clone, Debug)]
pub struct Add<S, C> {
    inner: S,
    layer: C,
}

impl<S, C> Add<S, C> {
    /// `layer` before `inner`.
    pub fn new(inner: S, layer: C) -> Self {
        Self { inner, layer }
    }
}

impl<S: Service<PromptRequest<R>>, C: Contribute, R> Service<PromptRequest<R>> for Add<S, C> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;
    fn poll_ready(&mut self, cx: &mut Cx<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }
    fn call(&mut self, mut request: PromptRequest<R>) -> S::Future {
        request.collect(&self.layer);
        self.inner.call(request)
    }
}

/// Makes a tower layer of anything that contributes. The built-in layers are tower layers themselves.
///
/// ```
/// use serde_json::{Value, json};
/// use std::convert::Infallible;
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_prompt_layers::{AddLayer, Fragment, OpenLayer, Prompt, RenderLayer, Settings, Tier, Turn, wire::OpenAiChat};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let weather = |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Turn, || Fragment::new("weather", "It rains."));
/// let client = ServiceBuilder::new()
///     .layer(OpenLayer::new(OpenAiChat, &Settings::default()))
///     .layer(AddLayer(weather))
///     .layer(RenderLayer::new(OpenAiChat))
///     .service(service_fn(|request: Value| async move { Ok::<_, Infallible>(request) }));
///
/// let sent = client.oneshot(json!({"messages": [{"role": "user", "content": "hi"}]})).await.unwrap();
/// assert!(sent["messages"][0]["content"].as_str().unwrap().contains("It rains."));
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AddLayer<C>(pub C);

impl<S, C: Clone> Layer<S> for AddLayer<C> {
    type Service = Add<S, C>;
    fn layer(&self, inner: S) -> Add<S, C> {
        Add { inner, layer: self.0.clone() }
    }
}

/// Makes each built-in layer a tower layer in its own right.
macro_rules! impl_tower_layer {
    ($($layer:ty),+ $(,)?) => {$(
        impl<S> tower::Layer<S> for $layer {
            type Service = $crate::prompt::Add<S, Self>;
            fn layer(&self, inner: S) -> Self::Service {
                $crate::prompt::Add::new(inner, self.clone())
            }
        }
    )+};
}
pub(crate) use impl_tower_layer;
