//! Blocking work off the async executor, whichever executor that is.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::ThreadId;
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
        on_a_thread(move || {
            // Nobody waits any more: the result is of no use.
            let _ = sender.send(work());
            if ended.swap(true, Ordering::AcqRel) {
                LATE.fetch_sub(1, Ordering::Relaxed);
            }
        })?;
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

/// Runs `work` on another thread. `None` if it panicked, or no thread was to be had. Dropping the future leaves the thread to end by itself.
pub(crate) fn off_the_executor<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> impl Future<Output = Option<T>> + Send {
    let (sender, receiver) = oneshot::channel();
    let begun = on_a_thread(move || {
        // Nobody waits any more: the result is of no use.
        let _ = sender.send(work());
    });
    async move {
        begun?;
        receiver.await.ok()
    }
}

type Work = Box<dyn FnOnce() + Send>;

/// So long a thread waits for more work: a conversation's next request is there by then, or is not near.
const IDLE: Duration = Duration::from_secs(10);
/// Threads that wait, the one that began to wait last at the end: a turn asks for a few, and to start one takes longer than what most of them do. A
/// runtime's own pool would wait for a file system that hangs, where the process ends.
static WAITING: Mutex<Vec<(ThreadId, mpsc::Sender<Work>)>> = Mutex::new(Vec::new());

/// On a thread that waits, or a new one. `None`: there was none to be had.
fn on_a_thread(work: impl FnOnce() + Send + 'static) -> Option<()> {
    let waiting = waiting().pop();
    // It hears of all that is sent once it is taken out.
    let Some((_, thread)) = waiting else { return start(Box::new(work)) };
    thread.send(Box::new(work)).or_else(|back| start(back.0).ok_or(())).ok()
}

fn start(work: Work) -> Option<()> {
    let (sender, receiver) = mpsc::channel::<Work>();
    let run = move || {
        let mut next = Some(work);
        while let Some(work) = next {
            // A panic ends this thread, and whoever waits for its work learns of it.
            work();
            next = wait_for_work(&sender, &receiver);
        }
    };
    std::thread::Builder::new().name("tower-prompt".into()).spawn(run).ok().map(drop)
}

fn wait_for_work(sender: &mpsc::Sender<Work>, receiver: &mpsc::Receiver<Work>) -> Option<Work> {
    let me = std::thread::current().id();
    waiting().push((me, sender.clone()));
    if let Ok(work) = receiver.recv_timeout(IDLE) {
        return Some(work);
    }
    let mut waiting = waiting();
    if let Some(at) = waiting.iter().position(|(thread, _)| *thread == me) {
        waiting.remove(at);
        return None;
    }
    drop(waiting);
    // Who took it out just now sends.
    receiver.recv().ok()
}

fn waiting() -> MutexGuard<'static, Vec<(ThreadId, mpsc::Sender<Work>)>> {
    // Nothing but the list's own operations happens under the lock.
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn work_that_follows_on_other_work_needs_no_new_thread() {
        let threads: std::collections::HashSet<_> =
            (0..200).filter_map(|_| wait(off_the_executor(|| std::thread::current().id()))).collect();
        // Other tests take some of those that wait.
        assert!(threads.len() < 100, "{}", threads.len());
        let many: Vec<_> = (0..50).map(|n| off_the_executor(move || n)).collect();
        assert_eq!(many.into_iter().map(wait).collect::<Vec<_>>(), (0..50).map(Some).collect::<Vec<_>>());
        assert_eq!(wait(off_the_executor(|| -> u8 { panic!("on purpose") })), None);
        assert_eq!(wait(off_the_executor(|| 2)), Some(2), "a panic takes nothing else along");
    }

    #[test]
    fn a_result_comes_back_and_a_panic_is_none() {
        assert_eq!(wait(off_the_executor(|| 1 + 1)), Some(2));
        assert_eq!(wait(off_the_executor(|| -> u8 { panic!("on purpose") })), None);
    }
}
