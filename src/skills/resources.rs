//! Reading a file that a skill brings, by a path that a host or a model gives.
//!
//! A path stays in the skill's folder: it is relative and holds no `..`. What links lead to is looked up first, and must lie where it may; then the
//! real path is opened folder by folder from the root, and no link is followed on the way. So a link that is put in the way in between is refused, and
//! what is read is what was looked at. Where the system knows no such opening (elsewhere than on Unix) a moment between the two remains.

use super::links::{Links, Refusal};
use super::skill_file::{Form, not_regular, unreadable};
use crate::files;
use crate::layers::Diagnostic;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

/// A bundled file, as text.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Resource {
    /// Where it was found.
    pub path: PathBuf,
    /// At most `max_resource_bytes` of it.
    pub text: String,
    /// Whether there is more.
    pub is_cut: bool,
}

/// Where a link in a skill's folder may lead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    /// As far as the rules of its root say.
    Root,
    /// Within the skill: its folder, or that of its instructions, both as they really are. Who links each file of a skill links all from one folder.
    Skill,
}

/// The files of a skill.
#[derive(Clone, Copy, Debug)]
pub(super) struct Files<'a> {
    pub(super) instructions: &'a Path,
    pub(super) form: Form,
    pub(super) links: &'a Links,
}

/// What was read of a file.
pub(super) struct Contents {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    /// Of the whole file.
    pub(super) length: u64,
    pub(super) cut: bool,
}

impl Files<'_> {
    /// A file's text, as far as its root's links lead. An error names the skill's instructions, or the file.
    pub(super) fn text(self, path: &str, max_bytes: usize) -> Result<Resource, Diagnostic> {
        let Contents { path, bytes, cut, .. } = self.read(path, Reach::Root, max_bytes)?;
        match decoded(bytes, cut) {
            Ok(text) => Ok(Resource { path, text, is_cut: cut }),
            Err(offset) => {
                let message = format!("no text: at offset {offset} this is no UTF-8");
                Err(Diagnostic::error("file-not-utf8", message).at(path.to_string_lossy()))
            }
        }
    }

    /// At most so many bytes of a file.
    pub(super) fn read(self, path: &str, reach: Reach, max_bytes: usize) -> Result<Contents, Diagnostic> {
        let found = self.found(path)?;
        let real = self.real(path, &found, reach)?;
        let opened = open_unlinked(&real).map_err(|error| {
            if is_changed(&error) {
                self.refused(path, "it was changed while it was opened")
            } else {
                unreadable(&error).at(found.to_string_lossy())
            }
        })?;
        let read = opened.metadata().and_then(|metadata| {
            // Looked at after it is opened, so that nothing can come in between.
            if !metadata.is_file() {
                return Ok(None);
            }
            let (bytes, cut) = files::read_bounded(&opened, max_bytes)?;
            Ok(Some((bytes, cut, metadata.len())))
        });
        match read {
            Ok(Some((bytes, cut, length))) => Ok(Contents { path: found, length: length.max(bytes.len() as u64), bytes, cut }),
            Ok(None) => Err(not_regular().at(found.to_string_lossy())),
            Err(error) => Err(unreadable(&error).at(found.to_string_lossy())),
        }
    }

    fn refused(self, path: &str, why: &str) -> Diagnostic {
        Diagnostic::error("resource-refused", format!("`{path}`: {why}")).at(self.instructions.to_string_lossy())
    }

    /// Where the path leads, links not looked at.
    fn found(self, path: &str) -> Result<PathBuf, Diagnostic> {
        let (Some(folder), true) = (self.instructions.parent(), self.form.has_folder()) else {
            return Err(self.refused(path, "this skill is a single file and brings no others"));
        };
        let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if path.is_empty() || path.contains('\0') || !inside {
            return Err(self.refused(path, "a path relative to the skill's folder that stays in it is wanted"));
        }
        Ok(folder.join(path))
    }

    /// Where it really is, if that is where it may be.
    fn real(self, path: &str, found: &Path, reach: Reach) -> Result<PathBuf, Diagnostic> {
        let real = self.links.resolve(found).map_err(|refusal| match refusal {
            Refusal::Unreadable(error) => {
                Diagnostic::error("resource-missing", format!("`{path}`: {error}")).at(self.instructions.to_string_lossy())
            }
            Refusal::LeadsOut(_) => self.refused(path, "it is a link that leads out of the repository"),
        })?;
        let folder = self.instructions.parent().and_then(|folder| fs::canonicalize(folder).ok());
        let of_instructions = fs::canonicalize(self.instructions).ok().and_then(|file| file.parent().map(Path::to_owned));
        if [folder, of_instructions].iter().flatten().any(|folder| real.starts_with(folder)) {
            return Ok(real);
        }
        if !self.links.followed {
            return Err(self.refused(path, "it is a link that leads out of the skill, and `skills.follow_symlinks` is off"));
        }
        if reach == Reach::Skill {
            return Err(self.refused(path, "it is a link that leads out of the skill's folder"));
        }
        Ok(real)
    }
}

/// A text, or where it ceases to be one. A character that the end of what was read cut in two is dropped.
pub(super) fn decoded(bytes: Vec<u8>, cut: bool) -> Result<String, usize> {
    String::from_utf8(bytes).or_else(|error| {
        let valid = error.utf8_error().valid_up_to();
        if !cut || error.utf8_error().error_len().is_some() {
            return Err(valid);
        }
        let mut bytes = error.into_bytes();
        bytes.truncate(valid);
        String::from_utf8(bytes).map_err(|_| valid)
    })
}

/// Opens a path without links, waiting for no one: a link that is there all the same is an error.
#[cfg(unix)]
fn open_unlinked(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open, openat};
    // Of a folder on the way only what is below it is looked up, which wants no right to read it.
    #[cfg(target_os = "linux")]
    const LOOKED_UP: OFlags = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    const LOOKED_UP: OFlags = OFlags::RDONLY;
    let of_folder = LOOKED_UP | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let of_file = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut names = path.components().filter_map(|part| if let Component::Normal(name) = part { Some(name) } else { None }).peekable();
    let mut folder = rustix::io::retry_on_intr(|| open("/", of_folder, Mode::empty()))?;
    while let Some(name) = names.next() {
        let flags = if names.peek().is_some() { of_folder } else { of_file };
        folder = rustix::io::retry_on_intr(|| openat(&folder, name, flags, Mode::empty()))?;
    }
    Ok(folder.into())
}

#[cfg(not(unix))]
fn open_unlinked(path: &Path) -> io::Result<File> {
    files::open(path)
}

/// A link or nothing stands where a file or a folder stood a moment ago.
fn is_changed(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        return true;
    }
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
