//! What a host may make of a skill's permission hints: advice with a reason. It grants nothing; there is nothing here that a tool could ask for leave.

mod command;
mod hint;

use super::SkillPermissionHints;
use crate::text::{escape, shorten};
use hint::{Cover, Hint, Named};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// Runs a script that a skill brings: the answer is always [`PermissionSuggestion::Ask`].
pub const SKILL_SCRIPT_EXECUTE: &str = "skill.script.execute";
pub(super) const SHELL_EXECUTE: &str = "shell.execute";
const FILE_READ: &str = "file.read";
/// Of one skill.
const MAX_HINTS: usize = 1000;

/// What is suggested to the host. There will be no other without a new major version: a host that acts on it leaves none out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionSuggestion {
    /// The skill announced it.
    Allow,
    /// It may go on, and the user should be told.
    Warn,
    /// The user should be asked first.
    Ask,
    /// It should not be done.
    Deny,
}

impl fmt::Display for PermissionSuggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// A suggestion and its reason. No permission: the host's own policy decides.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Advice {
    /// What is suggested.
    pub suggestion: PermissionSuggestion,
    /// Why, for a person.
    pub reason: String,
}

impl Advice {
    fn new(suggestion: PermissionSuggestion, reason: impl Into<String>) -> Self {
        Self { suggestion, reason: reason.into() }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.suggestion, self.reason)
    }
}

/// What is about to be done on a skill's behalf.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SkillAction<'a> {
    /// A tool is called with this: the command of a shell, the path of a file, the address of a page; empty where it is none of these.
    Tool {
        /// As the host calls it.
        name: &'a str,
        /// What patterns are compared with.
        input: &'a str,
    },
    /// Something of this category: `shell.execute`, `file.read`, `file.write`, `network`, `skill.script.execute`, or another.
    Category(&'a str),
}

/// Advises a host on what a skill's hints say of an action.
///
/// By default:
///
/// | the action | the skill lists it | it does not |
/// | --- | --- | --- |
/// | `file.read` (Read, Glob, Grep, LS) | allow | warn |
/// | `file.write` (Write, Edit, `MultiEdit`, `NotebookEdit`) | allow | ask |
/// | `network` (`WebFetch`, `WebSearch`) | allow | ask |
/// | `shell.execute` (Bash, Shell): one plain command whose first words a pattern names | allow | ask |
/// | `shell.execute`: any other, or under a hint that names no command | ask | ask |
/// | `skill.script.execute` | ask | ask |
/// | another tool | allow | ask |
/// | another category | ask | ask |
/// | what the host never does, and whatever holds characters that no one sees | deny | deny |
///
/// A hint is a tool with a pattern or without (`Read`, `Bash(git log:*)`, `Edit(docs/**)`, `WebFetch(domain:example.com)`), or a category. Patterns of
/// commands are compared word by word, never as a part of a text, and a command is plain where a shell would start one program with just these words.
/// A file with `..` in its path is under no pattern. A pattern that can't be read covers nothing.
///
/// ```
/// use tower_prompt_layers::skill::{HintEvaluator, SkillAction, SkillPermissionHints, PermissionSuggestion};
///
/// let mut hints = SkillPermissionHints::default();
/// hints.tools.push("Bash(git:*)".to_owned());
/// let advise = |command| HintEvaluator::default().advise(&hints, SkillAction::Tool { name: "Bash", input: command }).suggestion;
/// assert_eq!(advise("git status"), PermissionSuggestion::Allow);
/// assert_eq!(advise("gitx status"), PermissionSuggestion::Ask);
/// assert_eq!(advise("git status; rm -rf /"), PermissionSuggestion::Ask);
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct HintEvaluator {
    never: BTreeSet<String>,
    tool_names: Vec<(String, String)>,
}

impl HintEvaluator {
    /// What the host never does, whatever a skill lists: `network`, or `file` for all of files.
    pub fn never(mut self, category: &str) -> Self {
        self.never.insert(hint::category(category));
        self
    }
    /// How tool names that skills use map to the host's, as pairs: (`Bash`, `shell`).
    pub fn tool_names<A: Into<String>, B: Into<String>>(mut self, names: impl IntoIterator<Item = (A, B)>) -> Self {
        self.tool_names = names.into_iter().map(|(theirs, ours)| (theirs.into(), ours.into())).collect();
        self
    }

