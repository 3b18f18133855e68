//! A service of the host's, whatever its type, as a value.

use crate::sync::Mutex;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use tower::Service;

/// The answer of a [`SharedService`].
pub type SharedAnswer<A, E> = Pin<Box<dyn Future<Output = Result<A, E>> + Send>>;

/// Any `tower::Service` from a question to an answer. Cheap to clone, and `Sync`, which services need not be: what selects, classifies, confirms or
/// provides for a layer is given to it as one.
///
/// ```
/// use std::convert::Infallible;
/// use tower::service_fn;
/// use tower_prompt_layers::SharedService;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let length = service_fn(|text: String| async move { Ok::<_, Infallible>(text.len()) });
/// let length: SharedService<String, usize, String> = SharedService::new(length, |never| match never {});
/// assert_eq!(length.ask("three".into()).await, Ok(5));
/// # }
/// ```
pub struct SharedService<Q, A, E>(Arc<dyn Fn(Q) -> SharedAnswer<A, E> + Send + Sync>);

impl<Q: Send + 'static, A: 'static, E: 'static> SharedService<Q, A, E> {
    /// Each question goes to a clone, which is polled until it is ready first; `error` says what its errors are here.
    pub fn new<S>(service: S, error: fn(S::Error) -> E) -> Self
    where
        S: Service<Q, Response = A> + Clone + Send + 'static,
        S::Future: Send,
    {
        // Nothing but the clone happens under the lock.
        let service = Mutex::new(service);
        Self(Arc::new(move |question| {
            let mut service = service.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Box::pin(async move {
                poll_fn(|cx| service.poll_ready(cx)).await.map_err(error)?;
                service.call(question).await.map_err(error)
            })
        }))
    }
    /// Asks.
    pub fn ask(&self, question: Q) -> SharedAnswer<A, E> {
        (self.0)(question)
    }
}

impl<Q, A, E> Clone for SharedService<Q, A, E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Q, A, E> fmt::Debug for SharedService<Q, A, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedService").finish_non_exhaustive()
    }
}
