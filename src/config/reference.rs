//! The reference of `bcode.toml` for people, made of the table of keys.

use super::keys::Key;
use super::table::{KEYS, table_doc};
use std::fmt::Write;

/// What no table of keys can say.
const ABOUT: &str = include_str!("reference.md");

/// All keys with what they take, their defaults and what they do, as Markdown: what `config schema --markdown` prints.
///
/// ```
/// let reference = tower_prompt::config::reference();
/// assert!(reference.contains("| `skills.prompt.max_bytes` | a whole number from 1; left out, there is no limit | | Bytes of the catalog. |"));
/// ```
pub fn reference() -> String {
    let mut out = ABOUT.to_owned();
    let mut table = "";
    for key in KEYS {
        let of = table_of(key);
        if of != table {
            table = of;
            let doc = table_doc(table).unwrap_or_default();
            // Writing to a string can't fail.
            let _ = write!(out, "\n### `[{table}]`\n\n{doc}\n\n| key | value | default | what it does |\n| --- | --- | --- | --- |\n");
        }
        let default = key.default.map(|default| format!("`{default}` ")).unwrap_or_default();
        let _ = writeln!(out, "| `{}` | {} | {default}| {} |", key.path, cell(&key.kind.allowed()), cell(key.doc));
    }
    out
}

/// The table that it is shown under.
fn table_of(key: &Key) -> &'static str {
    match key.path.split_once('.') {
        Some(("model", _)) => "model.tool_output",
        Some((first, _)) => first,
        None => key.path,
    }
}

/// In a cell of a table a bar would begin another one.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
