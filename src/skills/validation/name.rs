//! The rules of `name`. The specification's reference library is the measure; where it and we differ, the reason stands beside the rule.

use super::{Findings, RuleSet, TOP, place, quoted};
use crate::skills::front_matter::{FrontMatter, Value};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Characters of a name.
const MAX_CHARS: usize = 64;

pub(super) fn check(front_matter: &FrontMatter, folder: &str, rules: RuleSet, findings: &mut Findings) {
    let (at, text) = match front_matter.get("name").map(|entry| (place(entry), &entry.value)) {
        // The reference library takes `~` and `null` for the texts that they look like; in YAML they are nothing.
        None | Some((_, Value::Absent)) if rules == RuleSet::Brute => return,
        None => return findings.error(TOP, "name-missing", format!("`name` is required; here it is `name: {folder}`")),
        Some((at, Value::Absent)) => return findings.error(at, "name-missing", "`name` is required, and here it is empty"),
        Some((at, Value::Text(text))) if text.trim().is_empty() => {
            return findings.error(at, "name-missing", "`name` is required, and here it is blank");
        }
        Some((at, Value::Text(text))) => (at, text),
        Some((at, _)) => return findings.error(at, "name-type", "`name` must be a text, not a list or a map"),
    };
    let name = normalised(text.trim());
    let shown = quoted(&name);
    let chars = name.chars().count();
    if chars > MAX_CHARS {
        findings.error(at, "name-length", format!("`name` has {chars} characters; at most {MAX_CHARS} are allowed"));
    }
    if name != name.to_lowercase() {
        findings.error(
            at,
            "name-case",
            format!("{shown} has upper-case letters; `{}` has none", quoted(&name.to_lowercase()).trim_matches('`')),
        );
    }
    if let Some(c) = name.chars().find(|c| !is_of_a_name(*c)) {
        let what = if is_combining_mark(c) { "is a combining mark, which many readers take for no letter" } else { "is not allowed" };
        let message = format!("{shown}: {c:?} {what}; a name has lower-case letters and digits of any script, and hyphens");
        findings.error(at, "name-characters", message);
    }
    if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        findings.error(at, "name-hyphens", format!("{shown}: a hyphen stands alone between two letters or digits"));
    }
    // The folder is not trimmed: its name has no quotes that a blank could stand in by mistake.
    if normalised(folder) != name {
        findings.error(at, "name-folder", format!("{shown} is not the folder's name, which is {}", quoted(folder)));
    }
}

fn normalised(text: &str) -> String {
    text.nfkc().collect()
}

/// Letters and numbers of any script (categories L and N). A combining mark is neither, as the reference library has it: so names in scripts that
/// need them load, and are told here that not every reader takes them. Enclosed letters are symbols, though Unicode counts some as alphabetic.
fn is_of_a_name(c: char) -> bool {
    let is_enclosed = matches!(c, '\u{1f100}'..='\u{1f1ff}');
    c == '-' || c.is_alphanumeric() && !is_combining_mark(c) && !is_enclosed
}
