//! One immutable snapshot of all skills: what catalog, commands, matching and activation of one request all read.

use super::{Matcher, SkillId, SkillList, SkillSummary};
use crate::prompt::Diagnostic;
use std::fmt;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

/// A skill's instructions as they were read.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct SkillText {
    /// What stands behind the front matter, as written.
    pub body: String,
    /// The line of its file on which that begins, from 1.
    pub first_line: Option<u32>,
    /// What was found while reading it.
    pub diagnostics: Vec<Diagnostic>,
}

impl SkillText {
    /// With this body, of which no file is known.
    pub fn new(body: impl Into<String>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }
}

/// Why a skill's instructions could not be read.
pub type SkillLoadError = Diagnostic;

/// A body under way: it does not block, and has its deadline in it.
pub type LoadingSkill = Pin<Box<dyn Future<Output = Result<SkillText, SkillLoadError>> + Send>>;

/// The files that a skill brings beside its instructions, by their paths in its folder.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct SkillFiles {
    /// The first of them, sorted.
    pub names: Vec<String>,
    /// How many more there are.
    pub more: usize,
}

impl SkillFiles {
    /// These, which are to be sorted, and so many more.
    pub fn new(names: Vec<String>, more: usize) -> Self {
        Self { names, more }
    }
}

/// A file that a skill brings.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SkillResource {
    /// Where it is.
    pub location: String,
    /// Bytes of the whole file.
    pub bytes: u64,
    /// At most as many bytes of it as were asked for; `None` where it is no text.
    pub text: Option<String>,
}

impl SkillResource {
    /// A file of so many bytes, and what of it is shown; no text where it is none.
    pub fn new(location: impl Into<String>, bytes: u64, text: Option<String>) -> Self {
        Self { location: location.into(), bytes, text }
    }
}

/// Names of bundled files under way: it does not block, and has its deadline in it.
pub type LoadingFiles = Pin<Box<dyn Future<Output = SkillFiles> + Send>>;

/// A bundled file under way: it does not block, and has its deadline in it.
pub type LoadingResource = Pin<Box<dyn Future<Output = Result<SkillResource, SkillLoadError>> + Send>>;

/// Where a skill's instructions come from, and the files that it brings. Called when the skill is activated, never for the catalog.
pub trait LoadSkill: Send + Sync {
    /// The body. Blocking work goes off the executor; a failure becomes a diagnostic of the request.
    fn load(&self) -> LoadingSkill;
    /// The files that it brings; none unless told otherwise.
    fn files(&self) -> LoadingFiles {
        Box::pin(std::future::ready(SkillFiles::default()))
    }
    /// A file that it brings, by its path in the skill's folder as the model wrote it: who implements it lets nothing lead out of that folder.
    fn resource(&self, path: &str, max_bytes: NonZeroUsize) -> LoadingResource {
        let _ = (path, max_bytes);
        Box::pin(std::future::ready(Err(Diagnostic::error("resource-missing", "this skill brings no files"))))
    }
}

impl LoadSkill for String {
    fn load(&self) -> LoadingSkill {
        Box::pin(std::future::ready(Ok(SkillText::new(self.clone()))))
    }
}

impl<T: LoadSkill + ?Sized> LoadSkill for Arc<T> {
    fn load(&self) -> LoadingSkill {
        (**self).load()
    }
    fn files(&self) -> LoadingFiles {
        (**self).files()
    }
    fn resource(&self, path: &str, max_bytes: NonZeroUsize) -> LoadingResource {
        (**self).resource(path, max_bytes)
    }
}

/// A skill: its summary, and how its body is read.
#[derive(Clone)]
#[non_exhaustive]
pub struct Skill {
    /// What is known without the body; shared by all snapshots in which it is the same.
    pub summary: Arc<SkillSummary>,
    /// Reads the body.
    pub content: Arc<dyn LoadSkill>,
}

impl Skill {
    /// A skill whose body is read by `content`; a `String` is a body that is there already.
    pub fn new(summary: impl Into<Arc<SkillSummary>>, content: impl LoadSkill + 'static) -> Self {
        Self::shared(summary, Arc::new(content))
    }
    /// As [`new`](Self::new), of content that others hold too.
    pub fn shared(summary: impl Into<Arc<SkillSummary>>, content: Arc<dyn LoadSkill>) -> Self {
        Self { summary: summary.into(), content }
    }
}

impl fmt::Debug for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skill").field("summary", &self.summary).finish_non_exhaustive()
    }
}

/// All skills at one moment, by id. Cheap to clone.
#[derive(Clone, Default)]
pub struct Skills(Arc<Snapshot>);

