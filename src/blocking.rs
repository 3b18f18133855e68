//! Blocking work off the async executor, whichever executor that is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use tokio::sync::oneshot;

/// Reading what lies in a folder takes no longer; a file system that does is not waited for.
pub(crate) const FILE_DEADLINE: Duration = Duration::from_secs(5);

/// So much work may be late at once; then nothing new is begun with a deadline until some of it ends.
const MAX_LATE: usize = 32;
static LATE: AtomicUsize = AtomicUsize::new(0);

/// As [`off_the_executor`]; `None` also where `work` takes longer than `deadline`. It can't be stopped, and ends by itself.
pub(crate) fn off_the_executor_within<T: Send + 'static>(
    deadline: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Option<T>> + Send {
    let waited = off_the_executor(move || {
        if LATE.load(Ordering::Relaxed) >= MAX_LATE {
            return None;
        }
        let (sender, receiver) = mpsc::channel();
        // Who comes second to the end, the work or the wait, settles the count.
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_over);
        let worker = std::thread::Builder::new().name("tower-prompt".into()).spawn(move || {
            // Nobody waits any more: the result is of no use.
            let _ = sender.send(work());
            if ended.swap(true, Ordering::AcqRel) {
                LATE.fetch_sub(1, Ordering::Relaxed);
            }
        });
        worker.ok()?;
        match receiver.recv_timeout(deadline) {
            Ok(result) => Some(result),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                LATE.fetch_add(1, Ordering::Relaxed);
                if is_over.swap(true, Ordering::AcqRel) {
                    LATE.fetch_sub(1, Ordering::Relaxed);
                }
                None
            }
        }
    });
    async move { waited.await.flatten() }
}

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
    fn work_that_is_late_is_not_waited_for() {
        let (release, held) = mpsc::channel::<()>();
        let late = wait(off_the_executor_within(Duration::from_millis(20), move || held.recv().is_ok()));
        assert_eq!(late, None);
        drop(release);
        assert_eq!(wait(off_the_executor_within(Duration::from_secs(60), || 1 + 1)), Some(2));
        assert_eq!(wait(off_the_executor_within(Duration::from_secs(60), || -> u8 { panic!("on purpose") })), None);
    }

    #[test]
    fn a_result_comes_back_and_a_panic_is_none() {
        assert_eq!(wait(off_the_executor(|| 1 + 1)), Some(2));
        assert_eq!(wait(off_the_executor(|| -> u8 { panic!("on purpose") })), None);
    }
}
