//! Settling: what a request says, against what was told.

use super::Opened;
use super::places::{BLOCK_END, BLOCK_START, Place};
use super::state::{NewEntry, State, System, Told, Value, Values};
use crate::prompt::fragment::{ACTIVE_SKILL, Effect, Entry, Fragment, FragmentId, Tier, Trust};
use crate::prompt::manifest::{ContentHash, Event, LimitOutcome, Manifest, Placement, RenderedFragment, RenderedText};
use crate::prompt::{Diagnostic, Purpose, RepositoryText, Round, Settings, Turn};
use crate::skill::ExecutionOptions;
use crate::text::{Fitted, Limit, Room, escape, prefix};
use crate::wire::{Append, Edits, GAP, Role, SystemEdit};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

pub(super) fn settle(state: &mut State, turn: &Turn, opened: Opened, entries: &[Entry], settings: &Settings) -> (Edits, Manifest) {
    let mut said =
        Said { settings, diagnostics: Vec::new(), events: Vec::new(), execution: ExecutionOptions::default(), refused: BTreeSet::new() };
    said.diagnostics.extend(entries.iter().filter_map(|entry| if let Entry::Diagnostic(d) = entry { Some(d.clone()) } else { None }));
    said.flag_look_alikes(turn);
    let fragments = fragments(entries);
    let mut settled = false;
    if turn.context.purpose != Purpose::SamePrefix || turn.round == Round::Start {
        if !state.has_started() {
            let system = said.system(state, &fragments, turn);
            state.system = Some(system);
        }
        if let Some(here) = opened.places.last() {
            if !state.has_entry(here.anchor) {
                let entry = said.entry(state, turn, &opened, entries, &fragments);
                state.insert(&opened.places, entry);
                settled = true;
            }
            state.note_last(&opened.places);
            if let Some((held, seed)) = turn.conversation.held_by_provider.as_ref().zip(opened.seed) {
                state.note_held(held.name(), seed, here.anchor);
            }
        }
    }
    let newest = state.newest(&opened.places).or(opened.seed);
    state.touch(newest);
    let (appends, mut texts) = put_back(state, turn, &opened.places, settled);
    state.evict();
    let mut edits = Edits { system: None, removals: opened.removals, appends };
    let mut system_hash = None;
    if let Some(system) = state.system.as_ref().filter(|_| !turn.conversation.system_is_held) {
        edits.system = Some(SystemEdit { text: system.text.clone(), former: state.former_systems.clone() });
        if !system.text.is_empty() {
            let is_new = turn.round == Round::Start;
            let (text, fragments) = (system.text.clone(), system.fragments.clone());
            system_hash = Some(ContentHash::of(&text));
            texts.insert(0, RenderedText { placement: Placement::System, is_new, text, fragments });
        }
    }
    let Said { diagnostics, events, execution, .. } = said;
    // What was tried on a copy is kept nowhere.
    let settled = settled && turn.context.purpose != Purpose::SamePrefix;
    (edits, Manifest { round: turn.round, settled, system_hash, texts, events, execution, diagnostics })
}

/// The texts of the newest entry held and of its parents. An entry made later at an earlier place belongs to another branch.
fn put_back(state: &State, turn: &Turn, places: &[Place], settled: bool) -> (Vec<Append>, Vec<RenderedText>) {
    let mut branch = state.branch(state.newest(places)).peekable();
    let (mut appends, mut texts) = (Vec::new(), Vec::new());
    // Both run from the newest back, and a branch's entries stand in the order of its places.
    for (n, place) in places.iter().enumerate().rev() {
        let Some((_, entry)) = branch.next_if(|(anchor, _)| *anchor == place.anchor) else { continue };
        if !entry.text.is_empty() && entry.stands_in(&turn.conversation) {
            let (text, fragments) = (entry.text.clone(), entry.fragments.clone());
            let is_new = settled && n + 1 == places.len();
            texts.push(RenderedText { placement: Placement::BehindMessage(place.at), is_new, text: text.clone(), fragments });
            appends.push(Append { at: place.at, spot: place.spot, text });
        }
    }
    appends.reverse();
    texts.reverse();
    (appends, texts)
}

/// Of equal ids the first layer's fragment.
fn fragments(entries: &[Entry]) -> Vec<&Fragment> {
    let mut ids = BTreeSet::new();
    let all = entries.iter().filter_map(|entry| if let Entry::Fragment(f) = entry { Some(f) } else { None });
    all.filter(|f| ids.insert(&f.id)).collect()
}

/// What a request says for the first time, as it comes together.
struct Said<'a> {
    settings: &'a Settings,
    diagnostics: Vec<Diagnostic>,
    events: Vec<Event>,
    execution: ExecutionOptions,
    /// Of which nothing fits: what the system prompt had no room for has none at the tail.
    refused: BTreeSet<FragmentId>,
}

