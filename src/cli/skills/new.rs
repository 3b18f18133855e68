//! `skills new`: a skill that every reader takes, for its author to go on with.

use super::super::terminal::{Terminal, printable};
use super::super::workspace::WorkspaceOptions;
use super::super::{Failure, Outcome};
use crate::layers::Severity;
use crate::layers::skill::SkillId;
use crate::skills::validation::{RuleSet, validate};
use clap::Args;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use unicode_normalization::UnicodeNormalization;

#[derive(Args)]
pub(in super::super) struct New {
    /// The skill's id: the name of its folder
    id: String,
    #[command(flatten)]
    workspace: WorkspaceOptions,
    /// The folder of skills to put it in [default: .bcode/skills of the workspace]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// What the skill does, and when to use it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

/// Stands where the author has not said it yet.
const DESCRIPTION: &str = "Replace this by what the skill does and when to use it, in the words that people use.";

impl New {
    pub(super) fn run(&self, terminal: &mut Terminal) -> Outcome {
        // Composed: the folder's name and the skill's are then the same bytes.
        let id: String = self.id.trim().nfkc().collect();
        let text = skill_file(&id, self.description.as_deref().unwrap_or(DESCRIPTION)).map_err(Failure::Failed)?;
        let root = match &self.to {
            Some(root) => root.clone(),
            None => self.workspace.open(terminal)?.1.root().join(".bcode/skills"),
        };
        let folder = root.join(&id);
        let path = folder.join("SKILL.md");
        let failed = |reason: io::Error| match reason.kind() {
            io::ErrorKind::AlreadyExists => Failure::failed(format!("{} is there already; nothing was written", path.display())),
            _ => Failure::failed(format!("{}: {reason}", path.display())),
        };
        fs::create_dir_all(&folder).map_err(failed)?;
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        terminal.print(&printable(&path.to_string_lossy()))?;
        let shown = printable(&folder.to_string_lossy());
        let then = if self.description.is_some() { "" } else { "its description, then " };
        terminal.say(&format!(
            "Wrote the skill `{id}`. Edit {then}its instructions, and check it with `tower-prompt skills validate {shown}`."
        ));
        Ok(())
    }
}

/// A skill file that keeps the rules of every system; or in which way this id or description breaks them.
fn skill_file(id: &str, description: &str) -> Result<String, String> {
    SkillId::new(id).map_err(|why| format!("`{}`: {why}", printable(id)))?;
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = if is_plain(id) { id.to_owned() } else { format!("\"{id}\"") };
    // A JSON text is one of YAML, whatever it holds.
    let quoted = serde_json::Value::from(description).to_string();
    let text = format!(
        "---\nname: {name}\ndescription: {quoted}\n---\n\n# {id}\n\n## When to use this\n\n- \n\n## What to do\n\n1. \n\n\
         Longer material goes into files beside this one, such as `references/details.md` or `scripts/check.sh`, and is named here.\n"
    );
    let mut broken: Vec<_> = RuleSet::ALL.into_iter().flat_map(|rules| validate(text.as_bytes(), id, rules)).collect();
    // A warning of one system's rules tells how it gets along with what is an error by another's, and nothing is written here.
    if broken.iter().any(|found| found.severity == Severity::Error) {
        broken.retain(|found| found.severity == Severity::Error);
    }
    let mut reasons: Vec<String> = Vec::new();
    for found in broken {
        if !reasons.contains(&found.message) {
            reasons.push(found.message);
        }
    }
    if reasons.is_empty() { Ok(text) } else { Err(printable(&reasons.join("\n"))) }
}

/// Whether every reader of YAML takes these letters for a text: no number, no date, no truth value.
fn is_plain(id: &str) -> bool {
    let is_word = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"].contains(&id);
    !is_word && id.starts_with(|c: char| c.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_new_skill_keeps_the_rules_of_all_systems() {
        let ids = ["a", "rust-debugging", "7", "3000", "1e5", "0x1f", "2024-01-01", "true", "null", "no", "y", "数据分析", "café", "навык"];
        let long = "x".repeat(64);
        for id in ids.into_iter().chain([&*long]) {
            for description in [DESCRIPTION, "Use when: \"it\" # fails\nor --- [does] {not}", "十个字的描述在这里了吧"] {
                let text = skill_file(id, description).unwrap();
                for rules in RuleSet::ALL {
                    assert_eq!(validate(text.as_bytes(), id, rules), [], "{id} by {rules}");
                }
            }
        }
    }

    #[test]
    fn an_id_or_description_that_breaks_a_rule_is_refused_with_the_reason() {
        for (id, reason) in [
            ("", "must not be empty"),
            ("a/b", "must not hold '/'"),
            ("..", "'.' is not allowed"),
            ("off", "word of the host's commands"),
            ("Rust", "upper-case"),
            ("a b", "' ' is not allowed"),
            ("a--b", "hyphen"),
            ("-a", "hyphen"),
            ("a\"b", "'\"' is not allowed"),
            ("हिन्दी", "combining mark"),
        ] {
            assert!(skill_file(id, DESCRIPTION).unwrap_err().contains(reason), "{id}: {}", skill_file(id, DESCRIPTION).unwrap_err());
        }
        assert!(skill_file("a", &"x".repeat(1025)).unwrap_err().contains("1025 characters"));
        assert!(skill_file("a", "short").unwrap_err().contains("10 at least"));
        for nothing in ["", " "] {
            assert_eq!(skill_file("a", nothing).unwrap_err(), "`description` is required: what the skill does, and when to use it");
        }
    }

    proptest! {
        #[test]
        fn any_id_is_refused_or_keeps_the_rules(id in "[a-z0-9-]{1,12}|\\PC{0,8}", description in "\\PC{10,60}|.{0,30}") {
            if let Ok(text) = skill_file(&id, &description) {
                for rules in RuleSet::ALL {
                    prop_assert_eq!(validate(text.as_bytes(), &id, rules), []);
                }
            }
        }
    }
}
