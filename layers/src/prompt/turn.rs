//! What a layer sees: the turn. And what it writes to: the prompt.

use super::fragment::{ACTIVE_SKILL, Entry, Fragment, FragmentId, Tier};
use super::session::{SessionKey, Told};
use super::{Context, Diagnostic};
use crate::skill::{ActiveSkill, ActiveSkills, SkillId, Skills};
use crate::text::TextChange;
use crate::wire::{Conversation, ToolDefinition, ToolOutputBound};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;

/// What a request is to its conversation, and so what is collected.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Round {
    /// Its place has an entry already (a retry, a hedge, an answer made anew): nothing is collected.
    Settled,
    /// The session has no system prompt yet: all tiers.
    Start,
    /// It has one, and the request holds none of its places: all tiers.
    Compacted,
    /// The last message is the user's: all tiers.
    User,
    /// The last messages are tool results: [`Tier::Step`] alone.
    Tool,
}

impl Round {
    /// As it is serialized.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Settled => "settled",
            Self::Start => "start",
            Self::Compacted => "compacted",
            Self::User => "user",
            Self::Tool => "tool",
        }
    }
    /// Whether fragments of this tier are collected.
    pub fn collects(self, tier: Tier) -> bool {
        match self {
            Round::Settled => false,
            Round::Tool => tier == Tier::Step,
            Round::Start | Round::Compacted | Round::User => true,
        }
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// All that a layer may know.
#[derive(Debug)]
#[non_exhaustive]
pub struct Turn {
    /// The caller's own words: our texts are taken out.
    pub conversation: Conversation,
    /// What the host said.
    pub context: Context,
    /// The conversation, where the host named it or it was recognised; else one of this request alone.
    pub session: SessionKey,
    /// Which round this is.
    pub round: Round,
    /// The skills in force in this branch, in order of activation.
    pub active: Vec<ActiveSkill>,
    /// All skills: one snapshot for the whole request.
    pub skills: Skills,
    pub(crate) told: Told,
    /// In force where this request goes on from.
    pub(crate) inherited: ActiveSkills,
    /// Of the skills in force those whose body was said in this branch, and stands there no more.
    pub(crate) said_before: BTreeSet<SkillId>,
    pub(crate) dismissed: BTreeSet<SkillId>,
    pub(crate) may_activate: bool,
    /// The host gave the session.
    pub(crate) is_named: bool,
}

impl Turn {
    /// The value that this branch was told last of a fragment; `None` where it was not told, or told to be gone.
    pub fn told(&self, id: &str) -> Option<&str> {
        self.told.get(id)
    }
    /// Whether this very activation, arguments and all, was in force before this request.
    pub(crate) fn was_active(&self, skill: &ActiveSkill) -> bool {
        self.inherited.as_slice().contains(skill)
    }
    /// The value that this branch was told last of a skill's body.
    pub(crate) fn told_of_skill(&self, skill: &SkillId) -> Option<&str> {
        self.told.skill(skill)
    }
    /// Whether this branch was told the bodies of all skills in force.
    pub(crate) fn told_of_all_skills(&self) -> bool {
        self.told.tells_all(&self.active)
    }
    /// Whether each skill that this branch was told of is one of those in force.
    pub(crate) fn told_skills_are_in_force(&self) -> bool {
        self.told.skills().all(|(id, _)| self.is_active(id))
    }
    /// Whether its arguments were said before this request: then they are no new order.
    pub(crate) fn has_said_arguments(&self, skill: &ActiveSkill) -> bool {
        // Behind a compaction, and behind a rebase, the branch is not known.
        let begins_anew = matches!(self.round, Round::Compacted | Round::Start);
        self.was_active(skill) && (begins_anew || self.said_before.contains(&skill.id))
    }
    /// The bytes of the bodies of skills in force that this branch was told.
    pub(crate) fn told_body_bytes(&self) -> usize {
        self.told.body_bytes(&self.active)
    }
    /// The bytes of all texts that told this branch fragments whose id begins so.
    pub(crate) fn told_bytes(&self, prefix: &str) -> usize {
        self.told.bytes(prefix)
    }
    /// All text of the user's newest message, without ours.
    pub fn user_text(&self) -> Option<String> {
        self.conversation.latest_user_text()
    }
    /// The provider that the request goes to: as the host names it, else as its format tells.
    pub fn provider(&self) -> Option<&str> {
        self.context.host.provider.as_deref().or(self.conversation.provider)
    }
    /// The model: as the host says, else as the request names it.
    pub fn model(&self) -> Option<&str> {
        self.context.host.model.as_deref().or(self.conversation.model.as_deref())
    }
    /// Whether this skill is in force.
    pub fn is_active(&self, id: &str) -> bool {
        self.active.iter().any(|skill| skill.id.as_str() == id)
    }
    /// Whether the user dismissed a suggestion of this skill in this conversation.
    pub fn is_dismissed(&self, id: &SkillId) -> bool {
        self.dismissed.contains(id)
    }
    /// Whether words may activate a skill here. Not in the opening message of a conversation that is known by its messages alone: two
    /// conversations may share it.
    pub fn may_activate(&self) -> bool {
        self.may_activate
    }
}

/// Entries that come later; the deadline is already in it.
pub(super) type Later = Pin<Box<dyn Future<Output = Vec<Entry>> + Send>>;

/// What comes later, where it was added.
pub(super) struct Late {
    /// Behind so many entries that were there.
    pub(super) behind: usize,
    pub(super) layer: &'static str,
    pub(super) tier: Tier,
    pub(super) later: Later,
    /// None before it came.
    pub(super) came: Option<Vec<Entry>>,
}

/// Room for what the usual layers and sections say.
const USUAL_ENTRIES: usize = 32;

/// What the layers have said so far, in their order.
pub struct Prompt {
    pub(super) round: Round,
    pub(super) layer: &'static str,
    pub(super) entries: Vec<Entry>,
    pub(super) late: Vec<Late>,
    shared: Vec<Box<dyn Any + Send>>,
}

impl Prompt {
    pub(crate) fn new(round: Round) -> Self {
        Self { round, layer: "", entries: Vec::with_capacity(USUAL_ENTRIES), late: Vec::new(), shared: Vec::new() }
    }
    /// Adds a fragment, or nothing. The closure runs only in rounds that collect `tier`: what is costly belongs into it.
    pub fn add<F: Into<Option<Fragment>>>(&mut self, tier: Tier, fragment: impl FnOnce() -> F) {
        if self.round.collects(tier)
            && let Some(mut fragment) = fragment().into()
        {
            (fragment.tier, fragment.layer) = (tier, self.layer);
            self.entries.push(Entry::Fragment(fragment));
        }
    }
    /// Adds what a future brings: fragments, or any entries. All futures of a request are waited for side by side, so each must have its deadline
    /// in it. The closure runs only in rounds that collect `tier`.
    pub fn add_later<F>(&mut self, tier: Tier, later: impl FnOnce() -> F)
    where
        F: Future<Output: IntoIterator<Item: Into<Entry>>> + Send + 'static,
    {
        if self.round.collects(tier) {
            let later = later();
            let entries = async move { later.await.into_iter().map(Into::into).collect() };
            let later: Later = Box::pin(entries);
            self.late.push(Late { behind: self.entries.len(), layer: self.layer, tier, later, came: None });
        }
    }
    /// This is not there (any more). Said at every collection while a thing is absent: silence says nothing.
    pub fn gone(&mut self, id: impl Into<FragmentId>) {
        let id = id.into();
        if self.tells_of(&id) {
            self.entries.push(Entry::Gone(id));
        }
    }
    /// These are all ids that begin with `prefix`: others that this branch was told of are said to be gone.
    pub fn only<I: Into<FragmentId>>(&mut self, prefix: impl Into<FragmentId>, ids: impl IntoIterator<Item = I>) {
        let prefix = prefix.into();
        if self.tells_of(&prefix) {
            let ids: BTreeSet<FragmentId> = ids.into_iter().map(Into::into).collect();
            self.entries.push(Entry::Only { prefix, ids });
        }
    }
    /// The user switches a skill off. Where it was told of, the request says that it no longer applies.
    pub fn deactivate(&mut self, skill: SkillId) {
        if self.round.collects(Tier::Step) {
            self.entries.push(Entry::Deactivated(skill));
        }
    }
    /// The model invoked a skill in force again: see [`Entry::InvokedAgain`].
    pub(crate) fn invoked_again(&mut self, skill: ActiveSkill) {
        if self.round.collects(Tier::Step) {
            self.entries.push(Entry::InvokedAgain(skill));
        }
    }
    /// The model put a skill down: see [`Entry::PutDown`].
    pub(crate) fn put_down(&mut self, skill: SkillId) {
        if self.round.collects(Tier::Step) {
            self.entries.push(Entry::PutDown(skill));
        }
    }
    /// Proposes a change of the description of a tool of the caller's; its name and schema stay. Part of the session from its start: ignored in
    /// other rounds. Changes of one tool act in the order of the layers.
    pub fn describe_tool(&mut self, name: impl Into<String>, change: TextChange) {
        if self.round == Round::Start && !change.is_nothing() {
            self.entries.push(Entry::DescribesTool { name: name.into(), change });
        }
    }
    /// Proposes a tool of ours, which the host answers. It stands behind the caller's tools, the same in each request of a session from its start:
    /// ignored in other rounds. Of equal names the first layer's stands, and the caller's before that.
    pub fn add_tool(&mut self, definition: ToolDefinition) {
        if self.round == Round::Start {
            self.entries.push(Entry::AddsTool { definition, layer: self.layer });
        }
    }
    /// Proposes how much of each tool result is sent. The numbers are part of the session from its start; the archive is asked for each request. The
    /// first layer's stands.
    pub fn bound_tool_output(&mut self, bound: ToolOutputBound) {
        self.entries.push(Entry::BoundsToolOutput(bound));
    }
    /// What several layers or sections of one request look up together: the first that asks for such a `T` makes it, the others get a copy. A
    /// handle whose work begins when it is first waited for knows by then what all of them want of it.
    pub fn shared<T: Clone + Send + 'static>(&mut self, is_such: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> T {
        let known = self.shared.iter().find_map(|shared| shared.downcast_ref().filter(|shared| is_such(shared)));
        known.cloned().unwrap_or_else(|| {
            let made = make();
            self.shared.push(Box::new(made.clone()));
            made
        })
    }
    /// Reports something in the manifest.
    pub fn diagnose(&mut self, diagnostic: Diagnostic) {
        self.entries.push(Entry::Diagnostic(diagnostic));
    }
    /// Nothing was collected.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.late.is_empty()
    }
    /// The round that decides what is collected.
    pub fn round(&self) -> Round {
        self.round
    }

    /// Skills come and go in tool rounds too; facts wait for the user.
    fn tells_of(&self, id: &str) -> bool {
        self.round.collects(if id.starts_with(ACTIVE_SKILL) { Tier::Step } else { Tier::Turn })
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("round", &self.round)
            .field("entries", &self.entries.len())
            .field("late", &self.late.len())
            .finish_non_exhaustive()
    }
}

