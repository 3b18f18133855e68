//! All folder skills as one registry: a snapshot that never changes, swapped whole when they are read again.

use super::bundled;
use super::front_matter;
use super::known::{Key, Known, KnownFile};
use super::parallel::{MANY, side_by_side};
use super::resources::Resource;
use super::roots::{DiscoveryOptions, Root, RootRules, roots};
use super::skill_file::{FileSkill, Place, Reading, SkillFile, read_bounded};
use super::unknown::unknown;
use super::validation::locate;
use super::walk::{Find, Walk, What};
use crate::blocking::off_the_executor;
use crate::layers::Diagnostic;
use crate::layers::skill::{Skill, SkillManifest, SkillRegistry, SkillSummary, SkillVisibility, Skills};
use crate::{Environment, Workspace};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

/// The skills in folders. Cheap to clone; clones share their state.
///
/// ```
/// use tower_prompt::layers::skill::SkillRegistry;
/// use tower_prompt::skills::{DiscoveryOptions, FolderSkills};
/// use tower_prompt::{Environment, Workspace};
///
/// let skills = FolderSkills::discover(&DiscoveryOptions::default(), &Environment::new("/nowhere"), &Workspace::at("/nowhere"));
/// assert!(skills.snapshot().is_empty());
/// ```
#[derive(Clone)]
pub struct FolderSkills(Arc<Inner>);

/// Files that are read again to tell the lines of what matching leaves out.
const MAX_LOCATED: usize = 100;

struct Inner {
    roots: Vec<Root>,
    options: DiscoveryOptions,
    state: RwLock<Arc<State>>,
    /// What was read before. Held while reading: two reloads stand in line.
    known: Mutex<Known>,
}

/// One state of the folders.
#[derive(Default)]
struct State {
    skills: Skills,
    /// By rank.
    files: Vec<Arc<FileSkill>>,
}

impl State {
    fn file(&self, id: &str) -> Option<&FileSkill> {
        Some(self.files.get(self.skills.rank(id)?)?)
    }
}

impl FolderSkills {
    /// Finds and reads the skills in the roots of this environment and workspace. Blocks while it does.
    pub fn discover(options: &DiscoveryOptions, environment: &Environment, workspace: &Workspace) -> Self {
        Self::in_roots(roots(options, environment, workspace), options)
    }
    /// Finds and reads the skills in just these roots, highest precedence first. Blocks while it does.
    pub fn in_roots(roots: Vec<Root>, options: &DiscoveryOptions) -> Self {
        let inner = Inner { roots, options: options.clone(), state: RwLock::default(), known: Mutex::default() };
        let skills = Self(Arc::new(inner));
        skills.reload();
        skills
    }
    /// Finds and reads again what changed, then swaps the snapshot. Blocks while it does; snapshots that were taken stay as they are. Where nothing
    /// changed, the snapshot is the very same.
    pub fn reload(&self) {
        self.refresh();
    }
    /// [`reload`](Self::reload), and whether any skill file, or what was found on the way, changed.
    pub(super) fn refresh(&self) -> bool {
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (state, changed) = self.0.read(&mut known);
        if let Some(state) = state {
            *self.0.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(state);
        }
        changed
    }
    /// The folders of files that links lead to.
    #[cfg(feature = "watch")]
    pub(super) fn linked_folders(&self) -> Vec<std::path::PathBuf> {
        let known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        let skills = known.files().iter().filter_map(|file| match &file.reading {
            Reading::Skill(skill) => skill.canonical()?.parent().map(Into::into),
            _ => None,
        });
        let folders: std::collections::BTreeSet<_> = skills.collect();
        folders.into_iter().collect()
    }
    /// [`reload`](Self::reload) on a thread of its own.
    pub fn reload_in_background(&self) -> impl Future<Output = ()> + Send + use<> {
        let skills = self.clone();
        let reloaded = off_the_executor(move || skills.reload());
        async move { reloaded.await.unwrap_or_default() }
    }
    /// Where skills are looked for, highest precedence first.
    pub fn roots(&self) -> &[Root] {
        &self.0.roots
    }
    /// A skill in full, but for its body. Blocks while it lists the skill's folder.
    pub fn manifest(&self, id: &str) -> Option<SkillManifest> {
        let state = self.state();
        let summary = SkillSummary::clone(&state.skills.get(id)?.summary);
        let file = state.file(id)?;
        let (files, more_files) = bundled::names(file.path(), file.form, &file.place.links);
        let about = |diagnostic: &&Diagnostic| diagnostic.path.as_deref() == Some(&summary.location);
        let diagnostics = state.skills.diagnostics().iter().filter(about).cloned().collect();
        let mut manifest = SkillManifest::new(summary);
        manifest.other_fields = file.other_fields();
        (manifest.files, manifest.more_files, manifest.diagnostics) = (files, more_files, diagnostics);
        Some(manifest)
    }
    /// What was found while the skills were read, and what matching leaves out of them, each with its line. Blocks while it reads again the first 100
    /// files that matching leaves something out of.
    pub fn findings(&self) -> Vec<Diagnostic> {
        let state = self.state();
        let mut documents = BTreeMap::new();
        let located = |found: Diagnostic| {
            let is_of_a_field = found.line.is_none() && matches!(&*found.code, "pattern-ignored" | "keyword-ignored");
            let Some(path) = found.path.clone().filter(|_| is_of_a_field) else { return found };
            if documents.len() >= MAX_LOCATED && !documents.contains_key(&path) {
                return found;
            }
            let read = |path: &String| {
                let (bytes, is_cut) = read_bounded(path.as_ref(), self.0.options.max_skill_file_bytes.get()).ok()?;
                if is_cut { front_matter::read_cut(&bytes).ok() } else { front_matter::read(&bytes).ok() }
            };
            let document = documents.entry(path).or_insert_with_key(read);
            match document {
                Some(document) => locate(found, document),
                None => found,
            }
        };
        state.skills.findings().into_iter().map(located).collect()
    }
    /// A file that a skill brings, by its path in the skill's folder. Blocks while it reads, at most `max_resource_bytes`.
    pub fn resource(&self, id: &str, path: &str) -> Result<Resource, Diagnostic> {
        let state = self.state();
        let unknown = || Diagnostic::error("skill-unknown", format!("there is no skill `{id}`"));
        let file = state.file(id).ok_or_else(unknown)?;
        file.files().text(path, self.0.options.max_resource_bytes.get())
    }

