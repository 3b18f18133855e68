//! What the catalog shows, and within which limits.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// How much the catalog tells (`skills.prompt.catalog`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CatalogMode {
    /// No catalog; skills stay usable for who knows their names.
    Off,
    /// Id, name, location.
    NamesOnly,
    /// All that the other options name.
    #[default]
    Summary,
}

/// How the catalog is written (`skills.prompt.format`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CatalogFormat {
    /// An element a skill.
    #[default]
    Xml,
    /// A line a skill.
    Lines,
}

/// How the model loads a skill: the preamble says so.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
#[non_exhaustive]
pub enum LoadSkillsBy {
    /// It reads the file at the skill's location with its own file tool.
    #[default]
    ReadingFiles,
    /// It calls this tool with the skill's id.
    Tool(String),
}

/// What the catalog shows, and within which limits.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the configuration")]
#[non_exhaustive]
pub struct CatalogOptions {
    /// How much it tells.
    pub mode: CatalogMode,
    /// How it is written.
    pub format: CatalogFormat,
    /// For the whole fragment in bytes, preamble and closing tag included.
    pub max_bytes: Option<NonZeroUsize>,
    /// For each description in characters, ellipsis included.
    pub max_description_chars: Option<NonZeroUsize>,
    /// With each skill's source label.
    pub include_sources: bool,
    /// With each skill's keywords.
    pub include_keywords: bool,
    /// With each skill's location.
    pub include_locations: bool,
    /// With the names of each skill's bundled scripts and references.
    pub include_resources: bool,
    /// How the model loads a skill.
    pub load_by: LoadSkillsBy,
    /// Where the user's own skills live, when they are on.
    pub user_folder: Option<String>,
    /// Labels of sources whose skills are shown by name and description alone, as brute shows its own.
    pub brief_sources: BTreeSet<String>,
    /// Providers that are sent no catalog, as the host names them; where it names none, the wire's.
    pub without_for: BTreeSet<String>,
}

impl Default for CatalogOptions {
    fn default() -> Self {
        Self {
            mode: CatalogMode::default(),
            format: CatalogFormat::default(),
            max_bytes: None,
            max_description_chars: None,
            include_sources: true,
            include_keywords: false,
            include_locations: true,
            include_resources: false,
            load_by: LoadSkillsBy::default(),
            user_folder: None,
            brief_sources: BTreeSet::new(),
            without_for: BTreeSet::new(),
        }
    }
}
