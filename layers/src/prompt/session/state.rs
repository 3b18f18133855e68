//! What a session keeps: its system prompt, and the entries of its places.
//!
//! A branch is an entry and its parents: what it was told and what is in force there is what these say. So edited, regenerated and forked
//! histories never mix. All that changes it is an event: see [`State::happens`].

use super::alike::LastSystem;
use super::entry::{Entry, NewEntry, System, Told, Value, Values};
use super::event::{AnchoredText, Beginning, ForgottenPlaces, NamedHistory, Revisit, SessionEvent, SystemText, VERSION};
use super::hashing::ByHash;
use super::journal::{Record, ReplayError};
use super::places::{Anchor, AnchorKey, Memory, Place};
use crate::prompt::manifest::{CallersPart, ContentHash, RenderedText, RenderedTool};
use crate::prompt::{Context, Purpose, Round, TextPlacement};
use crate::skill::{ActiveSkill, ActiveSkills, SkillId};
use crate::skill_activation::SKILL_SUGGESTION;
use crate::wire::{Conversation, HeldHistory, Role};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};

/// Former system prompts that are still taken off what a caller kept.
const FORMER_SYSTEMS: usize = 8;
/// Response ids that are remembered, each with the place that it names.
const BOOKMARKS: usize = 1024;

/// What else than the entries decides what a branch was told.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ToldAt {
    newest: Option<Anchor>,
    placement: TextPlacement,
    is_new_turn: bool,
    with_system: bool,
    results_stand_alone: bool,
}

#[derive(Clone)]
pub(super) struct State {
    pub(super) memory: Memory,
    pub(super) system: Option<System>,
    /// The next request that collects one renders the system prompt anew. Those that were opened before go on with this one.
    rebase_is_due: bool,
    pub(super) former_systems: Vec<Arc<str>>,
    /// As the caller's own system text came at the start: behind a rebase a host may have kept a mark of ours.
    pub(super) system_came_marked: bool,
    /// How often the system prompt was rebased.
    pub(super) base: u32,
    pub(super) entries: ByHash<Anchor, Entry>,
    /// The place of the last request, and how many places that request had.
    pub(super) last: Option<Anchor>,
    last_places: usize,
    /// Activated by the host, for all branches, and when each was.
    by_host: ActiveSkills,
    activated: HashMap<SkillId, u64>,
    /// What the host said so far, counted.
    words: u64,
    /// Switched off while requests may be under way that still count on it.
    switched_off: HashMap<SkillId, u64>,
    /// Suggestions that the user wants to hear no more of.
    pub(super) dismissed: BTreeSet<SkillId>,
    /// Taken out of what was sent since the last request.
    pub(super) purged: Vec<SkillId>,
    /// Where histories stand that the provider holds, the oldest first. Names are hashes: one may be long (all tokens of a history).
    bookmarks: Vec<NamedHistory>,
    /// By what they look like.
    pub(super) values: ByHash<u64, Vec<Weak<str>>>,
    /// Of the system prompt that was sent last.
    system_hash: Option<(Arc<str>, ContentHash)>,
    pub(super) max_places: usize,
    clock: u64,
    /// Bytes of bodies that the skill tool gave since a place was settled last: no request holds them yet.
    pub(super) given_by_tool: usize,
    /// What a branch was told, as it was put together last.
    told: Option<(ToldAt, Told)>,
    /// Skills that the skill tool put down since.
    pub(super) put_down_by_tool: BTreeSet<SkillId>,
    /// The last request, to tell how the next one follows on it. Kept nowhere else.
    pub(super) last_sent: Option<(CallersPart, Arc<[RenderedTool]>, Vec<RenderedText>)>,
    pub(super) record: Record,
}

/// Of a text its length, and some of it: all of a short one. Texts that are told apart by the rest of them are compared.
fn sample(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    const PIECES: usize = 4;
    const BYTES: usize = 128;
    let (mut hasher, bytes) = (DefaultHasher::new(), text.as_bytes());
    bytes.len().hash(&mut hasher);
    if bytes.len() <= PIECES * BYTES {
        bytes.hash(&mut hasher);
    } else {
        let step = (bytes.len() - BYTES) / (PIECES - 1);
        (0..PIECES).map(|n| n * step).for_each(|at| bytes[at..at + BYTES].hash(&mut hasher));
    }
    hasher.finish()
}

