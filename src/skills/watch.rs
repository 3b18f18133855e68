//! Reload by itself: the folders are watched, and read again when something in them changed and nothing did for a moment.
//!
//! What is heard of changes decides only when to look, never what is there. So whatever a watcher misses, mistakes or tells twice costs a look at
//! most; and where it can hear nothing at all, there is a look every few seconds.

use super::registry::FolderSkills;
use super::roots::Root;
use crate::layers::Diagnostic;
use crate::layers::skill::{SkillRegistry, Skills};
use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Changes come in bursts: a look waits until none came for so long,
const QUIET: Duration = Duration::from_millis(100);
/// but no longer than this behind the first.
const AT_MOST: Duration = Duration::from_secs(1);
/// A second look behind one that found a change: for what came while folders that are new were not watched yet.
const AGAIN: Duration = Duration::from_secs(1);
/// Between looks where nothing can be heard.
const BLIND: Duration = Duration::from_secs(2);
/// Folders above a root that are watched, for its being made, renamed or removed.
const ABOVE: usize = 3;

/// What a watch tells its host.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Watched {
    /// Skill files changed, and are read: this is the snapshot now. It is the very same as before where a file changed, but nothing that stands in a
    /// summary.
    Changed(Skills),
    /// Something can't be watched. It is looked at every few seconds instead.
    Unwatched(Diagnostic),
}

/// A watch, until it is dropped. Behind the drop nothing is told any more.
#[derive(Debug)]
#[must_use = "the watch ends when this is dropped"]
pub struct SkillWatch {
    heard: Arc<Heard>,
    thread: Option<JoinHandle<()>>,
}

impl FolderSkills {
    /// Reloads from now on whenever something in the roots changes, and says so. Roots may come and go. `told` is called on a thread of the watch;
    /// an error is that there was no such thread to be had.
    ///
    /// ```no_run
    /// # use tower_prompt::skills::{FolderSkills, Watched};
    /// # fn of(skills: &FolderSkills) -> std::io::Result<()> {
    /// let watch = skills.watch(|watched| match watched {
    ///     Watched::Changed(skills) => eprintln!("{} skills", skills.len()),
    ///     other => eprintln!("{other:?}"),
    /// })?;
    /// # drop(watch); Ok(()) }
    /// ```
    pub fn watch(&self, told: impl FnMut(Watched) + Send + 'static) -> std::io::Result<SkillWatch> {
        let heard = Arc::<Heard>::default();
        // Armed before this returns: what changes from now on is heard.
        let ears = Ears::open(self, &heard);
        let mut watching = Watching { skills: self.clone(), heard: heard.clone(), ears, told, said: Vec::new() };
        let thread = std::thread::Builder::new().name("tower-prompt-watch".into()).spawn(move || watching.run())?;
        Ok(SkillWatch { heard, thread: Some(thread) })
    }
}

impl Drop for SkillWatch {
    fn drop(&mut self) {
        self.heard.now().is_over = true;
        self.heard.something.notify_all();
        // Dropped by what it is told, it ends behind that.
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id()) {
            // A panic of the host's was shown already.
            let _ = thread.join();
        }
    }
}

/// What was heard since the last look: never more than this, however much there was.
#[derive(Default, Debug)]
struct Heard {
    now: Mutex<Noise>,
    something: Condvar,
}

#[derive(Default, Debug)]
struct Noise {
    changed: bool,
    /// A root, or what is above it, changed; or events were lost: what is watched is to be chosen anew.
    moved: bool,
    is_over: bool,
}

impl Noise {
    /// Forgets what was heard, since it is looked at now; whether something may have moved.
    fn settle(&mut self) -> bool {
        self.changed = false;
        std::mem::take(&mut self.moved)
    }
}

impl Heard {
    fn now(&self) -> MutexGuard<'_, Noise> {
        // Flags are right whoever panicked.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn wait(&self, noise: MutexGuard<'_, Noise>, until: Option<Instant>) {
        match until {
            None => drop(self.something.wait(noise)),
            Some(until) => drop(self.something.wait_timeout(noise, until.saturating_duration_since(Instant::now()))),
        }
    }
}

/// The system's watcher, and what it can't watch.
struct Ears {
    _watcher: Option<RecommendedWatcher>,
    deaf: Vec<Diagnostic>,
}

