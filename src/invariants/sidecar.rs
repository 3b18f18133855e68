//! The last choice of a session in a file beside it, so that the next process goes on with it.
//!
//! A small JSON object, written to a file of its own and renamed into place: a reader sees one choice whole, whoever writes at once. What does not
//! fit (torn, too large, of another session or another text of the document) is ignored, and told. A process that is killed leaves such a file of its own
//! at most, which the next one that writes there throws away.

use super::conversation::Conversation;
use crate::blocking::{FILE_DEADLINE, off_the_executor_within};
use crate::files;
use crate::layers::invariant::{Guidance, InvariantCatalog, SelectionResponse};
use crate::layers::{ContentHash, Diagnostic};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Bytes of a file; a session's id takes its part of them.
const MAX_BYTES: usize = 64 * 1024;
const VERSION: u32 = 1;
/// So much older than a file that was just begun, another's is given up: it takes seconds at most to write one.
const GIVEN_UP: Duration = Duration::from_secs(600);

/// Where a session's choice is kept.
pub(super) struct Sidecar {
    folder: Arc<StateFolder>,
    path: PathBuf,
    id: String,
    /// Held while the file is written, so that of two writers in this process the later one writes the later choice.
    writing: Mutex<()>,
}

/// The folder of all sessions' choices.
#[derive(Debug)]
pub(super) struct StateFolder {
    path: PathBuf,
    /// What others left in the middle of their writing was thrown away: once, since there may be many files.
    is_cleared: AtomicBool,
}

impl StateFolder {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.join("invariants"), is_cleared: AtomicBool::new(false) }
    }
}

#[derive(Serialize, Deserialize)]
struct Kept {
    version: u32,
    session: String,
    catalog: ContentHash,
    #[serde(flatten)]
    selected: SelectionResponse,
}

impl Sidecar {
    pub(super) fn new(folder: &Arc<StateFolder>, id: &str) -> Self {
        // The id is the host's: it may hold what no file name does.
        let name = format!("{}.json", ContentHash::of(id));
        Self { folder: folder.clone(), path: folder.path.join(name), id: id.to_owned(), writing: Mutex::default() }
    }

    /// What was kept for this catalog, as far as it makes sense in it; `None` where nothing was.
    pub(super) async fn read(&self, catalog: &InvariantCatalog, max_selected: NonZeroUsize) -> Result<Option<Guidance>, Diagnostic> {
        let path = self.path.clone();
        let read = off_the_executor_within(FILE_DEADLINE, move || read(&path));
        let read = read.await.unwrap_or_else(|| Err("it could not be read in time".into()));
        let guidance = read.and_then(|kept| kept.map(|kept| self.accept(kept, catalog, max_selected)).transpose());
        guidance.map_err(|reason| {
            let message = format!("the invariants chosen before are not taken up: {reason}");
            Diagnostic::note("selection-not-restored", message).at(self.path.to_string_lossy())
        })
    }

    fn accept(&self, kept: Kept, catalog: &InvariantCatalog, max_selected: NonZeroUsize) -> Result<Guidance, String> {
        if kept.version != VERSION {
            return Err(format!("they are of version {}", kept.version));
        }
        if kept.session != self.id {
            return Err("they are of another session".into());
        }
        if kept.catalog != catalog.digest() {
            return Err("the document has changed".into());
        }
        let accepted = kept.selected.accept(catalog, max_selected);
        accepted.map(|(guidance, _)| guidance).map_err(|diagnostic| diagnostic.message)
    }

    /// Writes the choice as it is by then.
    pub(super) async fn write(&self, conversation: &Arc<Conversation>) -> Result<(), Diagnostic> {
        let conversation = Arc::clone(conversation);
        let written =
            off_the_executor_within(FILE_DEADLINE, move || conversation.sidecar.get().map_or(Ok(()), |own| own.write_now(&conversation)));
        let written = written.await.unwrap_or_else(|| Err(io::ErrorKind::TimedOut.into()));
        written.map_err(|reason| {
            let message = format!("the chosen invariants could not be kept: {reason}");
            Diagnostic::warning("selection-not-kept", message).at(self.path.to_string_lossy())
        })
    }

    fn write_now(&self, conversation: &Conversation) -> io::Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((catalog, guidance)) = conversation.choice().latest() else { return Ok(()) };
        let mut selected = SelectionResponse::new(guidance.numbers().iter().copied());
        selected.summary = guidance.task_summary().map(str::to_owned);
        let kept = Kept { version: VERSION, session: self.id.clone(), catalog, selected };
        let bytes = serde_json::to_vec(&kept)?;
        if bytes.len() > MAX_BYTES {
            return Err(io::Error::other(format!("they take over {MAX_BYTES} bytes")));
        }
        replace(&self.path, &bytes)?;
        if !self.folder.is_cleared.swap(true, Ordering::Relaxed) {
            clear_up(&self.path);
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Option<Kept>, String> {
    let file = match files::open_regular(path) {
        Ok(Some((file, _))) => file,
        Ok(None) => return Err("this is no regular file".into()),
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(reason) => return Err(reason.to_string()),
    };
    match files::read_bounded(&file, MAX_BYTES) {
        Ok((_, true)) => Err(format!("the file is over {MAX_BYTES} bytes")),
        Ok((bytes, false)) => serde_json::from_slice(&bytes).map(Some).map_err(|reason| format!("the file is damaged: {reason}")),
        Err(reason) => Err(reason.to_string()),
    }
}

/// Puts a file of these bytes in the place of what is there, for the user alone to read.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut folders = fs::DirBuilder::new();
    let mut options = fs::OpenOptions::new();
    // No one else's file and no link is written to.
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folders.mode(0o700);
        options.mode(0o600);
    }
    folders.recursive(true).create(folder)?;
    let own = format!(
        ".{}.{}.{}",
        path.file_name().unwrap_or_default().to_string_lossy(),
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    );
    let temporary = folder.join(own);
    let write = || {
        let mut file = match options.open(&temporary) {
            // A process that had our number ended in the middle.
            Err(reason) if reason.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&temporary)?;
                options.open(&temporary)?
            }
            opened => opened?,
        };
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    let written = write();
    if written.is_err() {
        // What it left is of no use; the first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Throws away what processes left that ended in the middle: as the file system's own clock tells it, by the file that was written now.
fn clear_up(written: &Path) {
    let Ok(now) = fs::metadata(written).and_then(|file| file.modified()) else { return };
    let Some(Ok(found)) = written.parent().map(fs::read_dir) else { return };
    for entry in found.flatten() {
        let name = entry.file_name();
        let is_begun = name.to_str().is_some_and(|name| name.starts_with('.') && name.contains(".json."));
        let modified = || entry.metadata().and_then(|file| file.modified());
        if is_begun && modified().is_ok_and(|then| now.duration_since(then).is_ok_and(|age| age > GIVEN_UP)) {
            // Another may have done it by now.
            let _ = fs::remove_file(entry.path());
        }
    }
}
