//! Finding: which files in a root are skill files. In the same order on every machine, within bounds, and without reading more than it must: an
//! open, a read and a close each, and a stat where they were read before.

use super::known::{Key, Known, KnownFile};
use super::links::{Links, Refusal};
use super::parallel::side_by_side;
use super::roots::{Root, RootRules};
use super::skill_file::{Form, Found, Place, Reading, SkillFile, not_regular, unreadable as unreadable_file};
use crate::files::{self, Stamp};
use crate::layers::Diagnostic;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Levels below a root that are searched.
const MAX_DEPTH: usize = 6;
/// Folders below a root that are searched and are no skills.
const MAX_FOLDERS: usize = 2_000;
/// Folders that are looked at before it is seen whether the search is at its bound.
const AT_A_TIME: usize = 4_096;
/// Folders that are never searched.
pub(super) const PRUNED: [&str; 3] = [".git", "node_modules", "target"];
/// A linked worktree's `.git` file is shorter.
const MAX_GIT_FILE_BYTES: u64 = 8 * 1024;

/// What is found in all roots: a file that is reached twice is found once.
pub(super) struct Walk<'k> {
    known: &'k Known,
    /// Canonical paths of the skill files found so far.
    files: HashSet<Key>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// A file that was found: as it was read now, or before.
pub(super) struct Find<'k> {
    /// Of its path.
    pub(super) key: Key,
    /// Of its canonical path.
    identity: Key,
    /// As it was found.
    pub(super) path: PathBuf,
    pub(super) form: Form,
    pub(super) file: What<'k>,
}

pub(super) enum What<'k> {
    /// Its stamp is the same.
    Unchanged(&'k KnownFile),
    Read(SkillFile),
}

impl Find<'_> {
    pub(super) fn is_no_skill(&self) -> bool {
        let reading = match &self.file {
            What::Unchanged(file) => &file.reading,
            What::Read(file) => &file.reading,
        };
        *reading == Reading::NoSkill
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
        Self { path: self.path.join(name), canonical: self.canonical.as_ref().map(|canonical| canonical.join(name)) }
    }
}

/// What a folder holds, as far as it matters here.
#[derive(Default)]
struct Listing {
    folders: Vec<(OsString, FileType)>,
    files: Vec<(OsString, FileType)>,
}

/// What a folder was seen to be.
#[derive(Default)]
struct Seen<'k> {
    /// The file that may make it a skill.
    file: Option<Find<'k>>,
    /// Where it is searched on; in a box, since few are.
    listing: Option<Box<Listing>>,
    diagnostics: Vec<Diagnostic>,
}

impl<'k> Walk<'k> {
    pub(super) fn new(known: &'k Known) -> Self {
        Self { known, files: HashSet::with_capacity(known.files().len()), diagnostics: Vec::new() }
    }

