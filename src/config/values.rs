//! The resolved values one by one, each with what set it.

use super::composition::Layer;
use super::keys::{Key, KeyKind, is_an_id};
use super::place::{KeyPath, Origin};
use super::source::{Source, number_of, to_toml};
use super::table::KEYS;
use super::text::toml_text;
use figment::Figment;
use figment::value::Value;
use serde::Serialize;

/// One key's value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct ConfigValue {
    /// The key's path, with ids in the place of placeholders.
    pub key: String,
    /// As TOML text of one line; `None` where nothing is set and nothing is the default.
    pub value: Option<String>,
    /// What set it.
    pub origin: Origin,
    /// Whether it is what would stand if nothing had set it.
    pub is_default: bool,
}

/// All values.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[serde(transparent)]
pub struct ConfigValues(Vec<ConfigValue>);

impl ConfigValues {
    /// In the order of the table of keys; a key with an id has one row an id, ordered by id.
    pub fn rows(&self) -> &[ConfigValue] {
        &self.0
    }
    /// The row of a key, by its dotted path.
    pub fn get(&self, key: &str) -> Option<&ConfigValue> {
        self.0.iter().find(|row| row.key == key)
    }

    pub(super) fn of(merged: &Figment, layers: &[Layer<'_>], sources: &[Source]) -> Self {
        let root = merged.find_value("").unwrap_or_else(|_| figment::value::Dict::new().into());
        let origin = |path: &KeyPath, value: &Value| {
            let set_by = number_of(value, merged).and_then(|number| layers.get(number));
            set_by.map(|layer| {
                let source = &sources[layer.source];
                source.origin.clone().at(source.place(&layer.prefix.extended(path)))
            })
        };
        let mut rows = Vec::new();
        for key in KEYS {
            let segments: Vec<&str> = key.path.split('.').collect();
            let mut found = Vec::new();
            collect(&segments, &root, &KeyPath::default(), matches!(key.kind, KeyKind::Patch), &mut found);
            if found.is_empty() && !key.has_an_id() {
                rows.push(row(key, &segments.iter().copied().collect(), None, None));
            }
            rows.extend(found.into_iter().map(|(path, value)| row(key, &path, Some(value), origin(&path, value))));
        }
        Self(rows)
    }
}

fn row(key: &Key, path: &KeyPath, value: Option<&Value>, origin: Option<Origin>) -> ConfigValue {
    let value = value.map(to_toml);
    ConfigValue {
        key: path.to_string(),
        is_default: value == key.default_value(),
        value: value.as_ref().map(toml_text),
        origin: origin.unwrap_or_else(|| Origin::new(super::place::OriginKind::Default, "")),
    }
}

/// The values at the path of `segments`, every id for a placeholder. A patch is shown value by value.
fn collect<'v>(segments: &[&str], value: &'v Value, path: &KeyPath, is_patch: bool, found: &mut Vec<(KeyPath, &'v Value)>) {
    let Some((first, rest)) = segments.split_first() else {
        match value.as_dict().filter(|_| is_patch) {
            Some(inner) => inner.iter().for_each(|(name, value)| collect(&[], value, &path.join(name), is_patch, found)),
            None => found.push((path.clone(), value)),
        }
        return;
    };
    let Some(table) = value.as_dict() else { return };
    for (name, value) in table.iter().filter(|(name, _)| is_an_id(first) || name == first) {
        collect(rest, value, &path.join(name), is_patch, found);
    }
}
