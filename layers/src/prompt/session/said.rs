//! What a request says for the first time: the system prompt, and the text behind its place.

use super::Opened;
use super::entry::{NewEntry, System, Told, Value, Values};
use super::event::SessionEvent;
use super::places::{BLOCK_END, BLOCK_START};
use super::state::State;
use crate::prompt::fragment::{ACTIVE_SKILL, Effect, Entry, Fragment, FragmentId, Source, Tier, Trust};
use crate::prompt::manifest::{ContentHash, Event, LimitOutcome, RenderedFragment};
use crate::prompt::{Diagnostic, RepositoryText, Round, Settings, Turn};
use crate::skill::{ACTIVE_SKILLS, ActiveSkill, ExecutionOptions, SkillId};
use crate::text::{Fitted, GAP, Limit, Room, TextChange, escape, prefix, shorten};
use crate::wire::{Role, ToolOutputBound};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

/// What a request says for the first time, as it comes together.
pub(super) struct Said<'a> {
    pub(super) settings: &'a Settings,
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
struct Piece<'a> {
    text: Cow<'a, str>,
    fragment: &'a Fragment,
    limit: Option<LimitOutcome>,
}

impl Said<'_> {
    /// Shares out the room of the skills' bodies among those that are to be said: what is told already is taken, and those that need less than an
    /// equal share leave the rest to the others. What can't stand in its share, frame and all, leaves all of it: the largest such first.
    fn share_out(&mut self, fragments: &[&Fragment], told: &Told) {
        let is_news = |f: &Fragment| told.get(&f.id).is_none_or(|before| *before != *f.value());
        let mut new: Vec<(usize, &Fragment, usize)> =
            fragments.iter().filter(|f| is_news(f)).filter_map(|f| Some((f.value().len(), *f, f.pool?))).collect();
        new.sort_by_key(|(bytes, ..)| *bytes);
        let room = new.iter().map(|(.., pool)| *pool).min().unwrap_or_default().saturating_sub(told.bytes(ACTIVE_SKILL));
        loop {
            let mut left = room;
            let mut without_room = None;
            for (n, (bytes, fragment, _)) in new.iter().enumerate() {
                let share = left / (new.len() - n);
                self.shares.insert(fragment.id.clone(), Limit::Bytes(share));
                left -= share.min(*bytes);
                if fragment.text.fit(&self.room(Limit::Bytes(share))).text.is_empty() {
                    without_room = Some(n);
                }
            }
            // One alone has all the room there is.
            let Some(n) = without_room.filter(|_| new.len() > 1) else { break };
            let (_, fragment, _) = new.remove(n);
            self.shares.insert(fragment.id.clone(), Limit::Bytes(0));
        }
    }
    fn limit(&self, fragment: &Fragment) -> Limit {
        self.shares.get(&fragment.id).copied().unwrap_or(fragment.limit)
    }
    fn room(&self, limit: Limit) -> Room<'_> {
        Room::new(limit, &*self.settings.counter)
    }

    pub(super) fn system(&mut self, state: &mut State, entries: &[Entry], fragments: &[&Fragment], turn: &Turn) -> System {
        let in_context = |f: &Fragment| f.trust == Trust::Repository && self.settings.repository_text == RepositoryText::Context;
        let mut first: Vec<&Fragment> = fragments.iter().copied().filter(|f| f.tier <= Tier::Session && !in_context(f)).collect();
        if turn.conversation.system_is_held {
            first.clear();
        }
        first.sort_by_key(|f| f.tier);
        self.share_out(&first, &Told::default());
        let (mut text, mut rendered, mut values) = (String::new(), Vec::new(), Values::new());
        let mut stable = 0;
        for fragment in first {
            let value = fragment.value();
            let fitted = fragment.text.fit(&self.room(self.limit(fragment)));
            let Some(piece) = self.piece(fragment, &value, fitted) else { continue };
            if !text.is_empty() {
                text.push_str(GAP);
            }
            self.loads(&piece);
            rendered.push(self.rendered(&piece, &piece.text, text.len()));
            text.push_str(&piece.text);
            if fragment.tier == Tier::Stable {
                stable = text.len();
            }
            self.takes_effect(fragment, turn);
            values.insert(fragment.id.clone(), Some(Value::told(state, &value, &piece.text)));
        }
        let as_developer = turn.conversation.speaks_as_developer;
        let (tool_descriptions, tool_output) = (Arc::new(self.tool_descriptions(entries, turn)), tool_output(entries));
        let came_marked = if state.base == 0 { turn.conversation.system_is_marked } else { state.system_came_marked };
        System { text: text.into(), as_developer, stable, fragments: rendered.into(), values, came_marked, tool_descriptions, tool_output }
    }

    /// All changes of the descriptions of tools, for tools too that a later request may bring.
    fn tool_descriptions(&mut self, entries: &[Entry], turn: &Turn) -> BTreeMap<String, TextChange> {
        let mut all: BTreeMap<String, TextChange> = BTreeMap::new();
        for entry in entries {
            if let Entry::DescribesTool { name, change } = entry {
                let before = all.remove(name).unwrap_or_default();
                all.insert(name.clone(), before.and(change));
            }
        }
        if !turn.conversation.tools.is_empty() {
            for name in all.keys().filter(|name| !turn.conversation.tools.contains(name)) {
                let message = format!("a description is changed of the tool `{}`, and the request has no such tool", escape::text(name));
                self.diagnostics.push(Diagnostic::note("tool-unknown", message));
            }
        }
        all
    }

    pub(super) fn entry(
        &mut self,
        state: &mut State,
        turn: &Turn,
        opened: &Opened,
        entries: &[Entry],
        fragments: &[&Fragment],
    ) -> NewEntry {
        let overtaken =
            |f: &Fragment| matches!(&f.effect, Some(Effect::Activates(skill)) if state.is_switched_off_since(&skill.id, opened.at));
        let mut kept: Vec<&Fragment> = fragments.iter().copied().filter(|f| !overtaken(f)).collect();
        // What stands ahead of bodies says nothing without one.
        if !kept.iter().any(|f| f.id.starts_with(ACTIVE_SKILL)) {
            kept.retain(|f| f.id != ACTIVE_SKILLS);
        }
        let fragments = &*kept;
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
        for entry in entries {
            if let Entry::Deactivated(skill) = entry {
                state.deactivate(skill);
                active.remove(skill);
            }
        }
        let mut activated = Vec::new();
        for fragment in fragments {
            if let Some(Effect::Activates(skill)) = &fragment.effect {
                activated.push(skill.id.clone());
                active.put(skill.clone());
            }
        }
        let mut entry = NewEntry {
            parent,
            opened: opened.at,
            compacted: turn.round == Round::Compacted,
            text: "".into(),
            fragments: Arc::new([]),
            values: Values::new(),
            active,
            activated,
        };
        if opened.tail_takes_text {
            let is_new_turn = turn.round != Round::Tool;
            let told = state.told(parent, &turn.conversation, self.settings.placement, is_new_turn);
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
        self.share_out(fragments, told);
        for fragment in fragments.iter().copied() {
            if (turn.conversation.system_is_held && fragment.tier <= Tier::Session) || self.refused.contains(&fragment.id) {
                continue;
            }
            let value = fragment.value();
            let before = told.0.get(&fragment.id).and_then(Option::as_ref);
            if before.is_some_and(|before| *before.text == *value) {
                continue;
            }
            if fragment.is_fixed && before.is_some_and(|before| before.base == state.base) {
                continue;
            }
            let room = self.room(self.limit(fragment));
            // What a rebase took away is no ground to tell a change against.
            let fitted = match before.filter(|before| before.base == state.base) {
                Some(before) => fragment.text.since(&before.text, &room),
                None => Some(fragment.text.fit(&room)),
            };
            // What isn't said isn't told: the older value stays the one to compare with.
            let Some(fitted) = fitted else { continue };
            let Some(piece) = self.piece(fragment, &value, fitted) else { continue };
            self.takes_effect(fragment, turn);
            values.insert(fragment.id.clone(), Some(Value::told(state, &value, &piece.text)));
            self.loads(&piece);
            pieces.push(piece);
        }
        pieces
    }

    /// `None` where nothing of it fits, which is diagnosed.
    fn piece<'f>(&mut self, fragment: &'f Fragment, value: &str, fitted: Fitted<'f>) -> Option<Piece<'f>> {
        let Fitted { mut text, mut is_cut, items_left_out } = fitted;
        let limit = self.limit(fragment);
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

    /// What the session's log tells of it, beside what is anchored.
    pub(super) fn happened(&mut self) -> Vec<SessionEvent> {
        let events = self.events.iter().map(|event| match event {
            Event::SkillSuggested { id } => SessionEvent::SkillSuggested { id: id.clone() },
            Event::InvariantsSelected { numbers } => SessionEvent::InvariantsSelected { numbers: numbers.clone() },
            Event::SkillActivated { id, mode } => {
                let skill = ActiveSkill { id: id.clone(), arguments: None, mode: *mode };
                SessionEvent::SkillActivated { skill, everywhere: false }
            }
        });
        events.chain(std::mem::take(&mut self.loaded)).collect()
    }
    fn loads(&mut self, piece: &Piece<'_>) {
        let Some(id) = piece.fragment.id.strip_prefix(ACTIVE_SKILL).and_then(|id| SkillId::new(id).ok()) else { return };
        self.loaded.push(SessionEvent::SkillContextLoaded {
            id,
            source: match &piece.fragment.source {
                Source::File { path, .. } => path.clone(),
                other => other.to_string(),
            },
            bytes: piece.text.len(),
            truncated: piece.limit.is_some_and(|limit| limit.cut),
            preview: shorten(&piece.text, self.settings.preview_max_chars).into_owned(),
        });
    }

    fn takes_effect(&mut self, fragment: &Fragment, turn: &Turn) {
        let Some(effect) = &fragment.effect else { return };
        self.events.push(match effect {
            Effect::Suggests(id) => Event::SkillSuggested { id: id.clone() },
            Effect::Selects(numbers) => Event::InvariantsSelected { numbers: numbers.clone() },
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

    pub(super) fn flag_look_alikes(&mut self, turn: &Turn) {
        let newest = turn.conversation.messages.iter().rfind(|message| message.role == Role::User);
        if newest.is_some_and(|message| message.texts.iter().any(|part| escape::looks_like_a_block(&part.text))) {
            let message = "the user's message holds text that looks like a block of the prompt; it was not changed";
            self.diagnostics.push(Diagnostic::note("look-alike", message));
        }
    }
}

/// The first layer's.
fn tool_output(entries: &[Entry]) -> Option<ToolOutputBound> {
    entries.iter().find_map(|entry| if let Entry::BoundsToolOutput(bound) = entry { Some(bound.clone()) } else { None })
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
            Entry::Deactivated(skill) => {
                let id = FragmentId::from(format!("{ACTIVE_SKILL}{skill}"));
                gone.extend(stands(&id).then_some(id));
            }
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
