//! What was told: values, the system prompt, and the entries of places.

use super::hashing::ByHash;
use super::places::Anchor;
use super::state::State;
use crate::prompt::fragment::{ACTIVE_SKILL, Fragment, FragmentId, SharedId};
use crate::prompt::manifest::{RenderedFragment, RenderedTool};
use crate::skill::{ActiveSkill, ActiveSkills, SkillId};
use crate::text::TextChange;
use crate::text::hash::hash;
use crate::wire::{Conversation, Role, ToolDefinition, ToolOutputBound};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

/// A value as it was told.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Value {
    pub(super) text: Arc<str>,
    /// The rebase behind which it was told: a change is told against nothing that a rebase took away.
    pub(super) base: u32,
    /// Of the text that told it: less than the value, where a limit bit.
    said_bytes: usize,
    /// A skill's body that stands in the result of a tool: it counts as told while a request holds that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) in_result: bool,
}

impl Value {
    /// The same, with one copy of its text.
    pub(super) fn with(self, state: &mut State) -> Self {
        Self { text: state.interned.shared(&self.text), ..self }
    }
    /// False where a budget left nothing of it.
    pub(super) fn was_said(&self) -> bool {
        self.said_bytes > 0
    }
    /// Of a fragment, told by what was said of it.
    pub(super) fn of(state: &mut State, fragment: &Fragment, value: &str, said: &str) -> Self {
        match fragment.text.shared().filter(|shared| is_one(shared, value)) {
            Some(shared) => Self::told_with(state, shared, said),
            None => Self::told(state, value, said),
        }
    }
    /// The same text. What is shared is known by where it stands.
    pub(super) fn says(&self, value: &str) -> bool {
        is_one(&self.text, value) || *self.text == *value
    }
    pub(super) fn told(state: &mut State, value: &str, said: &str) -> Self {
        Self { text: state.interned.text(value), base: state.base, said_bytes: said.len(), in_result: false }
    }
    /// Told by the result of a tool that holds it so.
    pub(super) fn in_result(state: &mut State, block: &str) -> Self {
        Self { in_result: true, ..Self::told(state, block, block) }
    }
    /// Of the text that told it.
    pub(super) fn said_bytes(&self) -> usize {
        self.said_bytes
    }
    /// A request in this conversation shows it still.
    pub(super) fn stands_in(&self, conversation: &Conversation) -> bool {
        !self.in_result || conversation.holds_skill_block(&self.text)
    }
    /// As [`told`](Self::told), of a copy that others hold too.
    pub(super) fn told_with(state: &mut State, value: &Arc<str>, said: &str) -> Self {
        Self { text: state.interned.shared(value), base: state.base, said_bytes: said.len(), in_result: false }
    }
}

/// Not alike: the same bytes at the same place.
fn is_one(one: &str, other: &str) -> bool {
    std::ptr::eq(one, other)
}

/// What was told last, whole, by id; `None`: it was said to be gone.
pub(super) type Values = BTreeMap<FragmentId, Option<Value>>;

/// What a branch was told.
#[derive(Clone, Default, Debug)]
pub(crate) struct Told(Arc<Facts>);

#[derive(Default, Debug)]
struct Facts {
    values: Values,
    /// By the hashes of their ids: of two that meet one alone stands here.
    by_hash: ByHash<u64, (FragmentId, Option<Value>)>,
}

