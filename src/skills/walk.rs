//! Finding: which files in a root are skill files. In the same order on every machine, within bounds, and without reading more than it must.

use super::links::{Links, Refusal};
use super::roots::{Root, RootRules};
use super::skill_file::{Candidate, Form, Reading};
use crate::files::Stamp;
use crate::layers::Diagnostic;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Levels below a root that are searched.
const MAX_DEPTH: usize = 6;
/// Folders below a root that are searched and are no skills.
const MAX_FOLDERS: usize = 2_000;
/// Folders that are never searched.
pub(super) const PRUNED: [&str; 3] = [".git", "node_modules", "target"];
/// A linked worktree's `.git` file is shorter.
const MAX_GIT_FILE_BYTES: u64 = 8 * 1024;

/// What is found in all roots: a file that is reached twice is found once.
#[derive(Default)]
pub(super) struct Walk {
    /// Canonical paths of the skill files found so far.
    known: HashSet<PathBuf>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// A folder as it was reached, and its canonical path.
struct Folder {
    path: PathBuf,
    canonical: PathBuf,
}

/// What a folder holds, as far as it matters here.
#[derive(Default)]
struct Listing {
    folders: Vec<(OsString, FileType)>,
    files: Vec<(OsString, FileType)>,
}

/// What a folder is.
enum Kind {
    Skill(Candidate),
    /// A skill that was found already, or could not be used: not searched either.
    Passed,
    Other(Listing),
}

impl Walk {
    /// The skill files in a root, ordered by path.
    pub(super) fn root(&mut self, root: &Root, followed: bool, max_file_bytes: usize) -> (Vec<Candidate>, Option<Links>) {
        let Some((links, canonical)) = self.enter(root, followed) else { return (Vec::new(), None) };
        let mut search =
            Search { walk: self, links: &links, max_file_bytes, rules: root.rules, visited: HashSet::new(), found: Vec::new() };
        search.run(Folder { path: root.path.clone(), canonical });
        let mut found = search.found;
        found.sort_by(|a, b| a.path.as_os_str().as_encoded_bytes().cmp(b.path.as_os_str().as_encoded_bytes()));
        if root.rules == RootRules::Batbox {
            // The first stands, and of these it is the last that shall.
            found.reverse();
        }
        (found, Some(links))
    }

    /// A root's links and canonical path, if it is a folder that may be searched.
    fn enter(&mut self, root: &Root, followed: bool) -> Option<(Links, PathBuf)> {
        let metadata = match fs::metadata(&root.path) {
            Ok(metadata) => metadata,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return None,
            Err(error) => return self.say(unreadable(&root.path, &error)),
        };
        if !metadata.is_dir() {
            return self
                .say(Diagnostic::warning("root-unreadable", "a root of skills is a folder, and this is none").at(shown(&root.path)));
        }
        let links = match Links::of(root, followed) {
            Ok(links) => links,
            Err(error) => return self.say(unreadable(&root.path, &error)),
        };
        match links.resolve(&root.path) {
            Ok(canonical) if !followed && links.passed_by(root, &canonical) => self.say(not_followed(&root.path)),
            Ok(canonical) => Some((links, canonical)),
            Err(Refusal::Unreadable(error)) => self.say(unreadable(&root.path, &error)),
            Err(refusal) => self.say(refusal.diagnostic(&root.path)),
        }
    }

