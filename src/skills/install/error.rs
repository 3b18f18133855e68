//! Why nothing was installed, or removed.

use crate::layers::Diagnostic;
use std::io;
use std::path::{Path, PathBuf};

/// Why a source was not installed; the folder of skills is as it was. A message may quote names of the source: what shows it to a terminal makes it
/// printable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// What was given names no source.
    #[error("`{given}` names no source: {reason}")]
    NoSource {
        /// As it was given.
        given: String,
        /// What is wrong with it, or what is wanted.
        reason: String,
    },
    /// A program could not fetch it.
    #[error("{program} could not fetch `{source_name}`: {reason}")]
    Fetch {
        /// `git` or `npm`.
        program: &'static str,
        /// What it was to fetch.
        source_name: String,
        /// What it said, or why it was given up.
        reason: String,
    },
    /// The archive can't be read as one.
    #[error("{path}: {reason}")]
    Archive {
        /// The archive.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An entry of the source is none that is written anywhere.
    #[error("`{entry}` in the source is refused: {refusal}")]
    Refused {
        /// Its name, as far as it is text.
        entry: String,
        /// Why.
        refusal: Refusal,
    },
    /// There is no skill in the source that could be installed.
    #[error("there is no skill in it that can be installed: a skill is a folder with a file SKILL.md")]
    NoSkill {
        /// What was found instead.
        findings: Vec<Diagnostic>,
    },
    /// Of the skills in the source none has this id.
    #[error("the source holds {}, and no `{id}` that can be installed{}", listed(.ids), hint(.nearest.as_deref()))]
    Unknown {
        /// As it was given.
        id: String,
        /// The nearest that is there.
        nearest: Option<String>,
        /// All that are there.
        ids: Vec<String>,
        /// What is to be said of what is in the source, such as why a skill can't be installed.
        findings: Vec<Diagnostic>,
    },
    /// Something of this name is there already, and it was not said that it may be replaced.
    #[error("{} there already; nothing was installed", are(.0))]
    Exists(Vec<PathBuf>),
    /// What is there is no skill: it is not replaced, whatever was said.
    #[error("{} is there already, and is no skill: it is not replaced", .0.display())]
    InTheWay(PathBuf),
    /// Source and destination lie in one another.
    #[error("{} and {} lie in one another", .0.display(), .1.display())]
    Nested(PathBuf, PathBuf),
    /// Reading or writing failed.
    #[error("{path}: {reason}")]
    Io {
        /// Where.
        path: String,
        /// What the system said.
        #[source]
        reason: io::Error,
    },
}

/// Why a skill was not removed; it is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoveError {
    /// No skill of this id is in the folder.
    #[error("there is no skill `{id}` in {}{}", .folder.display(), hint(.nearest.as_deref()))]
    Unknown {
        /// As it was given.
        id: String,
        /// Where it was looked for.
        folder: PathBuf,
        /// The nearest that is there.
        nearest: Option<String>,
    },
    /// It is there, but not directly in the folder.
    #[error("`{id}` is at {}, and only what stands directly in the folder is removed", .path.display())]
    NotDirect {
        /// The skill.
        id: String,
        /// Its instruction file.
        path: PathBuf,
    },
    /// Reading or writing failed.
    #[error("{path}: {reason}")]
    Io {
        /// Where.
        path: String,
        /// What the system said.
        #[source]
        reason: io::Error,
    },
}

/// Why an entry of a source is not written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A path from the root of a file system.
    #[error("it is an absolute path")]
    Absolute,
    /// `..`.
    #[error("it leads out, by `..`")]
    LeadsOut,
    /// `C:`, or a stream of a file.
    #[error("it holds a `:`, which names a drive")]
    Drive,
    /// A separator of another system.
    #[error("it holds a `\\`")]
    Backslash,
    /// NUL, a line end, or another that no one sees.
    #[error("it holds a control character")]
    Control,
    /// Bytes that are no text.
    #[error("its name is no UTF-8")]
    NotText,
    /// No name at all.
    #[error("it has no name")]
    Unnamed,
    /// `NUL`, `COM1.txt`, or a dot or blank at the end, which some systems read as another name.
    #[error("some systems read its name as another's, or as a device's")]
    Reserved,
    /// Longer than [`Limits::path_bytes`](super::Limits::path_bytes), or one name of it than a file system takes.
    #[error("its path is too long")]
    TooLong,
    /// Deeper than [`Limits::depth`](super::Limits::depth).
    #[error("it lies too deep")]
    TooDeep,
    /// The name came before.
    #[error("there are two of this name")]
    Twice,
    /// The name came before, in other letters that some file systems take for the same.
    #[error("its name differs from that of `{0}` in case or composition alone")]
    Twin(String),
    /// A link.
    #[error("it is a link")]
    Link,
    /// A pipe, a socket, a device.
    #[error("it is no regular file")]
    Special,
    /// It needs a password.
    #[error("it is encrypted")]
    Encrypted,
    /// It can't be unpacked.
    #[error("it is packed by a method that is not read here (number {0})")]
    Method(u16),
    /// Not what the archive says of it: size, checksum, name or place.
    #[error("it is not as the archive says: {0}")]
    Inconsistent(&'static str),
    /// A limit was reached.
    #[error("the source has over {0}")]
    TooMuch(String),
}

pub(super) fn io_error(path: &Path, reason: io::Error) -> InstallError {
    InstallError::Io { path: path.to_string_lossy().into_owned(), reason }
}

impl InstallError {
    pub(super) fn refused(entry: impl Into<String>, refusal: Refusal) -> Self {
        Self::Refused { entry: entry.into(), refusal }
    }
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|id| format!("; did you mean `{id}`?")).unwrap_or_default()
}

/// As many as a person reads.
fn listed(ids: &[String]) -> String {
    const MOST: usize = 20;
    let mut names: Vec<String> = ids.iter().take(MOST).map(|id| format!("`{id}`")).collect();
    if ids.len() > MOST {
        names.push(format!("{} more", ids.len() - MOST));
    }
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn are(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    format!("{} {}", names.join(", "), if names.len() == 1 { "is" } else { "are" })
}
