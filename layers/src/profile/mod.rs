//! Profiles: text for single providers and models, which joins the base prompt and the descriptions of the caller's tools.
//!
//! Chosen by exact ids that the host gives ([`Host`]), never guessed from a model's name. Applied in this order: those that come with the library,
//! `default`, `provider`, `family`, `catalog_entry`, `model`. One that replaces discards the base and the text of earlier profiles, and nothing else.

mod bundled;

use crate::prompt::Host;
use crate::text::TextMode;
pub use bundled::{BUNDLED_PROFILES, BundledProfile};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a profile adds; nothing by default.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelProfile {
    /// How the text joins the base prompt.
    #[serde(default)]
    pub system_prompt_mode: TextMode,
    /// The text; `None`: the base prompt stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// By the exact name of a tool of the caller's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_description: BTreeMap<String, ToolDescription>,
}

impl ModelProfile {
    /// With this text, which joins the base prompt so.
    pub fn new(mode: TextMode, text: impl Into<String>) -> Self {
        Self { system_prompt_mode: mode, system_prompt: Some(text.into()), ..Self::default() }
    }
    /// And this change of the description of a tool, by the tool's exact name.
    pub fn describe_tool(mut self, name: impl Into<String>, description: ToolDescription) -> Self {
        self.tool_description.insert(name.into(), description);
        self
    }
}

/// What a profile does to a tool's description.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDescription {
    /// How the text joins the description.
    #[serde(default)]
    pub mode: TextMode,
    /// The text.
    #[serde(default)]
    pub text: String,
}

impl ToolDescription {
    /// This text, which joins the description so.
    pub fn new(mode: TextMode, text: impl Into<String>) -> Self {
        Self { mode, text: text.into() }
    }
}

/// All profiles, of which a request gets those that fit. By default those that come with the library.
///
/// ```
/// use tower_prompt_layers::profile::{ModelProfile, ModelProfiles};
/// use tower_prompt_layers::text::TextMode;
/// use tower_prompt_layers::{Host, SystemPromptLayer};
///
/// let mut profiles = ModelProfiles::default();
/// profiles.provider.insert("mistral".into(), ModelProfile::new(TextMode::Append, "Answer in French."));
/// let layer = SystemPromptLayer::default().profiles(profiles);
/// # let _ = layer;
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct ModelProfiles {
    /// Ids of bundled profiles that add nothing.
    pub bundled_off: BTreeSet<String>,
    /// For every model.
    pub default: ModelProfile,
    /// By provider.
    pub provider: BTreeMap<String, ModelProfile>,
    /// By family of models.
    pub family: BTreeMap<String, ModelProfile>,
    /// By entry of the host's model catalog.
    pub catalog_entry: BTreeMap<String, ModelProfile>,
    /// By model.
    pub model: BTreeMap<String, ModelProfile>,
}

/// A profile that fits a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Acting {
    /// As `provider.openai`.
    pub(crate) name: String,
    pub(crate) is_bundled: bool,
    pub(crate) profile: ModelProfile,
}

impl ModelProfiles {
    /// Not even those that come with the library.
    pub fn none() -> Self {
        Self { bundled_off: BUNDLED_PROFILES.iter().map(|bundled| bundled.id.to_owned()).collect(), ..Self::default() }
    }

    /// Those that fit, in the order in which they act. `provider` and `model` are the request's own where the host names none.
    pub(crate) fn acting(&self, host: &Host, provider: Option<&str>, model: Option<&str>) -> Vec<Acting> {
        let fits = |bundled: &&BundledProfile| provider == Some(bundled.provider) && !self.bundled_off.contains(bundled.id);
        let bundled = BUNDLED_PROFILES.iter().filter(fits);
        let mut all: Vec<Acting> = bundled.map(BundledProfile::acting).collect();
        all.push(Acting { name: "default".to_owned(), is_bundled: false, profile: self.default.clone() });
        let by_id = [
            ("provider", &self.provider, provider),
            ("family", &self.family, host.family.as_deref()),
            ("catalog_entry", &self.catalog_entry, host.catalog_entry.as_deref()),
            ("model", &self.model, host.model.as_deref().or(model)),
        ];
        for (table, profiles, id) in by_id {
            let Some((id, profile)) = id.and_then(|id| profiles.get_key_value(id)) else { continue };
            all.push(Acting { name: format!("{table}.{id}"), is_bundled: false, profile: profile.clone() });
        }
        all
    }
}
