//! Putting skills into a folder of skills, and taking them away (feature `install`).
//!
//! A [`Source`] is a folder, a `.skill` or `.zip` file, a git URL or an npm package; it may hold several skills, each a folder with a `SKILL.md`. All
//! of it is unpacked into a staging folder first, through one writer that makes regular files and folders and nothing else, counts what it writes
//! ([`Limits`]), and refuses each name that could mean something else somewhere ([`Refusal`]). What is found there is read as the registry reads it,
//! and each skill comes to its place by one rename: whoever is killed leaves the skills as they were, or whole new ones.
//!
//! Nothing of a source is run: no hook, no script of npm's, no script of the skill. What it says is for a model to follow, which is trust enough to be
//! worth a look before.
//!
//! Codes of diagnostics, beside those of reading and of strict validation: `skill-not-installed` (error: a skill that is in the source, and why it can't be),
//! `entry-passed-over` (note: a link or a device outside of any skill), `skill-flat` (note), `id-elsewhere` (warning: another skill in the folder has the
//! id, and one of them is not seen).
//!
//! ```no_run
//! use tower_prompt::Environment;
//! use tower_prompt::skills::install::{Install, InstallError, Source};
//!
//! let environment = Environment::of_process();
//! let source = Source::new("https://example.org/skills.git", &environment)?;
//! let report = Install::into("/home/me/.config/bcode/skills").only("rust-debugging").run(&source, &environment)?;
//! assert_eq!(report.installed[0].id.as_str(), "rust-debugging");
//! # Ok::<(), InstallError>(())
//! ```

mod destination;
mod error;
mod fetch;
mod folder;
mod found;
mod limits;
mod names;
mod remove;
mod source;
mod tarball;
mod tree;
mod zip;

pub use error::{InstallError, Refusal, RemoveError};
pub use limits::Limits;
pub use remove::remove;
pub use source::Source;

use crate::Environment;
use crate::layers::Diagnostic;
use crate::layers::skill::{SkillId, SkillRegistry, SkillSourceKind};
use crate::skills::{DiscoveryOptions, FolderSkills, Root, nearest, resolved};
use destination::Destination;
use error::io_error;
use found::{Contents, Found};
use serde::Serialize;
use std::path::{Path, PathBuf};
use tree::Tree;

/// What is installed where, and how.
#[derive(Clone, Debug)]
pub struct Install {
    folder: PathBuf,
    only: Vec<String>,
    replaces: bool,
    limits: Limits,
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct InstallReport {
    /// The folder of skills.
    pub folder: PathBuf,
    /// Those that are there now.
    pub installed: Vec<InstalledSkill>,
    /// All that were found in the source and could be installed, by id.
    pub found: Vec<FoundSkill>,
    /// What is to be said of them, and of what is no skill. Paths are those in the source.
    pub diagnostics: Vec<Diagnostic>,
}

/// A skill in a source.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FoundSkill {
    /// Its id.
    pub id: SkillId,
    /// As it describes itself.
    pub description: String,
}

