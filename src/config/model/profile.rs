//! `[prompt_profile]`: text for single providers and models, by exact ids that the host gives.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `[prompt_profile]`. Applied in the order of the fields: `default`, `provider`, `family`, `catalog_entry`, `model`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptProfiles {
    /// For every model.
    pub default: ModelProfile,
    /// By provider.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub provider: BTreeMap<String, ModelProfile>,
    /// By family of models.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub family: BTreeMap<String, ModelProfile>,
    /// By entry of the host's model catalog.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub catalog_entry: BTreeMap<String, ModelProfile>,
    /// By model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub model: BTreeMap<String, ModelProfile>,
    /// `[prompt_profile.bundled]`.
    pub bundled: BundledProfiles,
}

/// What a profile adds; nothing by default.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
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

/// What a profile does to a tool's description.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct ToolDescription {
    /// How the text joins the description.
    #[serde(default)]
    pub mode: TextMode,
    /// The text.
    #[serde(default)]
    pub text: String,
}

/// How a text joins another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextMode {
    /// Behind it.
    #[default]
    Append,
    /// Before it.
    Prepend,
    /// In its place.
    Replace,
}

/// `[prompt_profile.bundled]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BundledProfiles {
    /// Ids of bundled profiles that add nothing.
    pub disabled: Vec<String>,
}