    fn say<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.diagnostics.push(diagnostic);
        None
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

struct Search<'a> {
    walk: &'a mut Walk,
    links: &'a Links,
    max_file_bytes: usize,
    rules: RootRules,
    /// Canonical paths of this root's folders: a loop ends here.
    visited: HashSet<PathBuf>,
    found: Vec<Candidate>,
}

impl Search<'_> {
    /// Level by level, each in bytewise order, so that bounds cut at the same place everywhere.
    fn run(&mut self, root: Folder) {
        let start = shown(&root.path);
        let mut level = vec![root];
        let mut others = 0;
        for depth in 0..=MAX_DEPTH {
            let mut next = Vec::new();
            for folder in level {
                if !self.visited.insert(folder.canonical.clone()) {
                    continue;
                }
                let listing = match self.kind(&folder, depth == 0) {
                    Kind::Skill(candidate) => {
                        self.found.push(candidate);
                        if self.rules == RootRules::Brute
                            && let Ok(listing) = list(&folder.path)
                        {
                            next.extend(self.folders_in(&folder, listing));
                        }
                        continue;
                    }
                    Kind::Passed => continue,
                    Kind::Other(listing) => listing,
                };
                if depth > 0 {
                    others += 1;
                } else if matches!(self.rules, RootRules::Standard | RootRules::Batbox) {
                    self.flat_files(&folder, &listing);
                }
                if others > MAX_FOLDERS {
                    let message =
                        format!("over {MAX_FOLDERS} folders below this root are no skills; the search ended at {}", folder.path.display());
                    self.walk.diagnostics.push(Diagnostic::warning("folder-limit", message).at(start));
                    return;
                }
                let goes_on = match self.rules {
                    RootRules::Standard | RootRules::Brute => true,
                    RootRules::Batbox => false,
                    RootRules::Orcbot => depth == 0,
                };
                if goes_on {
                    next.extend(self.folders_in(&folder, listing));
                }
            }
            level = next;
        }
        if let Some(deepest) = level.first() {
            let message = format!("folders over {MAX_DEPTH} levels below their root are not searched, such as {}", deepest.path.display());
            self.walk.diagnostics.push(Diagnostic::warning("depth-limit", message).at(start));
        }
    }

    fn kind(&mut self, folder: &Folder, is_root: bool) -> Kind {
        let may_be_one = match self.rules {
            RootRules::Standard | RootRules::Brute => true,
            RootRules::Batbox => false,
            RootRules::Orcbot => !is_root,
        };
        // Nearly every skill has this name: no listing is needed.
        if may_be_one
            && let Ok(metadata) = fs::symlink_metadata(folder.path.join("SKILL.md"))
            && !metadata.is_dir()
        {
            let form = if self.rules == RootRules::Brute { Form::Strict } else { Form::Folder };
            return match self.candidate(folder, OsStr::new("SKILL.md"), form, Some(metadata)) {
                Some(candidate) => Kind::Skill(candidate),
                None => Kind::Passed,
            };
        }
        let listing = match list(&folder.path) {
            Ok(listing) => listing,
            Err(error) => {
                self.walk.diagnostics.push(unreadable(&folder.path, &error));
                return Kind::Passed;
            }
        };
        if !is_root && is_linked_worktree(folder, &listing) {
            let message = "a linked worktree: its skills are those of its repository, and were not looked for";
            self.walk.diagnostics.push(Diagnostic::note("worktree-skipped", message).at(shown(&folder.path)));
            return Kind::Passed;
        }
        if self.rules != RootRules::Standard {
            return Kind::Other(listing);
        }
        let named = |name: &str| listing.files.iter().find(|(file, _)| file == name);
        let in_other_case = || listing.files.iter().find(|(file, _)| file.eq_ignore_ascii_case("skill.md"));
        if let Some((name, _)) = named("skill.md").or_else(in_other_case) {
            let note = format!("`{}` was taken for the instruction file; other readers want `SKILL.md`", name.to_string_lossy());
            let path = shown(&folder.path.join(name));
            return match self.candidate(folder, name, Form::Folder, None) {
                Some(candidate) => {
                    self.walk.diagnostics.push(Diagnostic::note("instruction-file-name", note).at(path));
                    Kind::Skill(candidate)
                }
                None => Kind::Passed,
            };
        }
        if !is_root
            && let Some((name, _)) = named("README.md")
            && let Some(mut candidate) = self.candidate(folder, name, Form::Readme, None)
        {
            let reading = candidate.read(self.max_file_bytes);
            if !matches!(reading, Reading::NoSkill) {
                candidate.reading = Some(reading);
                return Kind::Skill(candidate);
            }
            self.walk.known.remove(&candidate.canonical);
        }
        Kind::Other(listing)
    }

