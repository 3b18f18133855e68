//! The skills in what was unpacked, read as the registry will read them.

use super::error::Refusal;
use super::names::{self, EntryPath, folded};
use crate::files;
use crate::layers::skill::{SkillId, SkillRegistry, SkillSourceKind, SkillSummary};
use crate::layers::{Diagnostic, Severity};
use crate::skills::validation::{RuleSet, validate};
use crate::skills::walk::is_pruned;
use crate::skills::{DiscoveryOptions, FolderSkills, Root};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A skill that can be installed.
pub(super) struct Found {
    pub(super) id: SkillId,
    pub(super) description: String,
    /// Where it is now.
    pub(super) folder: PathBuf,
    /// What its folder is to be called: as the skill.
    pub(super) name: String,
    pub(super) files: usize,
    pub(super) bytes: u64,
}

/// What is in a source.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) skills: Vec<Found>,
    /// Of those, and of what is none; with paths in the source.
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Looks through a tree, whose own name is what a skill at its top is called that says nothing of its own.
pub(super) fn skills_in(tree: &Path, passed_over: &[(EntryPath, Refusal)]) -> Contents {
    let root = Root::new(tree, SkillSourceKind::User, "source");
    let options = DiscoveryOptions { follow_symlinks: false, ..DiscoveryOptions::default() };
    let max_bytes = options.max_skill_file_bytes.get();
    let snapshot = FolderSkills::in_roots(vec![root], &options).snapshot();
    let mut contents = Contents::default();
    let mut names = BTreeSet::new();
    let mut spoiled = BTreeSet::new();
    for skill in snapshot.iter() {
        match look(&skill.summary, tree, passed_over, &mut names) {
            Ok(found) => {
                contents.diagnostics.extend(strict(&skill.summary, &found.name, max_bytes));
                contents.skills.push(found);
            }
            Err(Spoiled { diagnostic, by }) => {
                spoiled.extend(by);
                contents.diagnostics.push(diagnostic.at(skill.summary.location.clone()));
            }
        }
    }
    // What reading says is said by the stricter rules too, but for what is no skill at all.
    contents
        .diagnostics
        .extend(snapshot.findings().into_iter().filter(|found| found.severity == Severity::Error || is_of_the_search(found)));
    for (_, (path, refusal)) in passed_over.iter().enumerate().filter(|(at, _)| !spoiled.contains(at)) {
        contents.diagnostics.push(Diagnostic::note("entry-passed-over", refusal.to_string()).at(path.shown()));
    }
    let tree = format!("{}/", tree.to_string_lossy());
    for diagnostic in &mut contents.diagnostics {
        let path = diagnostic.path.take();
        diagnostic.path = path.map(|path| path.strip_prefix(&tree).map(str::to_owned).unwrap_or(path));
        diagnostic.message = diagnostic.message.replace(&tree, "");
    }
    contents
}

/// Of two skills of one id, and of bounds.
fn is_of_the_search(found: &Diagnostic) -> bool {
    ["skill-shadowed", "depth-limit", "folder-limit", "file-limit", "root-is-skill"].contains(&&*found.code)
}

struct Spoiled {
    diagnostic: Diagnostic,
    /// Which of the entries that were passed over belong to it.
    by: Vec<usize>,
}

fn look(summary: &SkillSummary, tree: &Path, passed_over: &[(EntryPath, Refusal)], names: &mut BTreeSet<String>) -> Result<Found, Spoiled> {
    let spoiled = |message: String, by| Spoiled { diagnostic: Diagnostic::error("skill-not-installed", message), by };
    let file = Path::new(&summary.location);
    let folder = file.parent().unwrap_or(tree);
    let is_top = folder == tree;
    let is_flat = !["SKILL.md", "README.md"].iter().any(|name| file.file_name().is_some_and(|file| file.eq_ignore_ascii_case(name)));
    if is_flat {
        let diagnostic = Diagnostic::note("skill-flat", "a skill without a folder is not installed; give it a folder, as its SKILL.md");
        return Err(Spoiled { diagnostic, by: Vec::new() });
    }
    let below: Vec<&str> = folder.strip_prefix(tree).unwrap_or(folder).iter().filter_map(|name| name.to_str()).collect();
    let is_in = |path: &EntryPath| path.names().len() >= below.len() && path.names().iter().zip(&below).all(|(name, of)| name == of);
    let by: Vec<usize> = passed_over.iter().enumerate().filter(|(_, (path, _))| is_in(path)).map(|(at, _)| at).collect();
    if let Some((path, refusal)) = by.first().and_then(|at| passed_over.get(*at)) {
        return Err(spoiled(format!("`{}` in it is refused: {refusal}", path.shown()), by));
    }
    let is_called_after_the_source = is_top && tree.file_name().is_some_and(|name| name == summary.id.as_str());
    let id = if is_called_after_the_source { own_name(summary).unwrap_or_else(|| summary.id.clone()) } else { summary.id.clone() };
    let name = id.as_str().to_owned();
    if let Err(refusal) = names::check(&name) {
        return Err(spoiled(format!("its id `{name}` can't be the name of a folder: {refusal}"), by));
    }
    if is_pruned(name.as_ref()) {
        return Err(spoiled(format!("nothing in a folder called `{name}` is found"), by));
    }
    if !names.insert(folded(&name)) {
        return Err(spoiled(format!("another skill in the source is called `{name}` but for upper and lower case"), by));
    }
    let (files, bytes) = size(folder);
    Ok(Found { id, description: summary.description.clone(), folder: folder.to_owned(), name, files, bytes })
}

/// The name that the skill gives itself, where it is made like an id.
fn own_name(summary: &SkillSummary) -> Option<SkillId> {
    let is_plain = |c: char| c == '-' || c.is_alphanumeric() && !c.is_uppercase();
    let name = Some(&summary.name).filter(|name| name.chars().all(is_plain))?;
    SkillId::new(name).ok()
}

/// In which way it breaks the specification; it loads all the same.
fn strict(summary: &SkillSummary, name: &str, max_bytes: usize) -> Vec<Diagnostic> {
    let bytes = files::open(Path::new(&summary.location)).and_then(|file| files::read_bounded(&file, max_bytes));
    let Ok((bytes, _)) = bytes else { return Vec::new() };
    let weakened = |mut found: Diagnostic| {
        found.severity = found.severity.min(Severity::Warning);
        found.at(summary.location.clone())
    };
    validate(&bytes, name, RuleSet::AgentSkills).into_iter().map(weakened).collect()
}

/// Files and their bytes. The tree is ours: there are no links in it.
fn size(folder: &Path) -> (usize, u64) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.fold((0, 0), |(files, bytes), entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            let below = size(&entry.path());
            (files + below.0, bytes + below.1)
        }
        Ok(metadata) => (files + 1, bytes + metadata.len()),
        Err(_) => (files, bytes),
    })
}
