//! `[prompt_profile]`: text for single providers and models, by exact ids that the host gives.

use crate::layers::profile::{ModelProfile, ModelProfiles};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `[prompt_profile]`. Applied in the order of the fields: `default`, `provider`, `family`, `catalog_entry`, `model`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptProfilesConfig {
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
    pub bundled: BundledProfilesConfig,
}

impl From<&PromptProfilesConfig> for ModelProfiles {
    fn from(configured: &PromptProfilesConfig) -> Self {
        let mut profiles = Self::default();
        profiles.bundled_off = configured.bundled.disabled.iter().cloned().collect();
        profiles.default = configured.default.clone();
        profiles.provider = configured.provider.clone();
        profiles.family = configured.family.clone();
        profiles.catalog_entry = configured.catalog_entry.clone();
        profiles.model = configured.model.clone();
        profiles
    }
}

/// `[prompt_profile.bundled]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BundledProfilesConfig {
    /// Ids of bundled profiles that add nothing.
    pub disabled: Vec<String>,
}
