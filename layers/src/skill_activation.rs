//! Skills that the user's words call for: suggested, or brought into force.

use crate::prompt::{Contribute, Diagnostic, Fragment, Prompt, Source, Tier, Trust, Turn, impl_tower_layer};
use crate::skill::{self, ActiveSkill, Skill, SkillContextOptions, SkillEvidenceKind, SkillMatch};
use crate::text::{Block, escape};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// What a match brings about (`skills.auto_activate`).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AutoActivate {
    /// Nothing.
    Off,
    /// The skill is suggested to the model; one that asks for it comes into force when its trigger pattern matches.
    #[default]
    Suggest,
    /// Where the evidence is strong the skill comes into force; else it is suggested.
    On,
}

/// The id of a skill's suggestion is this and the skill's id.
pub const SKILL_SUGGESTION: &str = "skill_suggestion:";

/// Weaker matches are not suggested.
const THRESHOLD: f32 = 0.4;

/// Looks for the skills that the user's newest message speaks of. A suggestion (`Turn`) is made once in a branch; a skill comes into force (`Step`)
/// only on strong evidence, since a wrong activation is worse than a missed one; a skill that asks for it (`auto_activate`) does so in mode `suggest`
/// too, when one of its trigger patterns matches. Where the host lets it, a message that begins with `/skill ID` brings that skill into force, with
/// what follows as its arguments, and `/skill off ID` switches it off.
#[derive(Clone, Debug)]
pub struct SkillActivationLayer {
    mode: AutoActivate,
    max_suggestions: NonZeroUsize,
    commands: bool,
    options: SkillContextOptions,
}

impl Default for SkillActivationLayer {
    /// Suggests three skills at most.
    fn default() -> Self {
        Self::new(AutoActivate::default())
    }
}

impl SkillActivationLayer {
    /// With this effect of a match.
    pub fn new(mode: AutoActivate) -> Self {
        const THREE: NonZeroUsize = NonZeroUsize::new(3).expect("three is not zero");
        Self { mode, max_suggestions: THREE, commands: false, options: SkillContextOptions::default() }
    }
    /// So many suggestions at a message, at most.
    pub fn max_suggestions(mut self, max: NonZeroUsize) -> Self {
        self.max_suggestions = max;
        self
    }
    /// Whether `/skill ID ARGS` at the start of the user's message acts (`skills.commands`).
    pub fn commands(mut self, act: bool) -> Self {
        self.commands = act;
        self
    }
    /// How bodies stand in the prompt.
    pub fn context(mut self, options: SkillContextOptions) -> Self {
        self.options = options;
        self
    }

    fn activate(&self, skills: Vec<(Skill, ActiveSkill)>, turn: &Turn, prompt: &mut Prompt) {
        if !skills.is_empty() {
            let effect = |fragment: Fragment, active: &ActiveSkill| fragment.activating(active.clone());
            prompt.add_later(Tier::Step, || skill::bodies(skills, turn, &self.options, effect));
        }
    }

    fn obey(&self, command: &Command<'_>, turn: &Turn, prompt: &mut Prompt) {
        if !turn.may_activate() {
            let message = "a command in the first message of a conversation without a session is not obeyed: others may begin alike";
            return prompt.diagnose(Diagnostic::warning("command-ignored", message));
        }
        let Some((skill, rest)) = command.skill(turn) else { return prompt.diagnose(skill::unknown_skill(command.words)) };
        let id = &skill.summary.id;
        if command.switches_off {
            return prompt.deactivate(id.clone());
        }
        let active = ActiveSkill::explicit(id.clone(), Some(rest).filter(|arguments| !arguments.is_empty()));
        if !turn.is_active(id.as_str()) {
            self.activate(vec![(skill.clone(), active)], turn, prompt);
        } else if !turn.active.contains(&active) {
            prompt.add(Tier::Step, || skill::new_arguments(&active).map(|fragment| fragment.activating(active.clone())));
        }
    }

    fn suggest(&self, matches: &[SkillMatch], turn: &Turn, prompt: &mut Prompt) {
        let new = matches.iter().filter(|found| found.score >= THRESHOLD && turn.told(&suggestion_id(found)).is_none());
        for found in new.take(self.max_suggestions.get()) {
            let Some(skill) = turn.skills.get(found.id.as_str()) else { continue };
            prompt.add(Tier::Turn, || suggestion(found, skill));
        }
    }
}