    fn state(&self) -> Arc<State> {
        self.0.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl SkillRegistry for FolderSkills {
    fn snapshot(&self) -> Skills {
        self.state().skills.clone()
    }
}

impl std::fmt::Debug for FolderSkills {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FolderSkills").field("roots", &self.0.roots).field("skills", &self.snapshot()).finish_non_exhaustive()
    }
}

impl Inner {
    /// The state as the folders are now, if it is another than before, and whether any file changed.
    fn read(&self, known: &mut Known) -> (Option<State>, bool) {
        // Names of bundled files are no skill files: they are looked at each time.
        let may_stand = !self.options.include_resources;
        if may_stand && Walk::still_holds(known, &self.roots, self.options.follow_symlinks) {
            return (None, false);
        }
        let start = SystemTime::now();
        let mut walk = Walk::new(known, start);
        let mut found = Vec::with_capacity(self.roots.len());
        for (number, root) in (0..).zip(&self.roots) {
            found.push(walk.root(number, root, self.options.follow_symlinks, self.options.max_skill_file_bytes.get()));
        }
        let (walked, listings, evidence) = (walk.diagnostics, walk.listings, walk.evidence);
        let mut same = walked == known.diagnostics;
        if same && may_stand && is_all_known(&found, known) {
            known.set_found(listings, evidence);
            return (None, false);
        }
        let mut changed = false;
        let mut read = Vec::with_capacity(known.files().len());
        let mut places = Vec::with_capacity(found.len());
        for (root, finds) in (0..).zip(found) {
            let (finds, place) = finds.unzip();
            places.push(place);
            for Find { key, file, .. } in finds.into_iter().flatten() {
                let before = match &file {
                    What::Unchanged(order, before) => Some((*order, *before)),
                    What::Read(_) => known.get(key, root),
                };
                same &= before.is_some_and(|(order, _)| order == read.len());
                let before = before.map(|(_, before)| before);
                let file = match file {
                    What::Unchanged(_, file) => KnownFile { reading: file.reading.clone(), ..*file },
                    What::Read(SkillFile { stamp, mut reading }) => {
                        changed |= before.is_none_or(|before| before.stamp != stamp);
                        match before {
                            // Another stamp, the same skill: what is held already is shared.
                            Some(before) if before.reading == reading => reading = before.reading.clone(),
                            _ => same = false,
                        }
                        KnownFile { root, is_settled: stamp.is_settled_at(start), stamp, reading }
                    }
                };
                read.push((key, file));
            }
        }
        same &= read.len() == known.files().len();
        let state = (!same || self.options.include_resources).then(|| self.state(&read, walked.clone()));
        let state = state.filter(|state| !same || !self.is_shown_as(state));
        known.set(read, places, walked);
        known.set_found(listings, evidence);
        changed |= state.is_some();
        (state, changed)
    }

    /// Whether the summaries are those of the snapshot.
    fn is_shown_as(&self, state: &State) -> bool {
        let before = self.state.read().unwrap_or_else(PoisonError::into_inner).clone();
        let summaries = |state: &State| state.skills.iter().map(|skill| skill.summary.clone()).collect::<Vec<_>>();
        summaries(&before) == summaries(state)
    }

