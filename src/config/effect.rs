//! Keys that parse and that nothing acts on yet: whoever sets one is told.

use super::values::Values;
use crate::layers::Diagnostic;

/// Keys, or the tables that they stand in.
const WITHOUT_EFFECT: &[&str] = &["skills.tool", "skills.code", "budget", "proxy"];

/// A warning for each such key that is not at its default.
pub(super) fn without_effect(values: &Values) -> Vec<Diagnostic> {
    let is_without =
        |key: &str| WITHOUT_EFFECT.iter().any(|table| key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')));
    let set = values.rows().iter().filter(|row| !row.is_default && is_without(&row.key));
    set.map(|row| row.origin.locate(Diagnostic::warning("without-effect", format!("`{}` has no effect in this version", row.key)), None))
        .collect()
}
