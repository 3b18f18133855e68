//! Blocking work off the async executor, whichever executor that is.

use tokio::sync::oneshot;

/// Runs `work` on a thread of its own. `None` if it panicked, or no thread was to be had. Dropping the future leaves the thread to end by itself.
pub(crate) fn off_the_executor<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> impl Future<Output = Option<T>> + Send {
    let (sender, receiver) = oneshot::channel();
    let thread = std::thread::Builder::new().name("tower-prompt".into()).spawn(move || {
        // Nobody waits any more: the result is of no use.
        let _ = sender.send(work());
    });
    async move {
        thread.ok()?;
        receiver.await.ok()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Wake, Waker};

    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    /// Waits for a future without a runtime.
    pub(crate) fn wait<F: Future>(future: F) -> F::Output {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut future = pin!(future);
        loop {
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => return output,
                Poll::Pending => std::thread::park(),
            }
        }
    }

    #[test]
    fn a_result_comes_back_and_a_panic_is_none() {
        assert_eq!(wait(off_the_executor(|| 1 + 1)), Some(2));
        assert_eq!(wait(off_the_executor(|| -> u8 { panic!("on purpose") })), None);
    }
}
