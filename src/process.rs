//! Runs a program that must not get in the way: with a deadline, bounded output, no terminal, the environment that it is given and no other, and
//! in a process group that is killed when it is late.

use crate::Environment;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of what a program says on its standard error.
const MAX_COMPLAINT: usize = 1024;

/// What a program printed.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) text: String,
    /// It printed more than was read; then it was killed.
    pub(crate) is_cut: bool,
    pub(crate) succeeded: bool,
    /// The beginning of what a program that failed said about it.
    pub(crate) complaint: String,
}

/// Why there is nothing that a program printed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    #[error("could not be started: {0}")]
    Start(#[source] std::io::Error),
    #[error("did not answer within {} ms", .0.as_millis())]
    Late(Duration),
    #[error("was stopped")]
    Stopped,
}

/// How a program is run.
pub(crate) struct Surroundings<'a> {
    pub(crate) directory: &'a Path,
    /// All that it finds in its environment.
    pub(crate) variables: Vec<(&'a str, &'a str)>,
    pub(crate) deadline: Duration,
    /// Of its standard output.
    pub(crate) max_bytes: usize,
}

/// The program of this name on the environment's `PATH`. Folders of it that are relative don't count: a repository must not lend its own programs.
pub(crate) fn find(name: &str, environment: &Environment) -> Option<PathBuf> {
    // Windows calls it so.
    let folders = environment.get("PATH").or_else(|| environment.get("Path"))?;
    let files = std::env::split_paths(folders).filter(|folder| folder.is_absolute());
    files.map(|folder| folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))).find(|file| is_executable(file))
}

/// All variables of the environment, as a program is to find them: its `HOME` is the environment's home folder.
pub(crate) fn variables(environment: &Environment) -> impl Iterator<Item = (&str, &str)> {
    let home = environment.home_folder().and_then(Path::to_str).map(|home| ("HOME", home));
    environment.variables().chain(home)
}

fn is_executable(file: &Path) -> bool {
    #[cfg(unix)]
    let may_run = |metadata: &std::fs::Metadata| std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = |_: &std::fs::Metadata| true;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && may_run(&metadata))
}

/// How often it is asked whether a program may go on.
const WATCHED_EVERY: Duration = Duration::from_millis(20);

/// Blocks until the program ends, is late, or has printed more than it may.
pub(crate) fn run<A: AsRef<OsStr>>(program: &Path, arguments: &[A], within: &Surroundings<'_>) -> Result<Printed, ProcessError> {
    run_watched(program, arguments, within, None)
}

/// Who watches what a program does.
#[cfg_attr(not(any(test, feature = "install")), allow(dead_code, reason = "installing alone watches what a program does"))]
pub(crate) struct Watch<'w> {
    /// Asked every few milliseconds, and once more when the program has ended.
    pub(crate) may_go_on: &'w dyn Fn() -> bool,
    /// No file of the program's grows beyond this, on Linux: for when whoever watches is killed, and the program lives on.
    pub(crate) max_file_bytes: u64,
}

/// As [`run`], for as long as the program may go on.
#[cfg_attr(not(any(test, feature = "install")), allow(dead_code, reason = "installing alone watches what a program does"))]
pub(crate) fn run_while<A: AsRef<OsStr>>(
    program: &Path,
    arguments: &[A],
    within: &Surroundings<'_>,
    watch: &Watch<'_>,
) -> Result<Printed, ProcessError> {
    let printed = run_watched(program, arguments, within, Some(watch))?;
    if (watch.may_go_on)() { Ok(printed) } else { Err(ProcessError::Stopped) }
}

