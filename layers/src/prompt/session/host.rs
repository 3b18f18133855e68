//! What the host says of a conversation: which skills it switches on and off, and when.

use super::event::SessionEvent;
use super::places::Anchor;
use super::state::State;
use crate::skill::{ActiveSkill, ActiveSkills, SkillId};
use std::collections::HashMap;
use std::sync::Arc;

/// Former system prompts that are still taken off what a caller kept.
const FORMER_SYSTEMS: usize = 8;

/// What the host said of skills, for all branches.
#[derive(Clone, Default)]
pub(super) struct SaidByHost {
    active: ActiveSkills,
    /// When each of these was.
    activated: HashMap<SkillId, u64>,
    /// All that it said so far, counted.
    words: u64,
    /// Switched off while requests may be under way that still count on it.
    switched_off: HashMap<SkillId, u64>,
}

impl SaidByHost {
    pub(super) fn activated(&mut self, skill: &ActiveSkill) {
        self.switched_off.remove(&skill.id);
        self.words += 1;
        self.activated.insert(skill.id.clone(), self.words);
        self.active.put(skill.clone());
    }
    pub(super) fn deactivated(&mut self, skill: &SkillId) {
        self.activation_failed(skill);
        self.words += 1;
        self.switched_off.insert(skill.clone(), self.words);
    }
    pub(super) fn activation_failed(&mut self, skill: &SkillId) {
        self.active.remove(skill);
        self.activated.remove(skill);
    }
    /// These were settled after they had been switched off.
    pub(super) fn came_into_force(&mut self, skills: &[SkillId]) {
        self.switched_off.retain(|skill, _| !skills.contains(skill));
    }
}

impl State {
    pub(super) fn activate(&mut self, skill: ActiveSkill) {
        self.happens(SessionEvent::SkillActivated { skill, everywhere: true });
    }
    pub(super) fn deactivate(&mut self, skill: &SkillId) {
        self.happens(SessionEvent::SkillDeactivated { id: skill.clone(), everywhere: true });
    }
    /// An activation that came to nothing.
    pub(super) fn drop_activation(&mut self, skill: &SkillId) {
        self.happens(SessionEvent::SkillInvocationFailed { id: skill.clone() });
    }
    /// A moment among what the host says.
    pub(super) fn now(&self) -> u64 {
        self.by_host.words
    }
    pub(super) fn active_by_host(&self) -> &[ActiveSkill] {
        self.by_host.active.as_slice()
    }
    pub(super) fn rebase(&mut self) {
        if self.has_started() {
            self.happens(SessionEvent::Rebased);
        }
    }
    pub(super) fn rebased(&mut self) {
        if self.has_started() {
            self.base += 1;
            self.rebase_is_due = true;
        }
    }
    pub(super) fn keep_former_system(&mut self, text: Arc<str>) {
        if self.former_systems.len() == FORMER_SYSTEMS {
            self.former_systems.remove(0);
        }
        self.former_systems.push(text);
    }
    /// What is in force where a request goes on from `from`, and what the host activated: of arguments those that were given last.
    pub(super) fn in_force(&self, from: Option<Anchor>) -> ActiveSkills {
        let mut active = self.active_at(from);
        let opened = from.and_then(|from| self.entries.get(&from)).map(|entry| entry.opened);
        // Nothing was said since.
        let knows_all = opened.is_some_and(|opened| opened >= self.by_host.words);
        for skill in self.by_host.active.as_slice() {
            let is_newer = !knows_all
                && opened.is_none_or(|opened| self.by_host.activated.get(&skill.id).is_some_and(|activated| *activated > opened));
            if is_newer || !active.contains(skill.id.as_str()) {
                active.put(skill.clone());
            }
        }
        active
    }
    pub(super) fn is_switched_off(&self, skill: &SkillId) -> bool {
        self.by_host.switched_off.contains_key(skill)
    }
    pub(super) fn has_switched_off(&self) -> bool {
        !self.by_host.switched_off.is_empty()
    }
    /// Switched off since a request was opened: what it collected is overtaken.
    pub(super) fn is_switched_off_since(&self, skill: &str, opened: u64) -> bool {
        self.by_host.switched_off.get(skill).is_some_and(|at| *at > opened)
    }
}