impl Ears {
    fn open(skills: &FolderSkills, heard: &Arc<Heard>) -> Self {
        let absolute = |root: &Root| std::path::absolute(&root.path).unwrap_or_else(|_| root.path.clone());
        let roots: Vec<PathBuf> = skills.roots().iter().map(absolute).collect();
        let deaf_to = |path: &Path, error: &notify::Error| {
            let message =
                format!("changes here are not told by the system ({error}); they are looked for every {} seconds", BLIND.as_secs());
            Diagnostic::warning("folder-not-watched", message).at(path.to_string_lossy())
        };
        let others = skills.linked_folders();
        // Some systems tell of a path without its links.
        let named = roots.iter().cloned().chain(roots.iter().filter_map(|root| without_links(root))).collect();
        let listener = Listener { heard: heard.clone(), roots: named, others: others.clone() };
        let mut watcher = match notify::recommended_watcher(move |event| listener.hear(event)) {
            Ok(watcher) => watcher,
            Err(error) => return Self { _watcher: None, deaf: roots.iter().map(|root| deaf_to(root, &error)).collect() },
        };
        let mut deaf = Vec::new();
        let mut above = BTreeSet::new();
        for root in &roots {
            if root.is_dir()
                && let Err(error) = watcher.watch(root, RecursiveMode::Recursive)
                && root.is_dir()
            {
                deaf.push(deaf_to(root, &error));
            }
            let there = || root.ancestors().skip(1).filter(|folder| folder.is_dir());
            let near = there().filter(|folder| root.strip_prefix(folder).is_ok_and(|below| below.components().count() <= ABOVE));
            above.extend(near.chain(there().take(1)).map(Path::to_owned));
        }
        above.extend(others);
        // Within a root that is watched whole, it would be watched less than that.
        above.retain(|folder| !roots.iter().any(|root| folder.starts_with(root)));
        for folder in above {
            if let Err(error) = watcher.watch(&folder, RecursiveMode::NonRecursive)
                && folder.is_dir()
            {
                deaf.push(deaf_to(&folder, &error));
            }
        }
        Self { _watcher: Some(watcher), deaf }
    }
}

/// A path of which the end need not exist, its links resolved.
fn without_links(path: &Path) -> Option<PathBuf> {
    let there = path.ancestors().find(|folder| folder.exists())?;
    Some(there.canonicalize().ok()?.join(path.strip_prefix(there).ok()?))
}

/// What the watcher's own thread does with an event: hardly anything, so that the system's queue stays empty.
struct Listener {
    heard: Arc<Heard>,
    roots: Vec<PathBuf>,
    /// Folders that links lead to.
    others: Vec<PathBuf>,
}

impl Listener {
    fn hear(&self, event: notify::Result<notify::Event>) {
        let (changed, moved) = match event {
            // Something was lost, or the watcher failed.
            Err(_) => (true, true),
            Ok(event) if event.need_rescan() => (true, true),
            // Our own reading, and everyone else's.
            Ok(event) if matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write)) => return,
            Ok(event) => {
                let is_above = |path: &Path| self.roots.iter().any(|root| root.starts_with(path));
                let is_inside = |path: &Path| self.roots.iter().chain(&self.others).any(|folder| path.starts_with(folder));
                let moved = event.paths.iter().any(|path| is_above(path));
                (moved || event.paths.iter().any(|path| is_inside(path)), moved)
            }
        };
        if changed {
            let mut noise = self.heard.now();
            noise.changed = true;
            noise.moved |= moved;
            self.heard.something.notify_all();
        }
    }
}

struct Watching<F> {
    skills: FolderSkills,
    heard: Arc<Heard>,
    ears: Ears,
    told: F,
    said: Vec<Diagnostic>,
}

impl<F: FnMut(Watched)> Watching<F> {
    fn run(&mut self) {
        self.say_what_is_not_watched();
        // What changed between the last look and the first watch.
        let mut next = Some(Instant::now());
        while let Some(moved) = self.noise(next) {
            let before = self.skills.linked_folders();
            if moved {
                // The new watches stand before the old ones go, and before the look.
                self.ears = Ears::open(&self.skills, &self.heard);
            }
            let changed = self.skills.refresh();
            if self.skills.linked_folders() != before {
                self.ears = Ears::open(&self.skills, &self.heard);
            }
            self.say_what_is_not_watched();
            let blind = (!self.ears.deaf.is_empty()).then_some(BLIND);
            next = changed.then_some(AGAIN).or(blind).map(|pause| Instant::now() + pause);
            if changed && !self.heard.now().is_over {
                (self.told)(Watched::Changed(self.skills.snapshot()));
            }
        }
    }

    /// Waits until there is something to look at, or for `next`, and says whether roots may have moved. `None`: the watch is over.
    fn noise(&self, next: Option<Instant>) -> Option<bool> {
        let mut first: Option<Instant> = None;
        loop {
            let now = Instant::now();
            let mut noise = self.heard.now();
            if noise.is_over {
                return None;
            }
            if std::mem::take(&mut noise.changed) {
                let deadline = *first.get_or_insert(now) + AT_MOST;
                // Woken by the next change, or by quiet.
                self.heard.wait(noise, Some(deadline.min(now + QUIET)));
                let mut noise = self.heard.now();
                if (!noise.changed || Instant::now() >= deadline) && !noise.is_over {
                    return Some(noise.settle());
                }
                continue;
            }
            if first.is_some() || next.is_some_and(|next| next <= now) {
                return Some(noise.settle());
            }
            self.heard.wait(noise, next);
        }
    }

    fn say_what_is_not_watched(&mut self) {
        let deaf = self.ears.deaf.clone();
        for diagnostic in deaf.iter().filter(|diagnostic| !self.said.contains(diagnostic)) {
            (self.told)(Watched::Unwatched(diagnostic.clone()));
        }
        self.said = deaf;
    }
}

#[cfg(test)]
mod tests;
