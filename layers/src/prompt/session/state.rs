//! What a session keeps: its system prompt, and the entries of its places.
//!
//! A branch is an entry and its parents: what it was told and what is in force there is what these say. So edited, regenerated and forked
//! histories never mix.

use super::entry::{Entry, NewEntry, System, Told, Values};
use super::places::{Anchor, AnchorKey, Memory, Place};
use crate::prompt::{Context, Purpose, Round};
use crate::skill::{ActiveSkill, ActiveSkills, SkillActivationMode, SkillId};
use crate::wire::{Conversation, HeldHistory, Role};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Weak};

/// Former system prompts that are still taken off what a caller kept.
const FORMER_SYSTEMS: usize = 8;
/// Response ids that are remembered, each with the place that it names.
const BOOKMARKS: usize = 1024;

/// A history that the provider holds under a name.
#[derive(Clone)]
struct Held {
    /// As a hash: a name may be long (all tokens of a history).
    name: Anchor,
    /// What a request that names it goes on from.
    at: Anchor,
    /// The last request that named it: where it went on from, and the place that it settled.
    last: Option<(Anchor, Anchor)>,
}

#[derive(Clone)]
pub(super) struct State {
    pub(super) memory: Memory,
    pub(super) system: Option<System>,
    pub(super) former_systems: Vec<Arc<str>>,
    /// How often the system prompt was rebased.
    pub(super) base: u32,
    entries: HashMap<Anchor, Entry>,
    /// The place of the last request, and how many places that request had.
    last: Option<Anchor>,
    last_places: usize,
    /// Activated by the host, for all branches, and when each was.
    by_host: ActiveSkills,
    activated: HashMap<SkillId, u64>,
    /// What the host said so far, counted.
    words: u64,
    /// Switched off while requests may be under way that still count on it.
    switched_off: HashMap<SkillId, u64>,
    /// Not to be suggested any more.
    pub(super) dismissed: BTreeSet<SkillId>,
    /// Where histories stand that the provider holds, the oldest first.
    bookmarks: Vec<Held>,
    values: HashMap<u64, Vec<Weak<str>>>,
    max_places: usize,
    clock: u64,
}

impl State {
    pub(super) fn new(key: AnchorKey, max_places: usize) -> Self {
        Self {
            memory: Memory::new(key),
            system: None,
            former_systems: Vec::new(),
            base: 0,
            entries: HashMap::new(),
            last: None,
            last_places: 0,
            by_host: ActiveSkills::default(),
            activated: HashMap::new(),
            words: 0,
            switched_off: HashMap::new(),
            dismissed: BTreeSet::new(),
            bookmarks: Vec::new(),
            values: HashMap::new(),
            max_places,
            clock: 0,
        }
    }

    // ---- what the host says

