//! Work on many items by as many threads as there are processors.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer items than this are read before a thread has started.
pub(super) const MANY: usize = 64;
/// Fewer than this are looked at by then.
pub(super) const VERY_MANY: usize = 512;
/// Items that a thread takes at a time: one that is slow holds up no more than these.
const SHARE: usize = 32;
/// Threads that read side by side; more wait for the same disk.
const MAX_THREADS: usize = 4;

/// What `work` makes of each item, in their order; of so many, on several threads.
pub(super) fn side_by_side<T: Sync, R: Send>(items: &[T], many: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = processors().min(MAX_THREADS).min(items.len() / SHARE);
    if items.len() < many || threads < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done: Vec<(usize, Vec<R>)> = Vec::new();
        loop {
            let at = next.fetch_add(SHARE, Ordering::Relaxed);
            let Some(share) = items.get(at..items.len().min(at + SHARE)).filter(|share| !share.is_empty()) else { return done };
            done.push((at, share.iter().map(&work).collect()));
        }
    };
    let mut shares = std::thread::scope(|scope| {
        // This thread works as well: where no other was to be had, it does all.
        let others: Vec<_> = (1..threads).filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, take).ok()).collect();
        let mut shares = take();
        for other in others {
            match other.join() {
                Ok(done) => shares.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        shares
    });
    shares.sort_unstable_by_key(|(at, _)| *at);
    let mut all = Vec::with_capacity(items.len());
    shares.into_iter().for_each(|(_, share)| all.extend(share));
    all
}

/// Asked once: the system answers with a look at several files.
fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_their_items() {
        for count in [0, 1, MANY - 1, MANY, 1_000, 1_025] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(side_by_side(&items, MANY, |item| item * 2), (0..count).map(|item| item * 2).collect::<Vec<_>>());
        }
    }
}
