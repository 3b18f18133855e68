//! [rig](https://docs.rs/rig-core): a completion model whose requests go through a stack.
//!
//! ```no_run
//! use rig_core::completion::CompletionModel;
//! use tower_prompt::clients::rig::{Prompted, Rig};
//! use tower_prompt::layers::{PromptStack, Settings, SystemPromptLayer};
//!
//! # async fn run(model: impl CompletionModel + Clone) -> Result<(), rig_core::completion::CompletionError> {
//! let stack = PromptStack::new(Rig, Settings::default()).with(SystemPromptLayer::default());
//! let model = Prompted::new(&stack, model);
//!
//! // A model like any other: for an agent (`AgentBuilder::new(model)`), or by itself.
//! let answer = model.completion_request("hi").send().await?;
//! # Ok(()) }
//! ```
//!
//! | what | where |
//! | --- | --- |
//! | system prompt | ahead of the preamble; without one ahead of the leading system message, else one of its own at the front |
//! | text at a user message | behind its content: one text stays one, more parts get a text part |
//! | text in a tool round | a user message behind the last results |
//!
//! Documents stay where rig puts them, ahead of the conversation: those that change from turn to turn (dynamic context) cost the provider's cache.
//! Of a tool's result its texts are bounded; a value of JSON stays whole.

use super::{describe, parts};
use crate::layers::wire::{Conversation, Edits, Role, SystemEdit, ToolCall, Wire};
use crate::layers::{Add, Open, Parts, PromptStack, Render};
use ::rig_core::completion::message::{AssistantContent, ToolResultContent, UserContent};
use ::rig_core::completion::{CompletionError, CompletionModel, CompletionRequest, CompletionResponse, Message, ProviderCapabilities};
use ::rig_core::streaming::StreamingCompletionResponse;
use serde::Serialize;
use std::convert::Infallible;
use std::future::{Ready, poll_fn, ready};
use std::mem;
use std::task::{Context as Cx, Poll};
use tower::{Layer, Service};

/// The wire of completion requests.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Rig;

fn media(part: &impl Serialize) -> parts::Kind {
    parts::Kind::Media(serde_json::to_string(part).unwrap_or_default())
}

impl parts::Part for UserContent {
    fn kind(&self) -> parts::Kind {
        match self {
            Self::Text(text) => parts::Kind::Text(text.text.clone()),
            Self::ToolResult(result) => {
                let texts = result.content.iter().filter_map(ToolResultContent::as_text);
                parts::Kind::Result(result.call.as_str().to_owned(), texts.map(|text| text.chars().count()).sum())
            }
            Self::Image(_) | Self::Audio(_) | Self::Video(_) | Self::Document(_) => media(self),
        }
    }
    fn text_mut(&mut self) -> Option<&mut String> {
        if let Self::Text(text) = self { Some(&mut text.text) } else { None }
    }
    fn said(text: &str) -> Self {
        Self::text(text)
    }
    fn cut(&mut self, edits: &Edits) {
        let (Self::ToolResult(result), Some(bound)) = (self, &edits.tool_output) else { return };
        let Ok(whole) = serde_json::to_value(&result.content) else { return };
        let mut cut = whole.clone();
        bound.cut_result(&mut cut);
        if cut != whole
            && let Ok(cut) = serde_json::from_value(cut)
        {
            result.content = cut;
        }
    }
}

impl parts::Part for AssistantContent {
    fn kind(&self) -> parts::Kind {
        match self {
            Self::Text(text) => parts::Kind::Text(text.text.clone()),
            Self::ToolCall(call) => parts::Kind::Call(ToolCall::new(call.id.as_str(), &call.function.name, &call.function.arguments)),
            Self::Reasoning(_) => parts::Kind::NotSeen,
            Self::Image(_) => media(self),
        }
    }
    fn text_mut(&mut self) -> Option<&mut String> {
        if let Self::Text(text) = self { Some(&mut text.text) } else { None }
    }
    fn said(text: &str) -> Self {
        Self::text(text)
    }
    fn cut(&mut self, _: &Edits) {}
}

