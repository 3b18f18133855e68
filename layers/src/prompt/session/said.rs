//! What a request says for the first time: the system prompt, and the text behind its place.

use super::Opened;
use super::entry::{NewEntry, System, Told, Value, Values};
use super::event::SessionEvent;
use super::places::Anchor;
use super::state::State;
use super::tools::tool_output;
use crate::prompt::budget::Shed;
use crate::prompt::fragment::{ACTIVE_SKILL, Effect, Entry, Fragment, FragmentId, Tier, Trust};
use crate::prompt::manifest::{BudgetOutcome, Event, LimitOutcome, RenderedFragment};
use crate::prompt::{Diagnostic, RepositoryText, Round, Settings, Turn};
use crate::skill::{ACTIVE_SKILLS, ExecutionOptions, SkillId};
use crate::text::{Limit, Room, TokenCounter, escape};
use crate::wire::Role;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

/// What a request says for the first time, as it comes together.
pub(super) struct Said<'a> {
    pub(super) settings: &'a Settings,
    /// Of the tokens of this request's model.
    pub(super) counter: &'a dyn TokenCounter,
    /// What a budget left of fragments, and what it did in all.
    pub(super) shed: BTreeMap<FragmentId, Shed>,
    pub(super) budget: Option<BudgetOutcome>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) events: Vec<Event>,
    pub(super) execution: ExecutionOptions,
    /// Of which nothing fits: what the system prompt had no room for has none at the tail.
    pub(super) refused: BTreeSet<FragmentId>,
    /// Limits of fragments that share their room.
    pub(super) shares: BTreeMap<FragmentId, Limit>,
    /// Of the skills' bodies that are said.
    pub(super) loaded: Vec<SessionEvent>,
}

/// A fragment's text, fitted, and what the manifest says of it.
pub(super) struct Piece<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) fragment: &'a Fragment,
    pub(super) limit: Option<LimitOutcome>,
}

impl Said<'_> {
    /// At the session's start.
    pub(super) fn stands_in_system(&self, fragment: &Fragment, turn: &Turn) -> bool {
        let in_context = fragment.trust == Trust::Repository && self.settings.repository_text == RepositoryText::Context;
        fragment.tier <= Tier::Session && !in_context && !turn.conversation.system_is_held
    }

    pub(super) fn system(&mut self, state: &mut State, entries: &[Entry], fragments: &[&Fragment], turn: &Turn) -> System {
        let mut first: Vec<&Fragment> = fragments.iter().copied().filter(|f| self.stands_in_system(f, turn)).collect();
        first.sort_by_key(|f| f.tier);
        self.share_out(&first, &Told::default(), &[]);
        let last = self.settings.last_system.get(turn.model());
        let (mut pieces, mut values) = (Vec::new(), Values::new());
        for fragment in first {
            let value = fragment.value();
            let fitted = self.fit(fragment);
            let Some(piece) = self.piece(fragment, || Cow::Borrowed(&value), fitted) else {
                self.leaves_untold(state, fragment, &value, &mut values);
                continue;
            };
            self.loads(&piece);
            self.takes_effect(fragment, turn);
            let told = match last.as_ref().and_then(|last| last.value(&fragment.id, &value)) {
                Some(shared) => Value::told_with(state, &shared, &piece.text),
                None => Value::of(state, fragment, &value, &piece.text),
            };
            values.insert((&fragment.id).into(), Some(told));
            pieces.push(piece);
        }
        let (text, fragments) = match last.as_ref().filter(|last| last.is(&pieces)) {
            Some(last) => (last.text.clone(), last.fragments.clone()),
            None => self.one_behind_the_other(&pieces, last.as_deref()),
        };
        if !text.is_empty() && last.is_none_or(|last| !Arc::ptr_eq(&last.text, &text)) {
            self.settings.last_system.put(turn.model(), &text, &fragments, &values);
        }
        let stable = fragments.iter().filter(|f| f.tier == Tier::Stable).map(RenderedFragment::end).max().unwrap_or_default();
        let as_developer = turn.conversation.speaks_as_developer;
        let (tool_descriptions, tool_output) = (self.tool_descriptions(entries, turn), tool_output(entries));
        let came_marked = if state.base == 0 { turn.conversation.system_is_marked } else { state.system_came_marked };
        let (tools, proposed_tools) = self.tools(entries, &tool_descriptions);
        let tool_descriptions = Arc::new(tool_descriptions);
        System { text, as_developer, stable, fragments, values, tools, proposed_tools, came_marked, tool_descriptions, tool_output }
    }

    pub(super) fn entry(
        &mut self,
        state: &mut State,
        turn: &Turn,
        opened: &Opened,
        entries: &[Entry],
        fragments: &[&Fragment],
    ) -> NewEntry {
        let all = fragments;
        let parent = parent(state, opened);
        let told = state.told(parent, &turn.conversation, self.settings.placement, (begins_a_turn(turn, opened), true));
        let mut values = Values::new();
        let mut kept = self.in_results(state, turn, all, &told, &mut values);
        // What stands ahead of bodies says nothing without one.
        if !kept.iter().any(|f| f.id.starts_with(ACTIVE_SKILL)) {
            without_opening(&mut kept);
        }
        let fragments = &*kept;
        let mut active = turn.inherited.clone();
        if active.as_slice() != turn.active {
            // A host may have changed them.
            active = crate::skill::ActiveSkills::default();
            active.merge(&turn.active);
        }
        if parent != opened.held {
            // Settled since this request was opened.
            active.merge(state.active_at(parent).as_slice());
        }
        for skill in &turn.active {
            if state.is_switched_off(&skill.id) {
                active.remove(&skill.id);
            }
        }
        for entry in entries {
            match entry {
                Entry::Deactivated(skill) => {
                    state.deactivate(skill);
                    active.remove(skill);
                }
                // The results say both: there is no text to it.
                Entry::PutDown(skill) if active.contains(skill.as_str()) => {
                    active.remove(skill);
                    values.insert(format!("{ACTIVE_SKILL}{skill}").into(), None);
                    self.events.push(Event::SkillPutDown { id: skill.clone() });
                }
                Entry::InvokedAgain(skill) if active.contains(skill.id.as_str()) => {
                    active.put(skill.clone());
                    self.activates(skill, turn);
                }
                _ => {}
            }
        }
        let mut activated = Vec::new();
        for fragment in all {
            if let Some(Effect::Activates(skill)) = &fragment.effect {
                activated.push(skill.id.clone());
                active.put(skill.clone());
            }
        }
        let mut entry = NewEntry {
            parent,
            opened: opened.at,
            compacted: turn.round == Round::Compacted,
            text: Arc::default(),
            fragments: Arc::default(),
            values,
            active,
            activated,
        };
        if opened.tail_takes_text {
            self.share_out(fragments, &told, entry.active.as_slice());
            let pieces = self.news(state, turn, fragments, &told, &mut entry.values);
            // A skill whose body does not fit does not come into force, and is not tried again and again.
            for skill in self.refused.iter().filter_map(|id| SkillId::new(id.strip_prefix(ACTIVE_SKILL)?).ok()) {
                entry.active.remove(&skill);
                state.drop_activation(&skill);
            }
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
    fn news<'f>(&mut self, state: &mut State, turn: &Turn, fragments: &[&'f Fragment], told: &Told, values: &mut Values) -> Vec<Piece<'f>> {
        let mut pieces = Vec::new();
        for fragment in fragments.iter().copied() {
            if (turn.conversation.system_is_held && fragment.tier <= Tier::Session) || self.refused.contains(&*fragment.id) {
                continue;
            }
            let value = fragment.value();
            let before = told.value(&fragment.id);
            if before.is_some_and(|before| before.says(&value)) {
                continue;
            }
            if fragment.is_fixed && before.is_some_and(|before| before.base == state.base) {
                continue;
            }
            // What a rebase took away, or a budget kept from being said, is no ground to tell a change against.
            let ground = before.filter(|before| before.base == state.base && before.was_said() && !self.shed.contains_key(&*fragment.id));
            let fitted = match ground {
                Some(before) => fragment.text.since(&before.text, &self.room(self.limit(fragment))),
                None => Some(self.fit(fragment)),
            };
            // What isn't said isn't told: the older value stays the one to compare with.
            let Some(fitted) = fitted else { continue };
            let whole = || match ground.and_then(|before| fragment.text.since(&before.text, &Room::UNLIMITED)) {
                Some(change) => change.text,
                None => Cow::Borrowed(&*value),
            };
            let Some(piece) = self.piece(fragment, whole, fitted) else {
                self.leaves_untold(state, fragment, &value, values);
                continue;
            };
            self.takes_effect(fragment, turn);
            values.insert((&fragment.id).into(), Some(Value::of(state, fragment, &value, &piece.text)));
            self.loads(&piece);
            pieces.push(piece);
        }
        pieces
    }

    pub(super) fn flag_look_alikes(&mut self, turn: &Turn) {
        let newest = turn.conversation.messages.iter().rfind(|message| message.role == Role::User);
        if newest.is_some_and(|message| message.texts.iter().any(|part| escape::looks_like_a_block(&part.text))) {
            let message = "the user's message holds text that looks like a block of the prompt; it was not changed";
            self.diagnostics.push(Diagnostic::note("message-look-alike", message));
        }
    }
}

