//! The process itself: started, listened to by threads of its own, and ended with all that it started.

use super::event::Event;
use super::process::ProviderProgram;
use crate::layers::skill::provider::{MAX_ANSWER_BYTES, read_line};
use crate::process;
use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Lines that were read and not looked at.
const MAX_UNREAD: usize = 4;
/// Requests that were not taken yet.
const MAX_UNSENT: usize = 32;
/// Bytes of what it says on its standard error.
const MAX_COMPLAINT: usize = 1024;
/// Who closed its output is about to end; so long it may take.
const GRACE: Duration = Duration::from_millis(200);

/// The child that runs, if one does; whoever holds this may kill it.
#[derive(Clone, Default)]
pub(super) struct Slot(Arc<Mutex<Option<Child>>>);

impl Slot {
    fn child(&self) -> MutexGuard<'_, Option<Child>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// With all that it started. It stays to be waited for.
    pub(super) fn kill(&self) {
        if let Some(child) = self.child().as_mut() {
            process::kill(child);
        }
    }
    /// Kills it with all that it started, and tells how it ended. `waits`: it may be about to end by itself.
    pub(super) fn end(&self, waits: bool) -> Option<String> {
        let mut child = self.child().take()?;
        if waits {
            process::await_end(&child, Instant::now() + GRACE);
        }
        process::kill(&mut child);
        child.wait().ok().map(|status| status.to_string())
    }
}

/// The ends of its pipes.
pub(super) struct Pipes {
    /// Takes requests, as many as wait to be taken.
    pub(super) requests: SyncSender<String>,
    /// One is taken for each line that was looked at; then another is read.
    pub(super) credits: Receiver<()>,
    pub(super) complaint: Complaint,
}

/// The beginning of what it says on its standard error.
pub(super) struct Complaint {
    said: Arc<Mutex<Vec<u8>>>,
    /// Disconnected at its end.
    over: Receiver<()>,
}

impl Complaint {
    /// What it said; where it is about to end, up to the end.
    pub(super) fn text(&self) -> String {
        let _ = self.over.recv_timeout(GRACE);
        String::from_utf8_lossy(&self.said.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// Starts the program as the `number`th process of its keeper.
pub(super) fn start(program: &ProviderProgram, number: u64, slot: &Slot, events: &Sender<Event>) -> io::Result<Pipes> {
    let environment = &program.environment;
    let mut command = Command::new(found(program)?);
    command.args(&program.arguments).current_dir(environment.working_directory()).env_clear();
    let home = environment.home_folder().map(Into::into);
    let variables = ["PATH", "LANG"].map(|name| (name, environment.get(name).map(PathBuf::from)));
    for (name, value) in variables.into_iter().chain([("HOME", home)]) {
        value.into_iter().for_each(|value: PathBuf| {
            command.env(name, value);
        });
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    *slot.child() = Some(child);
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else { return Err(io::Error::other("it has no pipes")) };
    let (credit, credits) = mpsc::sync_channel(MAX_UNREAD);
    listen(number, stdout, credit, events.clone())?;
    Ok(Pipes { requests: speak(stdin)?, credits, complaint: complain(stderr, &program.source.label)? })
}

fn found(program: &ProviderProgram) -> io::Result<PathBuf> {
    if program.path.is_absolute() {
        return Ok(program.path.clone());
    }
    let not_found = |why: &str| io::Error::new(io::ErrorKind::NotFound, why.to_owned());
    // A repository must not lend its own programs.
    let name = program.path.to_str().filter(|name| !name.contains(['/', '\\']));
    let name = name.ok_or_else(|| not_found("its path is neither absolute nor a name"))?;
    process::find(name, &program.environment).ok_or_else(|| not_found("it is not on `PATH`"))
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("tower-prompt".into()).spawn(work).map(drop)
}

/// Hands on each line, and the end.
fn listen(process: u64, stdout: impl Read + Send + 'static, credit: SyncSender<()>, events: Sender<Event>) -> io::Result<()> {
    spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let error = loop {
            match read_line(&mut stdout, MAX_ANSWER_BYTES) {
                Ok(Some(line)) => {
                    // Waits until the lines before were looked at. Nobody looks any more: it is over.
                    if credit.send(()).is_err() || events.send(Event::Said { process, line }).is_err() {
                        return;
                    }
                }
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        let _ = events.send(Event::Ended { process, error });
    })
}

/// Writes requests, on a thread that may stand still where the child doesn't read.
fn speak(mut stdin: ChildStdin) -> io::Result<SyncSender<String>> {
    let (requests, lines) = mpsc::sync_channel::<String>(MAX_UNSENT);
    spawn(move || {
        for line in lines {
            // Who doesn't listen any more ends, and that is heard elsewhere.
            if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                return;
            }
        }
    })?;
    Ok(requests)
}

/// Reads what it complains of to its end, and keeps the beginning.
fn complain(mut stderr: impl Read + Send + 'static, label: &str) -> io::Result<Complaint> {
    let (said, (ends, over), label) = (Arc::<Mutex<Vec<u8>>>::default(), mpsc::channel::<()>(), label.to_owned());
    let kept = Arc::clone(&said);
    spawn(move || {
        let _ends = ends;
        let mut buffer = [0; MAX_COMPLAINT];
        while let Ok(read @ 1..) = stderr.read(&mut buffer) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            let room = MAX_COMPLAINT.saturating_sub(kept.len()).min(read);
            if room > 0 {
                kept.extend_from_slice(&buffer[..room]);
                tracing::debug!(provider = %label, "{:?}", String::from_utf8_lossy(&buffer[..room]));
            }
        }
    })?;
    Ok(Complaint { said, over })
}