/// The text that providers are told first.
fn leading(request: &CompletionRequest) -> Option<&String> {
    request.preamble.as_ref().or(match request.chat_history.first() {
        Some(Message::System { content }) => Some(content),
        _ => None,
    })
}

fn lead(request: &mut CompletionRequest, edit: &SystemEdit) {
    let callers = match (&mut request.preamble, request.chat_history.first_mut()) {
        (Some(preamble), _) => preamble,
        (None, Some(Message::System { content })) => content,
        (None, _) => {
            let ours = edit.ours();
            if !ours.is_empty() {
                request.chat_history.insert(0, Message::System { content: ours.into_owned() });
            }
            return;
        }
    };
    *callers = edit.in_front_of(callers);
}

impl Wire<CompletionRequest> for Rig {
    fn read(&self, request: &CompletionRequest) -> Conversation {
        let mut conversation = Conversation::default();
        conversation.system = leading(request).cloned();
        conversation.model.clone_from(&request.model);
        conversation.tools = request.tools.iter().map(|tool| tool.name.clone()).collect();
        for (at, message) in request.chat_history.iter().enumerate() {
            match message {
                Message::System { .. } => {}
                Message::User { content } => parts::read(&mut conversation, at, Role::User, content),
                Message::Assistant { content, .. } => parts::read(&mut conversation, at, Role::Assistant, content),
            }
        }
        conversation
    }

    fn write(&self, mut request: CompletionRequest, edits: &Edits) -> CompletionRequest {
        for tool in &mut request.tools {
            let mut description = Some(mem::take(&mut tool.description));
            describe(&tool.name, &mut description, edits);
            tool.description = description.unwrap_or_default();
        }
        let edit = |message: &mut Message, at: usize| match message {
            Message::System { .. } => {}
            Message::User { content } => parts::edit(content, at, edits),
            Message::Assistant { content, .. } => parts::edit(content, at, edits),
        };
        request.chat_history = parts::edited(request.chat_history, edits, edit, |text| Message::user(text));
        if let Some(system) = &edits.system {
            lead(&mut request, system);
        }
        request
    }
}

/// A completion model whose requests go through a stack. See [the module](self).
#[derive(Clone, Debug)]
pub struct Prompted<M> {
    stack: Open<Add<Render<Assembled, Rig>, Parts>, Rig>,
    model: M,
}

impl<M> Prompted<M> {
    /// This model behind this stack.
    pub fn new(stack: &PromptStack<Rig>, model: M) -> Self {
        Self { stack: stack.layer(Assembled), model }
    }
    async fn assembled(&self, request: CompletionRequest) -> CompletionRequest {
        let mut stack = self.stack.clone();
        let Ok(()) = poll_fn(|cx| stack.poll_ready(cx)).await;
        let Ok(request) = stack.call(request).await;
        request
    }
}

impl<M: CompletionModel> CompletionModel for Prompted<M> {
    async fn completion(&self, request: CompletionRequest) -> Result<CompletionResponse, CompletionError> {
        self.model.completion(self.assembled(request).await).await
    }
    async fn stream(&self, request: CompletionRequest) -> Result<StreamingCompletionResponse, CompletionError> {
        self.model.stream(self.assembled(request).await).await
    }
    fn capabilities(&self) -> ProviderCapabilities {
        self.model.capabilities()
    }
}

/// The end of a stack that gives the request back, since a model of rig's has two ways to take it.
#[derive(Clone, Copy, Debug)]
struct Assembled;

impl Service<CompletionRequest> for Assembled {
    type Response = CompletionRequest;
    type Error = Infallible;
    type Future = Ready<Result<CompletionRequest, Infallible>>;
    fn poll_ready(&mut self, _: &mut Cx<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: CompletionRequest) -> Self::Future {
        ready(Ok(request))
    }
}
