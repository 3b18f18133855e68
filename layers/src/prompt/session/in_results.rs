//! Bodies of skills that stand in the results of tools: each counts as told where a request holds its block whole, so it is not said again; and what
//! the skill tool must know of a session to keep in step with it.

use super::Session;
use super::entry::{Told, Value, Values};
use super::places::Anchor;
use super::said::Said;
use super::state::State;
use crate::prompt::fragment::{ACTIVE_SKILL, Fragment};
use crate::prompt::{Round, Turn};
use crate::skill::SkillId;
use crate::text::{Limit, Room};
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

impl Session {
    /// Whether this skill is in force at the place of the last request, its body told and not out of date.
    pub(crate) fn has_told_body(&self, skill: &SkillId) -> bool {
        let state = self.lock();
        state.in_force(state.last()).contains(skill.as_str()) && state.told_at_last(&format!("{ACTIVE_SKILL}{skill}")).is_some()
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
    /// What the branch of the last request was told of a fragment.
    fn told_at_last(&self, id: &str) -> Option<&Value> {
        let in_branch = self.branch(self.last).find_map(|(_, entry)| entry.values.get(id));
        in_branch.or_else(|| self.system.as_ref()?.values.get(id))?.as_ref()
    }
    /// The bytes of all skills' bodies that the branch of the last request was told.
    fn body_bytes_at_last(&self) -> usize {
        let mut told: HashMap<&str, usize> = HashMap::new();
        let system = self.system.iter().flat_map(|system| &system.values);
        for (id, value) in self.branch(self.last).flat_map(|(_, entry)| &entry.values).chain(system) {
            if id.starts_with(ACTIVE_SKILL) {
                told.entry(id).or_insert_with(|| value.as_ref().map_or(0, Value::said_bytes));
            }
        }
        told.into_values().sum()
    }
}

impl Said<'_> {
    /// Bodies of skills that stand in a tool result of the request count as said there; what is left of the fragments.
    pub(super) fn in_results<'f>(
        &mut self,
        state: &mut State,
        turn: &Turn,
        fragments: &[&'f Fragment],
        told: &Told,
        values: &mut Values,
    ) -> Vec<&'f Fragment> {
        let blocks = blocks_sent_whole(state, turn);
        if blocks.is_empty() {
            return fragments.to_vec();
        }
        let mut left = Vec::with_capacity(fragments.len());
        for fragment in fragments.iter().copied() {
            let is_news = fragment.id.starts_with(ACTIVE_SKILL) && told.get(&fragment.id).is_none();
            let found = is_news.then(|| blocks.iter().find(|block| is_body(fragment, block))).flatten();
            let Some(block) = found else {
                left.push(fragment);
                continue;
            };
            self.takes_effect(fragment, turn);
            self.loaded.extend(self.loading(fragment, block, block.len() < fragment.value().len()));
            values.insert(fragment.id.clone(), Some(Value::in_result(state, block)));
        }
        left
    }
}

/// The bodies of skills in tool results that are sent whole: what was sent cut before stays cut.
fn blocks_sent_whole<'t>(state: &State, turn: &'t Turn) -> Vec<&'t str> {
    let limit = state.system.as_ref().and_then(|system| system.tool_output.as_ref()?.max_chars).map_or(usize::MAX, NonZeroUsize::get);
    let messages = &turn.conversation.messages;
    let is_new_here = matches!(turn.round, Round::Start | Round::Compacted);
    let sent_before = if is_new_here { 0 } else { messages.len() - turn.conversation.newest().0.len() };
    let blocks = messages.iter().enumerate().flat_map(|(n, message)| {
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