impl State {
    pub(super) fn new(key: AnchorKey, max_places: usize) -> Self {
        let mut state = Self::blank(key, max_places);
        state.record.begins_with(SessionEvent::Started(Beginning { version: VERSION, key, max_places }));
        state
    }
    fn blank(key: AnchorKey, max_places: usize) -> Self {
        Self {
            memory: Memory::new(key),
            system: None,
            rebase_is_due: false,
            former_systems: Vec::new(),
            system_came_marked: false,
            base: 0,
            entries: ByHash::default(),
            last: None,
            last_places: 0,
            by_host: ActiveSkills::default(),
            activated: HashMap::new(),
            words: 0,
            switched_off: HashMap::new(),
            dismissed: BTreeSet::new(),
            purged: Vec::new(),
            bookmarks: Vec::new(),
            values: ByHash::default(),
            system_hash: None,
            max_places,
            clock: 0,
            given_by_tool: 0,
            told: None,
            put_down_by_tool: BTreeSet::new(),
            last_sent: None,
            record: Record::default(),
        }
    }
    /// What these events make of it. The first tells how it was made.
    pub(super) fn replay(events: impl IntoIterator<Item = SessionEvent>) -> Result<Self, ReplayError> {
        let mut events = events.into_iter();
        let mut state = match events.next() {
            Some(SessionEvent::Started(Beginning { version: VERSION, key, max_places })) => Self::blank(key, max_places),
            Some(SessionEvent::Started(Beginning { version, .. })) => return Err(ReplayError::Version(version)),
            Some(_) => return Err(ReplayError::NoBeginning),
            None => return Err(ReplayError::Empty),
        };
        let mut count = 1;
        for event in events {
            state.apply(&event);
            count += 1;
        }
        state.record.holds(count);
        Ok(state)
    }
    /// What the host said before the session was taken over from another process holds all the same. Who is told of events was told of these.
    pub(super) fn is_told_again(&mut self, events: impl IntoIterator<Item = SessionEvent>) {
        for event in events {
            let is_the_hosts = match &event {
                SessionEvent::SkillActivated { everywhere, .. } | SessionEvent::SkillDeactivated { everywhere, .. } => *everywhere,
                SessionEvent::SuggestionAccepted { .. } | SessionEvent::SuggestionDismissed { .. } | SessionEvent::Purged { .. } => true,
                SessionEvent::Rebased => self.has_started(),
                // Of a response to a request that was stored.
                SessionEvent::HistoryNamed(history) => self.has_entry(history.at),
                _ => false,
            };
            if is_the_hosts {
                self.apply(&event);
                self.record.store(event);
            }
        }
    }