fn run_watched<A: AsRef<OsStr>>(
    program: &Path,
    arguments: &[A],
    within: &Surroundings<'_>,
    watch: Option<&Watch<'_>>,
) -> Result<Printed, ProcessError> {
    let Surroundings { deadline, max_bytes, .. } = *within;
    let ends = Instant::now() + deadline;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(within.directory).env_clear().envs(within.variables.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(ProcessError::Start)?;
    if let Some(watch) = watch {
        limit_files(&child, watch.max_file_bytes);
    }
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        end(&mut child);
        return Err(ProcessError::Start(std::io::Error::other("it has no output")));
    };
    let (stdout, stderr) = (reading(stdout, max_bytes), reading(stderr, MAX_COMPLAINT));
    let is_stopped = || watch.is_some_and(|watch| !(watch.may_go_on)());
    let mut bytes = loop {
        let left = ends.saturating_duration_since(Instant::now());
        match stdout.recv_timeout(if watch.is_some() { left.min(WATCHED_EVERY) } else { left }) {
            Ok(bytes) => break bytes,
            Err(RecvTimeoutError::Timeout) if !left.is_zero() && !is_stopped() => {}
            Err(_) => {
                end(&mut child);
                return Err(if is_stopped() { ProcessError::Stopped } else { ProcessError::Late(deadline) });
            }
        }
    };
    let is_cut = bytes.len() > max_bytes;
    bytes.truncate(max_bytes);
    let succeeded = if is_cut {
        end(&mut child);
        true
    } else {
        let status = wait(&mut child, ends, &is_stopped);
        status.ok_or_else(|| if is_stopped() { ProcessError::Stopped } else { ProcessError::Late(deadline) })?.success()
    };
    let mut complaint = Vec::new();
    if !succeeded {
        complaint = stderr.recv_timeout(ends.saturating_duration_since(Instant::now())).unwrap_or_default();
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Printed { text: text(&bytes), is_cut, succeeded, complaint: text(&complaint) })
}

/// The beginning of a stream, and one byte more where there is more. A grandchild may hold the pipe open for longer than we wait: then the thread
/// ends with it, and is not waited for.
fn reading(stream: impl Read + Send + 'static, max_bytes: usize) -> Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    // Without a thread the sender is gone, which reads as late.
    let _ = thread::Builder::new().name("tower-prompt".into()).spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.take(max_bytes as u64 + 1).read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    receive
}

/// A program that closed its output is about to end.
fn wait(child: &mut Child, ends: Instant, is_stopped: &dyn Fn() -> bool) -> Option<ExitStatus> {
    let mut pause = Duration::from_micros(200);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < ends && !is_stopped() => thread::sleep(pause),
            _ => {
                end(child);
                return None;
            }
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Of what it starts from here on too.
fn limit_files(child: &Child, max_bytes: u64) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Pid, Resource, Rlimit, prlimit};
        let limit = Rlimit { current: Some(max_bytes), maximum: Some(max_bytes) };
        // Where that may not be, the watch has to do.
        let _ = prlimit(Some(Pid::from_child(child)), Resource::Fsize, limit);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (child, max_bytes);
}

/// Kills the program with all that it started.
fn end(child: &mut Child) {
    kill(child);
    let _ = child.wait();
}

/// Kills the program, which was not waited for yet, with all that it started.
pub(crate) fn kill(child: &mut Child) {
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
    let _ = child.kill();
}

