//! A service of the host's, whatever its type.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use tower::{BoxError, Service};

pub(super) type Answering<A> = Pin<Box<dyn Future<Output = Result<A, BoxError>> + Send>>;

/// Cheap to clone, and `Sync`, which services need not be.
pub(super) struct Asked<Q, A>(Arc<dyn Fn(Q) -> Answering<A> + Send + Sync>);

impl<Q: Send + 'static, A> Asked<Q, A> {
    /// Each question goes to a clone, which is polled until it is ready first.
    pub(super) fn new<S>(service: S) -> Self
    where
        S: Service<Q, Response = A> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
    {
        // Nothing but the clone happens under the lock.
        let service = Mutex::new(service);
        Self(Arc::new(move |question| {
            let mut service = service.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Box::pin(async move {
                poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into)?;
                service.call(question).await.map_err(Into::into)
            })
        }))
    }
    pub(super) fn ask(&self, question: Q) -> Answering<A> {
        (self.0)(question)
    }
}

impl<Q, A> Clone for Asked<Q, A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
impl<Q, A> fmt::Debug for Asked<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked").finish_non_exhaustive()
    }
}