fn without_opening(fragments: &mut Cow<'_, [&Fragment]>) {
    if fragments.iter().any(|f| &*f.id == ACTIVE_SKILLS) {
        fragments.to_mut().retain(|f| &*f.id != ACTIVE_SKILLS);
    }
}

/// Whether the new entry begins a turn of the conversation. Of two requests that start it at once the later one may bring results of the first one's
/// turn.
pub(super) fn begins_a_turn(turn: &Turn, opened: &Opened) -> bool {
    turn.round == Round::Compacted || opened.places.last().is_none_or(|here| here.role == Role::User)
}

/// What a new entry goes on from.
pub(super) fn parent(state: &State, opened: &Opened) -> Option<Anchor> {
    state.newest(&opened.places).or(opened.seed.filter(|seed| state.has_entry(*seed)))
}

/// What entries say is not there, of what was told.
fn gone(entries: &[Entry], fragments: &[&Fragment], told: &Told, told_before: &Told, entry: &NewEntry) -> Vec<FragmentId> {
    let mut gone = BTreeSet::new();
    let stands = |id: &str| {
        // The layer that says so cannot know what was told, or came into force, since the request was opened.
        let is_told = told.get(id).is_some_and(|value| told_before.get(id) == Some(value)) && told.was_said(id);
        let in_force = id.strip_prefix(ACTIVE_SKILL).is_some_and(|skill| entry.active.contains(skill));
        is_told && !in_force && !entry.values.contains_key(id) && !fragments.iter().any(|f| &*f.id == id)
    };
    for said in entries {
        match said {
            Entry::Gone(id) if stands(id) => drop(gone.insert(id.clone())),
            Entry::Deactivated(skill) => {
                let id = FragmentId::from(format!("{ACTIVE_SKILL}{skill}"));
                gone.extend(stands(&id).then_some(id));
            }
            Entry::Only { prefix, ids } => {
                let family = told
                    .values()
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
