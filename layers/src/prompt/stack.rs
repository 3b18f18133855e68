//! The stack: one layer that can be named, cloned, applied to any client, or used without tower.

use super::add::Add;
use super::open::{Open, OpenCall, OpenCallLayer, OpenLayer, PromptRequest};
use super::render::{Join, Render, RenderLayer, Stored};
use super::turn::{Contribute, Prompt, Turn};
use super::{Context, Settings};
use crate::wire::Wire;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use tower::Layer;

/// The layers of a [`PromptStack`], in their order.
#[derive(Clone, Default)]
pub struct Parts(Vec<Part>);

#[derive(Clone)]
struct Part {
    /// Asked once: to cut it out of the name of a type at each request would cost more than some layers do.
    name: &'static str,
    layer: Arc<dyn Contribute>,
}

impl Contribute for Parts {
    fn contribute(&self, turn: &Turn, prompt: &mut Prompt) {
        for part in &self.0 {
            prompt.layer = part.name;
            part.layer.contribute(turn, prompt);
        }
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|part| part.name)).finish()
    }
}

/// A wire, settings and layers: a tower layer around any client of the wire's requests. The order of its layers is the order of their fragments
/// within a tier.
///
/// ```
/// use serde_json::{Value, json};
/// use std::convert::Infallible;
/// use tower::{Layer, ServiceExt, service_fn};
/// use tower_prompt_layers::{Fragment, Prompt, PromptStack, Settings, SystemPromptLayer, Tier, Turn, wire::OpenAiChat};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let stack = PromptStack::new(OpenAiChat, Settings::default())
///     .with(SystemPromptLayer::replaced("You are a careful engineer."))
///     .with(|_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Turn, || Fragment::new("weather", "It rains.")));
///
/// let echo = service_fn(|request: Value| async move { Ok::<_, Infallible>(request) });
/// let sent = stack.layer(echo).oneshot(json!({"messages": [{"role": "user", "content": "hi"}]})).await.unwrap();
///
/// assert_eq!(sent["messages"][0]["content"], "You are a careful engineer.");
/// assert_eq!(sent["messages"][1]["content"], "hi\n\n<context origin=\"host\">\nIt rains.\n</context>");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PromptStack<W> {
    wire: W,
    settings: Settings,
    parts: Parts,
}

impl<W> PromptStack<W> {
    /// Without a layer yet.
    pub fn new(wire: W, settings: Settings) -> Self {
        Self { wire, settings, parts: Parts::default() }
    }
    /// With this layer behind the others.
    pub fn with(mut self, part: impl Contribute + 'static) -> Self {
        self.parts.0.push(Part { name: part.name(), layer: Arc::new(part) });
        self
    }
    /// The same layers and settings for another wire.
    pub fn for_wire<V>(self, wire: V) -> PromptStack<V> {
        PromptStack { wire, settings: self.settings, parts: self.parts }
    }
    /// The same stack with this context: one conversation's.
    pub fn context(mut self, context: Context) -> Self {
        self.settings.context = context;
        self
    }
    /// The stack as a layer for many conversations, each call with its own context: a `Service<Call<R>>`.
    pub fn per_call(self) -> PerCall<W> {
        PerCall(self)
    }
    /// The request as it would be sent, without tower. `context` is all that the host says of it: the stack's own is not looked at. As with
    /// [`per_call`](Self::per_call), without a session or a scope each request is a conversation of its own.
    pub async fn assemble<R>(&self, request: R, context: Context) -> R
    where
        W: Wire<R>,
    {
        self.finish(self.begin(request, context)).await
    }
    /// The first half of [`assemble`](Self::assemble): opened and collected, and nothing settled yet.
    pub fn begin<R>(&self, request: R, context: Context) -> PromptRequest<R>
    where
        W: Wire<R>,
    {
        let settings = Settings { is_per_call: true, ..self.settings.clone() };
        let mut request = PromptRequest::open_with(&self.wire, request, context, settings);
        request.collect(&self.parts);
        request
    }
    /// The second half of [`assemble`](Self::assemble): late texts are waited for, then it is settled and written.
    pub async fn finish<R>(&self, mut request: PromptRequest<R>) -> R
    where
        W: Wire<R>,
    {
        let mut join = Join::of(&mut request);
        let entries = poll_fn(|cx| join.poll(cx)).await;
        let settled = match Stored::of(request.settle(entries)) {
            Ok(settled) => settled,
            Err(mut stored) => {
                poll_fn(|cx| stored.poll(&self.wire, cx)).await;
                stored.into_settled()
            }
        };
        settled.write(&self.wire)
    }
}

impl<S, W: Clone> Layer<S> for PromptStack<W> {
    type Service = Open<Add<Render<S, W>, Parts>, W>;
    fn layer(&self, inner: S) -> Self::Service {
        let render = RenderLayer::new(self.wire.clone()).layer(inner);
        OpenLayer::new(self.wire.clone(), &self.settings).layer(Add::new(render, self.parts.clone()))
    }
}

/// The stack with a context in each call. See [`PromptStack::per_call`].
#[derive(Clone, Debug)]
pub struct PerCall<W>(PromptStack<W>);

impl<S, W: Clone> Layer<S> for PerCall<W> {
    type Service = OpenCall<Add<Render<S, W>, Parts>, W>;
    fn layer(&self, inner: S) -> Self::Service {
        let PromptStack { wire, settings, parts } = &self.0;
        let render = RenderLayer::new(wire.clone()).layer(inner);
        OpenCallLayer::new(wire.clone(), settings).layer(Add::new(render, parts.clone()))
    }
}