    /// The skill files in the root of this number, level by level and each level by path; `None` where there is no root.
    pub(super) fn root(&mut self, number: u32, root: &Root, followed: bool, max_bytes: usize) -> Option<(Vec<Find<'k>>, Arc<Place>)> {
        let (links, canonical) = self.enter(root, followed)?;
        let place = Place { root: root.path.clone(), canonical: canonical.clone(), links, source: Arc::new(root.source()), max_bytes };
        let before = self.known.places.get(number as usize).and_then(Option::as_ref).filter(|before| ***before == place);
        // What was read in another place is not what would be read in this one.
        let known = before.is_some().then_some(self.known);
        let place = before.cloned().unwrap_or_else(|| Arc::new(place));
        let look = Look { keys: self.known, known, number, rules: root.rules, place: &place };
        let mut search = Search { walk: self, look, visited: HashSet::new(), found: Vec::new() };
        search.run(Folder::new(root.path.clone(), canonical));
        let found = search.found;
        Some((found, place))
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

impl Seen<'_> {
    fn is_skill(&self) -> bool {
        self.file.as_ref().is_some_and(|file| !file.is_no_skill())
    }
}

/// What there is to know while looking, from several threads at once.
#[derive(Clone, Copy)]
struct Look<'a, 'k> {
    keys: &'k Known,
    known: Option<&'k Known>,
    number: u32,
    rules: RootRules,
    place: &'a Arc<Place>,
}

impl<'k> Look<'_, 'k> {
    /// What a folder is, with the file that makes it a skill read.
    fn folder(self, folder: &Folder, is_root: bool) -> Seen<'k> {
        let form = match self.rules {
            RootRules::Standard => Some(Form::Folder),
            RootRules::Brute => Some(Form::Strict),
            RootRules::Orcbot => (!is_root).then_some(Form::Folder),
            RootRules::Batbox => None,
        };
        // Nearly every skill has this name: no listing is needed.
        match form.map_or(Ok(None), |form| self.file(folder, OsStr::new("SKILL.md"), form)) {
            Ok(None) => {}
            Ok(file) => {
                let is_searched_on = self.rules == RootRules::Brute;
                let listing = is_searched_on.then(|| list(&folder.path).ok().map(Box::new)).flatten();
                return Seen { file, listing, ..Seen::default() };
            }
            Err(diagnostic) => return Seen { diagnostics: vec![diagnostic], ..Seen::default() },
        }
        let listing = match list(&folder.path) {
            Ok(listing) => listing,
            Err(error) => return Seen { diagnostics: vec![unreadable(&folder.path, &error)], ..Seen::default() },
        };
        if !is_root && is_linked_worktree(folder, &listing) {
            let message = "a linked worktree: its skills are those of its repository, and were not looked for";
            let skipped = Diagnostic::note("worktree-skipped", message).at(shown(&folder.path));
            return Seen { diagnostics: vec![skipped], ..Seen::default() };
        }
        if self.rules != RootRules::Standard {
            return Seen { listing: Some(Box::new(listing)), ..Seen::default() };
        }
        let named = |name: &str| listing.files.iter().find(|(file, _)| file == name);
        let in_other_case = || listing.files.iter().find(|(file, _)| file.eq_ignore_ascii_case("skill.md"));
        if let Some((name, _)) = named("skill.md").or_else(in_other_case) {
            return match self.file(folder, name, Form::Folder) {
                Ok(None) => Seen::default(),
                Ok(file) => {
                    let note = format!("`{}` was taken for the instruction file; other readers want `SKILL.md`", name.to_string_lossy());
                    let note = Diagnostic::note("instruction-file-name", note).at(shown(&folder.path.join(name)));
                    Seen { file, listing: None, diagnostics: vec![note] }
                }
                Err(diagnostic) => Seen { diagnostics: vec![diagnostic], ..Seen::default() },
            };
        }
        let mut seen = Seen::default();
        if !is_root && let Some((name, _)) = named("README.md") {
            match self.file(folder, name, Form::Readme) {
                Ok(file) => seen.file = file,
                Err(diagnostic) => seen.diagnostics.push(diagnostic),
            }
        }
        if !seen.is_skill() {
            seen.listing = Some(Box::new(listing));
        }
        seen
    }

    /// A file, read unless that was done before; `None` if there is no such file. An error is a link that is not followed.
    fn file(self, folder: &Folder, name: &OsStr, form: Form) -> Result<Option<Find<'k>>, Diagnostic> {
        let path = folder.path.join(name);
        let key = self.keys.key(&path);
        let identity = |folder: &Folder| folder.canonical.as_ref().map_or(key, |canonical| self.keys.key(&canonical.join(name)));
        let known = self.known.and_then(|known| known.get(key, self.number));
        // What was no link costs a stat while it is none, and one open where it was not read before.
        if let Some(known) = known
            && let Ok(metadata) = fs::symlink_metadata(&path)
            && metadata.is_file()
            && known.is_settled
            && known.stamp == Stamp::of(&metadata)
        {
            return Ok(Some(Find { key, identity: identity(folder), path, form, file: What::Unchanged(known) }));
        }
        let mut found = Found { path: &path, canonical: None, form, place: self.place };
        match files::open_unlinked(&path).and_then(|file| Ok((file.metadata()?, file))) {
            Ok((metadata, file)) if metadata.is_file() => {
                let file = What::Read(found.read(&file, &metadata));
                return Ok(Some(Find { key, identity: identity(folder), path, form, file }));
            }
            // The usual case of a folder that is no skill.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            _ => {}
        }
        let Ok(mut metadata) = fs::symlink_metadata(&path) else { return Ok(None) };
        let mut identity = identity(folder);
        if metadata.is_symlink() {
            if !self.place.links.followed {
                return Err(not_followed(&path));
            }
            let resolved = self.place.links.resolve(&path).and_then(|canonical| {
                let metadata = fs::metadata(&canonical).map_err(Refusal::Unreadable)?;
                Ok((canonical, metadata))
            });
            let (canonical, of_target) = resolved.map_err(|refusal| refusal.diagnostic(&path))?;
            identity = self.keys.key(&canonical);
            metadata = of_target;
            if let Some(known) = known
                && known.is_settled
                && known.stamp == Stamp::of(&metadata)
                && let Reading::Skill(skill) = &known.reading
                && skill.canonical() == Some(&canonical)
            {
                return Ok(Some(Find { key, identity, path, form, file: What::Unchanged(known) }));
            }
            found.canonical = Some(canonical);
        }
        let file = if metadata.is_dir() {
            return Ok(None);
        } else if metadata.is_file() {
            // The target by its own path: a link that was put elsewhere since then is not followed unseen.
            let target = found.canonical.as_deref().unwrap_or(&path);
            match files::open_unlinked(target).or_else(|_| files::open(target)).and_then(|file| Ok((file.metadata()?, file))) {
                Ok((metadata, file)) if metadata.is_file() => found.read(&file, &metadata),
                Ok((metadata, _)) => found.failed(not_regular(), &metadata),
                Err(error) => found.failed(unreadable_file(&error), &metadata),
            }
        } else if !form.wants_front_matter() {
            found.failed(not_regular(), &metadata)
        } else {
            SkillFile { stamp: Stamp::of(&metadata), reading: Reading::NoSkill }
        };
        Ok(Some(Find { key, identity, path, form, file: What::Read(file) }))
    }
}