    /// Changes it, and keeps what did for whoever stores it.
    pub(super) fn happens(&mut self, event: SessionEvent) {
        self.apply(&event);
        self.record.push(event);
    }
    /// All changes but those of use: which places were used last is not kept.
    fn apply(&mut self, event: &SessionEvent) {
        self.forget_told(event);
        match event {
            SessionEvent::Started(_) => {}
            SessionEvent::SystemRendered(SystemText { system }) => {
                self.system_came_marked = system.came_marked;
                self.rebase_is_due = false;
                if let Some(former) = self.system.replace(system.clone()) {
                    self.keep_former_system(former.text);
                }
            }
            SessionEvent::TextAnchored(text) => self.anchored(text),
            SessionEvent::PlaceRevisited(visit) => {
                (self.last, self.last_places) = (visit.anchor, visit.places);
                self.purged.clear();
            }
            SessionEvent::PlacesForgotten(ForgottenPlaces { anchors }) => anchors.iter().for_each(|anchor| self.remove(*anchor)),
            SessionEvent::Rebased => self.rebased(),
            SessionEvent::Purged { skill } => self.purged(skill),
            SessionEvent::HistoryNamed(history) => self.named(*history),
            SessionEvent::SkillActivated { skill, everywhere: true } => {
                self.switched_off.remove(&skill.id);
                self.words += 1;
                self.activated.insert(skill.id.clone(), self.words);
                self.by_host.put(skill.clone());
            }
            SessionEvent::SkillDeactivated { id, everywhere: true } => {
                self.by_host.remove(id);
                self.activated.remove(id);
                self.entries.values_mut().for_each(|entry| entry.active.remove(id));
                self.words += 1;
                self.switched_off.insert(id.clone(), self.words);
            }
            SessionEvent::SkillInvocationFailed { id } => {
                self.by_host.remove(id);
                self.activated.remove(id);
            }
            SessionEvent::SuggestionDismissed { id } => drop(self.dismissed.insert(id.clone())),
            SessionEvent::SuggestionAccepted { id } => drop(self.dismissed.remove(id)),
            SessionEvent::Compacted
            | SessionEvent::SkillSuggested { .. }
            | SessionEvent::SkillActivated { .. }
            | SessionEvent::SkillDeactivated { .. }
            | SessionEvent::SkillContextLoaded { .. }
            | SessionEvent::InvariantsSelected { .. } => {}
        }
    }

