//! Files from outside: read whole within a bound, never waited for, never followed out of where they belong, and not read again while they stand
//! as they were.

use crate::layers::{Diagnostic, Document, DocumentSource, ReadingDocument};
use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Opens a file without waiting for anyone: a pipe opens at once, and reads as empty.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_with(path, true)
}

/// As [`open`], but a link is an error. Where the system can't say so while it opens, all are.
pub(crate) fn open_unlinked(path: &Path) -> io::Result<File> {
    if cfg!(unix) { open_with(path, false) } else { Err(io::ErrorKind::Unsupported.into()) }
}

fn open_with(path: &Path, links: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | if links { OFlags::empty() } else { OFlags::NOFOLLOW };
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    options.open(path)
}

/// Opens a regular file; `None` for anything else, which is looked at after it is opened, so that nothing can come in between.
pub(crate) fn open_regular(path: &Path) -> io::Result<Option<(File, Metadata)>> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then_some((file, metadata)))
}

/// At most so many bytes, and whether there are more.
pub(crate) fn read_bounded(file: &File, max_bytes: usize) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    file.take(max_bytes as u64 + 1).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() > max_bytes;
    bytes.truncate(max_bytes);
    Ok((bytes, is_cut))
}

/// What tells without opening it whether a file is the one that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    pub(crate) bytes: u64,
    modified: Option<Moment>,
    /// Device, inode, and when that changed.
    #[cfg(unix)]
    inode: (u64, u64, Moment),
}

/// Nanoseconds since 1970: half the room of a `SystemTime`, and tens of thousands of stamps are held.
type Moment = i64;

fn moment(time: SystemTime) -> Option<Moment> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_nanos()).ok()
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok().and_then(moment),
            #[cfg(unix)]
            inode: {
                use std::os::unix::fs::MetadataExt;
                let changed = metadata.ctime().wrapping_mul(1_000_000_000).wrapping_add(metadata.ctime_nsec());
                (metadata.dev(), metadata.ino(), changed)
            },
        }
    }
    /// Whether a file that changes after `now` will surely have another stamp: clocks of file systems are coarse.
    pub(crate) fn is_settled_at(&self, now: SystemTime) -> bool {
        let age = self.modified.zip(moment(now)).map(|(modified, now)| now - modified);
        age.is_some_and(|age| age >= 2_000_000_000)
    }
}

/// A file's text.
#[derive(Clone, Debug)]
pub(crate) struct FileText {
    pub(crate) text: Arc<str>,
    /// It was cut, or is no UTF-8 in places.
    pub(crate) diagnostic: Option<Diagnostic>,
}

/// Texts of files, each read again only when its file changed.
#[derive(Default, Debug)]
pub(crate) struct Texts(Mutex<HashMap<PathBuf, (Stamp, FileText)>>);

impl Texts {
    /// The text of a file that must lie in `root`, links resolved. Other bytes than UTF-8 are shown as such; a BOM is dropped.
    pub(crate) fn read_inside(&self, path: &Path, root: &Path, max_bytes: usize) -> Result<FileText, Diagnostic> {
        let shown = path.to_string_lossy();
        let unreadable = |reason: &io::Error| Diagnostic::warning("unreadable", format!("could not be read: {reason}")).at(shown.clone());
        let real = |path: &Path| path.canonicalize().map_err(|reason| unreadable(&reason));
        if !real(path)?.starts_with(real(root)?) {
            return Err(Diagnostic::warning("link-out", "leads out of the repository, and is not read").at(shown));
        }
        let before = SystemTime::now();
        let Some((file, metadata)) = open_regular(path).map_err(|reason| unreadable(&reason))? else {
            return Err(Diagnostic::warning("file-not-regular", "is no regular file, and is not read").at(shown));
        };
        let stamp = Stamp::of(&metadata);
        // What is under the lock is replaced whole.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = known.get(path).filter(|(of, _)| *of == stamp) {
            return Ok(text.clone());
        }
        let (bytes, is_cut) = read_bounded(&file, max_bytes).map_err(|reason| unreadable(&reason))?;
        let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes));
        let diagnostic = if is_cut {
            Some(Diagnostic::warning("file-cut", format!("is over {max_bytes} bytes; the rest was not read")).at(shown))
        } else if let Err(fault) = std::str::from_utf8(&bytes) {
            Some(Diagnostic::warning("not-utf8", format!("is no UTF-8 from byte {} on", fault.valid_up_to())).at(shown))
        } else {
            None
        };
        let text = FileText { text: text.as_ref().into(), diagnostic };
        if stamp.is_settled_at(before) {
            known.insert(path.to_owned(), (stamp, text.clone()));
        }
        Ok(text)
    }
}

/// A document of the repository, such as `INVARIANTS.md`.
#[derive(Clone, Debug)]
pub(crate) struct RepositoryFile {
    path: PathBuf,
    root: PathBuf,
    max_bytes: usize,
    texts: Arc<Texts>,
}

impl RepositoryFile {
    pub(crate) fn new(path: PathBuf, root: PathBuf, max_bytes: usize) -> Self {
        Self { path, root, max_bytes, texts: Arc::default() }
    }
    fn read_now(&self) -> Result<Option<Document>, Diagnostic> {
        if !self.path.exists() {
            return Ok(None);
        }
        let FileText { text, diagnostic } = self.texts.read_inside(&self.path, &self.root, self.max_bytes)?;
        let path = self.path.to_string_lossy().into_owned();
        Ok(Some(Document { path, text: text.as_ref().to_owned(), diagnostics: diagnostic.into_iter().collect() }))
    }
}

impl DocumentSource for RepositoryFile {
    fn read(&self) -> ReadingDocument {
        let file = self.clone();
        let read = crate::blocking::off_the_executor(move || file.read_now());
        Box::pin(async move { read.await.unwrap_or_else(|| Err(Diagnostic::warning("probe-failed", "reading a document failed"))) })
    }
}
