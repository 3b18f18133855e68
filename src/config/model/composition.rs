//! `[composition]`: profiles of configuration, and the order in which layers of configuration stand.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// `[composition]`. It was applied while loading: to alter it in a loaded configuration changes no other value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompositionConfig {
    /// The id of the profile that was applied, trimmed and lower-cased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_profile: Option<String>,
    /// The layers of configuration; later wins.
    pub layer_order: Vec<ConfigurationLayer>,
    /// By id, trimmed and lower-cased.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<String, ConfigurationProfile>,
}

/// `[composition.profiles.ID]`.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConfigurationProfile {
    /// Profiles that are applied before this one, left to right, each once.
    #[serde(default)]
    pub extends: Vec<String>,
    /// What it sets: keys as in the file.
    #[serde(default)]
    pub patch: Map<String, Value>,
}

/// One layer of configuration, written as in the file: `defaults`, `config`, `profile:active`, `profile:ID`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum ConfigurationLayer {
    /// The built-in defaults.
    Defaults,
    /// The active profile, where there is one.
    ActiveProfile,
    /// A profile by its id, trimmed and lower-cased.
    Profile(String),
    /// Everything that stands outside profiles, from all sources.
    Config,
}

/// A text that is no [`ConfigurationLayer`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no layer of configuration: `defaults`, `config`, `profile:active` or `profile:ID`")]
pub struct InvalidConfigurationLayer(String);

/// A profile's id as it is compared; `None` where nothing is left, or where it is the word that `profile:active` uses.
pub(in crate::config) fn profile_id(text: &str) -> Option<String> {
    Some(text.trim().to_lowercase()).filter(|id| !id.is_empty() && id != "active")
}

impl FromStr for ConfigurationLayer {
    type Err = InvalidConfigurationLayer;
    fn from_str(text: &str) -> Result<Self, InvalidConfigurationLayer> {
        let layer = match text.trim() {
            "defaults" => Some(Self::Defaults),
            "config" => Some(Self::Config),
            other => other.strip_prefix("profile:").and_then(|id| match id.trim() {
                "active" => Some(Self::ActiveProfile),
                id => profile_id(id).map(Self::Profile),
            }),
        };
        layer.ok_or_else(|| InvalidConfigurationLayer(text.to_owned()))
    }
}
impl TryFrom<String> for ConfigurationLayer {
    type Error = InvalidConfigurationLayer;
    fn try_from(text: String) -> Result<Self, InvalidConfigurationLayer> {
        text.parse()
    }
}
impl From<ConfigurationLayer> for String {
    fn from(layer: ConfigurationLayer) -> Self {
        layer.to_string()
    }
}
impl fmt::Display for ConfigurationLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Defaults => f.write_str("defaults"),
            Self::ActiveProfile => f.write_str("profile:active"),
            Self::Profile(id) => write!(f, "profile:{id}"),
            Self::Config => f.write_str("config"),
        }
    }
}
