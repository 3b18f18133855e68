//! Files from outside: read whole within a bound, never waited for, never followed out of where they belong, and not read again while they stand
//! as they were.

use crate::blocking::{FILE_DEADLINE, off_the_executor_within};
use crate::layers::text::escape::one_line;
use crate::layers::{Diagnostic, Document, DocumentSource, ReadingDocument, Severity};
use crate::skills::front_matter::decode::decode;
use std::borrow::Cow;
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

/// A folder that files below it are opened from: the system then looks up the rest of their paths alone.
pub(crate) struct Base {
    #[cfg(target_os = "linux")]
    folder: Option<(rustix::fd::OwnedFd, PathBuf)>,
}

impl Base {
    /// Where it can't be opened, files are opened by their whole paths.
    pub(crate) fn open(path: &Path) -> Self {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{Mode, OFlags};
            let folder = rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
            Self { folder: folder.ok().map(|folder| (folder, path.to_owned())) }
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = path;
            Self {}
        }
    }

    /// [`open_unlinked`] of a path that begins with the folder's.
    pub(crate) fn open_unlinked(&self, path: &Path) -> io::Result<File> {
        #[cfg(target_os = "linux")]
        if let Some((folder, rest)) = self.rest(path) {
            use rustix::fs::{Mode, OFlags};
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = rustix::io::retry_on_intr(|| rustix::fs::openat(folder, rest, flags, Mode::empty()));
            return Ok(opened?.into());
        }
        open_unlinked(path)
    }

    /// The stamp of a regular file whose path begins with the folder's; `None` for a link, and for anything else.
    pub(crate) fn stamp(&self, path: &Path) -> Option<Stamp> {
        #[cfg(target_os = "linux")]
        if let Some((folder, rest)) = self.rest(path)
            && let Some(stamp) = Stamp::below(folder, rest)
        {
            return Some(stamp);
        }
        let metadata = std::fs::symlink_metadata(path).ok()?;
        metadata.is_file().then(|| Stamp::of(&metadata))
    }

    #[cfg(target_os = "linux")]
    fn rest<'p>(&self, path: &'p Path) -> Option<(&rustix::fd::OwnedFd, &'p Path)> {
        use std::os::unix::ffi::OsStrExt;
        let (folder, start) = self.folder.as_ref()?;
        let mut rest = path.as_os_str().as_bytes().strip_prefix(start.as_os_str().as_bytes())?;
        // A separator between the two stands at the end of the one, or at the beginning of the other.
        let is_below = rest.starts_with(b"/") || start.as_os_str().as_bytes().ends_with(b"/");
        while let Some(behind) = rest.strip_prefix(b"/") {
            rest = behind;
        }
        (is_below && !rest.is_empty()).then(|| (folder, Path::new(std::ffi::OsStr::from_bytes(rest))))
    }
}

/// Opens a regular file; `None` for anything else, which is looked at after it is opened, so that nothing can come in between.
pub(crate) fn open_regular(path: &Path) -> io::Result<Option<(File, Metadata)>> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then_some((file, metadata)))
}

/// Whether something is there, readable or not. What can't be looked at counts as there: reading it will say why it can't be read. A link that
/// leads nowhere, or in a circle, is nothing.
pub(crate) fn is_there(path: &Path) -> bool {
    match path.metadata() {
        Ok(_) => true,
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied || !(error.kind() == io::ErrorKind::NotFound || path.is_symlink()),
    }
}