    /// What to make of an action in view of a skill's hints.
    pub fn advise(&self, hints: &SkillPermissionHints, action: SkillAction<'_>) -> Advice {
        let (tool, input) = match action {
            SkillAction::Tool { name, input } => (Some(self.theirs(name)), input),
            SkillAction::Category(_) => (None, ""),
        };
        let category = match (action, tool) {
            (SkillAction::Category(category), _) => Some(hint::category(category)),
            (_, Some(tool)) => hint::category_of_tool(tool).map(str::to_owned),
            _ => None,
        };
        if escape::has_invisible(input) {
            return Advice::new(
                PermissionSuggestion::Deny,
                "it holds characters that no one sees: what is shown is not what would be done",
            );
        }
        if let Some(denied) = category.as_deref().and_then(|category| self.denied(category)) {
            return denied;
        }
        if category.as_deref().is_some_and(|category| hint::is_within(category, SKILL_SCRIPT_EXECUTE)) {
            return Advice::new(PermissionSuggestion::Ask, "a script of a skill is its own program: no hint speaks for it");
        }
        // A hint may be as long as its file; a list of thousands is no list that anyone read.
        let covers = Hint::all(hints).take(MAX_HINTS).map(|hint| (hint.covers(tool, category.as_deref(), input), hint.written));
        // The widest word counts, and of two alike the first.
        let best = covers.fold((Cover::Not, ""), |best, next| if next.0 > best.0 { next } else { best });
        let (cover, hint) = (best.0, shorten(best.1, 80));
        match cover {
            Cover::Whole if category.as_deref().is_some_and(|category| !hint::is_known(category)) => {
                Advice::new(PermissionSuggestion::Ask, format!("the skill lists `{hint}`, a category that nothing here knows"))
            }
            Cover::Whole => Advice::new(PermissionSuggestion::Allow, format!("the skill lists `{hint}`")),
            Cover::Unnamed => Advice::new(PermissionSuggestion::Ask, format!("the skill lists `{hint}`, which names no command")),
            Cover::Compound => {
                Advice::new(PermissionSuggestion::Ask, format!("the skill lists `{hint}`, but this is more than one plain command"))
            }
            Cover::Partly => Advice::new(PermissionSuggestion::Ask, format!("the skill lists `{hint}`, which is only a part of this")),
            Cover::Not if hints.is_empty() => Self::unlisted(category.as_deref(), "the skill says nothing of what it needs"),
            Cover::Not => Self::unlisted(category.as_deref(), "the skill does not list this"),
        }
    }

    /// For each hint what would be suggested for all that it lists, in their order; and [`SKILL_SCRIPT_EXECUTE`] behind them, which none of them changes.
    pub fn overview(&self, hints: &SkillPermissionHints) -> Vec<(String, Advice)> {
        let advice = Hint::all(hints).take(MAX_HINTS).map(|hint| {
            let denied = hint.category().and_then(|category| self.denied(category));
            let advice = match hint.named() {
                Named::Nothing => Advice::new(PermissionSuggestion::Ask, "a pattern that can't be read covers nothing"),
                Named::Whatever => self.advise(hints, hint.action()),
                Named::Command(words) => denied.unwrap_or_else(|| {
                    Advice::new(PermissionSuggestion::Allow, format!("one plain command that begins with `{}`", shorten(&words, 80)))
                }),
                Named::Input => denied.unwrap_or_else(|| Advice::new(PermissionSuggestion::Allow, "what the pattern names")),
            };
            (hint.written.to_owned(), advice)
        });
        let scripts = self.advise(hints, SkillAction::Category(SKILL_SCRIPT_EXECUTE));
        advice.chain([(SKILL_SCRIPT_EXECUTE.to_owned(), scripts)]).collect()
    }

    fn denied(&self, category: &str) -> Option<Advice> {
        let never = self.never.iter().find(|never| hint::is_within(category, never) || hint::is_within(never, category))?;
        Some(Advice::new(PermissionSuggestion::Deny, format!("the host never does `{never}`")))
    }
    fn unlisted(category: Option<&str>, why: &str) -> Advice {
        Advice::new(if category == Some(FILE_READ) { PermissionSuggestion::Warn } else { PermissionSuggestion::Ask }, why)
    }
    /// The name that skills use.
    fn theirs<'a>(&'a self, ours: &'a str) -> &'a str {
        self.tool_names.iter().find(|(_, name)| name == ours).map_or(ours, |(theirs, _)| theirs)
    }
}

#[cfg(test)]
mod tests;
