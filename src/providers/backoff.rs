//! How long a program that failed is left alone.

use std::time::{Duration, SystemTime};

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(60);
/// Who ran for so long before it failed is trusted as at first.
const STEADY: Duration = Duration::from_secs(60);

/// Twice as long with each failure.
#[derive(Default, Debug)]
pub(super) struct Backoff {
    /// How many, and when the last.
    failed: Option<(u32, SystemTime)>,
}

impl Backoff {
    /// Who was started at `started` failed `now`.
    pub(super) fn failed(&mut self, started: SystemTime, now: SystemTime) {
        let was_steady = now.duration_since(started).is_ok_and(|ran| ran >= STEADY);
        let before = self.failed.filter(|_| !was_steady).map_or(0, |(failures, _)| failures);
        self.failed = Some((before.saturating_add(1), now));
    }
    /// How long it is still left alone; `None`: it may be started.
    pub(super) fn left(&self, now: SystemTime) -> Option<Duration> {
        let (failures, at) = self.failed?;
        let pause = FIRST.saturating_mul(1 << (failures - 1).min(16)).min(LONGEST);
        // A clock that was set back says nothing: rather too early than never.
        let gone = now.duration_since(at).ok()?;
        pause.checked_sub(gone).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_doubles_the_pause_up_to_a_minute() {
        let mut backoff = Backoff::default();
        let mut now = SystemTime::UNIX_EPOCH;
        assert_eq!(backoff.left(now), None);
        let mut pauses = Vec::new();
        for _ in 0..40 {
            backoff.failed(now, now);
            let left = backoff.left(now).unwrap();
            pauses.push(left.as_millis());
            assert_eq!(backoff.left(now + left / 2), left.checked_sub(left / 2));
            now += left;
            assert_eq!(backoff.left(now), None);
        }
        assert_eq!(pauses[..9], [250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 60000]);
        assert!(pauses[9..].iter().all(|pause| *pause == 60000));
    }

    #[test]
    fn who_ran_for_a_minute_begins_anew() {
        let (mut backoff, start) = (Backoff::default(), SystemTime::UNIX_EPOCH);
        (0..5).for_each(|_| backoff.failed(start, start));
        backoff.failed(start, start + STEADY);
        assert_eq!(backoff.left(start + STEADY), Some(FIRST));
    }

    #[test]
    fn a_clock_that_was_set_back_locks_nobody_out() {
        let (mut backoff, start) = (Backoff::default(), SystemTime::UNIX_EPOCH + STEADY);
        backoff.failed(start, start);
        assert_eq!(backoff.left(SystemTime::UNIX_EPOCH), None);
    }
}