/// A skill that was installed.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct InstalledSkill {
    /// Its id, which is its folder's name.
    pub id: SkillId,
    /// Its folder.
    pub path: PathBuf,
    /// In the place of another.
    pub replaced: bool,
    /// How many files it has.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl Install {
    /// Into this folder, which is made where it is not there: all skills of the source, unless one of them is there already.
    pub fn into(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), only: Vec::new(), replaces: false, limits: Limits::default() }
    }
    /// Of the source's skills this one alone, and those that are named by further calls.
    pub fn only(mut self, id: impl Into<String>) -> Self {
        self.only.push(id.into());
        self
    }
    /// In the place of skills that are there already.
    pub fn replacing(mut self) -> Self {
        self.replaces = true;
        self
    }
    /// With other limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Installs. Blocks while it does, and while another installs into the same folder. An error, but for one of reading and writing, leaves the
    /// folder as it was; a skill of several that can't be installed is a diagnostic, and stops no other.
    pub fn run(&self, source: &Source, environment: &Environment) -> Result<InstallReport, InstallError> {
        let folder = environment.working_directory().join(&self.folder);
        if let Source::Folder(from) = source {
            let (from, to) = (resolved(from), resolved(&folder));
            if from.starts_with(&to) || to.starts_with(&from) {
                return Err(InstallError::Nested(from, to));
            }
        }
        let failed = |reason| io_error(&folder, reason);
        let destination = Destination::open(folder.clone()).map_err(failed)?;
        let staging = destination.staging().map_err(failed)?;
        // The skill at its top is called after it.
        let top = staging.join("tree").join(source.stem());
        let mut tree = Tree::new(top.clone(), &self.limits)?;
        unpack(source, &staging.join("fetched"), &mut tree, environment)?;
        let Contents { skills, mut diagnostics } = found::skills_in(&top, &tree.passed_over);
        if skills.is_empty() {
            return Err(InstallError::NoSkill { findings: diagnostics });
        }
        let found = skills.iter().map(|skill| FoundSkill { id: skill.id.clone(), description: skill.description.clone() }).collect();
        let chosen = self.chosen(skills, &mut diagnostics, &top)?;
        self.look_for_room(&chosen, &folder)?;
        diagnostics.extend(elsewhere(&chosen, &folder));
        let mut installed = Vec::with_capacity(chosen.len());
        for skill in chosen {
            let path = folder.join(&skill.name);
            let replaced = path.symlink_metadata().is_ok();
            destination.place(&skill.folder, &skill.name, &staging).map_err(|reason| io_error(&path, reason))?;
            installed.push(InstalledSkill { id: skill.id, path, replaced, files: skill.files, bytes: skill.bytes });
        }
        Ok(InstallReport { folder: destination.folder().to_owned(), installed, found, diagnostics })
    }

    /// The skills that are wanted; what is to be said of others goes.
    fn chosen(&self, mut skills: Vec<Found>, diagnostics: &mut Vec<Diagnostic>, top: &Path) -> Result<Vec<Found>, InstallError> {
        let mut wanted = Vec::with_capacity(self.only.len());
        for given in &self.only {
            let id = SkillId::new(given).ok().filter(|id| skills.iter().any(|skill| skill.id == *id));
            wanted.push(id.ok_or_else(|| {
                let ids: Vec<String> = skills.iter().map(|skill| skill.id.as_str().to_owned()).collect();
                let nearest = nearest(given, ids.iter().map(String::as_str)).map(str::to_owned);
                InstallError::Unknown { id: given.clone(), nearest, ids, findings: std::mem::take(diagnostics) }
            })?);
        }
        if !wanted.is_empty() {
            skills.retain(|skill| wanted.contains(&skill.id));
            let is_of_one = |path: &str| skills.iter().any(|skill| top.join(path).starts_with(&skill.folder));
            diagnostics.retain(|found| found.path.as_deref().is_some_and(is_of_one));
        }
        Ok(skills)
    }

    /// Before the first one is put in its place.
    fn look_for_room(&self, chosen: &[Found], folder: &Path) -> Result<(), InstallError> {
        let taken = chosen.iter().map(|skill| folder.join(&skill.name)).filter(|path| path.symlink_metadata().is_ok());
        let taken: Vec<PathBuf> = taken.collect();
        if !self.replaces && !taken.is_empty() {
            return Err(InstallError::Exists(taken));
        }
        match taken.into_iter().find(|path| !remove::is_like_a_skill(path)) {
            Some(path) => Err(InstallError::InTheWay(path)),
            None => Ok(()),
        }
    }
}

fn unpack(source: &Source, fetched: &Path, tree: &mut Tree<'_>, environment: &Environment) -> Result<(), InstallError> {
    match source {
        Source::Folder(path) => folder::copy(path, tree),
        Source::Archive(path) => {
            let bytes = fetch::read_archive(path, tree.limits().archive_bytes)?;
            tree.set_packed(bytes.len());
            zip::unpack(&bytes, tree).map_err(|error| match error {
                InstallError::Archive { reason, .. } => InstallError::Archive { path: path.to_string_lossy().into_owned(), reason },
                other => other,
            })
        }
        Source::Git { url, reference, is_local } => fetch::repository((url, reference.as_deref(), *is_local), fetched, tree, environment),
        Source::Npm { packages, version } => fetch::package(packages, version.as_deref(), fetched, tree, environment),
    }
}

/// Skills of these ids that stand in the folder under another name.
fn elsewhere(chosen: &[Found], folder: &Path) -> Vec<Diagnostic> {
    let root = Root::new(folder, SkillSourceKind::User, "installed");
    let there = FolderSkills::in_roots(vec![root], &DiscoveryOptions::default()).snapshot();
    let mut found = Vec::new();
    for skill in chosen {
        if let Some(other) = there.get(skill.id.as_str())
            && !Path::new(&other.summary.location).starts_with(folder.join(&skill.name))
        {
            let message = format!("another skill with the id `{}` stands here; of the two one is not seen", skill.id);
            found.push(Diagnostic::warning("id-elsewhere", message).at(other.summary.location.clone()));
        }
    }
    found
}