/// Blocks until the program ended by itself, but not for longer than this. It stays to be waited for, so that its group can still be named.
pub(crate) fn await_end(child: &Child, ends: Instant) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let mut pause = Duration::from_micros(200);
        while matches!(waitid(WaitId::Pid(Pid::from_child(child)), options), Ok(None)) && Instant::now() < ends {
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
    #[cfg(not(unix))]
    let _ = (child, ends);
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    fn shell(script: &str, deadline: Duration, max_bytes: usize) -> Result<Printed, ProcessError> {
        let variables = vec![("ONE", "1"), ("PATH", "/usr/bin:/bin")];
        run(Path::new("/bin/sh"), &["-c", script], &Surroundings { directory: Path::new("/"), variables, deadline, max_bytes })
    }

    #[test]
    fn what_it_prints_is_read_and_bounded() {
        let printed = shell("echo $ONE; echo why >&2; exit 3", LONG, 100).unwrap();
        assert_eq!((&*printed.text, printed.is_cut, printed.succeeded, &*printed.complaint), ("1\n", false, false, "why\n"));
        let flood = shell("while :; do echo flood; done", LONG, 1000).unwrap();
        assert!(flood.is_cut && flood.text.len() == 1000);
        let complaints =
            shell("trap '' PIPE; n=0; while [ $n -lt 3000 ]; do echo flood >&2; n=$((n+1)); done 2>/dev/null; exit 1", LONG, 9);
        assert!(!complaints.unwrap().succeeded);
    }

    #[test]
    fn it_finds_the_environment_that_it_is_given_and_no_other() {
        let printed = shell("env | grep -v '^PWD=\\|^SHLVL=\\|^_='", LONG, 4096).unwrap();
        let mut names: Vec<&str> = printed.text.lines().collect();
        names.sort_unstable();
        assert_eq!(names, ["ONE=1", "PATH=/usr/bin:/bin"]);
    }

    #[test]
    fn a_program_is_at_home_where_the_environment_is() {
        let environment = Environment::new("/").variable("HOME", "/elsewhere").variable("ONE", "1").home("/home/me");
        let variables: std::collections::BTreeMap<_, _> = variables(&environment).collect();
        assert_eq!(variables, [("HOME", "/home/me"), ("ONE", "1")].into());
    }

    #[test]
    fn who_is_late_is_killed_with_all_that_it_started() {
        let begun = Instant::now();
        let late = shell("sleep 600 & sleep 600", Duration::from_millis(50), 100);
        assert!(matches!(late, Err(ProcessError::Late(_))));
        assert!(begun.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn who_may_not_go_on_is_killed_whatever_it_does_with_its_output() {
        let asked = std::cell::Cell::new(0);
        let may_go_on = || {
            asked.set(asked.get() + 1);
            asked.get() < 4
        };
        let watch = Watch { may_go_on: &may_go_on, max_file_bytes: 1 << 20 };
        for script in ["sleep 600", "exec >&- 2>&-; sleep 600", "exit 0"] {
            asked.set(if script == "exit 0" { 9 } else { 0 });
            let within =
                Surroundings { directory: Path::new("/"), variables: vec![("PATH", "/usr/bin:/bin")], deadline: LONG, max_bytes: 9 };
            let stopped = run_while(Path::new("/bin/sh"), &["-c", script], &within, &watch);
            assert!(matches!(stopped, Err(ProcessError::Stopped)), "{script}: {stopped:?}");
        }
        asked.set(-1000);
        let within = Surroundings { directory: Path::new("/"), variables: Vec::new(), deadline: LONG, max_bytes: 9 };
        assert_eq!(run_while(Path::new("/bin/echo"), &["hi"], &within, &watch).unwrap().text, "hi\n");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_file_grows_beyond_its_bound_though_nobody_looks() {
        let folder = tempfile::tempdir().unwrap();
        let within = Surroundings { directory: folder.path(), variables: vec![("PATH", "/usr/bin:/bin")], deadline: LONG, max_bytes: 9 };
        let watch = Watch { may_go_on: &|| true, max_file_bytes: 100_000 };
        // It waits for its bound to be there, which it shows.
        let script = "while [ \"$(ulimit -f)\" = unlimited ]; do :; done; head -c 1000000 /dev/zero > flood";
        assert!(!run_while(Path::new("/bin/sh"), &["-c", script], &within, &watch).unwrap().succeeded);
        assert_eq!(folder.path().join("flood").metadata().unwrap().len(), 100_000);
    }

    #[test]
    fn who_asks_for_something_gets_no_answer() {
        assert_eq!(shell("read answer || echo nobody", LONG, 100).unwrap().text, "nobody\n");
    }

    #[test]
    fn a_program_is_found_on_the_path_of_the_environment_alone() {
        let of = |path: &str| find("sh", &Environment::new("/bin").variable("PATH", path));
        assert_eq!(of("/nowhere:/bin:/usr/bin"), Some("/bin/sh".into()));
        assert_eq!(of(":.:bin"), None, "a relative folder is the repository's");
        assert_eq!(find("sh", &Environment::new("/bin")), None);
        assert_eq!(find("no-such-program-of-this-name", &Environment::new("/").variable("PATH", "/bin")), None);
        let within = Surroundings { directory: Path::new("/"), variables: Vec::new(), deadline: LONG, max_bytes: 1 };
        assert!(matches!(run::<&str>(Path::new("/no-such-program"), &[], &within), Err(ProcessError::Start(_))));
    }
}