/// What is said of a link that leads nowhere, or in a circle.
pub(crate) fn link_to_nothing(path: &Path) -> Option<Diagnostic> {
    let leads_nowhere = !is_there(path) && path.is_symlink();
    leads_nowhere.then(|| Diagnostic::warning("link-unreadable", "is a symbolic link to nothing").at(path.to_string_lossy()))
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
    /// That of a regular file, looked at from this folder. `None` for anything else; as before, or where the system can't tell that way.
    #[cfg(target_os = "linux")]
    fn below(folder: &rustix::fd::OwnedFd, path: &Path) -> Option<Self> {
        use rustix::fs::{AtFlags, FileType, StatxFlags, StatxTimestamp, makedev, statx};
        let moment = |time: StatxTimestamp| time.tv_sec.wrapping_mul(1_000_000_000).wrapping_add(i64::from(time.tv_nsec));
        let found = statx(folder, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS).ok()?;
        let is_file = FileType::from_raw_mode(found.stx_mode.into()) == FileType::RegularFile;
        is_file.then(|| Self {
            bytes: found.stx_size,
            modified: Some(moment(found.stx_mtime)).filter(|moment| *moment >= 0),
            inode: (makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino, moment(found.stx_ctime)),
        })
    }
    /// Whether a file that changes after `now` will surely have another stamp: clocks of file systems are coarse.
    pub(crate) fn is_settled_at(&self, now: SystemTime) -> bool {
        let is_older = |changed: Moment| moment(now).is_some_and(|now| now.saturating_sub(changed) >= 2_000_000_000);
        // Who sets the first back, as an installer does, can't set back the other.
        #[cfg(unix)]
        let is_known = is_older(self.inode.2);
        #[cfg(not(unix))]
        let is_known = true;
        is_known && self.modified.is_some_and(is_older)
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
        let unreadable =
            |reason: &io::Error| Diagnostic::warning("file-unreadable", format!("could not be read: {reason}")).at(shown.clone());
        let real = |path: &Path| path.canonicalize().map_err(|reason| unreadable(&reason));
        if !real(path)?.starts_with(real(root)?) {
            return Err(Diagnostic::warning("link-refused", "leads out of the repository, and is not read").at(shown));
        }
        let before = SystemTime::now();
        let Some((file, metadata)) = open_regular(path).map_err(|reason| unreadable(&reason))? else {
            return Err(Diagnostic::warning("file-not-regular", "is no regular file, and is not read").at(shown));
        };
        let stamp = Stamp::of(&metadata);
        // What is under the lock is replaced whole; nothing is read under it.
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = known().get(path).filter(|(of, _)| *of == stamp) {
            return Ok(text.clone());
        }
        let (bytes, is_cut) = read_bounded(&file, max_bytes).map_err(|reason| unreadable(&reason))?;
        let (text, mut diagnostic) = decoded(&bytes, !is_cut).map_err(|diagnostic| diagnostic.at(shown.clone()))?;
        let mut text = text.into_owned();
        if is_cut {
            mark_cut(&mut text, metadata.len().saturating_sub(max_bytes as u64), path);
            diagnostic = Some(Diagnostic::warning("file-cut", format!("is over {max_bytes} bytes; the rest was not read")));
        }
        let diagnostic = diagnostic.map(|diagnostic| diagnostic.at(shown));
        let text = FileText { text: text.into(), diagnostic };
        if stamp.is_settled_at(before) {
            known().insert(path.to_owned(), (stamp, text.clone()));
        }
        Ok(text)
    }
}

/// Drops the torn line at the end, and says how much of the file is missing, as a limit's cut does.
fn mark_cut(text: &mut String, unread: u64, path: &Path) {
    let end = text.rfind('\n').map_or(text.len(), |end| end + 1);
    let missing = unread.saturating_add((text.len() - end) as u64);
    text.truncate(end);
    let line_end = if text.ends_with('\n') { "" } else { "\n" };
    text.push_str(&format!("{line_end}[{missing} bytes cut; the rest is in {}]\n", one_line(&path.to_string_lossy())));
}

/// The text of a file that a person wrote, whatever its editor saved it as. Bytes that are no UTF-8 are shown as such; a file that holds a NUL is no
/// text, and not every provider takes one.
fn decoded(bytes: &[u8], complete: bool) -> Result<(Cow<'_, str>, Option<Diagnostic>), Diagnostic> {
    let mut notes = Vec::new();
    match decode(bytes, complete, &mut notes) {
        Ok(text) => Ok((text, notes.pop())),
        Err(mut diagnostic) => {
            diagnostic.severity = Severity::Warning;
            if bytes.contains(&0) { Err(diagnostic) } else { Ok((String::from_utf8_lossy(bytes), Some(diagnostic))) }
        }
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
        if !is_there(&self.path) {
            // Silence for a link to nothing: what it leads to may come back.
            return link_to_nothing(&self.path).map_or(Ok(None), Err);
        }
        let FileText { text, diagnostic } = self.texts.read_inside(&self.path, &self.root, self.max_bytes)?;
        Ok(Some(Document::new(text.as_ref()).path(self.path.to_string_lossy()).diagnostics(diagnostic)))
    }
}

impl DocumentSource for RepositoryFile {
    fn read(&self) -> ReadingDocument {
        let file = self.clone();
        let path = file.path.to_string_lossy().into_owned();
        let read = off_the_executor_within(FILE_DEADLINE, move || file.read_now());
        let failed = move || Err(Diagnostic::warning("probe-failed", "could not be read in time").at(path));
        Box::pin(async move { read.await.unwrap_or_else(failed) })
    }
}
