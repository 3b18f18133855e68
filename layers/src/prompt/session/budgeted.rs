//! A session's budgets: what sheds at its start, and which facts are not said again when it is compacted.

use super::Opened;
use super::said::{Said, begins_a_turn, parent};
use super::state::State;
use crate::prompt::budget::{Standing, TailTags, shed, total};
use crate::prompt::fragment::{ACTIVE_SKILL, Effect, Fragment, Tier};
use crate::prompt::manifest::{BudgetKind, BudgetOutcome, RenderedText, ShedFragment};
use crate::prompt::{Diagnostic, Round, Settings, Turn};
use crate::skill::ACTIVE_SKILLS;
use crate::wire::{BYTES_A_TOKEN, ModelFacts, bytes_of_tools};
use std::collections::BTreeMap;

impl Said<'_> {
    /// Decides what says less, ahead of what is said.
    pub(super) fn hold_budget(&mut self, state: &mut State, turn: &Turn, opened: &Opened, (renders, fragments): (bool, &[&Fragment])) {
        let budget = self.settings.budget;
        let is_start = turn.round == Round::Start && renders;
        let (kind, limit) = match (turn.round, budget.max_prompt_tokens, budget.max_anchored_tokens) {
            (Round::Start, Some(limit), _) if is_start => (BudgetKind::Prompt, limit),
            (Round::Compacted, _, Some(limit)) => (BudgetKind::Anchored, limit),
            _ => return,
        };
        let settles = opened.tail_takes_text && opened.places.last().is_some_and(|here| !state.has_entry(here.anchor));
        if kind == BudgetKind::Anchored && !settles {
            return;
        }
        let parent = parent(state, opened);
        let told = state.told(parent, &turn.conversation, self.settings.placement, (begins_a_turn(turn, opened), !renders));
        let state = &*state;
        let has_body = fragments.iter().any(|f| f.id.starts_with(ACTIVE_SKILL));
        let in_system = |f: &Fragment| is_start && self.stands_in_system(f, turn);
        let is_news = |f: &Fragment| {
            let is_held = turn.conversation.system_is_held && f.tier <= Tier::Session;
            !is_held && told.get(&f.id) != Some(&*f.value()) && (has_body || &*f.id != ACTIVE_SKILLS)
        };
        let stands = |f: &&&Fragment| in_system(f) || (settles && is_news(f));
        let standing = fragments.iter().filter(stands).map(|f| Standing::new(f, self.limit(f), !in_system(f), self.counter));
        let mut standing: Vec<Standing<'_>> = standing.collect();
        let tags = TailTags::new(self.counter);
        let tokens: Vec<usize> = standing.iter().map(|text| text.tokens).collect();
        let mut all = total(&standing, &tags);
        if kind == BudgetKind::Prompt {
            shed(&mut standing, limit, self.counter);
        } else {
            let held = self.held(state, turn, opened);
            let ages = Ages::of(state);
            forget(&mut standing, |f| ages.of_fragment(f), limit.saturating_sub(held), &tags);
            all += held;
        }
        let mut outcome = BudgetOutcome { kind, limit, before: all, after: all, shed: Vec::new() };
        for (text, before) in standing.into_iter().zip(tokens) {
            let Some(shed) = text.shed else { continue };
            let (id, items_left_out) = (text.fragment.id.to_string(), shed.fitted.items_left_out);
            outcome.shed.push(ShedFragment { id, before, after: text.tokens, items_left_out });
            self.shed.insert((&text.fragment.id).into(), shed);
        }
        self.budget = Some(outcome);
    }

    /// Tokens at the anchors that a request still holds.
    fn held(&self, state: &State, turn: &Turn, opened: &Opened) -> usize {
        let shown = state.shown(state.newest(&opened.places), self.settings.placement, true);
        shown.filter(|(_, entry)| entry.stands_in(&turn.conversation)).map(|(_, entry)| self.counter.count(&entry.text)).sum()
    }

    /// What all of it came to, once it is rendered.
    pub(super) fn close_budget(&mut self, state: &State, turn: &Turn, opened: &Opened) {
        let Some(mut outcome) = self.budget.take() else { return };
        let system = state.system.as_ref().filter(|_| outcome.kind == BudgetKind::Prompt && !turn.conversation.system_is_held);
        let new = opened.places.last().and_then(|here| state.entries.get(&here.anchor)).map_or(0, |entry| self.counter.count(&entry.text));
        outcome.after = match outcome.kind {
            BudgetKind::Prompt => system.map_or(0, |system| self.counter.count(&system.text)) + new,
            // The new entry is among them.
            BudgetKind::Anchored => self.held(state, turn, opened),
        };
        let BudgetOutcome { kind, limit, after, .. } = &outcome;
        if after > limit {
            let message = format!("what never sheds takes {after} tokens, and `{}` is {limit}", kind.key());
            self.diagnostics.push(Diagnostic::warning("budget-exceeded", message));
        }
        self.budget = Some(outcome);
    }
}

