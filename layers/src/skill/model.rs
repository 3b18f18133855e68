//! What is known of a skill before its body is read. Plain values: they serialize, and come from anywhere.
//!
//! Follows the Agent Skills specification, with the fields that the compatible systems add.

use super::{Seldom, SkillId, TextMap};
use crate::prompt::Diagnostic;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a skill came from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SkillSourceKind {
    /// The repository's own folders: `.bcode/skills`, `skills`.
    Repository,
    /// A folder of the repository that another system defined: `.agents/skills`, `.claude/skills`.
    Compatibility,
    /// A folder of the user's own.
    User,
    /// A path of `skills.sources.paths`.
    Configured,
    /// Given by the host program.
    Bundled,
    /// Given by a plugin.
    Plugin,
}

impl SkillSourceKind {
    /// Whether such skills are left out in a workspace that is not trusted.
    pub fn is_of_the_repository(self) -> bool {
        matches!(self, Self::Repository | Self::Compatibility)
    }
}

/// Where a skill came from, with the name that a person sees.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillSource {
    /// Which kind of root.
    pub kind: SkillSourceKind,
    /// Such as `repo:.bcode/skills` or `configured:0`.
    pub label: String,
    /// The root's folder, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl SkillSource {
    /// With this name, and no folder.
    pub fn new(kind: SkillSourceKind, label: impl Into<String>) -> Self {
        Self { kind, label: label.into(), path: None }
    }
    /// In this folder.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}

/// What suggests or activates a skill.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SkillActivation {
    /// Words and phrases, matched as runs of whole tokens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Globs against paths that the user names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub file_patterns: Vec<String>,
    /// Regular expressions, case-insensitive.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trigger_patterns: Vec<String>,
    /// `orcbot.autoActivate`: a matching trigger pattern activates even where matches only suggest.
    #[serde(skip_serializing_if = "is_false")]
    pub auto_activate: bool,
}

impl SkillActivation {
    /// Declares nothing.
    pub fn is_empty(&self) -> bool {
        self.keywords.is_empty() && self.file_patterns.is_empty() && self.trigger_patterns.is_empty() && !self.auto_activate
    }
}

/// What a skill needs to be there. Listed for the user; nothing is installed or set.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SkillRequirements {
    /// `orcbot.requiredPackages`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// `orcbot.requiredConfig`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

impl SkillRequirements {
    /// Needs nothing.
    pub fn is_empty(&self) -> bool {
        self.packages.is_empty() && self.settings.is_empty()
    }
}

/// What a skill says that it needs. Hints: they grant nothing.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SkillPermissionHints {
    /// Tools, such as `Bash(git:*)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Categories, such as `filesystem.read`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
}

impl SkillPermissionHints {
    /// Asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.categories.is_empty()
    }
}

/// What an activation asks of the host's next call to the model.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ExecutionOptions {
    /// A model; counts only where the user chose none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Overrides the effort for that turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_effort: Option<String>,
}

impl ExecutionOptions {
    /// Asks for nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How the configuration shows a skill (`skills.overrides.ID`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkillVisibility {
    /// As the skill says itself.
    #[default]
    Auto,
    /// In the catalog by id, name and location alone.
    NameOnly,
    /// Not in the catalog; invocable by name.
    Manual,
    /// Listed as disabled, and invocable by no one.
    Off,
}

/// What in a body stands for the arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkillPlaceholders {
    /// `$ARGS`, `$ARGUMENTS`, and `$1` to `$9` where arguments are declared, as whole tokens; without arguments they stay.
    #[default]
    Tokens,
    /// `$ARGS` wherever it stands, within a word too; without arguments it becomes nothing. Batbox's.
    EveryArgs,
}

