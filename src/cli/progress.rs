//! A line on the terminal that says that work goes on, from a moment on, and is gone when it is done.

use std::io::Write;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Work that is done within it needs no word.
const MOMENT: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_secs(1);

/// Does the work; where a person sees `talk`, and waits longer than a moment, a line there says what goes on.
pub(super) fn during<T>(what: &str, is_seen: bool, talk: impl Write + Send, work: impl FnOnce() -> T) -> T {
    if !is_seen {
        return work();
    }
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let watch = move || show(what, talk, |wait| is_done.recv_timeout(wait) == Err(RecvTimeoutError::Timeout));
        // Where there is no thread to be had there is no line, and the work is done all the same.
        let _ = thread::Builder::new().spawn_scoped(scope, watch);
        let made = work();
        drop(done);
        made
    })
}

/// Says it as long as `goes_on`, which waits so long at most, and then blots it out. A terminal that takes nothing is let be.
fn show(what: &str, mut talk: impl Write, mut goes_on: impl FnMut(Duration) -> bool) {
    let mut wait = MOMENT;
    let mut columns = 0;
    for seconds in 0_u64.. {
        if !goes_on(wait) {
            break;
        }
        wait = TICK;
        let line = if seconds == 0 { format!("{what}…") } else { format!("{what}… {seconds} s") };
        columns = line.chars().count();
        if write!(talk, "\r{line}").and_then(|()| talk.flush()).is_err() {
            return;
        }
    }
    if columns > 0 {
        // Where there is no one to tell any more, nothing is left to blot out.
        let _ = write!(talk, "\r{:columns$}\r", "").and_then(|()| talk.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written while the work takes so many waits.
    fn shown(waits: usize) -> String {
        let (mut talk, mut asked) = (Vec::new(), Vec::new());
        show("Looking", &mut talk, |wait| {
            asked.push(wait);
            asked.len() <= waits
        });
        assert_eq!(asked.first(), Some(&MOMENT));
        assert!(asked[1..].iter().all(|wait| *wait == TICK));
        String::from_utf8(talk).unwrap()
    }

    #[test]
    fn what_is_done_within_a_moment_needs_no_word() {
        assert_eq!(shown(0), "");
    }

    #[test]
    fn what_takes_longer_is_told_and_blotted_out() {
        assert_eq!(shown(1), "\rLooking…\r        \r");
        assert_eq!(shown(3), "\rLooking…\rLooking… 1 s\rLooking… 2 s\r            \r");
    }

    #[test]
    fn a_terminal_that_takes_nothing_is_let_be() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut asked = 0;
        show("Looking", Closed, |_| {
            asked += 1;
            true
        });
        assert_eq!(asked, 1);
    }

    #[test]
    fn the_work_is_done_and_where_no_one_looks_nothing_is_said() {
        for is_seen in [false, true] {
            let mut talk = Vec::new();
            assert_eq!(during("Looking", is_seen, &mut talk, || 7), 7);
            assert_eq!(talk, b"", "within a moment");
        }
        // Behind work that takes as long as it takes until the line is there.
        let (line_is_there, is_there) = mpsc::channel();
        let mut talk = Told(Vec::new(), line_is_there);
        during("Looking", true, &mut talk, || is_there.recv().unwrap());
        assert_eq!(String::from_utf8(talk.0).unwrap(), "\rLooking…\r        \r");
    }

    /// Tells when it is first flushed.
    struct Told(Vec<u8>, mpsc::Sender<()>);
    impl Write for Told {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            // The second time no one listens any more.
            let _ = self.1.send(());
            Ok(())
        }
    }
}
