//! Bodies of skills that stand in the results of tools: each counts as told where a request holds its block whole, so it is not said again; and what
//! the skill tool must know of a session to keep in step with it.

use super::Session;
use super::entry::{Told, Value, Values};
use super::places::Anchor;
use super::said::Said;
use super::state::State;
use crate::prompt::fragment::{ACTIVE_SKILL, Fragment};
use crate::prompt::{Round, Turn};
use crate::skill::{ActiveSkill, SkillActivationMode, SkillId};
use crate::text::{Limit, Room};
use crate::wire::Message;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

impl Session {
    /// Whether this skill is in force at the place of the last request, its body told and not out of date.
    pub(crate) fn has_told_body(&self, skill: &SkillId) -> bool {
        let state = self.lock();
        state.in_force(state.last()).contains(skill.as_str())
            && !state.put_down_by_tool.contains(skill)
            && state.told_at_last(&format!("{ACTIVE_SKILL}{skill}")).is_some()
    }
    /// Has the skill tool put a skill down: what it loads behind that stands whole again. False where the model did not load it, and so may not.
    pub(crate) fn put_down(&self, skill: &SkillId) -> bool {
        let mut state = self.lock();
        let active = state.in_force(state.last());
        let is_the_models = active.as_slice().iter().all(|active| active.id != *skill || active.mode == SkillActivationMode::Tool);
        if is_the_models {
            state.put_down_by_tool.insert(skill.clone());
        }
        is_the_models
    }
    /// Has the skill tool give a body in what is left of `max_bytes` for all bodies of the branch. Parallel calls share it.
    pub(crate) fn give_body(&self, max_bytes: Option<NonZeroUsize>, fit: impl FnOnce(Limit) -> String) -> String {
        let mut state = self.lock();
        let left = |max: NonZeroUsize| max.get().saturating_sub(state.body_bytes_at_last()).saturating_sub(state.given_by_tool);
        let block = fit(max_bytes.map_or(Limit::None, |max| Limit::Bytes(left(max))));
        state.given_by_tool = state.given_by_tool.saturating_add(block.len());
        block
    }
}

impl State {
    /// The bodies of skills that count as said in results of tools, in this branch.
    pub(super) fn bodies_in_results(&self, newest: Option<Anchor>) -> Vec<Arc<str>> {
        let values = self.branch(newest).flat_map(|(_, entry)| entry.values.values().flatten());
        values.filter(|value| value.in_result).map(|value| value.text.clone()).collect()
    }
    /// Of these skills in force those whose body the branch was told, and is not told any more as a request shows it: the caller cleared the result
    /// that held it, or keeps the newest turn's texts alone.
    pub(super) fn said_before(&self, newest: Option<Anchor>, active: &[ActiveSkill], told: &Told) -> BTreeSet<SkillId> {
        if told.tells_all(active) {
            return BTreeSet::new();
        }
        let was_told = |skill: &ActiveSkill| {
            let id = format!("{ACTIVE_SKILL}{}", skill.id);
            self.branch(newest).find_map(|(_, entry)| entry.values.get(&*id)).is_some_and(Option::is_some)
        };
        let untold = active.iter().filter(|skill| told.skill(&skill.id).is_none());
        untold.filter(|skill| was_told(skill)).map(|skill| skill.id.clone()).collect()
    }
    /// What the branch of the last request was told of a fragment.
    fn told_at_last(&self, id: &str) -> Option<&Value> {
        let in_branch = self.branch(self.last).find_map(|(_, entry)| entry.values.get(id));
        in_branch.or_else(|| self.system.as_ref()?.values.get(id))?.as_ref()
    }
    /// The bytes of the bodies that the branch of the last request was told, of the skills in force there.
    fn body_bytes_at_last(&self) -> usize {
        let in_force = self.in_force(self.last);
        let those = in_force.as_slice().iter().filter(|skill| !self.put_down_by_tool.contains(&skill.id));
        those.filter_map(|skill| self.told_at_last(&format!("{ACTIVE_SKILL}{}", skill.id))).map(Value::said_bytes).sum()
    }
}

impl Said<'_> {
    /// Bodies of skills that stand in a tool result of the request count as said there; what is left of the fragments.
    pub(super) fn in_results<'a, 'f>(
        &mut self,
        state: &mut State,
        turn: &Turn,
        fragments: &'a [&'f Fragment],
        told: &Told,
        values: &mut Values,
    ) -> Cow<'a, [&'f Fragment]> {
        // As in most requests.
        if turn.conversation.messages.iter().all(|message| message.skill_blocks.is_empty()) {
            return fragments.into();
        }
        let blocks = blocks_sent_whole(state, turn, turn.conversation.messages.as_slice());
        // Of a skill that was said to be gone an older result tells nothing any more.
        let newest = blocks_sent_whole(state, turn, turn.conversation.newest().0);
        if blocks.is_empty() {
            return fragments.into();
        }
        let mut left = Vec::with_capacity(fragments.len());
        for fragment in fragments.iter().copied() {
            let is_news = fragment.id.starts_with(ACTIVE_SKILL) && told.get(&fragment.id).is_none();
            let blocks = if told.was_told_gone(&fragment.id) { &newest } else { &blocks };
            let found = is_news.then(|| blocks.iter().find(|block| is_body(fragment, block))).flatten();
            let Some(block) = found else {
                left.push(fragment);
                continue;
            };
            self.takes_effect(fragment, turn);
            self.loaded.extend(self.loading(fragment, block, block.len() < fragment.value().len()));
            values.insert((&fragment.id).into(), Some(Value::in_result(state, block)));
        }
        left.into()
    }
}

/// The bodies of skills in tool results that are sent whole: what was sent cut before stays cut.
fn blocks_sent_whole<'t>(state: &State, turn: &'t Turn, of: &'t [Message]) -> Vec<&'t str> {
    let limit = state.system.as_ref().and_then(|system| system.tool_output.as_ref()?.max_chars).map_or(usize::MAX, NonZeroUsize::get);
    let is_new_here = matches!(turn.round, Round::Start | Round::Compacted);
    let sent_before = if is_new_here { 0 } else { of.len().saturating_sub(turn.conversation.newest().0.len()) };
    let blocks = of.iter().enumerate().flat_map(|(n, message)| {
        let fits = move |result: usize| message.result_chars.get(result).is_none_or(|(_, chars)| *chars <= limit);
        message.skill_blocks.iter().filter(move |(result, _)| n >= sent_before || fits(*result))
    });
    blocks.map(|(_, block)| block.as_str()).collect()
}

/// Whether a block is what a body is in the room that it takes.
fn is_body(fragment: &Fragment, block: &str) -> bool {
    let value = fragment.value();
    *value == *block || (block.len() < value.len() && fragment.text.fit(&Room::UNLIMITED.with(Limit::Bytes(block.len()))).text == block)
}