impl SkillPlaceholders {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Names of bundled files that the catalog shows (`skills.prompt.include_resources`); empty where nobody asked for them.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SkillResources {
    /// Below `scripts` of the skill's folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<String>,
    /// Below `references` of the skill's folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
}

impl SkillResources {
    /// These scripts and references.
    pub fn new(scripts: Vec<String>, references: Vec<String>) -> Self {
        Self { scripts, references }
    }
    /// Names none.
    pub fn is_empty(&self) -> bool {
        self.scripts.is_empty() && self.references.is_empty()
    }
}

/// What is known of a skill without its body.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillSummary {
    /// Unique in a registry.
    pub id: SkillId,
    /// For display; the id where the skill gives none.
    pub name: String,
    /// What it does and when to use it, as written; `when_to_use` stands behind it.
    pub description: String,
    /// Kept as written (`1.10` stays `1.10`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// As the skill names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What it needs of its surroundings, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// Where it came from; skills of one root share it.
    pub source: Arc<SkillSource>,
    /// The instruction file's path as found, not resolved; empty where there is no file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub location: String,
    /// What suggests or activates it.
    #[serde(default, skip_serializing_if = "SkillActivation::is_empty")]
    pub activation: Seldom<SkillActivation>,
    /// What it says that it needs.
    #[serde(default, skip_serializing_if = "SkillPermissionHints::is_empty")]
    pub permissions: Seldom<SkillPermissionHints>,
    /// What it needs to be there.
    #[serde(default, skip_serializing_if = "SkillRequirements::is_empty")]
    pub requirements: Seldom<SkillRequirements>,
    /// What an activation asks of the next call.
    #[serde(default, skip_serializing_if = "ExecutionOptions::is_empty")]
    pub execution: Seldom<ExecutionOptions>,
    /// `disable-model-invocation`: not in the catalog, not suggested, unknown to the tool; invocable by the user.
    #[serde(default)]
    pub hidden: bool,
    /// Named in `skills.disabled.ids`, or `off` in `skills.overrides`: listed, and invocable by no one.
    #[serde(default)]
    pub disabled: bool,
    /// `user-invocable`: false leaves it out of commands; the model may still load it.
    #[serde(default = "yes")]
    pub user_invocable: bool,
    /// `skills.overrides.ID`.
    #[serde(default)]
    pub visibility: SkillVisibility,
    /// What arguments it takes, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument_hint: Option<String>,
    /// Names of its arguments: with these or a hint, `$1` to `$9` are replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// What in its body stands for them.
    #[serde(default, skip_serializing_if = "SkillPlaceholders::is_default")]
    pub placeholders: SkillPlaceholders,
    /// Its bundled scripts and references, where the catalog shows them.
    #[serde(default, skip_serializing_if = "SkillResources::is_empty")]
    pub resources: SkillResources,
    /// Further fields, text to text.
    #[serde(default, skip_serializing_if = "TextMap::is_empty")]
    pub metadata: TextMap,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl SkillSummary {
    /// With an id, a description and a source, and everything else as a skill that says nothing of it.
    pub fn new(id: SkillId, description: impl Into<String>, source: impl Into<Arc<SkillSource>>) -> Self {
        Self {
            name: id.as_str().to_owned(),
            id,
            description: description.into(),
            version: None,
            license: None,
            compatibility: None,
            source: source.into(),
            location: String::new(),
            activation: Seldom::default(),
            permissions: Seldom::default(),
            requirements: Seldom::default(),
            execution: Seldom::default(),
            hidden: false,
            disabled: false,
            user_invocable: true,
            visibility: SkillVisibility::Auto,
            argument_hint: None,
            arguments: Vec::new(),
            placeholders: SkillPlaceholders::default(),
            resources: SkillResources::default(),
            metadata: TextMap::default(),
        }
    }
    /// The model may see, find and load it.
    pub fn is_for_the_model(&self) -> bool {
        !self.hidden && self.is_usable()
    }
    /// Someone may invoke it.
    pub fn is_usable(&self) -> bool {
        !self.disabled && self.visibility != SkillVisibility::Off
    }
    /// It stands in the catalog.
    pub fn is_in_the_catalog(&self) -> bool {
        self.is_for_the_model() && self.visibility != SkillVisibility::Manual
    }
    /// Gives back room that was taken in vain while it was put together.
    pub fn compact(&mut self) {
        let texts = [&mut self.name, &mut self.description, &mut self.location];
        let optional = [&mut self.version, &mut self.license, &mut self.compatibility, &mut self.argument_hint];
        texts.into_iter().chain(optional.into_iter().flatten()).for_each(String::shrink_to_fit);
        self.arguments.shrink_to_fit();
        self.activation.compact();
        self.permissions.compact();
        self.requirements.compact();
        self.execution.compact();
    }
    /// The folder that its relative paths hang from; empty where it has no file.
    pub fn folder(&self) -> &str {
        self.location.rsplit_once(['/', '\\']).map_or("", |(folder, _)| folder)
    }
}

/// A skill in full, but for its body.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillManifest {
    /// What lists show of it.
    #[serde(flatten)]
    pub summary: SkillSummary,
    /// Fields that nobody here reads, as text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_fields: BTreeMap<String, String>,
    /// Bundled files, relative to its folder, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How many more there are.
    #[serde(default)]
    pub more_files: usize,
    /// What was found while reading it.
    pub diagnostics: Vec<Diagnostic>,
}

impl SkillManifest {
    /// Of a skill that has no other fields and brings no files.
    pub fn new(summary: SkillSummary) -> Self {
        Self { summary, other_fields: BTreeMap::new(), files: Vec::new(), more_files: 0, diagnostics: Vec::new() }
    }
}

/// What was found about a skill.
pub type SkillDiagnostic = Diagnostic;

/// All skills of a registry, and what was found on the way.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillList {
    /// Ordered by id.
    pub skills: Vec<SkillSummary>,
    /// Ordered by path.
    pub diagnostics: Vec<Diagnostic>,
}

impl SkillList {
    /// These skills, and nothing found on the way.
    pub fn new(skills: impl IntoIterator<Item = SkillSummary>) -> Self {
        Self { skills: skills.into_iter().collect(), diagnostics: Vec::new() }
    }
}
