//! Finding: which files in a root are skill files. In the same order on every machine, within bounds, and without reading more than it must: an
//! open, a read and a close each, and a stat of what was opened, which is all that a file costs where it was read before.

mod evidence;
mod listing;
mod look;
mod search;
#[cfg(test)]
mod tests;

use super::known::{Key, Keys, Known, KnownFile};
use super::links::{Links, Refusal};
use super::roots::Root;
use super::skill_file::{Form, Place, Reading, SkillFile};
use crate::files::{Base, Stamp};
use crate::layers::Diagnostic;
pub(super) use evidence::Evidence;
use listing::Listing;
pub(super) use look::Listed;
use look::Look;
use search::Search;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Folders that are never searched.
pub(super) const PRUNED: [&str; 3] = [".git", "node_modules", "target"];

/// What an installation has not finished yet begins with this name; no search goes into it.
pub(in crate::skills) const STAGING: &str = ".staging-";

/// Whether a folder of this name is never searched.
pub(in crate::skills) fn is_pruned(name: &OsStr) -> bool {
    PRUNED.iter().any(|pruned| name == *pruned) || name.as_encoded_bytes().starts_with(STAGING.as_bytes())
}

/// Entries of all folders together that are kept from one reading to the next.
const MAX_KEPT: usize = 65_536;

/// What is found in all roots: a file that is reached twice is found once.
pub(super) struct Walk<'k> {
    known: &'k Known,
    /// Canonical paths of the skill files found so far.
    files: Keys,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What the folders held that were searched, by the keys of their paths, as far as a stamp will tell whether they still do.
    pub(super) listings: Vec<(Key, Listed)>,
    /// How many entries these have together.
    kept: usize,
    /// What tells whether all of it stands; `None` where something is told by no stamp.
    pub(super) evidence: Option<Evidence>,
    start: SystemTime,
}

/// A file that was found: as it was read now, or before.
pub(super) struct Find<'k> {
    /// Of its path.
    pub(super) key: Key,
    /// Of its canonical path.
    identity: Key,
    /// As it was found; empty where a skill has it.
    path: PathBuf,
    pub(super) form: Form,
    pub(super) file: What<'k>,
    /// Reached by no link: its stamp tells whether it would be found so again.
    is_plain: bool,
}

pub(super) enum What<'k> {
    /// Its stamp is the same; with its place among all files.
    Unchanged(usize, &'k KnownFile),
    Read(SkillFile),
}

impl Find<'_> {
    pub(super) fn is_no_skill(&self) -> bool {
        *self.reading() == Reading::NoSkill
    }
    /// As it was found.
    pub(super) fn path(&self) -> &Path {
        match self.reading() {
            Reading::Skill(skill) => skill.path(),
            _ => &self.path,
        }
    }
    fn stamp(&self) -> Stamp {
        match &self.file {
            What::Unchanged(_, file) => file.stamp,
            What::Read(file) => file.stamp,
        }
    }
    fn reading(&self) -> &Reading {
        match &self.file {
            What::Unchanged(_, file) => &file.reading,
            What::Read(file) => &file.reading,
        }
    }
}

/// A folder as it was reached, and its canonical path where that is another.
struct Folder {
    path: PathBuf,
    canonical: Option<PathBuf>,
}

impl Folder {
    fn new(path: PathBuf, canonical: PathBuf) -> Self {
        let canonical = (path.as_os_str() != canonical.as_os_str()).then_some(canonical);
        Self { path, canonical }
    }
    fn canonical(&self) -> &Path {
        self.canonical.as_deref().unwrap_or(&self.path)
    }
    fn folder(&self, name: &OsStr) -> Self {
        Self { path: joined(&self.path, name), canonical: self.canonical.as_ref().map(|canonical| canonical.join(name)) }
    }
}

/// `folder.join(name)`, in just the room that it takes: a skill keeps it.
fn joined(folder: &Path, name: &OsStr) -> PathBuf {
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + name.len());
    path.push(folder);
    path.push(name);
    path
}

impl<'k> Walk<'k> {
    /// Of a time: what changed just before it may change again unseen.
    pub(super) fn new(known: &'k Known, start: SystemTime) -> Self {
        let mut files = Keys::default();
        files.reserve(known.files().len());
        Self { known, files, diagnostics: Vec::new(), listings: Vec::new(), kept: 0, evidence: Some(Evidence::default()), start }
    }

    /// The skill files in the root of this number, level by level and each level by path; `None` where there is no root.
    pub(super) fn root(&mut self, number: u32, root: &Root, followed: bool, max_bytes: usize) -> Option<(Vec<Find<'k>>, Arc<Place>)> {
        let (links, canonical) = match enter(root, followed) {
            Ok(entered) => entered?,
            Err(diagnostic) => {
                self.say(diagnostic);
                return None;
            }
        };
        let place = Place { root: root.path.clone(), canonical: canonical.clone(), links, source: Arc::new(root.source()), max_bytes };
        let before = self.known.places.get(number as usize).and_then(Option::as_ref).filter(|before| ***before == place);
        // What was read in another place is not what would be read in this one.
        let known = before.is_some().then_some(self.known);
        let place = before.cloned().unwrap_or_else(|| Arc::new(place));
        let base = Base::open(&root.path);
        let look = Look { keys: self.known, known, number, rules: root.rules, place: &place, base: &base };
        let found = Search::new(self, look).run(Folder::new(root.path.clone(), canonical));
        Some((found, place))
    }

    /// Keeps what a folder held, where its stamp will tell a change, and there is room: a tree of very many entries is listed again each time.
    fn keep(&mut self, folder: &Folder, stamp: Option<Stamp>, listing: &Arc<Listing>) {
        let kept = self.kept.saturating_add(listing.entries());
        let stamp = stamp.filter(|stamp| kept <= MAX_KEPT && stamp.is_settled_at(self.start));
        if stamp.is_some() {
            self.kept = kept;
            self.listings.push((self.known.key(&folder.path), Listed { stamp, listing: listing.clone() }));
        }
        self.rests_on_folder(folder, stamp);
    }

    /// Says it again each time: it is told by no stamp.
    fn say(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
        self.evidence = None;
    }
}

/// A root's links and canonical path, if it is a folder that may be searched; `None` where there is no root.
fn enter(root: &Root, followed: bool) -> Result<Option<(Links, PathBuf)>, Diagnostic> {
    let metadata = match fs::metadata(&root.path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(unreadable(&root.path, &error)),
    };
    if !metadata.is_dir() {
        let message = "a root of skills is a folder, and this is none";
        return Err(Diagnostic::warning("root-unreadable", message).at(shown(&root.path)));
    }
    let links = Links::of(root, followed).map_err(|error| unreadable(&root.path, &error))?;
    match links.resolve(&root.path) {
        Ok(canonical) if !followed && links.passed_by(root, &canonical) => Err(not_followed(&root.path)),
        Ok(canonical) => Ok(Some((links, canonical))),
        Err(Refusal::Unreadable(error)) => Err(unreadable(&root.path, &error)),
        Err(refusal) => Err(refusal.diagnostic(&root.path)),
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::warning("folder-unreadable", format!("this folder cannot be read: {error}")).at(shown(path))
}
fn not_followed(path: &Path) -> Diagnostic {
    Diagnostic::note("link-not-followed", "this is a link, and `skills.follow_symlinks` is off").at(shown(path))
}
