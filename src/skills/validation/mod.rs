//! Strict validation: whether a skill file keeps the rules of the Agent Skills specification, or of another system, and each place where it does
//! not. Loading is lenient; this is for who writes skills.
//!
//! [`validate`] is pure over bytes. [`Validation`] reads files, folders and whole roots. Findings are those of the reader (see
//! [`skills`](crate::skills)) and these; an error or a warning means that the file is not valid, a note is advice:
//!
//! | code | says |
//! | --- | --- |
//! | `name-missing`, `name-type` | `name` is required, and a text |
//! | `name-length` | 1 to 64 characters, after NFKC and trimming |
//! | `name-case`, `name-characters`, `name-hyphens` | lower-case letters and digits of any script, and single hyphens between them |
//! | `name-folder` | the same as the folder, compared after NFKC |
//! | `description-missing`, `description-type`, `description-length` | required, and a text of 1 to 1,024 characters |
//! | `description-short` | orcbot: 10 characters at least |
//! | `compatibility-type`, `compatibility-length` | a text of 1 to 500 characters |
//! | `license-type` | a text |
//! | `metadata-type`, `metadata-value-type` | a map, of text to text |
//! | `allowed-tools-type` | one text (orcbot's `allowedTools`: or a list of texts) |
//! | `field-unknown` | no other field |
//! | `orcbot-type`, `orcbot-field-type`, `orcbot-field-unknown` | the table `orcbot`, key by key |
//! | `pattern-ignored`, `patterns-ignored`, `keyword-ignored` | what matching would leave out |
//! | `front-matter-missing`, `front-matter-preceded`, `front-matter-toml`, `front-matter-repaired`, `file-utf16` | front matter is there, first in the file, plain YAML in UTF-8 |
//! | `body-lines`, `body-tokens` | advice: at most 500 lines and 5,000 estimated tokens |
//! | `instruction-file-name`, `instruction-file-missing`, `skill-flat` | a skill is a folder with a `SKILL.md` |
//!
//! ```
//! use tower_prompt::skills::validation::{RuleSet, validate};
//!
//! let file = "---\nname: Rust--debugging\ndescription: Finds the first error.\n---\nThe body.\n";
//! let codes: Vec<String> = validate(file.as_bytes(), "rust-debugging", RuleSet::AgentSkills).iter().map(|found| found.code.to_string()).collect();
//! assert_eq!(codes, ["name-case", "name-hyphens", "name-folder"]);
//! ```

mod body;
mod fields;
mod matching;
mod name;
mod orcbot;
mod paths;
#[cfg(test)]
mod tests;

pub(super) use matching::locate;
pub use paths::Validation;

use super::fields::describe;
use super::front_matter::{self, Document, Entry, Format};
use crate::layers::skill::{SkillSource, SkillSourceKind};
use crate::layers::text::shorten;
use crate::layers::{Diagnostic, Severity};
use std::fmt;
use std::str::FromStr;

/// Whose rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[non_exhaustive]
pub enum RuleSet {
    /// The Agent Skills specification.
    #[default]
    AgentSkills,
    /// All fields that are read here, in all their spellings: what loads without a warning is valid.
    Bcode,
    /// The specification, with `allowedTools` and the table `orcbot`, and a description of 10 characters at least.
    Orcbot,
    /// The specification, but `name` may be left out, and an unknown field is a warning.
    Brute,
}

impl RuleSet {
    /// All of them, the default first.
    pub const ALL: [Self; 4] = [Self::AgentSkills, Self::Bcode, Self::Orcbot, Self::Brute];

