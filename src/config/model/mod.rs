//! The configuration as types: what `bcode.toml` says once all sources are merged.
//!
//! Every struct's `Default` comes from the table of keys. A host takes [`Config::default`] and sets fields; what it sets is not looked at again
//! by the loader. A table of the file is a struct that is named after it, with `Config` behind. Limits are `NonZeroUsize`, and an `Option` of one
//! where no limit is a choice. Serialized, each struct has the shape of its table in the file; deserialized, every key with a default must be there.

mod composition;
mod invariants;
mod profile;
mod proxy;
mod skills;
mod system_prompt;

pub(in crate::config) use composition::profile_id;
pub use composition::{CompositionConfig, ConfigurationLayer, ConfigurationProfile, InvalidConfigurationLayer};
pub use invariants::{InvariantsConfig, InvariantsMode, OnSelectorTimeout, SelectorConfig};
pub use profile::{BundledProfilesConfig, PromptProfilesConfig};
pub use proxy::ProxyConfig;
pub use skills::{
    CodeSkillsConfig, CompatibleSystem, DisabledSkillsConfig, RoutingRule, SkillCatalogConfig, SkillMatchingConfig, SkillSourcesConfig,
    SkillToolConfig, SkillsConfig,
};
pub use system_prompt::{SectionsConfig, SystemPromptConfig, SystemPromptMode};

use super::keys::DEFAULTS;
use crate::layers::{RepositoryText, TextPlacement};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::LazyLock;

/// All that `bcode.toml` sets.
///
/// ```
/// use tower_prompt::config::Config;
/// use tower_prompt::layers::skill::CatalogMode;
///
/// let mut config = Config::default();
/// config.skills.prompt.catalog = CatalogMode::NamesOnly;
/// config.skills.prompt.max_bytes = std::num::NonZeroUsize::new(8192);
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Config {
    /// `[skills]`: finding, showing and activating skills.
    pub skills: SkillsConfig,
    /// `[system_prompt]`: the base prompt and the sections.
    pub system_prompt: SystemPromptConfig,
    /// `[context]`: where texts stand.
    pub context: ContextConfig,
    /// `[budget]`: targets in tokens.
    pub budget: BudgetConfig,
    /// `[invariants]`: the repository's invariants.
    pub invariants: InvariantsConfig,
    /// `[model]`: what of it belongs to prompt assembly.
    pub model: ModelConfig,
    /// `[prompt_profile]`: text for single providers and models.
    pub prompt_profile: PromptProfilesConfig,
    /// `[composition]`: profiles of configuration, as they were applied.
    pub composition: CompositionConfig,
    /// `[proxy]`: the proxy before an API.
    pub proxy: ProxyConfig,
}

static BUILT_IN: LazyLock<Config> = LazyLock::new(|| {
    let defaults = toml::Value::Table(DEFAULTS.clone());
    defaults.try_into().expect("a test makes the default configuration, and nothing outside the program is in it")
});

impl Default for Config {
    fn default() -> Self {
        BUILT_IN.clone()
    }
}

/// `Default` from the built-in configuration, so that no default stands twice.
macro_rules! default_from_the_table {
    ($($table:ty => $($field:ident).+;)+) => {$(
        impl Default for $table {
            fn default() -> Self {
                BUILT_IN.$($field).+.clone()
            }
        }
    )+};
}

default_from_the_table! {
    SkillsConfig => skills;
    SkillSourcesConfig => skills.sources;
    DisabledSkillsConfig => skills.disabled;
    SkillCatalogConfig => skills.prompt;
    SkillMatchingConfig => skills.matching;
    SkillToolConfig => skills.tool;
    CodeSkillsConfig => skills.code;
    SystemPromptConfig => system_prompt;
    SectionsConfig => system_prompt.sections;
    ContextConfig => context;
    BudgetConfig => budget;
    InvariantsConfig => invariants;
    SelectorConfig => invariants.selector;
    ModelConfig => model;
    ToolOutputConfig => model.tool_output;
    PromptProfilesConfig => prompt_profile;
    BundledProfilesConfig => prompt_profile.bundled;
    CompositionConfig => composition;
    ProxyConfig => proxy;
}

/// `[context]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContextConfig {
    /// Where text of later rounds stands, and how long it is kept.
    pub placement: TextPlacement,
    /// Where the repository's own text stands at a session's start.
    pub repository_text: RepositoryText,
    /// Whether the provider's cache marks are set.
    pub cache_marks: bool,
    /// How many conversations without an id are known at the same time.
    pub unnamed_sessions: NonZeroUsize,
}

/// `[budget]`: targets, not limits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BudgetConfig {
    /// Tokens of all that is added at the start; `None`: no target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_prompt_tokens: Option<NonZeroUsize>,
    /// Tokens that a session keeps in the conversation; `None`: no target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_anchored_tokens: Option<NonZeroUsize>,
}

/// `[model]`, which other programs fill too: only what stands here is read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelConfig {
    /// `[model.tool_output]`.
    pub tool_output: ToolOutputConfig,
}

/// `[model.tool_output]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolOutputConfig {
    /// Characters of a past tool call that has to be written as text.
    pub fallback_argument_chars: NonZeroUsize,
    /// Characters of a tool result on the wire; `None`: it passes whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_chars: Option<NonZeroUsize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_configuration_stands_and_round_trips() {
        let config = Config::default();
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config);
        assert_eq!(
            toml::Value::try_from(&config).unwrap(),
            toml::Value::Table(DEFAULTS.clone()),
            "nothing but the table's defaults is in it"
        );
        assert_eq!(SkillsConfig::default(), config.skills);
    }
}
