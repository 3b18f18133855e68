//! The skills that are registered, and which of them may run.

use super::routing::{Route, Routing};
use super::skill::CodeSkill;
use super::turn::CodeSkillTurn;
use crate::config;
use crate::layers::text::shorten;
use crate::layers::wire::ToolDefinition;
use crate::layers::{Diagnostic, Turn};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the user of a turn may use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[non_exhaustive]
pub enum TurnAuthority {
    /// What is not elevated.
    #[default]
    Member,
    /// All.
    Administrator,
}

impl TurnAuthority {
    /// As the host says with the request.
    pub fn of(turn: &Turn) -> Self {
        if turn.context.host.is_administrator { Self::Administrator } else { Self::Member }
    }
}

/// The code-backed skills of a host and its plugins, in the order of their registration. Cheap to clone, and never changed: what it tells of stays the
/// same for a session's life.
#[derive(Clone, Default, Debug)]
pub struct CodeSkills(Arc<Inner>);

#[derive(Clone, Default, Debug)]
struct Inner {
    skills: Vec<CodeSkill>,
    routes: Vec<Route>,
    diagnostics: Vec<Diagnostic>,
}

impl CodeSkills {
    /// These. Of equal names, whatever their case, the first stands.
    pub fn new(skills: impl IntoIterator<Item = CodeSkill>) -> Self {
        let mut inner = Inner::default();
        let mut names = BTreeSet::new();
        for skill in skills {
            if names.insert(folded(skill.name())) {
                inner.skills.push(skill);
                continue;
            }
            let whose = skill.plugin.as_deref().map(|plugin| format!(" of `{}`", shorten(plugin, 64))).unwrap_or_default();
            let message = format!("there is a code-backed skill `{}` already; the second one{whose} is left out", skill.name());
            inner.diagnostics.push(Diagnostic::warning("code-skill-shadowed", message));
        }
        Self(Arc::new(inner))
    }
    /// Those that the configuration (`skills.code`) lets run: in `allow`, if that names any, not in `deny`, which wins, and in safe mode no plugin's.
    /// Names are compared without regard to case.
    pub fn configured(&self, options: &config::CodeSkillsConfig) -> Self {
        let mut inner = Inner::clone(&self.0);
        for (key, names) in [("allow", &options.allow), ("deny", &options.deny)] {
            let is_known = |name: &String| inner.skills.iter().any(|skill| folded(skill.name()) == folded(name));
            let unknown: Vec<Diagnostic> = names.iter().filter(|name| !is_known(name)).map(|name| unknown(key, name)).collect();
            inner.diagnostics.extend(unknown);
        }
        let has = |names: &[String], skill: &CodeSkill| names.iter().any(|name| folded(name) == folded(skill.name()));
        inner.skills.retain(|skill| {
            let is_safe = !options.safe_mode || skill.plugin.is_none();
            is_safe && !has(&options.deny, skill) && (options.allow.is_empty() || has(&options.allow, skill))
        });
        for rule in &options.routing {
            match Route::of(rule) {
                Ok(route) => inner.routes.push(route),
                Err(diagnostic) => inner.diagnostics.push(diagnostic),
            }
        }
        Self(Arc::new(inner))
    }

    /// What was left out, and why.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }
    /// Those that a turn of this authority may use.
    pub fn visible(&self, authority: TurnAuthority) -> impl Iterator<Item = &CodeSkill> {
        self.0.skills.iter().filter(move |skill| authority == TurnAuthority::Administrator || !skill.flags.is_elevated)
    }
    /// The skill of this name, if a turn of this authority may use it.
    pub fn get(&self, name: &str, authority: TurnAuthority) -> Option<&CodeSkill> {
        self.visible(authority).find(|skill| skill.name() == name)
    }
    /// What the model is told of them as tools.
    pub fn definitions(&self, authority: TurnAuthority) -> impl Iterator<Item = ToolDefinition> {
        self.visible(authority).map(CodeSkill::definition)
    }
    /// Which of them the configured rules prefer or avoid for what the user says.
    pub fn routing(&self, text: &str, authority: TurnAuthority) -> Routing {
        Routing::of(&self.0.routes, text, |name| {
            self.visible(authority).find(|skill| folded(skill.name()) == folded(name)).map(CodeSkill::name)
        })
    }
    /// Answers the calls of one turn. Dangerous ones are refused, until [`confirm`](CodeSkillTurn::confirm) says whom to ask.
    pub fn turn(&self, authority: TurnAuthority) -> CodeSkillTurn {
        CodeSkillTurn::new(self.clone(), authority)
    }

    /// A skill of this name was registered, whoever may use it.
    pub(super) fn is_known(&self, name: &str) -> bool {
        self.0.skills.iter().any(|skill| skill.name() == name)
    }
}

pub(super) fn folded(name: &str) -> String {
    name.trim().to_ascii_lowercase()
}

fn unknown(key: &str, name: &str) -> Diagnostic {
    let message = format!("`skills.code.{key}` names `{}`, which is no code-backed skill of this host", shorten(name, 64));
    Diagnostic::warning("code-skill-unknown", message)
}