struct Search<'s, 'a, 'k> {
    walk: &'s mut Walk<'k>,
    look: Look<'a, 'k>,
    /// Canonical paths of this root's folders that are no skills: a loop ends here.
    visited: HashSet<Key>,
    found: Vec<Find<'k>>,
}

impl<'k> Search<'_, '_, 'k> {
    /// Level by level, each in bytewise order, so that bounds cut at the same place everywhere.
    fn run(&mut self, root: Folder) {
        let start = shown(&root.path);
        let mut level = vec![root];
        let mut others = 0;
        for depth in 0..=MAX_DEPTH {
            let mut next = Vec::new();
            for folders in level.chunks(AT_A_TIME) {
                let look = self.look;
                let all = side_by_side(folders, |folder| look.folder(folder, depth == 0));
                for (folder, seen) in folders.iter().zip(all) {
                    let is_skill = seen.is_skill();
                    let Some(listing) = self.take(folder, seen) else { continue };
                    if is_skill {
                        next.extend(self.folders_in(folder, *listing));
                        continue;
                    }
                    if depth > 0 {
                        others += 1;
                    } else if matches!(look.rules, RootRules::Standard | RootRules::Batbox) {
                        self.flat_files(folder, &listing);
                    }
                    if others > MAX_FOLDERS {
                        let message = format!(
                            "over {MAX_FOLDERS} folders below this root are no skills; the search ended at {}",
                            folder.path.display()
                        );
                        self.walk.diagnostics.push(Diagnostic::warning("folder-limit", message).at(start));
                        return;
                    }
                    let goes_on = match look.rules {
                        RootRules::Standard | RootRules::Brute => true,
                        RootRules::Batbox => false,
                        RootRules::Orcbot => depth == 0,
                    };
                    if goes_on {
                        next.extend(self.folders_in(folder, *listing));
                    }
                }
            }
            level = next;
        }
        if let Some(deepest) = level.first() {
            let message = format!("folders over {MAX_DEPTH} levels below their root are not searched, such as {}", deepest.path.display());
            self.walk.diagnostics.push(Diagnostic::warning("depth-limit", message).at(start));
        }
    }

