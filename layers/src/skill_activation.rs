//! Skills that the user's words call for: suggested, or brought into force.

use crate::prompt::{Contribute, Diagnostic, Entry, Fragment, Prompt, Source, Tier, Trust, Turn, impl_tower_layer};
use crate::skill::{
    self, ActiveSkill, HostCommand, MAX_MATCHED_BYTES, SUGGESTION_THRESHOLD, Skill, SkillActivationMode, SkillContextOptions,
    SkillEvidenceKind, SkillId, SkillMatch, SkillSummary, SkillWords,
};
use crate::skill_classifier::{SkillClassifier, SkillQuestion};
use crate::text::{Block, escape};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use tower::Service;

/// What a match brings about (`skills.auto_activate`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum AutoActivate {
    /// Nothing.
    Off,
    /// The skill is suggested to the model; one that asks for it comes into force when its trigger pattern matches.
    #[default]
    Suggest,
    /// Where the evidence is strong the skill comes into force; else it is suggested.
    On,
}

impl AutoActivate {
    /// What this match brings about, where it may activate.
    pub fn effect(self, found: &SkillMatch, skill: &SkillSummary) -> MatchEffect {
        let activates = match self {
            Self::Off => return MatchEffect::Nothing,
            Self::On => found.is_strong,
            Self::Suggest => skill.activation.auto_activate && by_pattern(found),
        };
        match activates {
            true => MatchEffect::Activates,
            false if found.score >= SUGGESTION_THRESHOLD => MatchEffect::Suggests,
            false => MatchEffect::Nothing,
        }
    }
}

/// What a match brings about, the least first. There will be no other without a new major version: a host can say for each what it shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchEffect {
    /// It is too weak, or matching is off.
    Nothing,
    /// The skill is suggested to the model, if it is among the surest.
    Suggests,
    /// The skill comes into force.
    Activates,
}

fn by_pattern(found: &SkillMatch) -> bool {
    found.evidence.iter().any(|evidence| evidence.kind == SkillEvidenceKind::Pattern && !evidence.quoted)
}

/// How long a skill stays in force that the user's words brought into force.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ActivationLifetime {
    /// Until someone switches it off.
    #[default]
    Conversation,
    /// Until a message that does not speak of it: the task that it was for is over then. In all branches, as when the user switches it off.
    Task,
}

/// The id of a skill's suggestion is this and the skill's id.
pub const SKILL_SUGGESTION: &str = "skill_suggestion:";