    pub(super) fn activate(&mut self, skill: ActiveSkill) {
        self.switched_off.remove(&skill.id);
        self.words += 1;
        self.activated.insert(skill.id.clone(), self.words);
        self.by_host.put(skill);
    }
    pub(super) fn accept_suggestion(&mut self, skill: SkillId) {
        self.dismissed.remove(&skill);
        self.activate(ActiveSkill { id: skill, arguments: None, mode: SkillActivationMode::Suggested });
    }
    pub(super) fn deactivate(&mut self, skill: &SkillId) {
        self.by_host.remove(skill);
        self.activated.remove(skill);
        self.entries.values_mut().for_each(|entry| entry.active.remove(skill));
        self.words += 1;
        self.switched_off.insert(skill.clone(), self.words);
    }
    /// An activation by the host that came to nothing.
    pub(super) fn drop_activation(&mut self, skill: &SkillId) {
        self.by_host.remove(skill);
        self.activated.remove(skill);
    }
    /// A moment among what the host says.
    pub(super) fn now(&self) -> u64 {
        self.words
    }
    pub(super) fn active_by_host(&self) -> &[ActiveSkill] {
        self.by_host.as_slice()
    }
    pub(super) fn rebase(&mut self) {
        if let Some(system) = self.system.take() {
            self.base += 1;
            if self.former_systems.len() == FORMER_SYSTEMS {
                self.former_systems.remove(0);
            }
            self.former_systems.push(system.text);
        }
    }
    pub(super) fn bind(&mut self, name: &str, at: Anchor) {
        let name = self.memory.key.named(name);
        self.bookmarks.retain(|held| held.name != name);
        if self.bookmarks.len() == BOOKMARKS {
            self.bookmarks.remove(0);
        }
        self.bookmarks.push(Held { name, at, last: None });
    }
    /// Where a history goes on that the provider holds: behind what the host said of it, else behind the place settled last. One that grows under
    /// its name goes on behind its own last place, but for the same request again, which is at the place where it was.
    pub(super) fn seed(&mut self, conversation: &Conversation, purpose: Purpose) -> Option<Anchor> {
        let history = conversation.held_by_provider.as_ref()?;
        let name = self.memory.key.named(history.name());
        let Some(held) = self.bookmarks.iter().find(|held| held.name == name) else {
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
        if let Some(held) = self.bookmarks.iter_mut().find(|held| held.name == name) {
            held.last = Some((seed, place));
        }
    }

    pub(super) fn knows_history(&self, name: &str) -> bool {
        let name = self.memory.key.named(name);
        self.bookmarks.iter().any(|held| held.name == name)
    }

    // ---- what is there

    pub(super) fn has_started(&self) -> bool {
        self.system.is_some()
    }
    pub(super) fn places(&self) -> usize {
        self.entries.len()
    }
    pub(super) fn has_entry(&self, anchor: Anchor) -> bool {
        self.entries.contains_key(&anchor)
    }
    pub(super) fn last(&self) -> Option<Anchor> {
        self.last
    }

    pub(super) fn round(&self, places: &[Place], seed: Option<Anchor>, context: &Context) -> Round {
        let first_message_edited = places.len() == 1 && self.last_places <= 1;
        let goes_on = first_message_edited
            || seed.is_some_and(|seed| self.has_entry(seed))
            || places.iter().any(|place| self.memory.knows(place.anchor));
        match places.last() {
            _ if self.system.is_none() => Round::Start,
            Some(here) if self.has_entry(here.anchor) => Round::Settled,
            _ if context.purpose == Purpose::SamePrefix => Round::Settled,
            None => Round::Settled,
            _ if context.compacted || !goes_on => Round::Compacted,
            Some(here) if here.role == Role::User => Round::User,
            _ => Round::Tool,
        }
    }
    /// The newest entry that a request holds.
    pub(super) fn newest(&self, places: &[Place]) -> Option<Anchor> {
        places.iter().rev().map(|place| place.anchor).find(|anchor| self.has_entry(*anchor))
    }
    /// An entry and its parents, newest first.
    pub(super) fn branch(&self, newest: Option<Anchor>) -> impl Iterator<Item = (Anchor, &Entry)> {
        let with = |anchor: Anchor| self.entries.get(&anchor).map(|entry| (anchor, entry));
        std::iter::successors(newest.and_then(with), move |(_, entry)| entry.parent.and_then(with))
    }
    /// What a branch was told, as a request in this format shows it.
    pub(super) fn told(&self, newest: Option<Anchor>, conversation: &Conversation) -> Told {
        let mut told = Values::new();
        for (_, entry) in self.branch(newest).filter(|(_, entry)| entry.stands_in(conversation)) {
            for (id, value) in &entry.values {
                told.entry(id.clone()).or_insert_with(|| value.clone());
            }
        }
        for (id, value) in self.system.iter().flat_map(|system| &system.values) {
            told.entry(id.clone()).or_insert_with(|| value.clone());
        }
        Told(Arc::new(told))
    }
    pub(super) fn active_at(&self, anchor: Option<Anchor>) -> ActiveSkills {
        anchor.and_then(|anchor| self.entries.get(&anchor)).map(|entry| entry.active.clone()).unwrap_or_default()
    }
    /// What is in force where a request goes on from `from`, and what the host activated: of arguments those that were given last.
    pub(super) fn in_force(&self, from: Option<Anchor>) -> ActiveSkills {
        let mut active = self.active_at(from);
        let opened = from.and_then(|from| self.entries.get(&from)).map(|entry| entry.opened);
        for skill in self.by_host.as_slice() {
            let is_newer = opened.is_none_or(|opened| self.activated.get(&skill.id).is_some_and(|activated| *activated > opened));
            if is_newer || !active.contains(skill.id.as_str()) {
                active.put(skill.clone());
            }
        }
        active
    }
    pub(super) fn is_switched_off(&self, skill: &SkillId) -> bool {
        self.switched_off.contains_key(skill)
    }
    /// Switched off since a request was opened: what it collected is overtaken.
    pub(super) fn is_switched_off_since(&self, skill: &SkillId, opened: u64) -> bool {
        self.switched_off.get(skill).is_some_and(|at| *at > opened)
    }
    pub(super) fn switch_on(&mut self, skill: &SkillId) {
        self.switched_off.remove(skill);
    }

    // ---- what comes in

    /// One copy of each value.
    pub(super) fn intern(&mut self, text: &str) -> Arc<str> {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let same_hash = self.values.entry(hasher.finish()).or_default();
        same_hash.retain(|value| value.strong_count() > 0);
        if let Some(value) = same_hash.iter().filter_map(Weak::upgrade).find(|value| **value == *text) {
            return value;
        }
        let value: Arc<str> = text.into();
        same_hash.push(Arc::downgrade(&value));
        value
    }

    pub(super) fn insert(&mut self, places: &[Place], entry: NewEntry) {
        let Some(here) = places.last() else { return };
        let since_parent = places.iter().rev().map(|place| place.anchor).take_while(|anchor| Some(*anchor) != entry.parent);
        let read: Vec<Anchor> = since_parent.collect();
        read.iter().for_each(|anchor| self.memory.remember_read(*anchor));
        let sent = (!entry.text.is_empty()).then(|| self.memory.remember_sent(here, &entry.text));
        let NewEntry { parent, opened, text, fragments, values, active } = entry;
        let (made, used) = (self.clock, self.clock);
        self.entries
            .insert(here.anchor, Entry { parent, opened, role: here.role, text, fragments, values, active, read, sent, made, used });
    }

    pub(super) fn note_last(&mut self, places: &[Place]) {
        self.last = places.last().map(|here| here.anchor);
        self.last_places = places.len();
    }

    /// The branch of the newest entry that a request holds was used now.
    pub(super) fn touch(&mut self, newest: Option<Anchor>) {
        self.clock += 1;
        let mut next = newest;
        while let Some(entry) = next.and_then(|anchor| self.entries.get_mut(&anchor)) {
            entry.used = self.clock;
            next = entry.parent;
        }
    }

    /// Beyond the bound the longest unused go: leaves off the branch of the last request, then entries that say nothing, whose children get their
    /// parent. What says something on a branch that goes on stays, so the bound may be passed.
    pub(super) fn evict(&mut self) {
        if self.entries.len() <= self.max_places {
            return;
        }
        let live: HashSet<Anchor> = self.branch(self.last).map(|(anchor, _)| anchor).collect();
        while self.entries.len() > self.max_places {
            let parents: HashSet<Anchor> = self.entries.values().filter_map(|entry| entry.parent).collect();
            let oldest = |goes: &dyn Fn(Anchor, &Entry) -> bool| {
                let all = self.entries.iter().filter(|(anchor, entry)| goes(**anchor, entry));
                all.min_by_key(|(_, entry)| (entry.used, entry.made)).map(|(anchor, _)| *anchor)
            };
            let leaf = oldest(&|anchor, _| !parents.contains(&anchor) && !live.contains(&anchor));
            let says_nothing = |anchor: Anchor, entry: &Entry| {
                let parent = entry.parent.and_then(|parent| self.entries.get(&parent));
                let as_before = parent.is_some_and(|parent| parent.active.same_ids(&entry.active));
                parents.contains(&anchor) && entry.values.is_empty() && as_before
            };
            let Some(goes) = leaf.or_else(|| oldest(&says_nothing)) else { return };
            self.remove(goes);
        }
        self.values.retain(|_, values| values.iter().any(|value| value.strong_count() > 0));
    }

    /// What is remembered of messages and texts goes with the entry that it belongs to; children take over what stood between.
    fn remove(&mut self, anchor: Anchor) {
        let Some(gone) = self.entries.remove(&anchor) else { return };
        for child in self.entries.values_mut().filter(|entry| entry.parent == Some(anchor)) {
            child.parent = gone.parent;
            child.read.extend(&gone.read);
            gone.read.iter().for_each(|anchor| self.memory.remember_read(*anchor));
        }
        gone.read.iter().for_each(|anchor| self.memory.forget_read(*anchor));
        gone.sent.into_iter().for_each(|pair| self.memory.forget_sent(pair));
    }
}
