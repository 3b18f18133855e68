//! Settling: what a request says, against what was told.

use super::Opened;
use super::budgeted::{told_of_short_prefix, told_of_size};
use super::entry::System;
use super::event::SessionEvent;
use super::hashing::Passed;
use super::places::{Anchor, Place};
use super::said::Said;
use super::state::State;
use super::tools::add_tools;
use crate::prompt::fragment::{ACTIVE_SKILL, Effect, Entry, Fragment};
use crate::prompt::manifest::{
    CallersMessage, CallersPart, ContentHash, CutOutput, CutText, Manifest, Placement, Prefix, RenderedText, Total,
};
use crate::prompt::{Diagnostic, Purpose, Round, Settings, TextPlacement, Turn};
use crate::skill::{ACTIVE_SKILLS, ExecutionOptions, SkillId};
use crate::wire::{Append, CacheMarks, Edits, ModelFacts, SystemEdit, ToolOutputArchive, ToolOutputBound};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::BuildHasherDefault;
use std::num::NonZeroUsize;
use std::sync::Arc;

pub(super) fn settle(
    state: &mut State,
    turn: &Turn,
    opened: Opened,
    (collected, entries): (Round, &[Entry]),
    settings: &Settings,
) -> (Edits, Manifest) {
    let mut said = Said {
        settings,
        counter: settings.counter_of(turn.model()),
        shed: BTreeMap::new(),
        budget: None,
        diagnostics: Vec::new(),
        events: Vec::new(),
        execution: ExecutionOptions::default(),
        refused: BTreeSet::new(),
        shares: BTreeMap::new(),
        loaded: Vec::new(),
    };
    said.diagnostics.extend(entries.iter().filter_map(|entry| if let Entry::Diagnostic(d) = entry { Some(d.clone()) } else { None }));
    said.flag_look_alikes(turn);
    let fragments = fragments(state, opened.at, entries);
    let purged = std::mem::take(&mut state.purged);
    let settled = (turn.context.purpose != Purpose::SamePrefix || turn.round == Round::Start)
        && settle_place(state, turn, &opened, (collected, entries), &fragments, &mut said);
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
    let mut edits = Edits {
        system: None,
        removals: opened.removals,
        appends,
        tools: Arc::default(),
        tool_descriptions: state.system.as_ref().map(|system| system.tool_descriptions.clone()).unwrap_or_default(),
        tool_output: None,
        cache: None,
    };
    let (tools, noticed) = add_tools(state, turn, &mut edits);
    said.diagnostics.extend(noticed);
    let (described_tools, cut_outputs) = bound_tools(state, turn, newest, entries, &mut edits);
    let model = settings.models.of(turn.model());
    if settings.marks_caches {
        edits.cache = Some(cache_marks(state, turn, &opened.places, model));
    }
    let rewrites = settings.placement != TextPlacement::Append && settled && state.branch(newest).nth(1).is_some();
    said.diagnostics.extend(rewritten(rewrites, purged));
    said.diagnostics.extend(told_of_cuts(&cut_outputs));
    let mut system_hash = None;
    let system = state.system.as_ref().filter(|_| !turn.conversation.system_is_held);
    if let Some((text, as_developer, fragments)) = system.map(|system| (system.text.clone(), system.as_developer, system.fragments.clone()))
    {
        let edit = SystemEdit { text: text.clone(), as_developer, said: in_front, former: state.former_systems.clone() };
        if !edit.is_nothing() {
            let (ours, is_alone) = (edit.ours(), edit.said.is_empty());
            let of = |ours: &str| if is_alone { state.system_hash(&edit.text, &settings.last_system) } else { ContentHash::of(ours) };
            system_hash = Some(&*ours).filter(|ours| !ours.is_empty()).map(of);
        }
        edits.system = Some(edit);
        if !text.is_empty() {
            let is_new = turn.round == Round::Start;
            texts.insert(0, RenderedText { placement: Placement::System, is_new, follows: None, text, fragments });
        }
    }
    said.diagnostics.extend(told_of_size(settings, model, turn, &texts));
    said.diagnostics.extend(told_of_short_prefix(state, settings, model, turn));
    let Said { diagnostics, events, execution, budget, .. } = said;
    // What was tried on a copy is kept nowhere.
    let settled = settled && turn.context.purpose != Purpose::SamePrefix;
    let caller = callers_part(state, turn, opened.messages, edits.system.as_ref());
    let foreseen = state.last_sent.as_ref().map(|(before, offered, sent)| {
        let now = Prefix { caller: &caller, tools: &tools, texts: &texts };
        now.since(Prefix { caller: before, tools: offered, texts: sent })
    });
    if turn.context.purpose != Purpose::SamePrefix {
        state.last_sent = Some((caller.clone(), tools.clone(), texts.clone()));
    }
    let (round, totals) = (turn.round, Total::by_tier(&texts));
    let manifest = Manifest {
        round,
        settled,
        totals,
        budget,
        system_hash,
        texts,
        tools,
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

/// The session's start, and the request's place. Whether this request settled it.
fn settle_place(
    state: &mut State,
    turn: &Turn,
    opened: &Opened,
    (collected, entries): (Round, &[Entry]),
    fragments: &[&Fragment],
    said: &mut Said<'_>,
) -> bool {
    let renders = state.renders(collected);
    said.hold_budget(state, turn, opened, (renders, fragments));
    if renders {
        let system = said.system(state, entries, fragments, turn);
        state.start(system);
    }
    let Some(here) = opened.places.last() else {
        said.close_budget(state, turn, opened);
        return false;
    };
    let settles = !state.has_entry(here.anchor);
    if settles {
        let entry = said.entry(state, turn, opened, entries, fragments);
        state.insert(&opened.places, entry);
        if turn.round == Round::Compacted {
            state.happens(SessionEvent::Compacted);
        }
        for event in said.happened() {
            state.happens(event);
        }
    }
    said.close_budget(state, turn, opened);
    state.note_last(&opened.places);
    if let Some((held, seed)) = turn.conversation.held_by_provider.as_ref().zip(opened.seed) {
        state.note_held(held.name(), seed, here.anchor);
    }
    settles
}

/// What becomes of the caller's tools and of what they print: the tools that are described otherwise, and the results that are cut.
fn bound_tools(state: &State, turn: &Turn, newest: Option<Anchor>, entries: &[Entry], edits: &mut Edits) -> (Vec<String>, Vec<CutOutput>) {
    let Some(System { tool_descriptions, tool_output, .. }) = &state.system else { return (Vec::new(), Vec::new()) };
    let whole = if tool_output.is_some() { state.bodies_in_results(newest) } else { Vec::new() };
    edits.tool_output = tool_output.clone().map(|bound| ToolOutputBound { archive: archive(entries), whole, ..bound });
    let ours = edits.tools.iter().map(|tool| &tool.name);
    let described = turn.conversation.tools.iter().chain(ours).filter(|tool| tool_descriptions.contains_key(*tool)).cloned();
    let described = described.collect();
    (described, edits.tool_output.as_ref().map(|bound| cut(turn, bound)).unwrap_or_default())
}

/// What breaks the cached prefix.
fn rewritten(by_placement: bool, purged: Vec<SkillId>) -> impl Iterator<Item = Diagnostic> {
    let placement = "`context.placement` rewrites what was sent: from there on the provider reads this request anew";
    let by_placement = by_placement.then(|| Diagnostic::note("prefix-rewritten", placement));
    by_placement.into_iter().chain(purged.into_iter().map(|skill| {
        let message = format!("the body of `{skill}` was taken out of what had been sent: the cached prefix ends there");
        Diagnostic::warning("prefix-rewritten", message)
    }))
}

/// Of each limit one note.
fn told_of_cuts(cut: &[CutOutput]) -> Vec<Diagnostic> {
    let told = |what: CutText, name: &str| {
        let cut = || cut.iter().filter(|output| output.what == what);
        let largest = cut().max_by_key(|output| output.chars)?;
        let message = format!("{} {name} were cut to {} characters each; the largest has {}", cut().count(), largest.limit, largest.chars);
        Some(Diagnostic::note("limit", message))
    };
    [told(CutText::Result, "tool results"), told(CutText::Arguments, "malformed arguments of calls")].into_iter().flatten().collect()
}

/// What the rest of the request is known by.
fn callers_part(state: &State, turn: &Turn, messages: Arc<[CallersMessage]>, system: Option<&SystemEdit>) -> CallersPart {
    let key = &state.memory.key;
    let conversation = &turn.conversation;
    // What a caller kept may hold ours.
    let ours = state.system.as_ref().map(|system| &*system.tools).unwrap_or_default();
    let own_tools: Vec<&String> = conversation.tools.iter().filter(|name| ours.iter().all(|tool| tool.name != **name)).collect();
    let own = conversation.system.as_deref().map(|text| system.map_or(text, |system| system.callers(text)));
    CallersPart {
        key: Some(key.mark()),
        is_history_held: conversation.held_by_provider.is_some(),
        tools: (!own_tools.is_empty()).then(|| key.hash_of(&own_tools)),
        system: own.filter(|own| !own.is_empty()).map(|own| key.hash_of(own)),
        messages,
    }
}

fn cache_marks(state: &State, turn: &Turn, places: &[Place], model: ModelFacts) -> CacheMarks {
    let settled = || places.iter().rev().filter_map(|place| Some((place, state.entries.get(&place.anchor)?)));
    CacheMarks {
        minimum: model.cache_minimum(),
        stable: state.system.as_ref().map_or(0, |system| system.stable),
        previous: settled().nth(1).map(|(place, _)| place.at),
        ended: settled().filter(|(_, entry)| !entry.came_marked).map(|(place, _)| (place.at, place.role)).collect(),
        system_came_unmarked: state.system.as_ref().is_some_and(|system| !system.came_marked),
        key: (turn.provider() == Some("openai")).then(|| state.memory.key.public_name()),
    }
}

/// Of the layer whose bound stands.
fn archive(entries: &[Entry]) -> Option<Arc<dyn ToolOutputArchive>> {
    let bound = entries.iter().find_map(|entry| if let Entry::BoundsToolOutput(bound) = entry { Some(bound) } else { None });
    bound?.archive.clone()
}

/// The results and the arguments that the wire cuts.
fn cut(turn: &Turn, bound: &ToolOutputBound) -> Vec<CutOutput> {
    let messages = &turn.conversation.messages;
    let cut = |what, limit: Option<NonZeroUsize>, (message, chars): (usize, usize)| {
        let limit = limit?.get();
        (chars > limit).then_some(CutOutput { message, what, chars, limit })
    };
    let results = messages.iter().flat_map(|message| {
        let is_whole = |result: usize| message.skill_blocks.iter().any(|(held, block)| *held == result && bound.keeps_whole(block));
        message.result_chars.iter().enumerate().filter(move |(result, _)| !is_whole(*result)).map(|(_, size)| *size)
    });
    let arguments = messages.iter().flat_map(|message| message.malformed_argument_chars.iter().copied());
    let results = results.filter_map(|size| cut(CutText::Result, bound.max_chars, size));
    results.chain(arguments.filter_map(|size| cut(CutText::Arguments, bound.max_malformed_argument_chars, size))).collect()
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
            let (placement, follows) = (Placement::BehindMessage(place.at), Some(place.ordinal));
            texts.push(RenderedText { placement, is_new, follows, text: text.clone(), fragments });
            appends.push(Append { at: place.at, spot: place.spot, text });
        }
    }
    appends.reverse();
    texts.reverse();
    (appends, texts)
}

/// Of equal ids the first layer's fragment. Without skills that were switched off since the request was opened.
fn fragments<'a>(state: &State, opened: u64, entries: &'a [Entry]) -> Vec<&'a Fragment> {
    let is_overtaken = |f: &Fragment| {
        let activated = if let Some(Effect::Activates(skill)) = &f.effect { Some(skill.id.as_str()) } else { None };
        f.id.strip_prefix(ACTIVE_SKILL).into_iter().chain(activated).any(|skill| state.is_switched_off_since(skill, opened))
    };
    let mut ids = HashSet::<_, BuildHasherDefault<Passed>>::with_capacity_and_hasher(entries.len(), BuildHasherDefault::default());
    let mut kept = Vec::with_capacity(entries.len());
    let all = entries.iter().filter_map(|entry| if let Entry::Fragment(f) = entry { Some(f) } else { None });
    kept.extend(all.filter(|fragment| ids.insert(&fragment.id)));
    if state.has_switched_off() {
        kept.retain(|f| !is_overtaken(f));
    }
    // What stands ahead of bodies says nothing without one.
    if !kept.iter().any(|f| f.id.starts_with(ACTIVE_SKILL)) {
        kept.retain(|f| &*f.id != ACTIVE_SKILLS);
    }
    kept
}
