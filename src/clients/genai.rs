//! [genai](https://docs.rs/genai): one request type for many providers.
//!
//! ```no_run
//! use genai::{Client, chat::ChatRequest};
//! use tower::{Layer, Service, ServiceExt};
//! use tower_prompt::clients::genai::{Chat, ChatStream, GenAi};
//! use tower_prompt::layers::{PromptStack, Settings, SystemPromptLayer};
//!
//! # async fn run() -> Result<(), genai::Error> {
//! let stack = PromptStack::new(GenAi, Settings::default()).with(SystemPromptLayer::default());
//! let mut client = stack.layer(Chat::new(Client::new()?, "gpt-5-mini"));
//! let answer = client.ready().await?.call(ChatRequest::from_user("hi")).await?;
//!
//! // The same as a stream, which is the crate's own.
//! let stream = stack.layer(ChatStream::new(Client::new()?, "gpt-5-mini")).oneshot(ChatRequest::from_user("hi")).await?;
//! # Ok(()) }
//! ```
//!
//! | what | where |
//! | --- | --- |
//! | system prompt | `system`, ahead of the caller's own words and of system messages |
//! | text at a user message | behind its content: one text stays one, more parts get a text part |
//! | text in a tool round | a user message behind the last results |
//!
//! Where a cache is to be marked and by which key it is found are options of the client's, not of a request: the stack sets neither.

use super::{describe, parts};
use crate::layers::wire::{Conversation, Edits, HeldHistory, Role, ToolCall, Wire};
use ::genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponse, ChatRole, ChatStreamResponse, ContentPart, MessageContent, Tool, ToolName,
};
use ::genai::{Client, Error, ModelSpec};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Cx, Poll};
use tower::Service;

/// The wire of chat requests. They don't name their model: [`Context::model`](crate::layers::Context::model) does, where profiles go by it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct GenAi;

impl parts::Part for ContentPart {
    fn kind(&self) -> parts::Kind {
        match self {
            Self::Text(text) => parts::Kind::Text(text.clone()),
            Self::ToolCall(call) => parts::Kind::Call(ToolCall::new(&call.call_id, &call.fn_name, &call.fn_arguments)),
            Self::ToolResponse(result) => parts::Kind::Result(result.call_id.clone(), result.content.chars().count()),
            Self::ThoughtSignature(_) | Self::ReasoningContent(_) => parts::Kind::NotSeen,
            media @ (Self::Binary(_) | Self::Custom(_)) => parts::Kind::Media(serde_json::to_string(media).unwrap_or_default()),
        }
    }
    fn text_mut(&mut self) -> Option<&mut String> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
    fn said(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
    fn cut(&mut self, edits: &Edits) {
        if let (Self::ToolResponse(result), Some(bound)) = (self, &edits.tool_output)
            && let Some(cut) = bound.result(&result.content)
        {
            result.content = cut;
        }
    }
}

fn name(tool: &Tool) -> Option<&str> {
    // Those of the provider have no description to change.
    if let ToolName::Custom(name) = &tool.name { Some(name) } else { None }
}

impl Wire<ChatRequest> for GenAi {
    fn read(&self, request: &ChatRequest) -> Conversation {
        let mut conversation = Conversation::default();
        conversation.system.clone_from(&request.system);
        conversation.held_by_provider = request.previous_response_id.clone().map(HeldHistory::Fixed);
        conversation.tools = request.tools.iter().flatten().filter_map(name).map(str::to_owned).collect();
        for (at, message) in request.messages.iter().enumerate() {
            let role = match message.role {
                ChatRole::System => continue,
                ChatRole::User => Role::User,
                ChatRole::Assistant => Role::Assistant,
                ChatRole::Tool => Role::Tool,
            };
            parts::read(&mut conversation, at, role, message.content.parts());
        }
        conversation
    }

    fn write(&self, mut request: ChatRequest, edits: &Edits) -> ChatRequest {
        if let Some(edit) = &edits.system {
            let callers = request.system.as_deref().unwrap_or_default();
            let system = edit.in_front_of(callers);
            if system != callers {
                request.system = Some(system).filter(|system| !system.is_empty());
            }
        }
        for tool in request.tools.iter_mut().flatten() {
            if let ToolName::Custom(name) = &tool.name {
                describe(name, &mut tool.description, edits);
            }
        }
        let edit = |message: &mut ChatMessage, at: usize| {
            let mut content = mem::take(&mut message.content).into_parts();
            parts::edit(&mut content, at, edits);
            message.content = MessageContent::from_parts(content);
        };
        request.messages = parts::edited(request.messages, edits, edit, |text| ChatMessage::user(text));
        request
    }
}

macro_rules! service {
    ($(#[$doc:meta])* $client:ident, $exec:ident => $response:ty) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $client {
            client: Client,
            model: ModelSpec,
            options: Option<Arc<ChatOptions>>,
        }

        impl $client {
            /// Sends to this model.
            pub fn new(client: Client, model: impl Into<ModelSpec>) -> Self {
                Self { client, model: model.into(), options: None }
            }
            /// With these options, in each request.
            pub fn options(mut self, options: ChatOptions) -> Self {
                self.options = Some(Arc::new(options));
                self
            }
        }

        impl Service<ChatRequest> for $client {
            type Response = $response;
            type Error = Error;
            type Future = Answering<$response>;
            fn poll_ready(&mut self, _: &mut Cx<'_>) -> Poll<Result<(), Error>> {
                Poll::Ready(Ok(()))
            }
            fn call(&mut self, request: ChatRequest) -> Self::Future {
                let Self { client, model, options } = self.clone();
                Box::pin(async move { client.$exec(model, request, options.as_deref()).await })
            }
        }
    };
}

/// A call of the client.
pub type Answering<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

service! {
    /// A client that answers in whole.
    Chat, exec_chat => ChatResponse
}
service! {
    /// A client that answers with the crate's own streams.
    ChatStream, exec_chat_stream => ChatStreamResponse
}
