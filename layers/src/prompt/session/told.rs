//! What a branch was told: the entries that a request goes on from, and what they say.

use super::entry::{Entry, Told, Value, Values};
use super::event::SessionEvent;
use super::places::Anchor;
use super::state::State;
use crate::prompt::TextPlacement;
use crate::skill::ActiveSkills;
use crate::skill_activation::SKILL_SUGGESTION;
use crate::wire::Conversation;

/// What else than the entries decides what a branch was told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ToldAt {
    newest: Option<Anchor>,
    placement: TextPlacement,
    is_new_turn: bool,
    with_system: bool,
    results_stand_alone: bool,
}

impl State {
    /// An entry and its parents, newest first.
    pub(super) fn branch(&self, newest: Option<Anchor>) -> impl Iterator<Item = (Anchor, &Entry)> {
        let with = |anchor: Anchor| self.entries.get(&anchor).map(|entry| (anchor, entry));
        std::iter::successors(newest.and_then(with), move |(_, entry)| entry.parent.and_then(with))
    }
    /// The entries whose texts a request shows, newest first: of those that it goes on from all, or those of its turn alone. `is_new_turn` where the
    /// request brings a message of the user's behind them.
    pub(super) fn shown(
        &self,
        newest: Option<Anchor>,
        placement: TextPlacement,
        is_new_turn: bool,
    ) -> impl Iterator<Item = (Anchor, &Entry)> {
        let mut is_over = placement == TextPlacement::Latest && is_new_turn;
        self.branch(newest).take_while(move |(_, entry)| {
            let is_shown = !is_over;
            is_over |= placement == TextPlacement::Latest && entry.begins_a_turn();
            is_shown
        })
    }
    /// What a branch was told, as a request in this format shows it. Most requests go on where the last one ended, and were told what it was.
    /// `with_system`: by the system prompt too, which isn't about to be another.
    pub(super) fn told(
        &mut self,
        newest: Option<Anchor>,
        conversation: &Conversation,
        placement: TextPlacement,
        (is_new_turn, with_system): (bool, bool),
    ) -> Told {
        let at = ToldAt {
            newest,
            placement,
            is_new_turn: placement == TextPlacement::Latest && is_new_turn,
            with_system,
            results_stand_alone: conversation.results_stand_alone,
        };
        if let Some((_, told)) = self.told.as_ref().filter(|(known, _)| *known == at) {
            debug_assert!(
                told.values() == self.put_together_told(newest, conversation, placement, (is_new_turn, with_system)).values(),
                "kept behind a change"
            );
            return told.clone();
        }
        let told = self.put_together_told(newest, conversation, placement, (is_new_turn, with_system));
        // What stands in results is the caller's to keep from one request to the next.
        let is_ours = |values: &Values| !values.values().flatten().any(|value| value.in_result);
        let all_ours = self.entries.values().all(|entry| is_ours(&entry.values));
        self.told = all_ours.then(|| (at, told.clone()));
        told
    }
    /// Behind an entry that tells nothing a branch was told what it was; behind anything else it is put together anew.
    pub(super) fn forget_told(&mut self, event: &SessionEvent) {
        match (event, &mut self.told) {
            (SessionEvent::TextAnchored(text), Some((at, _)))
                if at.placement != TextPlacement::Latest && text.parent == at.newest && text.values.is_empty() =>
            {
                at.newest = Some(text.anchor);
            }
            _ => self.told = None,
        }
    }
    fn put_together_told(
        &self,
        newest: Option<Anchor>,
        conversation: &Conversation,
        placement: TextPlacement,
        (is_new_turn, with_system): (bool, bool),
    ) -> Told {
        let mut told = Values::new();
        let in_result = |value: &Option<Value>| value.as_ref().is_some_and(|value| value.in_result);
        for (_, entry) in self.shown(newest, placement, is_new_turn) {
            let stands = entry.stands_in(conversation);
            // A skill that the model put down: the result says so, and no text of ours does.
            let is_put_down = |value: &Option<Value>| value.is_none() && entry.text.is_empty();
            for (id, value) in entry.values.iter().filter(|(_, value)| stands || in_result(value) || is_put_down(value)) {
                told.entry(id.clone()).or_insert_with(|| value.clone());
            }
        }
        // A suggestion is made once in a branch, whether it still stands there or not; what stands in a result is the caller's to keep.
        if placement == TextPlacement::Latest {
            let stays = |id: &str, value: &Option<Value>| id.starts_with(SKILL_SUGGESTION) || in_result(value);
            for (id, value) in self.branch(newest).flat_map(|(_, entry)| &entry.values).filter(|(id, value)| stays(id, value)) {
                told.entry(id.clone()).or_insert_with(|| value.clone());
            }
        }
        for (id, value) in self.system.iter().filter(|_| with_system).flat_map(|system| &system.values) {
            told.entry(id.clone()).or_insert_with(|| value.clone());
        }
        told.retain(|_, value| value.as_ref().is_none_or(|value| value.stands_in(conversation)));
        Told::new(told)
    }
    pub(super) fn active_at(&self, anchor: Option<Anchor>) -> ActiveSkills {
        anchor.and_then(|anchor| self.entries.get(&anchor)).map(|entry| entry.active.clone()).unwrap_or_default()
    }
}
