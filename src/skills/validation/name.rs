//! The rules of `name`. The specification's reference library is the measure; where it and we differ, the reason stands beside the rule.

use super::{Findings, RuleSet, TOP, place, quoted};
use crate::layers::Diagnostic;
use crate::skills::front_matter::{FrontMatter, Value};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Characters of a name.
const MAX_CHARS: usize = 64;

pub(super) fn check(front_matter: &FrontMatter, folder: &str, rules: RuleSet, findings: &mut Findings) {
    let (at, text) = match front_matter.get("name").map(|entry| (place(entry), &entry.value)) {
        // The reference library takes `~` and `null` for the texts that they look like; in YAML they are nothing.
        None | Some((_, Value::Absent)) if rules == RuleSet::Brute => return,
        None => return findings.say(Diagnostic::error("name-missing", format!("`name` is required; here it is `name: {folder}`")), TOP),
        Some((at, Value::Absent)) => {
            return findings.say(Diagnostic::error("name-missing", "`name` is required, and here it is empty"), at);
        }
        Some((at, Value::Text(text))) if text.trim().is_empty() => {
            return findings.say(Diagnostic::error("name-missing", "`name` is required, and here it is blank"), at);
        }
        Some((at, Value::Text(text))) => (at, text),
        Some((at, _)) => return findings.say(Diagnostic::error("name-type", "`name` must be a text, not a list or a map"), at),
    };
    let name = normalised(text.trim());
    let shown = quoted(&name);
    let chars = name.chars().count();
    if chars > MAX_CHARS {
        findings.say(Diagnostic::error("name-length", format!("`name` has {chars} characters; at most {MAX_CHARS} are allowed")), at);
    }
    if name != name.to_lowercase() {
        let message = format!("{shown} has upper-case letters; `{}` has none", quoted(&name.to_lowercase()).trim_matches('`'));
        findings.say(Diagnostic::error("name-case", message), at);
    }
    if let Some(c) = name.chars().find(|c| !is_of_a_name(*c)) {
        let what = if is_combining_mark(c) { "is a combining mark, which many readers take for no letter" } else { "is not allowed" };
        let message = format!("{shown}: {c:?} {what}; a name has lower-case letters and digits of any script, and hyphens");
        findings.say(Diagnostic::error("name-characters", message), at);
    }
    if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        findings.say(Diagnostic::error("name-hyphens", format!("{shown}: a hyphen stands alone between two letters or digits")), at);
    }
    // The folder is not trimmed: its name has no quotes that a blank could stand in by mistake.
    if normalised(folder) != name {
        findings.say(Diagnostic::error("name-folder", format!("{shown} is not the folder's name, which is {}", quoted(folder))), at);
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
