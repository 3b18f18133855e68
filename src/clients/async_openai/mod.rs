//! [async-openai](https://docs.rs/async-openai): Chat Completions and Responses.
//!
//! ```no_run
//! use async_openai::{Client, types::chat::CreateChatCompletionRequest};
//! use tower::{Layer, Service, ServiceExt};
//! use tower_prompt::clients::async_openai::{AsyncOpenAi, Chat, ChatStream};
//! use tower_prompt::layers::{PromptStack, Settings, SystemPromptLayer};
//!
//! # async fn run(request: CreateChatCompletionRequest) -> Result<(), async_openai::error::OpenAIError> {
//! let stack = PromptStack::new(AsyncOpenAi, Settings::default()).with(SystemPromptLayer::default());
//! let mut client = stack.layer(Chat(Client::new()));
//! let answer = client.ready().await?.call(request.clone()).await?;
//!
//! // The same as a stream, which is the crate's own.
//! let stream = stack.layer(ChatStream(Client::new())).oneshot(request).await?;
//! # Ok(()) }
//! ```
//!
//! Text stands where it stands in JSON ([`OpenAiChat`](crate::layers::wire::OpenAiChat),
//! [`OpenAiResponses`](crate::layers::wire::OpenAiResponses)), byte for byte. A message that nothing is added to or taken from is moved, not rewritten.

mod chat;
mod items;
mod responses;

use ::async_openai::config::Config;
use ::async_openai::error::OpenAIError;
use ::async_openai::types::chat::{ChatCompletionResponseStream, CreateChatCompletionRequest, CreateChatCompletionResponse};
use ::async_openai::types::responses::{CreateResponse, Response, ResponseStream};
use ::async_openai::{Client, config::OpenAIConfig};
use std::fmt;
use std::pin::Pin;
use std::task::{Context as Cx, Poll};
use tower::Service;

/// The wire of both request types.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AsyncOpenAi;

/// A call of the client.
pub type Answering<T> = Pin<Box<dyn Future<Output = Result<T, OpenAIError>> + Send>>;

// One type for each call, so that a service takes one type of request: what it is asked for needs no annotation.
macro_rules! service {
    ($(#[$doc:meta])* $client:ident: $api:ident.$create:ident, $request:ty => $response:ty) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $client<C: Config = OpenAIConfig>(pub Client<C>);

        impl<C: Config + Clone + 'static> Service<$request> for $client<C> {
            type Response = $response;
            type Error = OpenAIError;
            type Future = Answering<$response>;
            fn poll_ready(&mut self, _: &mut Cx<'_>) -> Poll<Result<(), OpenAIError>> {
                Poll::Ready(Ok(()))
            }
            fn call(&mut self, request: $request) -> Self::Future {
                let client = self.0.clone();
                Box::pin(async move { client.$api().$create(request).await })
            }
        }

        impl<C: Config> fmt::Debug for $client<C> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // The client's own would show what it is configured with.
                f.debug_struct(stringify!($client)).finish_non_exhaustive()
            }
        }
    };
}

service! {
    /// Chat Completions, answered in whole.
    Chat: chat.create, CreateChatCompletionRequest => CreateChatCompletionResponse
}
service! {
    /// Chat Completions, answered with the crate's own stream.
    ChatStream: chat.create_stream, CreateChatCompletionRequest => ChatCompletionResponseStream
}
service! {
    /// Responses, answered in whole.
    Responses: responses.create, CreateResponse => Response
}
service! {
    /// Responses, answered with the crate's own stream.
    ResponsesStream: responses.create_stream, CreateResponse => ResponseStream
}
