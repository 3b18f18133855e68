//! One variable a key: `BCODE_SKILLS__PROMPT__MAX_BYTES=8192`. The table of keys says what a value is.

use super::check::{Check, Checked};
use super::keys::{FILE, Key, Shape, TableShape, is_an_id, is_ours};
use super::nearest::nearest_key;
use super::place::{KeyPath, Origin, OriginKind};
use super::source::Source;
use crate::environment::Environment;
use crate::layers::Diagnostic;
use std::path::Path;
use toml::Spanned;
use toml::de::DeValue;

/// The sources that the environment's variables are, in the order of their names.
pub(super) fn sources(environment: &Environment, base: &Path) -> Vec<Source> {
    let set = environment.variables().filter(|(_, value)| !value.is_empty());
    set.filter_map(|(name, value)| source(name, value, environment, base)).collect()
}

/// `None` for a variable that is none of ours.
fn source(name: &str, value: &str, environment: &Environment, base: &Path) -> Option<Source> {
    let path = name.strip_prefix("BCODE_")?.to_lowercase();
    let segments: Vec<&str> = path.split("__").collect();
    // `BCODE_SKILLS` alone names no key; it may be another program's.
    if segments.len() < 2 || !is_ours(&segments) {
        return None;
    }
    let origin = Origin::new(OriginKind::Variable, name);
    let checked = match find(&segments) {
        Ok(key) => checked(key, value, Check::new(&origin, environment, base)),
        Err(message) => {
            let finding = origin.locate(Diagnostic::warning("unknown-key", message), None);
            Checked { findings: vec![finding], ..Checked::default() }
        }
    };
    Some(Source { origin, is_named: true, checked })
}

/// `value`, typed by the key's kind.
fn checked(key: &Key, value: &str, mut check: Check<'_>) -> Checked {
    let as_text = || Spanned::new(0..0, DeValue::String(value.into()));
    let written = if key.kind.is_text() { as_text() } else { DeValue::parse(value.trim()).unwrap_or_else(|_| as_text()) };
    let path: KeyPath = key.path.split('.').collect();
    let table = check.value(&key.kind, &written, &path).map(|value| path.holding(value));
    check.checked(table.unwrap_or_default())
}

/// The key that a variable sets, or why it sets none.
fn find(segments: &[&str]) -> Result<&'static Key, String> {
    let path = segments.join(".");
    let mut table: &TableShape = &FILE;
    for (number, segment) in segments.iter().enumerate() {
        let is_last = number + 1 == segments.len();
        match table.child(segment) {
            Some(_) if !table.named.contains_key(segment) => {
                return Err(format!("`{path}` has an id in it, which no variable's name can spell: set it through `BCODE_CONFIG_TOML`"));
            }
            Some(Shape::Key(key)) if is_last => return Ok(key),
            Some(Shape::Table(inner)) if !is_last => table = inner,
            Some(Shape::Table(_)) => {
                return Err(format!("`{path}` is a table: one variable sets one key of it, or `BCODE_CONFIG_TOML` all"));
            }
            Some(Shape::Key(_)) | None => {
                let nearest = nearest_key(table, segment).filter(|nearest| !nearest.split('.').any(is_an_id));
                let variable = nearest.map(|nearest| format!("; the nearest is `BCODE_{}`", nearest.to_uppercase().replace('.', "__")));
                return Err(format!("`{path}` is not a known key{}", variable.unwrap_or_default()));
            }
        }
    }
    Err(format!("`{path}` is not a known key"))
}
