//! The folder of skills that is installed into. What is not finished stands in a folder `.staging-…` in it, on the same file system, which no search
//! goes into; a skill comes to its place by one rename. Who is killed leaves a staging folder behind at most, and the next one throws it away.
//!
//! Two that work in one folder stand in line: the folder itself is locked, so that no file has to be left there for it. That is also how a staging
//! folder is known to be nobody's: whoever holds the lock and finds one knows that its owner is gone.

use crate::skills::walk::STAGING;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Replaced skills, where the system can't swap two folders at once: what a killed installation took away is put back from here.
const OLD: &str = "old";

pub(super) struct Destination {
    folder: PathBuf,
    /// It was not there before: if nothing comes of it, it goes away.
    is_new: bool,
    /// Held as long as this lives.
    lock: Option<File>,
}

impl Destination {
    /// Makes the folder where it is not there, waits until nobody else works in it, and clears up after those who were killed.
    pub(super) fn open(folder: PathBuf) -> io::Result<Self> {
        let is_new = fs::symlink_metadata(&folder).is_err();
        fs::create_dir_all(&folder)?;
        Self::existing(folder, is_new)
    }
    /// As [`open`](Self::open), for a folder that is there.
    pub(super) fn existing(folder: PathBuf, is_new: bool) -> io::Result<Self> {
        let lock = lock(&folder)?;
        let destination = Self { folder, is_new, lock };
        if destination.lock.is_some() {
            destination.clear_up();
        }
        Ok(destination)
    }
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// An empty folder of one's own, which goes away with the value.
    pub(super) fn staging(&self) -> io::Result<Staging> {
        let process = std::process::id();
        for number in 0..1_000 {
            let path = self.folder.join(format!("{STAGING}{process}-{number}"));
            match make(&path) {
                Ok(()) => return Ok(Staging(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Puts what is staged in its place under this name; what stands there is swapped with it, and is then the staging folder's.
    pub(super) fn place(&self, staged: &Path, name: &str, staging: &Staging) -> io::Result<()> {
        let target = self.folder.join(name);
        sync_folders(staged)?;
        if fs::symlink_metadata(&target).is_err() {
            rename_new(staged, &target)?;
        } else if !exchange(staged, &target)? {
            let old = staging.0.join(OLD);
            fs::create_dir_all(&old)?;
            fs::rename(&target, old.join(name))?;
            if let Err(error) = fs::rename(staged, &target) {
                let _ = fs::rename(old.join(name), &target);
                return Err(error);
            }
        }
        sync(&self.folder);
        Ok(())
    }

    /// Takes what stands there away, by one rename. A link goes, and what it leads to stays.
    pub(super) fn take_away(&self, path: &Path, staging: &Staging) -> io::Result<()> {
        fs::rename(path, staging.0.join("removed"))?;
        sync(&self.folder);
        Ok(())
    }

    /// Nobody who holds the lock owns the staging folders that are there.
    fn clear_up(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_folder || !entry.file_name().as_encoded_bytes().starts_with(STAGING.as_bytes()) {
                continue;
            }
            for old in fs::read_dir(entry.path().join(OLD)).into_iter().flatten().flatten() {
                let target = self.folder.join(old.file_name());
                if fs::symlink_metadata(&target).is_err() {
                    let _ = fs::rename(old.path(), target);
                }
            }
            // What can't be thrown away is in nobody's way.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        if self.is_new {
            // Only where it is empty.
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

pub(super) struct Staging(PathBuf);

impl Staging {
    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What is left over the next one throws away.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// For its owner alone: what is in it was not checked yet.
fn make(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// `None` where the file system has no locks: then nothing is cleared up, and two installations of one skill at once are told apart by the rename.
#[cfg(unix)]
fn lock(folder: &Path) -> io::Result<Option<File>> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::{Errno, retry_on_intr};
    let file = File::open(folder)?;
    match retry_on_intr(|| flock(&file, FlockOperation::LockExclusive)) {
        Ok(()) => Ok(Some(file)),
        // Some network file systems lock only what is open for writing, which a folder can't be.
        Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK | Errno::BADF) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it is fallible elsewhere")]
fn lock(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Fails where something stands there already.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::INVAL) => {}
            renamed => return Ok(renamed?),
        }
    }
    fs::rename(from, to)
}

/// Swaps the two at once; false where the system can't.
fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::INVAL) => {}
            swapped => return swapped.map(|()| true).map_err(Into::into),
        }
    }
    let _ = (one, other);
    Ok(false)
}

/// The folders below, that the files in them are there after a power cut; the files themselves are synced as they are written.
fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    sync(folder);
    Ok(())
}

/// Where a folder can't be synced, its file system has to do.
fn sync(folder: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_installation_left_is_cleared_up_and_what_it_took_away_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in [".staging-1-0/old/taken", ".staging-1-0/old/replaced", ".staging-1-0/tree/x", "replaced", "other"] {
            fs::create_dir_all(at(path)).unwrap();
            fs::write(at(path).join("SKILL.md"), path).unwrap();
        }
        let destination = Destination::open(folder.path().into()).unwrap();
        let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["other", "replaced", "taken"]);
        assert_eq!(fs::read_to_string(at("taken/SKILL.md")).unwrap(), ".staging-1-0/old/taken");
        assert_eq!(fs::read_to_string(at("replaced/SKILL.md")).unwrap(), "replaced");
        drop(destination);
        assert!(folder.path().is_dir());
    }

    #[test]
    fn a_folder_that_nothing_came_of_goes_away() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("a/skills");
        let destination = Destination::open(new.clone()).unwrap();
        let staging = destination.staging().unwrap();
        fs::write(staging.join("file"), "").unwrap();
        drop(staging);
        drop(destination);
        assert!(!new.exists());
    }

    #[test]
    fn two_folders_change_places_or_one_comes_to_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let destination = Destination::open(folder.path().into()).unwrap();
        let staging = destination.staging().unwrap();
        for text in ["first", "second"] {
            fs::create_dir(staging.join(text)).unwrap();
            fs::write(staging.join(text).join("SKILL.md"), text).unwrap();
            destination.place(&staging.join(text), "skill", &staging).unwrap();
            assert_eq!(fs::read_to_string(folder.path().join("skill/SKILL.md")).unwrap(), text);
        }
    }
}