    // ---- what the host says

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
        self.words
    }
    pub(super) fn active_by_host(&self) -> &[ActiveSkill] {
        self.by_host.as_slice()
    }
    pub(super) fn rebase(&mut self) {
        if self.has_started() {
            self.happens(SessionEvent::Rebased);
        }
    }
    fn rebased(&mut self) {
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
    pub(super) fn bind(&mut self, name: &str, at: Anchor) {
        let name = self.memory.key.named(name);
        self.happens(SessionEvent::HistoryNamed(NamedHistory { name, at, last: None }));
    }
    /// Named anew, it stands behind the others.
    fn named(&mut self, history: NamedHistory) {
        if history.last.is_some()
            && let Some(known) = self.bookmarks.iter_mut().find(|known| known.name == history.name)
        {
            *known = history;
            return;
        }
        self.bookmarks.retain(|known| known.name != history.name);
        if self.bookmarks.len() == BOOKMARKS {
            self.bookmarks.remove(0);
        }
        self.bookmarks.push(history);
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
        let last = Some((seed, place));
        if let Some(known) = self.bookmarks.iter().find(|known| known.name == name && known.last != last) {
            let history = NamedHistory { last, ..*known };
            self.happens(SessionEvent::HistoryNamed(history));
        }
    }

    pub(super) fn knows_history(&self, name: &str) -> bool {
        let name = self.memory.key.named(name);
        self.bookmarks.iter().any(|held| held.name == name)
    }

    // ---- what is there

    /// It has a system prompt, which stays.
    pub(super) fn has_started(&self) -> bool {
        self.system.is_some() && !self.rebase_is_due
    }
    /// A request for which this was collected renders the system prompt. A rebase may have come while one was under way that collected none.
    pub(super) fn renders(&self, collected: Round) -> bool {
        self.system.is_none() || (self.rebase_is_due && collected == Round::Start)
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
            _ if !self.has_started() => Round::Start,
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
    fn forget_told(&mut self, event: &SessionEvent) {
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
    /// What is in force where a request goes on from `from`, and what the host activated: of arguments those that were given last.
    pub(super) fn in_force(&self, from: Option<Anchor>) -> ActiveSkills {
        let mut active = self.active_at(from);
        let opened = from.and_then(|from| self.entries.get(&from)).map(|entry| entry.opened);
        // Nothing was said since.
        let knows_all = opened.is_some_and(|opened| opened >= self.words);
        for skill in self.by_host.as_slice() {
            let is_newer =
                !knows_all && opened.is_none_or(|opened| self.activated.get(&skill.id).is_some_and(|activated| *activated > opened));
            if is_newer || !active.contains(skill.id.as_str()) {
                active.put(skill.clone());
            }
        }
        active
    }
    pub(super) fn is_switched_off(&self, skill: &SkillId) -> bool {
        self.switched_off.contains_key(skill)
    }
    pub(super) fn has_switched_off(&self) -> bool {
        !self.switched_off.is_empty()
    }
    /// Switched off since a request was opened: what it collected is overtaken.
    pub(super) fn is_switched_off_since(&self, skill: &str, opened: u64) -> bool {
        self.switched_off.get(skill).is_some_and(|at| *at > opened)
    }

    // ---- what comes in

    /// One copy of each value.
    pub(super) fn intern(&mut self, text: &str) -> Arc<str> {
        self.known(text, || text.into())
    }
    /// One copy of each value: this one, where there is none yet.
    pub(super) fn intern_shared(&mut self, text: &Arc<str>) -> Arc<str> {
        self.known(text, || text.clone())
    }
    fn known(&mut self, text: &str, make: impl FnOnce() -> Arc<str>) -> Arc<str> {
        let alike = self.values.entry(sample(text)).or_default();
        alike.retain(|value| value.strong_count() > 0);
        let is_same = |value: &Arc<str>| std::ptr::eq(&raw const **value, text) || **value == *text;
        if let Some(value) = alike.iter().filter_map(Weak::upgrade).find(is_same) {
            return value;
        }
        let value = make();
        alike.push(Arc::downgrade(&value));
        value
    }
    /// Of our system prompt, hashed once.
    pub(super) fn system_hash(&mut self, text: &Arc<str>, last: &LastSystem) -> ContentHash {
        match &self.system_hash {
            Some((of, hash)) if Arc::ptr_eq(of, text) => *hash,
            _ => {
                let hash = last.hash_of(text);
                self.system_hash = Some((text.clone(), hash));
                hash
            }
        }
    }

    pub(super) fn start(&mut self, system: System) {
        self.happens(SessionEvent::SystemRendered(SystemText { system }));
    }
    pub(super) fn insert(&mut self, places: &[Place], entry: NewEntry) {
        let Some(here) = places.last() else { return };
        let since_parent = places.iter().rev().map(|place| place.anchor).take_while(|anchor| Some(*anchor) != entry.parent);
        let NewEntry { parent, opened, compacted, text, fragments, values, active, activated } = entry;
        self.happens(SessionEvent::TextAnchored(AnchoredText {
            anchor: here.anchor,
            parent,
            role: here.role,
            compacted,
            text,
            fragments,
            values,
            active,
            activated,
            opened,
            read: since_parent.collect(),
            message: here.message,
            came_marked: here.is_marked,
            places: places.len(),
        }));
    }
    fn anchored(&mut self, said: &AnchoredText) {
        said.read.iter().for_each(|anchor| self.memory.remember_read(*anchor));
        let sent = (!said.text.is_empty()).then(|| self.memory.remember_sent(said.message, &said.text)).into_iter().collect();
        self.switched_off.retain(|skill, _| !said.activated.contains(skill));
        let AnchoredText { anchor, parent, role, compacted, opened, message, came_marked, places, .. } = *said;
        let (text, fragments, active, read) = (said.text.clone(), said.fragments.clone(), said.active.clone(), said.read.clone());
        let values = said.values.iter().map(|(id, value)| (id.clone(), value.clone().map(|value| value.with(self)))).collect();
        let (made, used) = (self.clock, self.clock);
        let entry =
            Entry { parent, opened, role, compacted, text, fragments, values, active, message, came_marked, read, sent, made, used };
        self.entries.insert(anchor, entry);
        (self.last, self.last_places) = (Some(anchor), places);
        self.given_by_tool = 0;
        self.put_down_by_tool.clear();
        // The request that settles a place tells what was taken out before it.
        self.purged.clear();
    }

    /// The place of the last request, and how many places that request had.
    pub(super) fn note_last(&mut self, places: &[Place]) {
        let visit = Revisit { anchor: places.last().map(|here| here.anchor), places: places.len() };
        if (visit.anchor, visit.places) != (self.last, self.last_places) {
            self.happens(SessionEvent::PlaceRevisited(visit));
        }
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
}
