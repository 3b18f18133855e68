//! The configuration as types: what `bcode.toml` says once all sources are merged.
//!
//! Every struct's `Default` comes from the table of keys. A host takes [`Config::default`] and sets fields; what it sets is not looked at again
//! by the loader. Limits are `NonZeroUsize`, and an `Option` of one where no limit is a choice. Serialized, each struct has the shape of its
//! table in the file; deserialized, every key with a default must be there.

mod composition;
mod invariants;
mod profile;
mod proxy;
mod skills;
mod system_prompt;

pub(in crate::config) use composition::profile_id;
pub use composition::{Composition, ConfigurationLayer, ConfigurationProfile, InvalidConfigurationLayer};
pub use invariants::{Invariants, InvariantsMode, OnSelectorTimeout, Selector};
pub use profile::{BundledProfiles, ModelProfile, PromptProfiles, TextMode, ToolDescription};
pub use proxy::Proxy;
pub use skills::{CodeSkills, CompatibleSystem, DisabledSkills, RoutingRule, SkillCatalog, SkillMatching, SkillSources, SkillTool, Skills};
pub use system_prompt::{Sections, SystemPrompt, SystemPromptMode};

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
    pub skills: Skills,
    /// `[system_prompt]`: the base prompt and the sections.
    pub system_prompt: SystemPrompt,
    /// `[context]`: where texts stand.
    pub context: Context,
    /// `[budget]`: targets in tokens.
    pub budget: Budget,
    /// `[invariants]`: the repository's invariants.
    pub invariants: Invariants,
    /// `[model]`: what of it belongs to prompt assembly.
    pub model: Model,
    /// `[prompt_profile]`: text for single providers and models.
    pub prompt_profile: PromptProfiles,
    /// `[composition]`: profiles of configuration, as they were applied.
    pub composition: Composition,
    /// `[proxy]`: the proxy before an API.
    pub proxy: Proxy,
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
    Skills => skills;
    SkillSources => skills.sources;
    DisabledSkills => skills.disabled;
    SkillCatalog => skills.prompt;
    SkillMatching => skills.matching;
    SkillTool => skills.tool;
    CodeSkills => skills.code;
    SystemPrompt => system_prompt;
    Sections => system_prompt.sections;
    Context => context;
    Budget => budget;
    Invariants => invariants;
    Selector => invariants.selector;
    Model => model;
    ToolOutput => model.tool_output;
    PromptProfiles => prompt_profile;
    BundledProfiles => prompt_profile.bundled;
    Composition => composition;
    Proxy => proxy;
}

/// `[context]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Context {
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
pub struct Budget {
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
pub struct Model {
    /// `[model.tool_output]`.
    pub tool_output: ToolOutput,
}

/// `[model.tool_output]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolOutput {
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
        assert_eq!(Skills::default(), config.skills);
    }
}
