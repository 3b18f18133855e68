//! [async-openai](::async_openai): Chat Completions and Responses.
//!
//! ```no_run
//! use async_openai::{Client, types::chat::CreateChatCompletionRequest};
//! use tower::{Layer, Service, ServiceExt};
//! use tower_prompt::clients::async_openai::{Answers, AsyncOpenAi, Streams};
//! use tower_prompt::layers::{PromptStack, Settings, SystemPromptLayer};
//!
//! # async fn run(request: CreateChatCompletionRequest) -> Result<(), async_openai::error::OpenAIError> {
//! let stack = PromptStack::new(AsyncOpenAi, Settings::default()).with(SystemPromptLayer::default());
//! let mut client = stack.layer(Answers(Client::new()));
//! let answer = client.ready().await?.call(request.clone()).await?;
//!
//! // The same as a stream, which is the crate's own.
//! let stream = stack.layer(Streams(Client::new())).oneshot(request).await?;
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

/// A client that answers in whole: Chat Completions and Responses, as the request is.
#[derive(Clone)]
pub struct Answers<C: Config = OpenAIConfig>(pub Client<C>);

/// A client that answers with the crate's own streams.
#[derive(Clone)]
pub struct Streams<C: Config = OpenAIConfig>(pub Client<C>);

/// A call of the client.
pub type Answering<T> = Pin<Box<dyn Future<Output = Result<T, OpenAIError>> + Send>>;

macro_rules! service {
    ($client:ident, $api:ident.$create:ident, $request:ty => $response:ty) => {
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
    };
}

service!(Answers, chat.create, CreateChatCompletionRequest => CreateChatCompletionResponse);
service!(Answers, responses.create, CreateResponse => Response);
service!(Streams, chat.create_stream, CreateChatCompletionRequest => ChatCompletionResponseStream);
service!(Streams, responses.create_stream, CreateResponse => ResponseStream);

// The client's own would show what it is configured with.
impl<C: Config> fmt::Debug for Answers<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers").finish_non_exhaustive()
    }
}
impl<C: Config> fmt::Debug for Streams<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}
