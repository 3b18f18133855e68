//! A host's own judgement of which skills fit a message, in the place of the words'.

use crate::skill::{SkillId, SkillSummary};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use tower::Service;

/// What a host's classifier is asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SkillQuestion {
    /// The user's newest message.
    pub text: Arc<str>,
    /// The skills that may be suggested, the likeliest by the words of the message first, then by id.
    pub candidates: Arc<[Arc<SkillSummary>]>,
}

type Asked = Pin<Box<dyn Future<Output = Result<Vec<SkillId>, String>> + Send>>;

/// A service that answers with the ids of skills that fit, whatever its type.
#[derive(Clone)]
pub(crate) struct SkillClassifier(Arc<dyn Fn(SkillQuestion) -> Asked + Send + Sync>);

impl SkillClassifier {
    pub(crate) fn new<S>(service: S) -> Self
    where
        S: Service<SkillQuestion, Response = Vec<SkillId>, Error: fmt::Display, Future: Send> + Clone + Send + 'static,
    {
        // What is shared must be `Sync`, and services seldom are.
        let service = Mutex::new(service);
        Self(Arc::new(move |question| {
            let mut service = service.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Box::pin(async move {
                let failed = |error: S::Error| error.to_string();
                poll_fn(|cx| service.poll_ready(cx)).await.map_err(failed)?;
                service.call(question).await.map_err(failed)
            })
        }))
    }

    pub(crate) fn ask(&self, text: Arc<str>, candidates: Arc<[Arc<SkillSummary>]>) -> Asked {
        (self.0)(SkillQuestion { text, candidates })
    }
}

impl fmt::Debug for SkillClassifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillClassifier").finish_non_exhaustive()
    }
}
