//! Settling: what a request says, against what was told.

use super::Opened;
use super::entry::System;
use super::event::SessionEvent;
use super::places::Place;
use super::said::Said;
use super::state::State;
use crate::prompt::fragment::{Entry, Fragment};
use crate::prompt::manifest::{CallersMessage, CallersPart, ContentHash, CutOutput, Manifest, Placement, Prefix, RenderedText, Total};
use crate::prompt::{Diagnostic, Purpose, Round, Settings, Turn};
use crate::skill::ExecutionOptions;
use crate::wire::{Append, Edits, SystemEdit, ToolOutputArchive, ToolOutputBound};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

pub(super) fn settle(state: &mut State, turn: &Turn, opened: Opened, entries: &[Entry], settings: &Settings) -> (Edits, Manifest) {
    let mut said = Said {
        settings,
        diagnostics: Vec::new(),
        events: Vec::new(),
        execution: ExecutionOptions::default(),
        refused: BTreeSet::new(),
        shares: BTreeMap::new(),
        loaded: Vec::new(),
    };
    said.diagnostics.extend(entries.iter().filter_map(|entry| if let Entry::Diagnostic(d) = entry { Some(d.clone()) } else { None }));
    said.flag_look_alikes(turn);
    let fragments = fragments(entries);
    let mut settled = false;
    if turn.context.purpose != Purpose::SamePrefix || turn.round == Round::Start {
        if !state.has_started() {
            let system = said.system(state, entries, &fragments, turn);
            state.start(system);
        }
        if let Some(here) = opened.places.last() {
            if !state.has_entry(here.anchor) {
                let entry = said.entry(state, turn, &opened, entries, &fragments);
                state.insert(&opened.places, entry);
                if turn.round == Round::Compacted {
                    state.happens(SessionEvent::Compacted);
                }
                for event in said.happened() {
                    state.happens(event);
                }
                settled = true;
            }
            state.note_last(&opened.places);
            if let Some((held, seed)) = turn.conversation.held_by_provider.as_ref().zip(opened.seed) {
                state.note_held(held.name(), seed, here.anchor);
            }
        }
    }
    let newest = state.newest(&opened.places).or(opened.seed);
    let (appends, mut texts) = put_back(state, turn, &opened.places, settled);
    if turn.context.purpose != Purpose::SamePrefix {
        state.touch(newest);
        state.evict();
    }
    let mut edits = Edits { removals: opened.removals, appends, ..Edits::default() };
    let (mut described_tools, mut cut_outputs) = (Vec::new(), Vec::new());
    if let Some(System { tool_descriptions, tool_output, .. }) = &state.system {
        described_tools.extend(turn.conversation.tools.iter().filter(|tool| tool_descriptions.contains_key(*tool)).cloned());
        edits.tool_descriptions.clone_from(tool_descriptions);
        edits.tool_output = tool_output.clone().map(|bound| ToolOutputBound { archive: archive(entries), ..bound });
        cut_outputs = tool_output.as_ref().map(|bound| cut(turn, bound)).unwrap_or_default();
    }
    for skill in std::mem::take(&mut state.purged) {
        let message = format!("the body of `{skill}` was taken out of what had been sent: the cached prefix ends there");
        said.diagnostics.push(Diagnostic::warning("prefix-rewritten", message));
    }
    if let Some(largest) = cut_outputs.iter().max_by_key(|output: &&CutOutput| output.chars) {
        let message =
            format!("{} tool results were cut to {} characters each; the largest has {}", cut_outputs.len(), largest.limit, largest.chars);
        said.diagnostics.push(Diagnostic::note("limit", message));
    }
    let mut system_hash = None;
    if let Some(system) = state.system.as_ref().filter(|_| !turn.conversation.system_is_held) {
        edits.system =
            Some(SystemEdit { text: system.text.clone(), as_developer: system.as_developer, former: state.former_systems.clone() });
        if !system.text.is_empty() {
            let is_new = turn.round == Round::Start;
            let (text, fragments) = (system.text.clone(), system.fragments.clone());
            system_hash = Some(ContentHash::of(&text));
            texts.insert(0, RenderedText { placement: Placement::System, is_new, follows: None, text, fragments });
        }
    }
    let Said { diagnostics, events, execution, .. } = said;
    // What was tried on a copy is kept nowhere.
    let settled = settled && turn.context.purpose != Purpose::SamePrefix;
    let caller = callers_part(state, turn, opened.messages, edits.system.as_ref());
    let foreseen = state.last_sent.as_ref().map(|(before, sent)| {
        let now = Prefix { caller: &caller, texts: &texts };
        now.since(Prefix { caller: before, texts: sent })
    });
    if turn.context.purpose != Purpose::SamePrefix {
        state.last_sent = Some((caller.clone(), texts.clone()));
    }
    let (round, totals) = (turn.round, Total::by_tier(&texts));
    let manifest = Manifest {
        round,
        settled,
        totals,
        system_hash,
        texts,
        described_tools,
        cut_outputs,
        events,
        execution,
        caller,
        foreseen,
        diagnostics,
    };
    (edits, manifest)
}

/// What the rest of the request is known by.
fn callers_part(state: &State, turn: &Turn, messages: Arc<[CallersMessage]>, system: Option<&SystemEdit>) -> CallersPart {
    let key = &state.memory.key;
    let conversation = &turn.conversation;
    let own = conversation.system.as_deref().map(|text| system.map_or(text, |system| system.callers(text)));
    CallersPart {
        key: Some(key.mark()),
        is_history_held: conversation.held_by_provider.is_some(),
        tools: (!conversation.tools.is_empty()).then(|| key.hash_of(&conversation.tools)),
        system: own.filter(|own| !own.is_empty()).map(|own| key.hash_of(own)),
        messages,
    }
}

/// Of the layer whose bound stands.
fn archive(entries: &[Entry]) -> Option<Arc<dyn ToolOutputArchive>> {
    let bound = entries.iter().find_map(|entry| if let Entry::BoundsToolOutput(bound) = entry { Some(bound) } else { None });
    bound?.archive.clone()
}

/// The results that the wire cuts.
fn cut(turn: &Turn, bound: &ToolOutputBound) -> Vec<CutOutput> {
    let Some(limit) = bound.max_chars.map(NonZeroUsize::get) else { return Vec::new() };
    let results = turn.conversation.messages.iter().flat_map(|message| message.result_chars.iter().map(|chars| (message.at, *chars)));
    results.filter(|(_, chars)| *chars > limit).map(|(message, chars)| CutOutput { message, chars, limit }).collect()
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
            let (placement, follows) = (Placement::BehindMessage(place.at), Some(place.ordinal));
            texts.push(RenderedText { placement, is_new, follows, text: text.clone(), fragments });
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
