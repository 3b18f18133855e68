//! `[system_prompt]`.

use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// `[system_prompt]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SystemPromptConfig {
    /// Whether `text` stands in the place of the base prompt.
    pub mode: SystemPromptMode,
    /// The base prompt in mode `replace`; unused otherwise.
    pub text: String,
    /// Characters of all instruction files together; `None`: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository_instructions_max_chars: Option<NonZeroUsize>,
    /// Characters of the invariants; `None`: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository_invariants_max_chars: Option<NonZeroUsize>,
    /// Characters of `git status`.
    pub git_status_max_chars: NonZeroUsize,
    /// Text of the section `agent_suffix`; empty: none.
    pub agent_suffix: String,
    /// `[system_prompt.sections]`.
    pub sections: SectionsConfig,
}

/// `system_prompt.mode`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SystemPromptMode {
    /// The built-in base prompt.
    Default,
    /// The configured text in its place; every section that is on still stands.
    Replace,
}

/// `[system_prompt.sections]`: which sections stand.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "one switch a section, as in the file")]
#[non_exhaustive]
pub struct SectionsConfig {
    /// Local time and zone.
    pub current_datetime: bool,
    /// Operating system, architecture and shell.
    pub execution_environment: bool,
    /// Whether ssh, a container, WSL or CI.
    pub hosting_environment: bool,
    /// The locale's variables.
    pub locale: bool,
    /// HEAD and its upstream.
    pub git_revision: bool,
    /// The host's agent id and operating mode.
    pub runtime_mode: bool,
    /// Versions of installed toolchains; off unless asked for, since it runs programs.
    pub toolchain_context: bool,
    /// Linked or primary worktree, and its root.
    pub worktree_context: bool,
    /// The active profile of the configuration.
    pub config_profile: bool,
    /// The full invariants in the system prompt; changes nothing in mode `relevant`.
    pub repository_invariants: bool,
    /// Project files and instruction files.
    pub repository_context: bool,
    /// Working directory, branch and `git status`.
    pub dynamic_repository_context: bool,
    /// [`SystemPromptConfig::agent_suffix`], or the host's text.
    pub agent_suffix: bool,
    /// The policy on the user's authority.
    pub user_authority: bool,
    /// The profiles of `prompt_profile`, all of them.
    pub model_profile: bool,
    /// The catalog of skills, whatever `skills.prompt` says.
    pub skill_catalog: bool,
}