    /// Keeps what was seen of a folder, unless that was reached before; the listing of one that is searched on.
    fn take(&mut self, folder: &Folder, seen: Seen<'k>) -> Option<Box<Listing>> {
        let Seen { file, listing, diagnostics } = seen;
        if listing.is_some() && !self.visited.insert(self.look.keys.key(folder.canonical())) {
            return None;
        }
        if file.is_some_and(|file| !self.keep(file)) {
            return None;
        }
        self.walk.diagnostics.extend(diagnostics);
        listing
    }

    /// Keeps a file unless it was found already.
    fn keep(&mut self, file: Find<'k>) -> bool {
        let is_new = file.is_no_skill() || self.walk.files.insert(file.identity);
        if is_new {
            self.found.push(file);
        }
        is_new
    }

    /// `name.md` directly in a root. Hidden files are editors' and file systems' own.
    fn flat_files(&mut self, folder: &Folder, listing: &Listing) {
        let look = self.look;
        let form = if look.rules == RootRules::Batbox { Form::Named } else { Form::Flat };
        let flat = |(name, _): &&(OsString, FileType)| {
            let is_markdown = Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
            let is_readme = look.rules == RootRules::Standard && name.eq_ignore_ascii_case("README.md");
            is_markdown && !is_readme && !name.as_encoded_bytes().starts_with(b".")
        };
        let files: Vec<&(OsString, FileType)> = listing.files.iter().filter(flat).collect();
        let read = side_by_side(&files, |(name, kind)| {
            let leads_to_folder = kind.is_symlink() && folder.path.join(name).is_dir();
            if leads_to_folder { Ok(None) } else { look.file(folder, name, form) }
        });
        for file in read {
            match file {
                Ok(Some(file)) => drop(self.keep(file)),
                Ok(None) => {}
                Err(diagnostic) => self.walk.diagnostics.push(diagnostic),
            }
        }
    }

    fn folders_in(&mut self, folder: &Folder, listing: Listing) -> Vec<Folder> {
        let mut folders = Vec::with_capacity(listing.folders.len());
        for (name, kind) in listing.folders.into_iter().filter(|(name, _)| !PRUNED.iter().any(|pruned| name == pruned)) {
            if !kind.is_symlink() {
                folders.push(folder.folder(&name));
                continue;
            }
            let path = folder.path.join(&name);
            if path.is_dir() {
                if !self.look.place.links.followed {
                    self.walk.diagnostics.push(not_followed(&path));
                    continue;
                }
                match self.look.place.links.resolve(&path) {
                    Ok(canonical) => folders.push(Folder::new(path, canonical)),
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
    listing.folders.sort_unstable_by(by_bytes);
    listing.files.sort_unstable_by(by_bytes);
    Ok(listing)
}

/// Whether a folder's `.git` is the file by which git marks a linked worktree; a submodule's says something else.
fn is_linked_worktree(folder: &Folder, listing: &Listing) -> bool {
    let path = folder.path.join(".git");
    listing.files.iter().any(|(name, kind)| name == ".git" && kind.is_file())
        && fs::metadata(&path).is_ok_and(|metadata| metadata.len() < MAX_GIT_FILE_BYTES)
        && fs::read_to_string(&path).is_ok_and(|text| text.starts_with("gitdir:") && text.replace('\\', "/").contains("/worktrees/"))
}
