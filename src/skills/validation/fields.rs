//! The rules of all fields but `name`.

use super::{Findings, Place, RuleSet, TOP, place, quoted};
use crate::layers::Diagnostic;
use crate::skills::front_matter::{Entry, FrontMatter, Value};

const MAX_DESCRIPTION: usize = 1024;
const MAX_COMPATIBILITY: usize = 500;
/// Of orcbot's.
const MIN_DESCRIPTION: usize = 10;
/// A name longer than this is no slip of the pen.
const LONGEST_SLIP: usize = 40;

/// The fields of the specification.
const SPECIFIED: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// The fields that these rules know.
pub(super) fn known(rules: RuleSet) -> impl Iterator<Item = &'static str> {
    let own: &[&str] = if rules == RuleSet::Orcbot { &["allowedTools", "orcbot"] } else { &[] };
    SPECIFIED.into_iter().chain(own.iter().copied())
}

pub(super) fn check(front_matter: &FrontMatter, rules: RuleSet, findings: &mut Findings) {
    description(front_matter.get("description"), rules, findings);
    for entry in &front_matter.entries {
        match entry.key.as_str() {
            "compatibility" => compatibility(entry, findings),
            // The reference library looks at none of the next three; the specification says what they are.
            "license" => {
                if let Err(message) = text(entry) {
                    findings.say(Diagnostic::error("license-type", message), place(entry));
                }
            }
            "metadata" => metadata(entry, findings),
            "allowed-tools" => {
                if let Err(message) = text(entry) {
                    findings.say(Diagnostic::error("allowed-tools-type", message), place(entry));
                }
            }
            key if !known(rules).any(|known| known == key) => unknown(entry, rules, findings),
            _ => {}
        }
    }
}

/// A text; nothing where it is absent, and what is to be said where it is none.
fn text(entry: &Entry) -> Result<Option<&str>, String> {
    match &entry.value {
        Value::Absent => Ok(None),
        Value::Text(text) => Ok(Some(text)),
        Value::List(_) | Value::Map(_) => {
            let written = if entry.key == "allowed-tools" { ", such as `Read Bash(git:*)`" } else { "" };
            Err(format!("`{}` must be one text, not a list or a map{written}", entry.key))
        }
    }
}

fn description(entry: Option<&Entry>, rules: RuleSet, findings: &mut Findings) {
    let missing = |at: Place, findings: &mut Findings| {
        let message = "`description` is required: what the skill does, and when to use it";
        findings.say(Diagnostic::error("description-missing", message), at);
    };
    let Some(entry) = entry else { return missing(TOP, findings) };
    let at = place(entry);
    let text = match &entry.value {
        Value::Text(text) if !text.trim().is_empty() => text,
        Value::List(_) | Value::Map(_) => {
            return findings.say(Diagnostic::error("description-type", "`description` must be a text, not a list or a map"), at);
        }
        // As with `name`, `~` is nothing, though the reference library reads a text.
        _ => return missing(at, findings),
    };
    // As YAML gives it: a line end that a block scalar keeps counts, as in the reference library.
    let chars = text.chars().count();
    if chars > MAX_DESCRIPTION {
        let message = format!("`description` has {chars} characters; at most {MAX_DESCRIPTION} are allowed");
        findings.say(Diagnostic::error("description-length", message), at);
    }
    let said = text.trim().chars().count();
    if rules == RuleSet::Orcbot && said < MIN_DESCRIPTION {
        let message = format!("`description` has {said} characters; orcbot wants {MIN_DESCRIPTION} at least");
        findings.say(Diagnostic::error("description-short", message), at);
    }
}

fn compatibility(entry: &Entry, findings: &mut Findings) {
    let chars = match text(entry) {
        Ok(text) => text.filter(|text| !text.trim().is_empty()).map_or(0, |text| text.chars().count()),
        Err(message) => return findings.say(Diagnostic::error("compatibility-type", message), place(entry)),
    };
    // The reference library lets an empty one pass; the specification says 1 to 500.
    if !(1..=MAX_COMPATIBILITY).contains(&chars) {
        let message = format!("`compatibility` has {chars} characters; 1 to {MAX_COMPATIBILITY} are allowed");
        findings.say(Diagnostic::error("compatibility-length", message), place(entry));
    }
}

/// A number or a date within is a text as it is spelled, here and in the reference library.
fn metadata(entry: &Entry, findings: &mut Findings) {
    match &entry.value {
        Value::Absent => {}
        Value::Map(pairs) => {
            for (key, _) in pairs.iter().filter(|(_, value)| matches!(value, Value::List(_) | Value::Map(_))) {
                let message = format!("`metadata`: {} must be a text, not a list or a map", quoted(key));
                findings.say(Diagnostic::error("metadata-value-type", message), place(entry));
            }
        }
        Value::Text(_) | Value::List(_) => {
            findings.say(Diagnostic::error("metadata-type", "`metadata` must be a map of text to text"), place(entry));
        }
    }
}

fn unknown(entry: &Entry, rules: RuleSet, findings: &mut Findings) {
    // Of a short name a few letters are most of it: `tags` is no slip for `name`.
    let most = (entry.key.chars().count() / 3).min(3);
    let near = |known: &&str| strsim::osa_distance(&entry.key.to_lowercase(), known) <= most;
    let nearest = known(rules).filter(|_| entry.key.len() <= LONGEST_SLIP).filter(near);
    let nearest = nearest.min_by_key(|known| strsim::osa_distance(&entry.key, known));
    let hint = match nearest {
        Some(known) => format!("; the nearest is `{known}`"),
        None => "; fields of your own go into `metadata`".to_owned(),
    };
    let message = format!("{} is no field of these rules{hint}", quoted(&entry.key));
    let finding = match rules {
        RuleSet::Brute => Diagnostic::warning("field-unknown", message),
        _ => Diagnostic::error("field-unknown", message),
    };
    findings.say(finding, place(entry));
}
