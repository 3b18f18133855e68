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

/// Variables that say where things are, and are no keys.
const PLACES: [&str; 5] = ["BCODE_CONFIG", "BCODE_CONFIG_TOML", "BCODE_STATE_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

/// A finding for each variable that would count if it were Unicode. It would be an error to go on as if it were not set: it may be what switches
/// something off. What other programs set too is a warning.
pub(super) fn undecodable(environment: &Environment) -> Vec<Source> {
    let ours = environment.undecodable().filter(|name| PLACES.contains(name) || path_of(name).is_some());
    let source = |name: &str| {
        let origin = Origin::new(OriginKind::Variable, name);
        let message = "is set to something that is no UTF-8";
        let finding = if name.starts_with("BCODE_") {
            Diagnostic::error("variable-not-utf8", message)
        } else {
            Diagnostic::warning("variable-not-utf8", format!("{message}, and counts as not set"))
        };
        let finding = origin.locate(finding, None);
        Source::broken(origin, true, finding)
    };
    ours.map(source).collect()
}

/// The path of a key in lower case, as a variable's name spells it; `None` for a variable that is none of ours.
fn path_of(name: &str) -> Option<String> {
    let path = name.strip_prefix("BCODE_")?.to_lowercase();
    let segments: Vec<&str> = path.split("__").collect();
    // `BCODE_SKILLS` alone names no key; it may be another program's.
    (segments.len() >= 2 && is_ours(&segments)).then_some(path)
}

/// `None` for a variable that is none of ours.
fn source(name: &str, value: &str, environment: &Environment, base: &Path) -> Option<Source> {
    let path = path_of(name)?;
    let segments: Vec<&str> = path.split("__").collect();
    let origin = Origin::new(OriginKind::Variable, name);
    let checked = match find(&segments) {
        Ok(key) => checked(key, value, Check::new(&origin, environment, base)),
        Err(message) => {
            let finding = origin.locate(Diagnostic::warning("key-unknown", message), None);
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