/// A layer, all of it: sees the turn, and adds to the prompt. Closures are layers.
///
/// It waits for nothing and fails nothing: what must wait is a future ([`Prompt::add_later`]), what went wrong a diagnostic.
pub trait Contribute: Send + Sync {
    /// Adds what there is to say. Called for each request but those of [`Purpose::Bare`](super::Purpose::Bare), in tool rounds and retries too.
    fn contribute(&self, turn: &Turn, prompt: &mut Prompt);

    /// What the manifest calls it: the name of its type unless it says otherwise.
    fn name(&self) -> &'static str {
        name_of_type(std::any::type_name::<Self>())
    }
}
/// The last part of a type's path, without its parameters; of a closure the function's that it stands in. Asked of each layer at each request.
fn name_of_type(path: &'static str) -> &'static str {
    let mut name = path.find('<').map_or(path, |end| &path[..end]);
    while let Some(outer) = name.strip_suffix("::{{closure}}") {
        name = outer;
    }
    name.rfind(':').map(|end| &name[end + 1..]).filter(|name| !name.is_empty()).unwrap_or(path)
}

impl<F: Fn(&Turn, &mut Prompt) + Send + Sync> Contribute for F {
    fn contribute(&self, turn: &Turn, prompt: &mut Prompt) {
        self(turn, prompt);
    }
}