    /// As it is written on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AgentSkills => "agent-skills",
            Self::Bcode => "bcode",
            Self::Orcbot => "orcbot",
            Self::Brute => "brute",
        }
    }
}

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no [`RuleSet`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` names no rules; there are those of agent-skills, bcode, orcbot and brute")]
pub struct UnknownRuleSet(String);

impl FromStr for RuleSet {
    type Err = UnknownRuleSet;
    fn from_str(text: &str) -> Result<Self, UnknownRuleSet> {
        Self::ALL.into_iter().find(|rules| rules.as_str() == text).ok_or_else(|| UnknownRuleSet(text.to_owned()))
    }
}

/// Everything in which a file breaks the rules, ordered by its place in the file, and at one place in the order of the table above. `name` is the
/// skill's folder, or a flat file's stem. Findings name no path: what is read here has none.
///
/// The specification says YAML, and so the verdict on flow collections, anchors, tags and a byte order mark is YAML's: its reference library, which
/// reads a part of YAML alone, refuses them. Where text behind ` #` is lost to YAML, or a fence is no fence for most, the library lets it pass, and
/// here it is an error.
pub fn validate(bytes: &[u8], name: &str, rules: RuleSet) -> Vec<Diagnostic> {
    let document = match front_matter::read(bytes) {
        Ok(document) => document,
        Err(error) => return vec![error],
    };
    let mut findings = Findings::default();
    match (&document.front_matter, rules) {
        (_, RuleSet::Bcode) => of_bcode(&document, name, &mut findings),
        (None, _) => {
            let message = "there is no front matter: a skill begins with a line `---`, its fields, and a line `---`";
            findings.say(Diagnostic::error("front-matter-missing", message), TOP);
        }
        (Some(front_matter), _) => {
            findings.found.extend(document.diagnostics.iter().cloned().map(as_error));
            // Between lines `---` the reader says so itself.
            if front_matter.format == Format::Toml && !findings.has("front-matter-toml") {
                let message = "the front matter is TOML; other readers want YAML between lines `---`";
                findings.say(Diagnostic::error("front-matter-toml", message), TOP);
            }
            findings.found.extend(front_matter_findings(&document, name, rules));
        }
    }
    body::advise(&document, &mut findings);
    findings.sorted()
}

/// What the rules say of the fields alone: enough for who loads by them. Nothing where there is no front matter.
pub(super) fn front_matter_findings(document: &Document, name: &str, rules: RuleSet) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    if let Some(front_matter) = &document.front_matter {
        name::check(front_matter, name, rules, &mut findings);
        fields::check(front_matter, rules, &mut findings);
        if rules == RuleSet::Orcbot {
            orcbot::check(front_matter, &mut findings);
            let patterns = matching::ignored(document, name).into_iter().filter(|found| found.code.starts_with("pattern"));
            findings.found.extend(patterns);
        }
    }
    findings.sorted()
}

/// Whether loading by these rules passes over this field. The table `orcbot` is read in every root.
pub(super) fn dropped_by(rules: RuleSet, key: &str) -> bool {
    key != "orcbot" && !fields::known(rules).any(|known| known == key)
}

/// What loading says, whole.
fn of_bcode(document: &Document, name: &str, findings: &mut Findings) {
    match describe(document, name, nowhere()) {
        Ok(described) => findings.found.extend(described.diagnostics),
        Err(error) => findings.found.extend(document.diagnostics.iter().cloned().chain([error])),
    }
    findings.found.extend(matching::ignored(document, name));
}

/// A source that is never shown.
fn nowhere() -> SkillSource {
    SkillSource::new(SkillSourceKind::User, String::new())
}

/// What our reader puts right and others need not.
fn as_error(mut diagnostic: Diagnostic) -> Diagnostic {
    if ["front-matter-preceded", "front-matter-toml", "front-matter-repaired", "file-utf16"].contains(&&*diagnostic.code) {
        diagnostic.severity = Severity::Error;
    }
    diagnostic
}

/// Line and column, from 1.
type Place = (usize, usize);
/// Where what is missing would stand.
const TOP: Place = (1, 1);

fn place(entry: &Entry) -> Place {
    (entry.line, entry.column)
}

/// So many characters of what stands in the file are repeated in a message.
const QUOTED_CHARS: usize = 80;

fn quoted(text: &str) -> String {
    format!("`{}`", shorten(text, QUOTED_CHARS).replace(['\n', '\r'], " "))
}

#[derive(Default)]
struct Findings {
    found: Vec<Diagnostic>,
}

impl Findings {
    fn say(&mut self, finding: Diagnostic, (line, column): Place) {
        self.found.push(finding.line(line).column(column));
    }
    fn has(&self, code: &str) -> bool {
        self.found.iter().any(|found| found.code == code)
    }
    fn sorted(mut self) -> Vec<Diagnostic> {
        // Stable: the order of the rules stays where the place is the same.
        self.found.sort_by_key(|found| (found.line, found.column));
        self.found
    }
}