impl Told {
    pub(super) fn new(values: Values) -> Self {
        let by_hash = values.iter().map(|(id, value)| (hash(id), (id.clone(), value.clone()))).collect();
        Self(Arc::new(Facts { values, by_hash }))
    }
    /// By id, each once.
    pub(super) fn values(&self) -> &Values {
        &self.0.values
    }
    /// What was told of this fragment.
    pub(super) fn value(&self, id: &SharedId) -> Option<&Value> {
        let (known, value) = self.0.by_hash.get(&id.hash())?;
        if **known == **id { value.as_ref() } else { self.0.values.get(&**id)?.as_ref() }
    }
    pub(crate) fn get(&self, id: &str) -> Option<&str> {
        self.0.values.get(id)?.as_ref().map(|value| &*value.text)
    }
    /// The skills whose bodies were told, and those that were said to be gone.
    pub(crate) fn skills(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let family = self.0.values.range::<str, _>((Bound::Included(ACTIVE_SKILL), Bound::Unbounded));
        family.map_while(|(id, value)| Some((id.strip_prefix(ACTIVE_SKILL)?, value.as_ref().map(|value| &*value.text))))
    }
    /// Whether the body of each of these was told, of which none stands twice.
    pub(crate) fn tells_all(&self, active: &[ActiveSkill]) -> bool {
        let is_active = |id: &str| active.iter().any(|skill| skill.id.as_str() == id);
        active.is_empty() || self.skills().filter(|(id, body)| body.is_some() && is_active(id)).count() == active.len()
    }
    /// The body of a skill, where it was told.
    pub(crate) fn skill(&self, skill: &SkillId) -> Option<&str> {
        self.skills().find(|(id, _)| *id == skill.as_str()).and_then(|(_, value)| value)
    }
    pub(super) fn was_told_gone(&self, id: &str) -> bool {
        self.0.values.get(id).is_some_and(Option::is_none)
    }
    pub(super) fn was_said(&self, id: &str) -> bool {
        self.0.values.get(id).and_then(Option::as_ref).is_some_and(Value::was_said)
    }
    /// Bytes of the bodies that were told of these skills.
    pub(crate) fn body_bytes(&self, of: &[ActiveSkill]) -> usize {
        let family = self.0.values.range::<str, _>((Bound::Included(ACTIVE_SKILL), Bound::Unbounded));
        let bodies = family.map_while(|(id, value)| Some((id.strip_prefix(ACTIVE_SKILL)?, value.as_ref())));
        bodies.filter(|(id, _)| of.iter().any(|skill| skill.id.as_str() == *id)).filter_map(|(_, value)| Some(value?.said_bytes)).sum()
    }
    pub(crate) fn bytes(&self, prefix: &str) -> usize {
        let family = self.0.values.iter().filter(|(id, _)| id.starts_with(prefix));
        family.filter_map(|(_, value)| Some(value.as_ref()?.said_bytes)).sum()
    }
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct System {
    pub(super) text: Arc<str>,
    #[serde(default)]
    pub(super) as_developer: bool,
    /// Bytes of the text that are the same for every conversation with this configuration.
    #[serde(default)]
    pub(super) stable: usize,
    pub(super) fragments: Arc<[RenderedFragment]>,
    pub(super) values: Values,
    /// Tools of ours.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub(super) tools: Arc<[ToolDefinition]>,
    /// All that layers proposed, as the manifest tells of them.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub(super) proposed_tools: Arc<[RenderedTool]>,
    /// The caller's own system text came with a cache mark.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) came_marked: bool,
    /// What becomes of the caller's tools, and of what they print.
    #[serde(default)]
    pub(super) tool_descriptions: Arc<BTreeMap<String, TextChange>>,
    #[serde(default)]
    pub(super) tool_output: Option<ToolOutputBound>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(super) fn is_false(flag: &bool) -> bool {
    !flag
}

/// What was settled at a place.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) parent: Option<Anchor>,
    /// The moment, among what the host said, when its request was opened.
    pub(super) opened: u64,
    /// Of its place.
    pub(super) role: Role,
    /// The history was compacted here: all that holds was said once more.
    pub(super) compacted: bool,
    pub(super) text: Arc<str>,
    pub(super) fragments: Arc<[RenderedFragment]>,
    pub(super) values: Values,
    pub(super) active: ActiveSkills,
    /// Of the message that it stands behind, which may have come with a cache mark.
    pub(super) message: u128,
    pub(super) came_marked: bool,
    /// What the memory holds for this entry: the places since its parent, and its texts behind that message, now and before a purge.
    pub(super) read: Vec<Anchor>,
    pub(super) sent: Vec<u128>,
    pub(super) made: u64,
    pub(super) used: u64,
}

impl Entry {
    /// Nothing that was said before is needed to read it.
    pub(super) fn begins_a_turn(&self) -> bool {
        self.role == Role::User || self.compacted
    }
    /// Its text may stand where it was put. A conversation that goes on in another format may hold a text behind results where none may be.
    pub(super) fn stands_in(&self, conversation: &Conversation) -> bool {
        !(conversation.results_stand_alone && self.role == Role::Tool)
    }
}

/// An entry to be made.
pub(super) struct NewEntry {
    pub(super) parent: Option<Anchor>,
    pub(super) opened: u64,
    pub(super) compacted: bool,
    pub(super) text: Arc<str>,
    pub(super) fragments: Arc<[RenderedFragment]>,
    pub(super) values: Values,
    pub(super) active: ActiveSkills,
    /// Of these, those that come into force here.
    pub(super) activated: Vec<SkillId>,
}
