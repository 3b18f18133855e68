//! Runs a program that must not get in the way: with a deadline, a bounded output, no terminal, and in a process group that is killed when it is
//! late.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// What a program printed.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) text: String,
    /// It printed more than was read; then it was killed.
    pub(crate) is_cut: bool,
    pub(crate) succeeded: bool,
}

/// Why there is nothing that a program printed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    #[error("could not be started: {0}")]
    Start(#[source] std::io::Error),
    #[error("did not answer within {} ms", .0.as_millis())]
    Late(Duration),
}

/// Blocks until the program ends, is late, or has printed `max_bytes`. `variables` are set on top of the process's own.
pub(crate) fn run<A: AsRef<OsStr>>(
    program: &str,
    arguments: &[A],
    directory: &Path,
    variables: &[(&str, Option<&str>)],
    deadline: Duration,
    max_bytes: usize,
) -> Result<Printed, ProcessError> {
    let ends = Instant::now() + deadline;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(ProcessError::Start)?;
    let Some(stdout) = child.stdout.take() else {
        end(&mut child);
        return Err(ProcessError::Start(std::io::Error::other("it has no output")));
    };
    let (send, receive) = mpsc::channel();
    // A grandchild may hold the pipe open for longer than we wait: then the thread ends with it, and is not waited for.
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.take(max_bytes as u64 + 1).read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    let read = receive.recv_timeout(ends.saturating_duration_since(Instant::now()));
    let Ok(mut bytes) = read else {
        end(&mut child);
        return Err(ProcessError::Late(deadline));
    };
    let is_cut = bytes.len() > max_bytes;
    bytes.truncate(max_bytes);
    let succeeded = if is_cut {
        end(&mut child);
        true
    } else {
        wait(&mut child, ends).ok_or(ProcessError::Late(deadline))?.success()
    };
    Ok(Printed { text: String::from_utf8_lossy(&bytes).into_owned(), is_cut, succeeded })
}

/// A program that closed its output is about to end.
fn wait(child: &mut Child, ends: Instant) -> Option<ExitStatus> {
    let mut pause = Duration::from_micros(200);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < ends => thread::sleep(pause),
            _ => {
                end(child);
                return None;
            }
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Kills the program with all that it started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, deadline: Duration, max_bytes: usize) -> Result<Printed, ProcessError> {
        run("sh", &["-c", script], Path::new("/"), &[("ONE", Some("1"))], deadline, max_bytes)
    }

    #[test]
    fn what_it_prints_is_read_and_bounded() {
        let printed = shell("echo $ONE; exit 3", Duration::from_secs(20), 100).unwrap();
        assert_eq!((&*printed.text, printed.is_cut, printed.succeeded), ("1\n", false, false));
        let flood = shell("while :; do echo flood; done", Duration::from_secs(20), 1000).unwrap();
        assert!(flood.is_cut && flood.text.len() == 1000);
    }

    #[test]
    fn who_is_late_is_killed_with_all_that_it_started() {
        let begun = Instant::now();
        let late = shell("sleep 600 & sleep 600", Duration::from_millis(50), 100);
        assert!(matches!(late, Err(ProcessError::Late(_))));
        assert!(begun.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_program_that_is_not_there_is_said_so() {
        let absent = run::<&str>("no-such-program-of-this-name", &[], Path::new("/"), &[], Duration::from_secs(1), 1);
        assert!(matches!(absent, Err(ProcessError::Start(_))));
    }
}