/// How long ago facts were told, in entries of the branch of the last request.
struct Ages<'s>(BTreeMap<&'s str, usize>);

impl<'s> Ages<'s> {
    fn of(state: &'s State) -> Self {
        let mut ages = BTreeMap::new();
        for (age, (_, entry)) in state.branch(state.last()).enumerate() {
            for id in entry.values.keys() {
                ages.entry(&**id).or_insert(age + 1);
            }
        }
        Self(ages)
    }
    /// What was never told is new.
    fn of_fragment(&self, fragment: &Fragment) -> usize {
        self.0.get(&*fragment.id).copied().unwrap_or_default()
    }
}

/// The oldest facts go whole, until the others take no more than `room`.
fn forget(standing: &mut [Standing<'_>], age: impl Fn(&Fragment) -> usize, room: usize, tags: &TailTags) {
    let is_skill =
        |f: &Fragment| f.id.starts_with(ACTIVE_SKILL) || &*f.id == ACTIVE_SKILLS || matches!(f.effect, Some(Effect::Activates(_)));
    // What stands at the start and states no rank is what a session cannot do without.
    let may_go = |f: &Fragment| !f.is_fixed && f.pool.is_none() && !is_skill(f) && (f.shedding.is_some() || f.tier > Tier::Session);
    let mut order: Vec<usize> = (0..standing.len()).filter(|n| may_go(standing[*n].fragment)).collect();
    order.sort_by_key(|n| {
        let fragment = standing[*n].fragment;
        (std::cmp::Reverse(age(fragment)), fragment.shedding.is_none(), fragment.shedding.map(|shedding| shedding.rank))
    });
    for n in order {
        if total(standing, tags) <= room {
            return;
        }
        standing[n].drop_whole();
    }
}

/// What the manifest says of how much there is, once: where it grows over its bound.
pub(super) fn told_of_size(settings: &Settings, facts: ModelFacts, turn: &Turn, texts: &[RenderedText]) -> Vec<Diagnostic> {
    let tokens = |counts: &dyn Fn(&RenderedText) -> bool| -> usize {
        texts.iter().filter(|text| counts(text)).flat_map(|text| text.fragments.iter()).map(|fragment| fragment.tokens).sum()
    };
    let (is_anchored, budget) = (|text: &RenderedText| text.follows.is_some(), settings.budget);
    let outgrows = |bound: usize, all: usize, new: usize| all > bound && all.saturating_sub(new) <= bound;
    let mut told = Vec::new();
    let (anchored, new) = (tokens(&is_anchored), tokens(&|text| is_anchored(text) && text.is_new));
    if let Some(limit) = budget.max_anchored_tokens.filter(|limit| turn.round != Round::Compacted && outgrows(*limit, anchored, new)) {
        let message = format!(
            "{anchored} tokens stand behind messages, and `budget.max_anchored_tokens` is {limit}: the oldest facts go at the next compaction"
        );
        told.push(Diagnostic::note("anchors-outgrown", message));
    }
    let is_held_otherwise = if turn.round == Round::Start { budget.max_prompt_tokens } else { budget.max_anchored_tokens }.is_some();
    if let Some(window) = facts.context_window().filter(|_| !is_held_otherwise) {
        let (all, new) = (tokens(&|_| true), tokens(&|text| text.is_new));
        if outgrows(window / 5, all, new) {
            let model = turn.model().map(crate::text::escape::text).unwrap_or_default();
            let message =
                format!("{all} tokens are added, more than a fifth of the {window} that `{model}` reads; `budget` can hold them to less");
            told.push(Diagnostic::warning("prompt-large", message));
        }
    }
    told
}

/// A prefix that is too short to be kept, where a session starts: it is told once, and not again while the conversation grows.
pub(super) fn told_of_short_prefix(state: &State, settings: &Settings, facts: ModelFacts, turn: &Turn) -> Option<Diagnostic> {
    let ahead = turn.conversation.unmarked_bytes.filter(|_| settings.marks_caches && turn.round == Round::Start)?;
    let ours = state.system.as_ref().map_or(0, |system| system.text.len() + bytes_of_tools(&system.tools));
    let tokens = (ahead + ours) / BYTES_A_TOKEN;
    let minimum = facts.cache_minimum();
    let message = format!(
        "tools and system prompt come to about {tokens} tokens, and the provider keeps prefixes from {minimum} on: they are not marked as one to keep"
    );
    (tokens < minimum).then(|| Diagnostic::note("prefix-too-short", message))
}