impl Contribute for SkillActivationLayer {
    fn contribute(&self, turn: &Turn, prompt: &mut Prompt) {
        // In a tool loop the user's message is an old one, and was looked at when it came.
        if !prompt.round().collects(Tier::Turn) || (self.mode == AutoActivate::Off && !self.commands) {
            return;
        }
        let Some(text) = turn.user_text() else { return };
        if let Some(command) = Some(&*text).filter(|_| self.commands).and_then(Command::parse) {
            return self.obey(&command, turn, prompt);
        }
        if self.mode == AutoActivate::Off {
            return;
        }
        let mut matches = turn.skills.matcher().find(&text);
        matches.retain(|found| !turn.is_active(found.id.as_str()));
        if turn.may_activate() {
            let activates = |found: &SkillMatch| match self.mode {
                AutoActivate::On => found.is_strong,
                AutoActivate::Suggest | AutoActivate::Off => asks_for_it(found, turn),
            };
            let (strong, weak): (Vec<SkillMatch>, Vec<SkillMatch>) = matches.into_iter().partition(activates);
            let known = strong
                .iter()
                .filter_map(|found| Some((turn.skills.get(found.id.as_str())?.clone(), ActiveSkill::automatic(found.id.clone()))));
            self.activate(known.collect(), turn, prompt);
            matches = weak;
        }
        self.suggest(&matches, turn, prompt);
    }
}

impl_tower_layer!(SkillActivationLayer);

/// Whether one of its trigger patterns matched, and the skill says that this activates it even where matches only suggest.
fn asks_for_it(found: &SkillMatch, turn: &Turn) -> bool {
    let by_pattern = found.evidence.iter().any(|evidence| evidence.kind == SkillEvidenceKind::Pattern && !evidence.quoted);
    by_pattern && turn.skills.get(found.id.as_str()).is_some_and(|skill| skill.summary.activation.auto_activate)
}

/// What stands at a message's start, for the stack to act on: `/skill ID ARGS`, or `/skill off ID`.
#[derive(PartialEq, Eq, Debug)]
struct Command<'a> {
    switches_off: bool,
    /// An id or a name, and what follows it.
    words: &'a str,
}

/// No name of a skill has more words.
const MOST_WORDS: usize = 8;

impl<'a> Command<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let words = text.trim_start().strip_prefix("/skill")?.strip_prefix(char::is_whitespace)?.trim();
        let off = words.strip_prefix("off").filter(|rest| rest.starts_with(char::is_whitespace)).map(str::trim);
        (!words.is_empty()).then_some(Self { switches_off: off.is_some(), words: off.unwrap_or(words) })
    }
    /// The usable skill that the longest beginning of the words names, and the words behind it.
    fn skill<'t>(&self, turn: &'t Turn) -> Option<(&'t Skill, &'a str)> {
        let ends = self.words.match_indices(char::is_whitespace).map(|(at, _)| at).take(MOST_WORDS).chain([self.words.len()]);
        let mut ends: Vec<usize> = ends.collect();
        ends.reverse();
        ends.into_iter().find_map(|end| {
            let (name, rest) = self.words.split_at(end);
            let skill = turn.skills.find(name).filter(|skill| skill.summary.is_usable() && skill.summary.user_invocable)?;
            Some((skill, rest.trim()))
        })
    }
}

fn suggestion_id(found: &SkillMatch) -> String {
    format!("{SKILL_SUGGESTION}{}", found.id)
}

fn suggestion(found: &SkillMatch, skill: &Skill) -> Fragment {
    let what: Vec<String> = found.evidence.iter().take(3).map(|evidence| format!("“{}”", escape::text(&evidence.what))).collect();
    let location = match &*skill.summary.location {
        "" => String::new(),
        path => format!(" ({})", escape::path(path)),
    };
    let body = format!(
        "The skill {}{location} may fit this message, which speaks of {}. Load it if it does.",
        escape::text(found.id.as_str()),
        what.join(", ")
    );
    let block = Block::new("skill_suggestion", &body);
    Fragment::new(suggestion_id(found), block).trust(Trust::Skill).source(Source::Skills).suggesting(found.id.clone())
}
