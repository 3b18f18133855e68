//! All folder skills as one registry: a snapshot that never changes, swapped whole when they are read again.

use super::bundled::{self, Resource};
use super::fields::Described;
use super::links::Links;
use super::roots::{DiscoveryOptions, Root, roots};
use super::skill_file::{Candidate, FileBody, Form, Reading};
use super::walk::Walk;
use crate::blocking::off_the_executor;
use crate::files::Stamp;
use crate::layers::Diagnostic;
use crate::layers::skill::{Skill, SkillManifest, SkillRegistry, SkillSummary, SkillVisibility, Skills};
use crate::{Environment, Workspace};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

/// So many files are read by more threads than one.
const MANY: usize = 128;
/// Threads that read side by side; more wait for the same disk.
const MAX_THREADS: usize = 4;

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

struct Inner {
    roots: Vec<Root>,
    options: DiscoveryOptions,
    state: RwLock<Arc<State>>,
    /// What was read before, by path as found. Held while reading: two reloads stand in line.
    known: Mutex<HashMap<PathBuf, Known>>,
}

/// One state of the folders.
#[derive(Default)]
struct State {
    skills: Skills,
    details: HashMap<String, Details>,
}

/// What a manifest says beyond the summary, and how the skill's files are found.
struct Details {
    other_fields: BTreeMap<String, String>,
    path: PathBuf,
    form: Form,
    links: Links,
}

/// A reading that holds as long as the file's stamp does.
#[derive(Clone)]
struct Known {
    stamp: Stamp,
    reading: Reading,
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
    /// Finds and reads again what changed, then swaps the snapshot. Blocks while it does; snapshots that were taken stay as they are.
    pub fn reload(&self) {
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        let state = Arc::new(self.0.read(&mut known));
        *self.0.state.write().unwrap_or_else(PoisonError::into_inner) = state;
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
        let summary = state.skills.get(id)?.summary.clone();
        let details = state.details.get(id)?;
        let (files, more_files) = bundled::names(&details.path, details.form, &details.links);
        let about = |diagnostic: &&Diagnostic| diagnostic.path.as_deref() == Some(&summary.location);
        let diagnostics = state.skills.diagnostics().iter().filter(about).cloned().collect();
        Some(SkillManifest { summary, other_fields: details.other_fields.clone(), files, more_files, diagnostics })
    }
    /// A file that a skill brings, by its path in the skill's folder. Blocks while it reads, at most `max_resource_bytes`.
    pub fn resource(&self, id: &str, path: &str) -> Result<Resource, Diagnostic> {
        let state = self.state();
        let unknown = || Diagnostic::error("skill-unknown", format!("there is no skill `{id}`"));
        let details = state.details.get(id).ok_or_else(unknown)?;
        bundled::read(&details.path, details.form, &details.links, path, self.0.options.max_resource_bytes.get())
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
    fn read(&self, known: &mut HashMap<PathBuf, Known>) -> State {
        let max_bytes = self.options.max_skill_file_bytes.get();
        let start = SystemTime::now();
        let mut walk = Walk::default();
        let mut files: Vec<(Candidate, &Root, Links)> = Vec::new();
        for root in &self.roots {
            if let (found, Some(links)) = walk.root(root, self.options.follow_symlinks, max_bytes) {
                files.extend(found.into_iter().map(|candidate| (candidate, root, links.clone())));
            }
        }
        let readings = side_by_side(&files, |(candidate, ..)| match known.get(&candidate.path) {
            Some(known) if known.stamp == candidate.stamp => known.reading.clone(),
            _ => candidate.reading.clone().unwrap_or_else(|| candidate.read(max_bytes)),
        });

        let mut diagnostics = walk.diagnostics;
        let mut skills: Vec<Skill> = Vec::new();
        let mut details: HashMap<String, Details> = HashMap::new();
        let mut read = HashMap::with_capacity(files.len());
        for ((candidate, root, links), reading) in files.into_iter().zip(readings) {
            if candidate.stamp.is_settled_at(start) {
                read.insert(candidate.path.clone(), Known { stamp: candidate.stamp, reading: reading.clone() });
            }
            match reading {
                Reading::NoSkill => {}
                Reading::Broken(diagnostic) => diagnostics.push(diagnostic),
                Reading::Skill(described) => {
                    let Described { mut summary, other_fields, diagnostics: found } = *described;
                    diagnostics.extend(found);
                    summary.source = root.source();
                    summary.location = candidate.path.to_string_lossy().into_owned();
                    let id = summary.id.clone();
                    let Candidate { path, canonical, form, .. } = candidate;
                    if self.options.include_resources {
                        summary.resources = bundled::resources(&path, form, &links);
                    }
                    details.entry(id.as_str().to_owned()).or_insert_with(|| Details {
                        other_fields,
                        path: path.clone(),
                        form,
                        links: links.clone(),
                    });
                    skills.push(Skill::new(summary, FileBody { id, path, canonical, form, links, max_bytes }));
                }
            }
        }
        *known = read;
        configure(&mut skills, &self.options);
        State { skills: Skills::new(skills, diagnostics), details }
    }
}

/// Disables and overrides what the options name: by id, else by a name that one skill alone bears.
fn configure(skills: &mut [Skill], options: &DiscoveryOptions) {
    if options.disabled.is_empty() && options.overrides.is_empty() {
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
    for skill in skills {
        let summary = &mut skill.summary;
        if let Some((_, shown)) = overrides.iter().find(|(id, _)| *id == summary.id) {
            summary.visibility = *shown;
        }
        summary.disabled = summary.visibility == SkillVisibility::Off || disabled.contains(&summary.id);
    }
}

/// What `work` makes of each item, in their order; of many, on several threads.
fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MAX_THREADS);
    if items.len() < MANY || threads < 2 {
        return items.iter().map(work).collect();
    }
    let share = |items: &[T]| items.iter().map(&work).collect::<Vec<R>>();
    std::thread::scope(|scope| {
        let shares: Vec<(&[T], _)> = items
            .chunks(items.len().div_ceil(threads))
            .map(|items| (items, std::thread::Builder::new().spawn_scoped(scope, move || share(items))))
            .collect();
        // Where no thread was to be had, this one does its share.
        shares
            .into_iter()
            .flat_map(|(items, thread)| thread.ok().and_then(|thread| thread.join().ok()).unwrap_or_else(|| share(items)))
            .collect()
    })
}
