//! Any provider, as a value.

use super::{
    InvokeSkillRequest, InvokeSkillResponse, SkillContextRequest, SkillContextResponse, SkillError, SkillProvider, SkillRequest,
    SkillResponse,
};
use crate::skill::{SkillId, SkillList, SkillManifest};
use crate::{SharedAnswer, SharedService};
use std::task::{Context, Poll};
use tower::Service;

/// An answer under way.
pub type Answering = SharedAnswer<SkillResponse, SkillError>;

/// Any [`SkillProvider`], as a value that is cheap to clone, and again a provider.
#[derive(Clone, Debug)]
pub struct SharedProvider(SharedService<SkillRequest, SkillResponse, SkillError>);

impl SharedProvider {
    /// Asks this service. Each call goes to a clone, which is polled until it is ready first.
    pub fn new<S>(provider: S) -> Self
    where
        S: SkillProvider + Clone + Send + 'static,
        S::Future: Send,
    {
        Self(SharedService::new(provider, |error| error))
    }
    /// Asks. What comes is an answer to this request.
    pub async fn ask(&self, request: SkillRequest) -> Result<SkillResponse, SkillError> {
        self.0.ask(request.clone()).await?.to(&request)
    }
    /// All its skills.
    pub async fn list(&self) -> Result<SkillList, SkillError> {
        match self.ask(SkillRequest::List).await? {
            SkillResponse::List(list) => Ok(list),
            other => Err(wrong(&other)),
        }
    }
    /// One skill in full, but for its body.
    pub async fn describe(&self, skill: SkillId) -> Result<SkillManifest, SkillError> {
        match self.ask(SkillRequest::Describe { skill }).await? {
            SkillResponse::Describe { manifest } => Ok(*manifest),
            other => Err(wrong(&other)),
        }
    }
    /// The instructions of a skill.
    pub async fn context(&self, request: SkillContextRequest) -> Result<SkillContextResponse, SkillError> {
        match self.ask(SkillRequest::Context(request)).await? {
            SkillResponse::Context(context) => Ok(context),
            other => Err(wrong(&other)),
        }
    }
    /// What a skill does by itself.
    pub async fn invoke(&self, request: InvokeSkillRequest) -> Result<InvokeSkillResponse, SkillError> {
        match self.ask(SkillRequest::Invoke(request)).await? {
            SkillResponse::Invoke(response) => Ok(response),
            other => Err(wrong(&other)),
        }
    }
}

fn wrong(response: &SkillResponse) -> SkillError {
    SkillError::invalid(format!("`{}` answers something else", response.kind()))
}

impl Service<SkillRequest> for SharedProvider {
    type Response = SkillResponse;
    type Error = SkillError;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), SkillError>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: SkillRequest) -> Answering {
        self.0.ask(request)
    }
}