/// A fragment's text, fitted, and what the manifest says of it.
struct Piece<'a> {
    text: Cow<'a, str>,
    fragment: &'a Fragment,
    limit: Option<LimitOutcome>,
}

impl Said<'_> {
    fn room(&self, limit: Limit) -> Room<'_> {
        Room::new(limit, &*self.settings.counter)
    }

    fn system(&mut self, state: &mut State, fragments: &[&Fragment], turn: &Turn) -> System {
        let in_context = |f: &Fragment| f.trust == Trust::Repository && self.settings.repository_text == RepositoryText::Context;
        let mut first: Vec<&Fragment> = fragments.iter().copied().filter(|f| f.tier <= Tier::Session && !in_context(f)).collect();
        if turn.conversation.system_is_held {
            first.clear();
        }
        first.sort_by_key(|f| f.tier);
        let (mut text, mut rendered, mut values) = (String::new(), Vec::new(), Values::new());
        for fragment in first {
            let value = fragment.value();
            let fitted = fragment.text.fit(&self.room(fragment.limit));
            let Some(piece) = self.piece(fragment, &value, fitted) else { continue };
            if !text.is_empty() {
                text.push_str(GAP);
            }
            rendered.push(self.rendered(&piece, &piece.text, text.len()));
            text.push_str(&piece.text);
            self.takes_effect(fragment, turn);
            values.insert(fragment.id.clone(), Some(Value::told(state, &value, &piece.text)));
        }
        System { text: text.into(), fragments: rendered.into(), values }
    }

    fn entry(&mut self, state: &mut State, turn: &Turn, opened: &Opened, entries: &[Entry], fragments: &[&Fragment]) -> NewEntry {
        let parent = state.newest(&opened.places).or(opened.seed.filter(|seed| state.has_entry(*seed)));
        let mut active = crate::skill::ActiveSkills::default();
        active.merge(&turn.active);
        if parent != opened.held {
            // Settled since this request was opened.
            active.merge(state.active_at(parent).as_slice());
        }
        for skill in &turn.active {
            if state.is_switched_off(&skill.id) {
                active.remove(&skill.id);
            }
        }
        for fragment in fragments {
            if let Some(Effect::Activates(skill)) = &fragment.effect {
                state.switch_on(&skill.id);
                active.put(skill.clone());
            }
        }
        let mut entry = NewEntry { parent, text: "".into(), fragments: Arc::new([]), values: Values::new(), active };
        if opened.tail_takes_text {
            let told = state.told(parent, &turn.conversation);
            let pieces = self.news(state, turn, fragments, &told, &mut entry);
            let gone = gone(entries, fragments, &told, &turn.told, &entry);
            entry.values.extend(gone.iter().map(|id| (id.clone(), None)));
            (entry.text, entry.fragments) = self.tail(&pieces, &gone);
        } else {
            // The skills come into force all the same; their bodies are news at the next place.
            for fragment in fragments.iter().filter(|f| matches!(f.effect, Some(Effect::Activates(_)))) {
                self.takes_effect(fragment, turn);
            }
        }
        entry
    }

    /// What differs from what was told.
    fn news<'f>(
        &mut self,
        state: &mut State,
        turn: &Turn,
        fragments: &[&'f Fragment],
        told: &Told,
        entry: &mut NewEntry,
    ) -> Vec<Piece<'f>> {
        let mut pieces = Vec::new();
        for fragment in fragments.iter().copied() {
            if (turn.conversation.system_is_held && fragment.tier <= Tier::Session) || self.refused.contains(&fragment.id) {
                continue;
            }
            let value = fragment.value();
            let before = told.0.get(&fragment.id).and_then(Option::as_ref);
            if before.is_some_and(|before| *before.text == *value) {
                continue;
            }
            let room = self.room(fragment.limit);
            // What a rebase took away is no ground to tell a change against.
            let fitted = match before.filter(|before| before.base == state.base) {
                Some(before) => fragment.text.since(&before.text, &room),
                None => Some(fragment.text.fit(&room)),
            };
            // What isn't said isn't told: the older value stays the one to compare with.
            let Some(fitted) = fitted else { continue };
            let Some(piece) = self.piece(fragment, &value, fitted) else {
                // A skill whose body does not fit does not come into force.
                if let Some(Effect::Activates(skill)) = &fragment.effect {
                    entry.active.remove(&skill.id);
                }
                continue;
            };
            self.takes_effect(fragment, turn);
            entry.values.insert(fragment.id.clone(), Some(Value::told(state, &value, &piece.text)));
            pieces.push(piece);
        }
        pieces
    }

    /// `None` where nothing of it fits, which is diagnosed.
    fn piece<'f>(&mut self, fragment: &'f Fragment, value: &str, fitted: Fitted<'f>) -> Option<Piece<'f>> {
        let Fitted { mut text, mut is_cut, items_left_out } = fitted;
        let limit = fragment.limit;
        // A text of a host's own may be wrong about its room: the limit holds all the same.
        if !self.room(limit).holds(&text) {
            text = Cow::Owned(prefix(&text, &self.room(limit)).to_owned());
            is_cut = true;
        }
        let outcome = limit.amount().map(|_| {
            let room = self.room(limit);
            LimitOutcome { limit, before: room.size(value), after: room.size(&text), cut: is_cut, items_left_out }
        });
        if is_cut {
            let what = if text.is_empty() { "left out" } else { "cut" };
            let message = format!("`{}` was {what}: {} bytes, and its limit is {limit}", fragment.id, value.len());
            self.diagnostics.push(Diagnostic::warning("limit", message));
        }
        if text.is_empty() {
            self.refused.insert(fragment.id.clone());
            return None;
        }
        Some(Piece { text, fragment, limit: outcome })
    }

    fn takes_effect(&mut self, fragment: &Fragment, turn: &Turn) {
        let Some(effect) = &fragment.effect else { return };
        self.events.push(match effect {
            Effect::Suggests(id) => Event::SkillSuggested { id: id.clone() },
            Effect::Activates(skill) => {
                if let Some(known) = turn.skills.get(skill.id.as_str()) {
                    let ExecutionOptions { model, thinking_effort } = (*known.summary.execution).clone();
                    self.execution.model = self.execution.model.take().or(model);
                    self.execution.thinking_effort = self.execution.thinking_effort.take().or(thinking_effort);
                }
                Event::SkillActivated { id: skill.id.clone(), mode: skill.mode }
            }
        });
    }

    /// A block for each trust, in which the fragments stand in their order, and what went away.
    fn tail(&self, pieces: &[Piece<'_>], gone: &[FragmentId]) -> (Arc<str>, Arc<[RenderedFragment]>) {
        let (mut text, mut rendered) = (String::new(), Vec::new());
        for trust in Trust::ALL {
            let of_trust = || pieces.iter().filter(|piece| piece.fragment.trust == trust);
            let gone = if trust == Trust::Host { gone } else { &[] };
            if of_trust().next().is_none() && gone.is_empty() {
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            text.extend([BLOCK_START, trust.as_str(), "\">\n"]);
            for piece in of_trust() {
                let inside = escape::inside_context(&piece.text);
                rendered.push(self.rendered(piece, &inside, text.len()));
                text.push_str(&inside);
                text.push('\n');
            }
            for id in gone {
                text.push_str(&said_gone(id));
                text.push('\n');
            }
            text.push_str(BLOCK_END);
        }
        (text.into(), rendered.into())
    }

    fn rendered(&self, piece: &Piece<'_>, text: &str, offset: usize) -> RenderedFragment {
        let Piece { fragment, limit, .. } = piece;
        RenderedFragment {
            id: fragment.id.clone().into_owned(),
            layer: fragment.layer.to_owned(),
            source: fragment.source.clone(),
            trust: fragment.trust,
            tier: fragment.tier,
            offset,
            bytes: text.len(),
            chars: text.chars().count(),
            tokens: self.settings.counter.count(text),
            hash: ContentHash::of(text),
            limit: *limit,
        }
    }

    fn flag_look_alikes(&mut self, turn: &Turn) {
        let newest = turn.conversation.messages.iter().rfind(|message| message.role == Role::User);
        if newest.is_some_and(|message| message.texts.iter().any(|part| escape::looks_like_a_block(&part.text))) {
            let message = "the user's message holds text that looks like a block of the prompt; it was not changed";
            self.diagnostics.push(Diagnostic::note("look-alike", message));
        }
    }
}

fn said_gone(id: &str) -> String {
    match id.strip_prefix(ACTIVE_SKILL) {
        Some(skill) => format!("The skill {} no longer applies.", escape::text(skill)),
        None => format!("{} is gone.", escape::text(id)),
    }
}

/// What entries say is not there, of what was told.
fn gone(entries: &[Entry], fragments: &[&Fragment], told: &Told, told_before: &Told, entry: &NewEntry) -> Vec<FragmentId> {
    let mut gone = BTreeSet::new();
    let stands = |id: &str| {
        // The layer that says so cannot know what was told, or came into force, since the request was opened.
        let is_told = told.get(id).is_some_and(|value| told_before.get(id) == Some(value));
        let in_force = id.strip_prefix(ACTIVE_SKILL).is_some_and(|skill| entry.active.contains(skill));
        is_told && !in_force && !entry.values.contains_key(id) && !fragments.iter().any(|f| f.id == id)
    };
    for said in entries {
        match said {
            Entry::Gone(id) if stands(id) => drop(gone.insert(id.clone())),
            Entry::Only { prefix, ids } => {
                let family = told
                    .0
                    .range::<str, _>((Bound::Included(&**prefix), Bound::Unbounded))
                    .map(|(id, _)| id)
                    .take_while(|id| id.starts_with(&**prefix));
                gone.extend(family.filter(|id| !ids.contains(*id) && stands(id)).cloned());
            }
            _ => {}
        }
    }
    Vec::from_iter(gone)
}
