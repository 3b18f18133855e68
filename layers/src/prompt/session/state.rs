//! What a session keeps: its system prompt, and the entries of its places.
//!
//! A branch is an entry and its parents: what it was told and what is in force there is what these say. So edited, regenerated and forked
//! histories never mix. All that changes it is an event: see [`State::happens`].

use super::alike::LastSystem;
use super::entry::{Entry, NewEntry, System, Told};
use super::event::{AnchoredText, Beginning, ForgottenPlaces, Revisit, SessionEvent, SystemText, VERSION};
use super::hashing::ByHash;
use super::held::Bookmarks;
use super::host::SaidByHost;
use super::interned::Interned;
use super::journal::{Record, ReplayError};
use super::places::{Anchor, AnchorKey, Memory, Place};
use super::told::ToldAt;
use crate::prompt::manifest::{CallersPart, ContentHash, RenderedText, RenderedTool};
use crate::prompt::{Context, Purpose, Round};
use crate::skill::SkillId;
use crate::wire::Role;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Clone)]
pub(super) struct State {
    pub(super) memory: Memory,
    pub(super) system: Option<System>,
    /// The next request that collects one renders the system prompt anew. Those that were opened before go on with this one.
    pub(super) rebase_is_due: bool,
    pub(super) former_systems: Vec<Arc<str>>,
    /// As the caller's own system text came at the start: behind a rebase a host may have kept a mark of ours.
    pub(super) system_came_marked: bool,
    /// How often the system prompt was rebased.
    pub(super) base: u32,
    pub(super) entries: ByHash<Anchor, Entry>,
    /// The place of the last request, and how many places that request had.
    pub(super) last: Option<Anchor>,
    last_places: usize,
    pub(super) by_host: SaidByHost,
    /// Suggestions that the user wants to hear no more of.
    pub(super) dismissed: BTreeSet<SkillId>,
    /// Taken out of what was sent since the last request.
    pub(super) purged: Vec<SkillId>,
    pub(super) bookmarks: Bookmarks,
    pub(super) interned: Interned,
    /// Of the system prompt that was sent last.
    system_hash: Option<(Arc<str>, ContentHash)>,
    pub(super) max_places: usize,
    clock: u64,
    /// Bytes of bodies that the skill tool gave since a place was settled last: no request holds them yet.
    pub(super) given_by_tool: usize,
    /// What a branch was told, as it was put together last.
    pub(super) told: Option<(ToldAt, Told)>,
    /// Skills that the skill tool put down since.
    pub(super) put_down_by_tool: BTreeSet<SkillId>,
    /// The last request, to tell how the next one follows on it. Kept nowhere else.
    pub(super) last_sent: Option<(CallersPart, Arc<[RenderedTool]>, Vec<RenderedText>)>,
    pub(super) record: Record,
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
            by_host: SaidByHost::default(),
            dismissed: BTreeSet::new(),
            purged: Vec::new(),
            bookmarks: Bookmarks::default(),
            interned: Interned::default(),
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
            SessionEvent::HistoryNamed(history) => self.bookmarks.put(*history),
            SessionEvent::SkillActivated { skill, everywhere: true } => self.by_host.activated(skill),
            SessionEvent::SkillDeactivated { id, everywhere: true } => {
                self.by_host.deactivated(id);
                self.entries.values_mut().for_each(|entry| entry.active.remove(id));
            }
            SessionEvent::SkillInvocationFailed { id } => self.by_host.activation_failed(id),
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
    // ---- what comes in

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
        self.by_host.came_into_force(&said.activated);
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
