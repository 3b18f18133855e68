//! What a folder holds, as far as skills are concerned.

use super::{Folder, is_pruned, shown};
use crate::files::{self, Stamp};
use crate::layers::Diagnostic;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

/// A linked worktree's `.git` file is shorter.
const MAX_GIT_FILE_BYTES: usize = 8 * 1024;

/// Folders beside a root's own instruction file that are looked into.
const MAX_LOOKED_INTO: usize = 2_000;

/// What an entry of a folder is, links not followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::skills) enum Kind {
    Folder,
    File,
    Link,
    /// A pipe, a socket, a device.
    Other,
}

/// An entry's name, and what it is.
pub(super) type Entry = (Box<OsStr>, Kind);

/// A folder's entries in bytewise order; links stand in both lists.
#[derive(Default)]
pub(in crate::skills) struct Listing {
    pub(super) folders: Vec<Entry>,
    /// Those that may matter: `*.md`, and `.git`.
    pub(super) files: Vec<Entry>,
}

impl Listing {
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        let mut listing = Self::default();
        entries(folder, |name, kind| {
            if matches!(kind, Kind::Folder | Kind::Link) {
                listing.folders.push((name.into(), kind));
            }
            if kind != Kind::Folder && (is_markdown(name) || name == ".git") {
                listing.files.push((name.into(), kind));
            }
        })?;
        for entries in [&mut listing.folders, &mut listing.files] {
            entries.sort_unstable_by(|a, b| a.0.as_encoded_bytes().cmp(b.0.as_encoded_bytes()));
            entries.shrink_to_fit();
        }
        Ok(listing)
    }

    /// Where a folder's stamp tells whether its entries are the same: asked before they are read, so that what changes meanwhile is seen next time.
    pub(super) fn stamp(folder: &Path) -> Option<Stamp> {
        // Elsewhere a folder's time may follow its entries late.
        let metadata = if cfg!(unix) { fs::metadata(folder).ok()? } else { return None };
        metadata.is_dir().then(|| Stamp::of(&metadata))
    }

    /// How many entries it has.
    pub(super) fn entries(&self) -> usize {
        self.folders.len() + self.files.len()
    }

    pub(super) fn file(&self, is_it: impl Fn(&OsStr) -> bool) -> Option<&OsStr> {
        self.files.iter().map(|(name, _)| &**name).find(|name| is_it(name))
    }

    /// What is to be said where this root is a skill itself, and folders that are skills stand beside the file that makes it one. Where none is, they
    /// are the skill's own, and nothing is said.
    pub(super) fn hidden_by(&self, root: &Folder, file: &str) -> Option<Diagnostic> {
        let folders = || self.folders.iter().map(|(name, _)| &**name).filter(|name| !is_pruned(name));
        let is_skill = |name: &OsStr| fs::symlink_metadata(root.path.join(name).join("SKILL.md")).is_ok();
        if !folders().take(MAX_LOOKED_INTO).any(is_skill) {
            return None;
        }
        let message = format!(
            "`{file}` stands directly in this root, and makes it one skill as a whole: {} folders beside it were not searched; \
             give it a folder of its own",
            folders().count()
        );
        Some(Diagnostic::warning("root-is-skill", message).at(shown(&root.path)))
    }

    /// Whether its `.git` is a file: what that says decides, and no stamp is asked of it.
    pub(super) fn has_git_file(&self) -> bool {
        self.file(|name| name == ".git").is_some()
    }

    /// Whether the `.git` of this folder is the file by which git marks a linked worktree; a submodule's says something else.
    pub(super) fn is_linked_worktree(&self, folder: &Folder) -> bool {
        let path = folder.path.join(".git");
        self.files.iter().any(|(name, kind)| &**name == ".git" && *kind == Kind::File)
            && git_file(&path).is_some_and(|text| text.starts_with("gitdir:") && text.replace('\\', "/").contains("/worktrees/"))
    }
}

fn git_file(path: &Path) -> Option<String> {
    let (file, _) = files::open_regular(path).ok()??;
    let (bytes, is_cut) = files::read_bounded(&file, MAX_GIT_FILE_BYTES).ok()?;
    String::from_utf8(bytes).ok().filter(|_| !is_cut)
}

pub(super) fn is_markdown(name: &OsStr) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

impl From<fs::FileType> for Kind {
    fn from(kind: fs::FileType) -> Self {
        if kind.is_dir() {
            Self::Folder
        } else if kind.is_file() {
            Self::File
        } else if kind.is_symlink() {
            Self::Link
        } else {
            Self::Other
        }
    }
}

/// A folder's entries, in the system's own order. Without a name of its own for each that is passed over: there may be very many.
#[cfg(unix)]
fn entries(folder: &Path, mut each: impl FnMut(&OsStr, Kind)) -> io::Result<()> {
    use rustix::fs::{Dir, FileType};
    use std::os::unix::ffi::OsStrExt;

    // Of what is no folder it is an error; a pipe is not waited for.
    for entry in Dir::new(crate::files::open(folder)?)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Directory => Kind::Folder,
            FileType::RegularFile => Kind::File,
            FileType::Symlink => Kind::Link,
            // Some file systems don't say; and what is gone by now is no entry.
            FileType::Unknown => match fs::symlink_metadata(folder.join(name)) {
                Ok(metadata) => metadata.file_type().into(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            },
            _ => Kind::Other,
        };
        each(name, kind);
    }
    Ok(())
}

#[cfg(not(unix))]
fn entries(folder: &Path, mut each: impl FnMut(&OsStr, Kind)) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        each(&entry.file_name(), entry.file_type()?.into());
    }
    Ok(())
}