    /// The state of these files.
    fn state(&self, read: &[(Key, KnownFile)], mut diagnostics: Vec<Diagnostic>) -> State {
        let mut files: Vec<(u32, Arc<FileSkill>)> = Vec::with_capacity(read.len());
        for (_, file) in read {
            match &file.reading {
                Reading::Skill(skill) => {
                    diagnostics.extend_from_slice(skill.diagnostics());
                    files.push((file.root, skill.clone()));
                }
                Reading::NoSkill => {}
                Reading::Broken(diagnostic) => diagnostics.push((**diagnostic).clone()),
            }
        }
        // In order already, but for what lies deeper.
        files.sort_by(|(a_root, a), (b_root, b)| {
            let by_path = || a.path().as_os_str().as_encoded_bytes().cmp(b.path().as_os_str().as_encoded_bytes());
            a_root.cmp(b_root).then_with(by_path)
        });
        for of_one_root in files.chunk_by_mut(|(a, _), (b, _)| a == b) {
            let rules = of_one_root.first().and_then(|(root, _)| self.roots.get(*root as usize)).map(|root| root.rules);
            if rules == Some(RootRules::Batbox) {
                // The first stands, and of these it is the last that shall.
                of_one_root.reverse();
            }
        }
        let files: Vec<Arc<FileSkill>> = files.into_iter().map(|(_, file)| file).collect();
        let mut skills: Vec<Skill> = Vec::with_capacity(files.len());
        if self.options.include_resources {
            skills = side_by_side(&files, MANY, |file| Skill::shared(with_resources(file), file.clone()));
        } else {
            skills.extend(files.iter().map(|file| Skill::shared(file.summary.clone(), file.clone())));
        }
        diagnostics.extend(unknown(&skills, &self.options));
        configure(&mut skills, &self.options);
        State { skills: Skills::new(skills, diagnostics), files }
    }
}

/// A file's summary, with the names of its scripts and references, which the catalog shows.
fn with_resources(file: &FileSkill) -> Arc<SkillSummary> {
    let mut summary = file.summary.clone();
    let resources = bundled::resources(file.path(), file.form, &file.place.links);
    if !resources.is_empty() {
        Arc::make_mut(&mut summary).resources = resources;
    }
    summary
}

/// Whether these are the files that are known, in the same order, and none was read again: there is nothing to do.
fn is_all_known(found: &[Option<(Vec<Find<'_>>, Arc<Place>)>], known: &Known) -> bool {
    let places = found.iter().map(|found| found.as_ref().map(|(_, place)| place));
    let files = found.iter().flatten().flat_map(|(finds, _)| finds);
    places.eq(known.places.iter().map(Option::as_ref))
        && files.clone().count() == known.files().len()
        && (0..).zip(files).all(|(order, find)| matches!(find.file, What::Unchanged(at, _) if at == order))
}

/// Disables and overrides what the options name, and gives it further trigger patterns: by id, else by a name that one skill alone bears.
/// Doing so again changes nothing.
pub(crate) fn configure(skills: &mut [Skill], options: &DiscoveryOptions) {
    if options.disabled.is_empty() && options.overrides.is_empty() && options.patterns.is_empty() {
        return;
    }
    let mut winners: BTreeMap<&str, &SkillSummary> = BTreeMap::new();
    for skill in &*skills {
        winners.entry(skill.summary.id.as_str()).or_insert(&skill.summary);
    }
    let bearer = |name: &str| {
        let id = crate::layers::skill::SkillId::new(name).ok().filter(|id| winners.contains_key(id.as_str()));
        id.or_else(|| {
            let mut bearers = winners.values().filter(|summary| summary.name == name.trim());
            bearers.next().filter(|_| bearers.next().is_none()).map(|summary| summary.id.clone())
        })
    };
    let disabled: Vec<_> = options.disabled.iter().filter_map(|name| bearer(name)).collect();
    let overrides: Vec<(_, SkillVisibility)> = options.overrides.iter().filter_map(|(name, shown)| Some((bearer(name)?, *shown))).collect();
    let patterns: Vec<(_, &Vec<String>)> = options.patterns.iter().filter_map(|(name, patterns)| Some((bearer(name)?, patterns))).collect();
    for skill in skills {
        if let Some((_, patterns)) = patterns.iter().find(|(id, _)| *id == skill.summary.id) {
            let known = &mut Arc::make_mut(&mut skill.summary).activation.trigger_patterns;
            let new: Vec<String> = patterns.iter().filter(|pattern| !known.contains(pattern)).cloned().collect();
            known.extend(new);
        }
        let shown = overrides.iter().find(|(id, _)| *id == skill.summary.id).map(|(_, shown)| *shown);
        let off = shown == Some(SkillVisibility::Off) || disabled.contains(&skill.summary.id);
        if shown.is_some() || off {
            let summary = Arc::make_mut(&mut skill.summary);
            summary.visibility = shown.unwrap_or_default();
            summary.disabled = off;
        }
    }
}