/// Looks for the skills that the user's newest message speaks of. A suggestion (`Turn`) is made once in a branch; a skill comes into force (`Step`)
/// only on strong evidence, since a wrong activation is worse than a missed one; a skill that asks for it (`auto_activate`) does so in mode `suggest`
/// too, when one of its trigger patterns matches. Where the host lets it, a message that begins with `/skill ID` brings that skill into force, with
/// what follows as its arguments, and `/skill off ID` switches it off.
///
/// A skill that the user dismissed is neither suggested nor brought into force by words.
///
/// ```
/// use serde_json::json;
/// use tower_prompt_layers::skill::{Skill, SkillSource, SkillSourceKind, SkillSummary, Skills};
/// use tower_prompt_layers::{AutoActivate, Context, PromptStack, Settings, SkillActivationLayer, wire::OpenAiChat};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), tower_prompt_layers::skill::InvalidSkillId> {
/// let source = SkillSource::new(SkillSourceKind::User, "own");
/// let mut summary = SkillSummary::new("deploy".parse()?, "Deploys.", source);
/// summary.activation.keywords = vec!["staging".into()];
/// let skills = Skills::new([Skill::new(summary, String::new())], Vec::new());
/// let layer = SkillActivationLayer::new(AutoActivate::Suggest);
/// let stack = PromptStack::new(OpenAiChat, Settings::default().skills(skills)).with(layer);
///
/// let sent = stack.assemble(json!({"messages": [{"role": "user", "content": "Is staging up?"}]}), Context::default()).await;
/// assert!(sent["messages"][0]["content"].as_str().unwrap().contains("The skill deploy may fit this message"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct SkillActivationLayer {
    mode: AutoActivate,
    max_suggestions: NonZeroUsize,
    commands: bool,
    options: SkillContextOptions,
    classifier: Option<SkillClassifier>,
    lifetime: ActivationLifetime,
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
        Self {
            mode,
            max_suggestions: THREE,
            commands: false,
            options: SkillContextOptions::default(),
            classifier: None,
            lifetime: ActivationLifetime::default(),
        }
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
    /// Asks this service which skills fit. Its answer, of any number of ids, stands in the place of what words suggest, but for its failures and for
    /// answers that name no candidate; it activates nothing. The request waits for it: the deadline is in its future.
    pub fn classifier<S>(mut self, service: S) -> Self
    where
        S: Service<SkillQuestion, Response = Vec<SkillId>, Error: std::fmt::Display, Future: Send> + Clone + Send + 'static,
    {
        self.classifier = Some(SkillClassifier::new(service, |error| error.to_string()));
        self
    }
    /// How long a skill stays in force that words brought into force. What the host, the user or the model brought into force stays in any case.
    pub fn lifetime(mut self, lifetime: ActivationLifetime) -> Self {
        self.lifetime = lifetime;
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

    /// Switches off what words brought into force, and this message does not speak of.
    fn end_tasks(&self, matches: &[SkillMatch], turn: &Turn, prompt: &mut Prompt) {
        if self.lifetime == ActivationLifetime::Task {
            let speaks_of = |id: &SkillId| matches.iter().any(|found| found.id == *id && found.score >= SUGGESTION_THRESHOLD);
            let over = turn.active.iter().filter(|skill| skill.mode == SkillActivationMode::Automatic && !speaks_of(&skill.id));
            over.for_each(|skill| prompt.deactivate(skill.id.clone()));
        }
    }

    fn obey(&self, words: SkillWords<'_>, switches_off: bool, turn: &Turn, prompt: &mut Prompt) {
        if !turn.may_activate() {
            let message = "a command in the first message of a conversation without a session is not obeyed: others may begin alike";
            return prompt.diagnose(Diagnostic::warning("command-ignored", message));
        }
        let Some((skill, rest)) = words.find(&turn.skills) else { return prompt.diagnose(skill::unknown_skill(words.as_str())) };
        let id = &skill.summary.id;
        if switches_off {
            return prompt.deactivate(id.clone());
        }
        let active = ActiveSkill::explicit(id.clone(), Some(rest).filter(|arguments| !arguments.is_empty()));
        if !turn.is_active(id.as_str()) {
            self.activate(vec![(skill.clone(), active)], turn, prompt);
        } else if !turn.active.contains(&active) {
            prompt.add(Tier::Step, || skill::new_arguments(&active).map(|fragment| fragment.activating(active.clone())));
        }
    }

    fn suggest(&self, matches: &[SkillMatch], text: &str, turn: &Turn, prompt: &mut Prompt) {
        let is_new = |id: &SkillId| turn.told(&suggestion_id(id)).is_none();
        let new = matches.iter().filter(|found| found.score >= SUGGESTION_THRESHOLD && is_new(&found.id));
        let known = new.filter_map(|found| Some(suggestion(&turn.skills.get(found.id.as_str())?.summary, &found.evidence)));
        let most = self.max_suggestions.get();
        let by_words: Vec<Fragment> = known.take(most).collect();
        let Some(classifier) = &self.classifier else {
            return by_words.into_iter().for_each(|fragment| prompt.add(Tier::Turn, || fragment));
        };
        let may_be = |skill: &&Skill| skill.summary.is_for_the_model() && is_open(turn, &skill.summary.id) && is_new(&skill.summary.id);
        let mut open: BTreeMap<&SkillId, Arc<SkillSummary>> =
            turn.skills.iter().filter(may_be).map(|skill| (&skill.summary.id, skill.summary.clone())).collect();
        let likely: Vec<Arc<SkillSummary>> = matches.iter().filter_map(|found| open.remove(&found.id)).collect();
        let candidates: Arc<[Arc<SkillSummary>]> = likely.into_iter().chain(open.into_values()).collect();
        if !candidates.is_empty() {
            let asked = classifier.ask(SkillQuestion::new(text, candidates.clone()));
            prompt.add_later(Tier::Turn, || async move { classified(asked.await, &candidates, by_words, most) });
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
        match Some(&*text).filter(|_| self.commands).and_then(HostCommand::parse) {
            Some(HostCommand::Activate(words)) => return self.obey(words, false, turn, prompt),
            Some(HostCommand::Deactivate(words)) => return self.obey(words, true, turn, prompt),
            // The host's own, and not about what a skill is for.
            Some(_) => return,
            None if self.mode == AutoActivate::Off => return,
            None => {}
        }
        if text.len() > MAX_MATCHED_BYTES {
            let message = format!(
                "the user's message has {} bytes; skills were looked for in {MAX_MATCHED_BYTES} of them, at its beginning and its end",
                text.len()
            );
            prompt.diagnose(Diagnostic::note("message-long", message));
        }
        let mut matches = turn.skills.matcher().find_with_files(&text, &turn.context.files);
        self.end_tasks(&matches, turn, prompt);
        matches.retain(|found| is_open(turn, &found.id));
        if turn.may_activate() {
            let mut strong = Vec::new();
            matches.retain(|found| match turn.skills.get(found.id.as_str()) {
                Some(skill) if self.mode.effect(found, &skill.summary) == MatchEffect::Activates => {
                    strong.push((skill.clone(), ActiveSkill::automatic(found.id.clone())));
                    false
                }
                known => known.is_some(),
            });
            self.activate(strong, turn, prompt);
        }
        self.suggest(&matches, &text, turn, prompt);
    }
}

impl_tower_layer!(SkillActivationLayer);

/// Words may bring it up.
fn is_open(turn: &Turn, id: &SkillId) -> bool {
    !turn.is_active(id.as_str()) && !turn.is_dismissed(id)
}

/// What the classifier answered, in the place of what words suggest; an answer that names skills, and none that it was asked about, is none.
fn classified(answer: Result<Vec<SkillId>, String>, candidates: &[Arc<SkillSummary>], by_words: Vec<Fragment>, most: usize) -> Vec<Entry> {
    let words_decide = |reason: String| {
        let message = format!("the skills' classifier {reason}, so words alone decide");
        [Entry::from(Diagnostic::warning("classifier-failed", message))].into_iter().chain(by_words.into_iter().map(Entry::from)).collect()
    };
    let mut ids = match answer {
        Ok(ids) => ids,
        Err(reason) => return words_decide(format!("failed ({})", crate::text::shorten(&reason, 200))),
    };
    let named = ids.len();
    let mut said = std::collections::BTreeSet::new();
    ids.retain(|id| said.insert(id.clone()));
    let known = ids.iter().filter_map(|id| candidates.iter().find(|summary| summary.id == *id));
    let chosen: Vec<Entry> = known.take(most).map(|summary| suggestion(summary, &[]).into()).collect();
    if chosen.is_empty() && named > 0 { words_decide("named no skill that it was asked about".to_owned()) } else { chosen }
}

fn suggestion_id(id: &SkillId) -> String {
    format!("{SKILL_SUGGESTION}{id}")
}

fn suggestion(skill: &SkillSummary, evidence: &[skill::SkillEvidence]) -> Fragment {
    let mut told: Vec<&str> = Vec::new();
    for evidence in evidence.iter().filter(|evidence| evidence.weight > 0.0) {
        // A word of what is told already tells nothing more.
        let is_told = |told: &&str| told.to_lowercase().contains(&evidence.what.to_lowercase());
        if told.len() < 3 && !told.iter().any(is_told) {
            told.push(&evidence.what);
        }
    }
    let speaks: Vec<String> = told.into_iter().map(|what| format!("“{}”", escape::text(what))).collect();
    let why = if speaks.is_empty() { String::new() } else { format!(", which speaks of {}", speaks.join(", ")) };
    let location = match &*skill.location {
        "" => String::new(),
        path => format!(" ({})", escape::path(path)),
    };
    let body = format!("The skill {}{location} may fit this message{why}. Load it if it does.", escape::text(skill.id.as_str()));
    let block = Block::new("skill_suggestion", &body);
    Fragment::new(suggestion_id(&skill.id), block).trust(Trust::Skill).source(Source::Skills).suggesting(skill.id.clone())
}
