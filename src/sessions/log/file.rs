//! The file of a log: opened for its owner alone, and locked among processes.

use crate::sessions::StoreError;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a log to be added to, or to be read; `None` where it is to be read and is not there.
pub(super) fn open(path: &Path, is_written: bool) -> Result<Option<File>, StoreError> {
    let place = || path.display().to_string();
    let is_new = is_written && !crate::files::is_there(path);
    let mut options = OpenOptions::new();
    options.read(true).write(is_written).create(is_written);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // A pipe is not waited for.
        options.mode(0o600).custom_flags(i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or_default());
    }
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_written => return Ok(None),
        Err(_) if path.metadata().is_ok_and(|metadata| !metadata.is_file()) => return Err(StoreError::NotAFile { place: place() }),
        Err(reason) => return Err(StoreError::Io { place: place(), reason }),
    };
    let metadata = file.metadata().map_err(|reason| StoreError::Io { place: place(), reason })?;
    if !metadata.is_file() {
        return Err(StoreError::NotAFile { place: place() });
    }
    if is_new {
        sync_folder(path);
    }
    Ok(Some(file))
}

/// Where the folder can't be synced the file's own sync has to do.
fn sync_folder(path: &Path) {
    if cfg!(unix)
        && let Some(folder) = path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
    {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// Waits until no other process holds it. It is let go with the file. Only Unix has such locks here: elsewhere two processes that write one log at the
/// same moment may spoil it.
#[cfg(unix)]
pub(super) fn lock(file: &File, is_written: bool) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::{Errno, retry_on_intr};
    let operation = if is_written { FlockOperation::LockExclusive } else { FlockOperation::LockShared };
    match retry_on_intr(|| flock(file, operation)) {
        // Some network file systems have no locks; the numbers of the lines still tell of another writer.
        Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK) => Ok(()),
        locked => Ok(locked?),
    }
}
#[cfg(not(unix))]
pub(super) fn lock(_: &File, _: bool) -> io::Result<()> {
    Ok(())
}

/// Others may look into it.
#[cfg(unix)]
pub(super) fn is_open_to_others(file: &File) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}
#[cfg(not(unix))]
pub(super) fn is_open_to_others(_: &File) -> bool {
    false
}

/// Which file it is: another may have been put in its place.
#[cfg(unix)]
pub(super) fn identity(file: &File) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}
#[cfg(not(unix))]
pub(super) fn identity(_: &File) -> Option<(u64, u64)> {
    None
}
