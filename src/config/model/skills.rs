//! `[skills]`.

use crate::layers::AutoActivate;
use crate::layers::skill::{CatalogFormat, CatalogMode, SkillId, SkillVisibility};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// `[skills]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "one switch a root, as in the file")]
#[non_exhaustive]
pub struct SkillsConfig {
    /// `false`: no discovery and no catalog.
    pub enabled: bool,
    /// What a match with the user's words brings about.
    pub auto_activate: AutoActivate,
    /// Reads `.bcode/skills` of the workspace.
    pub include_repo_skills: bool,
    /// Reads `skills` of the workspace.
    pub include_generic_repo_skills: bool,
    /// Reads the user's own folders.
    pub include_user_skills: bool,
    /// Reads `.claude/skills` of the workspace and of the home folder.
    pub include_compat_claude_skills: bool,
    /// Reads `.agents/skills` of the workspace and of the home folder.
    pub include_agents_skills: bool,
    /// Whose roots and rules are added.
    pub compat: Vec<CompatibleSystem>,
    /// Bytes of the instructions of all skills in force; `None`: no limit. What a skill that was switched off left standing takes no room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_context_bytes: Option<NonZeroUsize>,
    /// Bytes of an instruction file; a larger one is no skill.
    pub max_skill_file_bytes: NonZeroUsize,
    /// Bytes of a bundled file that is read.
    pub max_resource_bytes: NonZeroUsize,
    /// Characters of a preview.
    pub preview_max_chars: NonZeroUsize,
    /// Whether symbolic links are followed while skills are looked for.
    pub follow_symlinks: bool,
    /// `[skills.sources]`.
    pub sources: SkillSourcesConfig,
    /// `[skills.disabled]`.
    pub disabled: DisabledSkillsConfig,
    /// `[skills.overrides]`: how single skills are shown; one that is not named is `auto`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<SkillId, SkillVisibility>,
    /// `[skills.prompt]`: the catalog.
    pub prompt: SkillCatalogConfig,
    /// `[skills.matching]`.
    pub matching: SkillMatchingConfig,
    /// `[skills.tool]`.
    pub tool: SkillToolConfig,
    /// `[skills.code]`.
    pub code: CodeSkillsConfig,
    /// Whether host text `/skill ID ARGS` is handled by the stack.
    pub commands: bool,
}

/// A system whose roots and rules `skills.compat` adds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompatibleSystem {
    /// Batbox.
    Batbox,
    /// Brute.
    Brute,
    /// Orcbot.
    Orcbot,
}

/// `[skills.sources]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillSourcesConfig {
    /// Further folders of skills, absolute: what a file wrote was resolved against its own folder.
    pub paths: Vec<PathBuf>,
}

/// `[skills.disabled]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DisabledSkillsConfig {
    /// Listed, and invocable by no one.
    pub ids: Vec<SkillId>,
}

/// `[skills.prompt]`: the catalog of skills.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "one switch a field, as in the file")]
#[non_exhaustive]
pub struct SkillCatalogConfig {
    /// What it says of a skill.
    pub catalog: CatalogMode,
    /// Bytes of the whole catalog; `None`: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<NonZeroUsize>,
    /// Characters of one description; `None`: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_description_chars: Option<NonZeroUsize>,
    /// Whether it says where a skill came from.
    pub include_sources: bool,
    /// Whether it has keywords.
    pub include_keywords: bool,
    /// Whether it has the instruction files' paths.
    pub include_locations: bool,
    /// Whether it has the names of bundled scripts and references.
    pub include_resources: bool,
    /// Its form.
    pub format: CatalogFormat,
}

/// `[skills.matching]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillMatchingConfig {
    /// Skills suggested in one turn, at most.
    pub max_suggestions: NonZeroUsize,
    /// Regular expressions that activate or suggest a skill, as written: they are compiled, and faulty ones reported, by matching.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub patterns: BTreeMap<SkillId, Vec<String>>,
}

/// `[skills.tool]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillToolConfig {
    /// The tool's name.
    pub name: String,
    /// Whether its definition has names and descriptions, frozen with the session.
    pub advertise: bool,
}

/// `[skills.code]`: skills that are programs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CodeSkillsConfig {
    /// Names that may run; empty: all.
    pub allow: Vec<String>,
    /// Names that may not run; wins over `allow`.
    pub deny: Vec<String>,
    /// None but the host's own.
    pub safe_mode: bool,
    /// What an intent prefers and avoids.
    pub routing: Vec<RoutingRule>,
}

/// One rule of `skills.code.routing`.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RoutingRule {
    /// What the user wants.
    pub intent: String,
    /// Skills that come first.
    #[serde(default)]
    pub prefer: Vec<String>,
    /// Skills that come last.
    #[serde(default)]
    pub avoid: Vec<String>,
}
