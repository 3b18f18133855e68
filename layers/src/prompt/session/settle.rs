//! Settling: what a request says, against what was told.

use super::Opened;
use super::entry::System;
use super::event::SessionEvent;
use super::places::Place;
use super::said::Said;
use super::state::State;
use crate::prompt::fragment::{Entry, Fragment};
use crate::prompt::manifest::{ContentHash, CutOutput, Manifest, Placement, RenderedText};
use crate::prompt::{Diagnostic, Purpose, Round, Settings, TextPlacement, Turn};
use crate::skill::ExecutionOptions;
use crate::wire::{Append, CacheMarks, CacheMinimums, Edits, SystemEdit, ToolOutputArchive, ToolOutputBound};
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
    let (mut appends, mut texts) = put_back(state, turn, &opened.places, settled, settings.placement);
    if turn.context.purpose != Purpose::SamePrefix {
        state.touch(newest);
        state.evict();
    }
    let is_in_front = settings.placement == TextPlacement::Front && !turn.conversation.system_is_held;
    let in_front: Vec<Arc<str>> =
        if is_in_front { std::mem::take(&mut appends).into_iter().map(|append| append.text).collect() } else { Vec::new() };
    if is_in_front {
        texts.iter_mut().for_each(|text| text.placement = Placement::System);
    }
    if settings.placement != TextPlacement::Append && settled && state.branch(newest).nth(1).is_some() {
        let message = "`context.placement` rewrites what was sent: from there on the provider reads this request anew";
        said.diagnostics.push(Diagnostic::note("prefix-rewritten", message));
    }
    let mut edits = Edits { removals: opened.removals, appends, ..Edits::default() };
    let (mut described_tools, mut cut_outputs) = (Vec::new(), Vec::new());
    if let Some(System { tool_descriptions, tool_output, .. }) = &state.system {
        described_tools.extend(turn.conversation.tools.iter().filter(|tool| tool_descriptions.contains_key(*tool)).cloned());
        edits.tool_descriptions.clone_from(tool_descriptions);
        edits.tool_output = tool_output.clone().map(|bound| ToolOutputBound { archive: archive(entries), ..bound });
        cut_outputs = tool_output.as_ref().map(|bound| cut(turn, bound)).unwrap_or_default();
    }
    if let Some(minimums) = &settings.cache_minimums {
        edits.cache = Some(cache_marks(state, turn, &opened.places, minimums));
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
        let edit = SystemEdit {
            text: system.text.clone(),
            as_developer: system.as_developer,
            said: in_front,
            former: state.former_systems.clone(),
        };
        if !edit.is_nothing() {
            system_hash = Some(ContentHash::of(&edit.ours())).filter(|_| !edit.ours().is_empty());
        }
        edits.system = Some(edit);
        if !system.text.is_empty() {
            let is_new = turn.round == Round::Start;
            let (text, fragments) = (system.text.clone(), system.fragments.clone());
            texts.insert(0, RenderedText { placement: Placement::System, is_new, text, fragments });
        }
    }
    let Said { diagnostics, events, execution, .. } = said;
    // What was tried on a copy is kept nowhere.
    let settled = settled && turn.context.purpose != Purpose::SamePrefix;
    (edits, Manifest { round: turn.round, settled, system_hash, texts, described_tools, cut_outputs, events, execution, diagnostics })
}

fn cache_marks(state: &State, turn: &Turn, places: &[Place], minimums: &CacheMinimums) -> CacheMarks {
    let host = &turn.context.host;
    let ended = places.iter().rev().filter(|place| state.has_entry(place.anchor)).map(|place| place.at);
    CacheMarks {
        minimum: minimums.of(host.model.as_deref().or(turn.conversation.model.as_deref())),
        stable: state.system.as_ref().map_or(0, |system| system.stable),
        previous: { ended }.nth(1),
        key: (turn.provider() == Some("openai")).then(|| state.memory.key.public_name()),
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
fn put_back(state: &State, turn: &Turn, places: &[Place], settled: bool, placement: TextPlacement) -> (Vec<Append>, Vec<RenderedText>) {
    let mut branch = state.shown(state.newest(places), placement, false).peekable();
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