    /// A file as a skill file, unless it was found already, or is a link that is not followed.
    fn candidate(&mut self, folder: &Folder, name: &OsStr, form: Form, metadata: Option<Metadata>) -> Option<Candidate> {
        let path = folder.path.join(name);
        let metadata = match metadata.map_or_else(|| fs::symlink_metadata(&path), Ok) {
            Ok(metadata) => metadata,
            Err(error) => return self.walk.say(Diagnostic::warning("file-unreadable", error.to_string()).at(shown(&path))),
        };
        let (canonical, metadata) = if metadata.is_symlink() {
            if !self.links.followed {
                return self.walk.say(not_followed(&path));
            }
            let resolved = self.links.resolve(&path).and_then(|canonical| {
                let metadata = fs::metadata(&canonical).map_err(Refusal::Unreadable)?;
                Ok((canonical, metadata))
            });
            match resolved {
                Ok(resolved) => resolved,
                Err(refusal) => return self.walk.say(refusal.diagnostic(&path)),
            }
        } else {
            (folder.canonical.join(name), metadata)
        };
        if !self.walk.known.insert(canonical.clone()) {
            return None;
        }
        Some(Candidate { path, canonical, form, stamp: Stamp::of(&metadata), reading: None })
    }

    /// `name.md` directly in a root. Hidden files are editors' and file systems' own.
    fn flat_files(&mut self, folder: &Folder, listing: &Listing) {
        for (name, kind) in &listing.files {
            let path = Path::new(name);
            let is_markdown = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
            let is_readme = self.rules == RootRules::Standard && name.eq_ignore_ascii_case("README.md");
            let leads_to_folder = kind.is_symlink() && folder.path.join(name).is_dir();
            if !is_markdown || is_readme || name.as_encoded_bytes().starts_with(b".") || leads_to_folder {
                continue;
            }
            let form = if self.rules == RootRules::Batbox { Form::Named } else { Form::Flat };
            let found = self.candidate(folder, name, form, None);
            self.found.extend(found);
        }
    }

    fn folders_in(&mut self, folder: &Folder, listing: Listing) -> Vec<Folder> {
        let mut folders = Vec::new();
        for (name, kind) in listing.folders.into_iter().filter(|(name, _)| !PRUNED.iter().any(|pruned| name == pruned)) {
            let path = folder.path.join(&name);
            if !kind.is_symlink() {
                let canonical = folder.canonical.join(&name);
                folders.push(Folder { path, canonical });
            } else if path.is_dir() {
                if !self.links.followed {
                    self.walk.diagnostics.push(not_followed(&path));
                    continue;
                }
                match self.links.resolve(&path) {
                    Ok(canonical) => folders.push(Folder { path, canonical }),
                    Err(refusal) => self.walk.diagnostics.push(refusal.diagnostic(&path)),
                }
            }
        }
        folders
    }
}

/// A folder's entries in bytewise order; links stand in both lists.
fn list(folder: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name();
        if kind.is_symlink() {
            listing.folders.push((name.clone(), kind));
        }
        if kind.is_dir() {
            listing.folders.push((name, kind));
        } else if Path::new(&name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md")) || name == ".git" {
            listing.files.push((name, kind));
        }
    }
    let by_bytes = |a: &(OsString, FileType), b: &(OsString, FileType)| a.0.as_encoded_bytes().cmp(b.0.as_encoded_bytes());
    listing.folders.sort_by(by_bytes);
    listing.files.sort_by(by_bytes);
    Ok(listing)
}

/// Whether a folder's `.git` is the file by which git marks a linked worktree; a submodule's says something else.
fn is_linked_worktree(folder: &Folder, listing: &Listing) -> bool {
    let path = folder.path.join(".git");
    listing.files.iter().any(|(name, kind)| name == ".git" && kind.is_file())
        && fs::metadata(&path).is_ok_and(|metadata| metadata.len() < MAX_GIT_FILE_BYTES)
        && fs::read_to_string(&path).is_ok_and(|text| text.starts_with("gitdir:") && text.replace('\\', "/").contains("/worktrees/"))
}