#[derive(Default)]
struct Snapshot {
    /// By id, each with its rank: the lower, the higher its precedence.
    skills: Box<[(usize, Skill)]>,
    diagnostics: Vec<Diagnostic>,
    matcher: OnceLock<Matcher>,
}

impl Skills {
    /// From skills in order of precedence: of two with the same id the first stands, and a diagnostic names both. Diagnostics end up ordered by path.
    pub fn new(skills: impl IntoIterator<Item = Skill>, mut diagnostics: Vec<Diagnostic>) -> Self {
        let mut skills: Vec<(usize, Skill)> = skills.into_iter().enumerate().collect();
        // Stable: of the same id, the first stays ahead.
        skills.sort_by(|(_, a), (_, b)| a.summary.id.cmp(&b.summary.id));
        skills.dedup_by(|(_, skill), (_, winner)| {
            let (id, wins) = (&skill.summary.id, &winner.summary);
            let is_shadowed = *id == wins.id;
            if is_shadowed {
                let message = format!("skill `{id}` is shadowed by {} ({})", wins.location, wins.source.label);
                diagnostics.push(Diagnostic::warning("skill-shadowed", message).at(skill.summary.location.clone()));
            }
            is_shadowed
        });
        diagnostics.sort_by(|a, b| (&a.path, a.line, a.column).cmp(&(&b.path, b.line, b.column)));
        diagnostics.shrink_to_fit();
        Self(Arc::new(Snapshot { skills: skills.into(), diagnostics, matcher: OnceLock::new() }))
    }
    /// The skill of this id.
    pub fn get(&self, id: &str) -> Option<&Skill> {
        self.at(id).map(|(_, skill)| skill)
    }
    /// Where the skill of this id stood among those that the snapshot was made of: the lower, the higher its precedence.
    pub fn rank(&self, id: &str) -> Option<usize> {
        self.at(id).map(|(rank, _)| *rank)
    }
    fn at(&self, id: &str) -> Option<&(usize, Skill)> {
        let at = self.0.skills.binary_search_by(|(_, skill)| skill.summary.id.as_str().cmp(id)).ok()?;
        self.0.skills.get(at)
    }
    /// The skill of this id, else the only usable one that bears this name.
    pub fn find(&self, name: &str) -> Option<&Skill> {
        let by_id = SkillId::new(name).ok().and_then(|id| self.get(id.as_str()));
        by_id.or_else(|| {
            let mut bearers = self.iter().filter(|skill| skill.summary.is_usable() && skill.summary.name == name.trim());
            bearers.next().filter(|_| bearers.next().is_none())
        })
    }
    /// All skills, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.0.skills.iter().map(|(_, skill)| skill)
    }
    /// All skills by id, each with its rank: the lower, the higher its precedence.
    pub fn ranked(&self) -> impl Iterator<Item = (usize, &Skill)> {
        self.0.skills.iter().map(|(rank, skill)| (*rank, skill))
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.skills.len()
    }
    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.0.skills.is_empty()
    }
    /// What was found while they were read.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }
    /// Finds the skills that a text speaks of. Built when it is first asked for.
    pub fn matcher(&self) -> &Matcher {
        self.0.matcher.get_or_init(|| Matcher::new(self.iter()))
    }
    /// What was found while they were read, and what matching leaves out of them. No matcher is built for it.
    pub fn findings(&self) -> Vec<Diagnostic> {
        let ignored = match self.0.matcher.get() {
            Some(matcher) => matcher.diagnostics().to_vec(),
            None => Matcher::ignored(self.iter()),
        };
        self.0.diagnostics.iter().cloned().chain(ignored).collect()
    }
    /// As a serializable list, with all [`findings`](Self::findings).
    pub fn list(&self) -> SkillList {
        SkillList { skills: self.iter().map(|skill| SkillSummary::clone(&skill.summary)).collect(), diagnostics: self.findings() }
    }
    /// The very same snapshot.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Skills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|skill| &skill.summary.id)).finish()
    }
}

/// Where a stack gets its skills: asked once a request. A snapshot is a registry that never changes.
pub trait SkillRegistry: Send + Sync {
    /// The skills now; no I/O.
    fn snapshot(&self) -> Skills;
}
impl SkillRegistry for Skills {
    fn snapshot(&self) -> Skills {
        self.clone()
    }
}
impl<T: SkillRegistry + ?Sized> SkillRegistry for Arc<T> {
    fn snapshot(&self) -> Skills {
        (**self).snapshot()
    }
}
