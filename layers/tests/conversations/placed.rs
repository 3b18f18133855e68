//! Where texts of ours stand, and which of them still do, by the placement's rule alone.

use crate::messages::Key;
use crate::run::{Run, Settled};
use tower_prompt_layers::wire::GAP;
use tower_prompt_layers::{Manifest, Round, TextPlacement};

/// What was said in a branch, and at which of its places a turn began.
#[derive(Clone, Default)]
pub(crate) struct Said {
    pub(crate) texts: Vec<Option<String>>,
    pub(crate) turns: Vec<bool>,
}

impl Said {
    /// What of it stands in a request: in `latest` what was said since the turn began, which is at the newest settled place behind a message of the
    /// user's, or where the history was compacted.
    pub(crate) fn shown(&self, placement: TextPlacement) -> Vec<Option<String>> {
        let from = self.turns.iter().rposition(|begins| *begins).filter(|_| placement == TextPlacement::Latest).unwrap_or(0);
        self.texts.iter().enumerate().map(|(n, text)| text.clone().filter(|_| n >= from)).collect()
    }
}

impl Run {
    /// What was said in a branch, whether it still stands there or not.
    pub(crate) fn said(&self, held: &[Key]) -> Said {
        let said = |settled: &Settled| Said { texts: settled.texts.clone(), turns: settled.turns.clone() };
        self.settled.get(held).map(said).unwrap_or_default()
    }
    /// What stands in a request that goes on from there.
    pub(crate) fn shown(&self, held: &[Key]) -> Vec<Option<String>> {
        self.said(held).shown(self.placement)
    }
    /// What a new text is told against: where it begins a turn, nothing of another turn's stands beside it in `latest`.
    pub(crate) fn told(&self, held: &[Key], round: Round) -> Vec<Option<String>> {
        let is_new_turn = matches!(round, Round::User | Round::Compacted);
        if is_new_turn && self.placement == TextPlacement::Latest { Vec::new() } else { self.shown(held) }
    }
    /// Our part of the system prompt.
    pub(crate) fn system(&self, ours: &str, texts: &[Option<String>]) -> String {
        let is_in_front = self.placement == TextPlacement::Front;
        let said = texts.iter().flatten().map(String::as_str).filter(|_| is_in_front);
        let all: Vec<&str> = [ours].into_iter().chain(said).filter(|text| !text.is_empty()).collect();
        all.join(GAP)
    }
    /// The caller's words behind it, unless they are our first text alone, which says nothing twice.
    pub(crate) fn callers_system(&self, own: Option<&'static str>, ours: Option<&str>) -> Option<&'static str> {
        own.filter(|own| self.placement != TextPlacement::Front || Some(*own) != ours)
    }
    /// What stands behind messages.
    pub(crate) fn behind_messages(&self, texts: &[Option<String>]) -> Vec<Option<String>> {
        texts.iter().map(|text| text.clone().filter(|_| self.placement != TextPlacement::Front)).collect()
    }

    /// Where a placement rewrites what was sent, the manifest says so; `append` never does.
    pub(crate) fn says_what_it_rewrites(
        &self,
        manifest: &Manifest,
        before: &[Option<String>],
        now: &[Option<String>],
    ) -> Result<(), String> {
        let is_said = manifest.diagnostics.iter().any(|found| found.code == "prefix-rewritten");
        let is_new = now.iter().flatten().count() > before.iter().flatten().count();
        let is_rewritten = match self.placement {
            TextPlacement::Front => is_new && !before.is_empty(),
            _ => now[..before.len()] != *before,
        };
        match self.placement {
            TextPlacement::Append if is_said => Err("nothing is rewritten, and it says so".into()),
            TextPlacement::Latest | TextPlacement::Front if is_rewritten && manifest.settled && !is_said => {
                Err("it does not say that it rewrites what was sent".into())
            }
            _ => Ok(()),
        }
    }
}
