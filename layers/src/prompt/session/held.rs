//! Histories that the provider holds: where in the session they go on.

use super::event::{NamedHistory, SessionEvent};
use super::places::Anchor;
use super::state::State;
use crate::prompt::Purpose;
use crate::wire::{Conversation, HeldHistory};

/// Response ids that are remembered, each with the place that it names.
const BOOKMARKS: usize = 1024;

/// Where histories stand that the provider holds, the oldest first. Names are hashes: one may be long (all tokens of a history).
#[derive(Clone, Default)]
pub(super) struct Bookmarks(Vec<NamedHistory>);

impl Bookmarks {
    /// Named anew, it stands behind the others.
    pub(super) fn put(&mut self, history: NamedHistory) {
        if history.last.is_some()
            && let Some(known) = self.0.iter_mut().find(|known| known.name == history.name)
        {
            *known = history;
            return;
        }
        self.0.retain(|known| known.name != history.name);
        if self.0.len() == BOOKMARKS {
            self.0.remove(0);
        }
        self.0.push(history);
    }
    fn get(&self, name: Anchor) -> Option<NamedHistory> {
        self.0.iter().find(|history| history.name == name).copied()
    }
}

impl State {
    pub(super) fn bind(&mut self, name: &str, at: Anchor) {
        let name = self.memory.key.named(name);
        self.happens(SessionEvent::HistoryNamed(NamedHistory { name, at, last: None }));
    }
    /// Where a history goes on that the provider holds: behind what the host said of it, else behind the place settled last. One that grows under
    /// its name goes on behind its own last place, but for the same request again, which is at the place where it was.
    pub(super) fn seed(&mut self, conversation: &Conversation, purpose: Purpose) -> Option<Anchor> {
        let history = conversation.held_by_provider.as_ref()?;
        let name = self.memory.key.named(history.name());
        let Some(held) = self.bookmarks.get(name) else {
            let at = self.last.unwrap_or(name);
            if purpose == Purpose::Converse {
                self.bind(history.name(), at);
            }
            return Some(at);
        };
        let Some((from, place)) = held.last.filter(|_| matches!(history, HeldHistory::Growing(_))) else { return Some(held.at) };
        let places = self.memory.read(&mut conversation.clone(), from).places;
        let is_the_same = places.last().is_some_and(|here| here.anchor == place);
        Some(if is_the_same { from } else { place })
    }
    /// A request that goes on from `seed`, in the history of this name, was settled at `place`.
    pub(super) fn note_held(&mut self, name: &str, seed: Anchor, place: Anchor) {
        let name = self.memory.key.named(name);
        let last = Some((seed, place));
        if let Some(known) = self.bookmarks.get(name).filter(|known| known.last != last) {
            self.happens(SessionEvent::HistoryNamed(NamedHistory { last, ..known }));
        }
    }

    pub(super) fn knows_history(&self, name: &str) -> bool {
        let name = self.memory.key.named(name);
        self.bookmarks.get(name).is_some()
    }
}
