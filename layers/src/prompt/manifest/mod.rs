//! What was sent, fragment by fragment.

mod budget;
mod diff;
mod hash;
mod prefix;
mod rendered;
mod report;
mod tools;

use super::fragment::Tier;
use super::{Diagnostic, Round};
use crate::skill::{ExecutionOptions, SkillActivationMode, SkillId};
pub use budget::{BudgetKind, BudgetOutcome, ShedFragment};
pub use diff::{FragmentChange, FragmentFate, ManifestDiff, ToolChange};
pub use hash::ContentHash;
pub(crate) use prefix::Prefix;
pub use prefix::{CallersMessage, CallersPart, CallersPlace, FirstChange, Foreseen};
pub use rendered::{LimitKind, LimitOutcome, Placement, RenderedFragment, RenderedText};
pub use report::{Report, TokenUsage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
pub use tools::{RenderedTool, ToolLeftOut};

/// What of a call is sent cut.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CutText {
    /// The result.
    Result,
    /// Arguments that are no JSON.
    Arguments,
}

/// A tool result, or a call's malformed arguments, that is sent cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CutOutput {
    /// The message that it stands in, by its position in the request as it came.
    pub message: usize,
    /// What it is.
    pub what: CutText,
    /// Characters of the whole.
    pub chars: usize,
    /// Characters that may be sent.
    pub limit: usize,
}

/// Something that took effect with the text that says it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A skill was suggested to the model.
    SkillSuggested {
        /// Which.
        id: SkillId,
    },
    /// A skill came into force.
    SkillActivated {
        /// Which.
        id: SkillId,
        /// By whom.
        mode: SkillActivationMode,
    },
    /// The model put down a skill that it had loaded.
    SkillPutDown {
        /// Which.
        id: SkillId,
    },
    /// Invariants were chosen for the task.
    InvariantsSelected {
        /// Their numbers in the document.
        numbers: Vec<usize>,
    },
}

/// What was sent: all of our texts in a request, byte for byte, and what was noticed on the way.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// What the request was to its conversation.
    pub round: Round,
    /// This request settled its place; false where the place stood already, or there was none.
    pub settled: bool,
    /// Tokens and the like, by tier.
    pub totals: BTreeMap<Tier, Total>,
    /// What the budget of this round did, where one is set: at a session's start, and where it was compacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetOutcome>,
    /// Of our system prompt; `None` where there is none.
    pub system_hash: Option<ContentHash>,
    /// Our texts in the order in which they stand.
    pub texts: Vec<RenderedText>,
    /// The tools that layers proposed when the session began, in the layers' order: those that stand behind the caller's, and those that were left out.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub tools: Arc<[RenderedTool]>,
    /// The tools whose descriptions were changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub described_tools: Vec<String>,
    /// The tool results that were cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_outputs: Vec<CutOutput>,
    /// What took effect.
    pub events: Vec<Event>,
    /// What the skills activated here ask of the call.
    pub execution: ExecutionOptions,
    /// What the rest of the request is known by.
    pub caller: CallersPart,
    /// How much of it the request before had already; none where no request before is known (the first one, a program that was started anew).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreseen: Option<Foreseen>,
    /// What was noticed.
    pub diagnostics: Vec<Diagnostic>,
}

impl Manifest {
    /// All fragments, each with its placement.
    pub fn fragments(&self) -> impl Iterator<Item = (Placement, &RenderedFragment)> {
        self.texts.iter().flat_map(|text| text.fragments.iter().map(move |fragment| (text.placement, fragment)))
    }
    /// The tools of ours that stand behind the caller's.
    pub fn added_tools(&self) -> impl Iterator<Item = &RenderedTool> {
        self.tools.iter().filter(|tool| tool.left_out.is_none())
    }
    /// The ids of what this request says for the first time, in order.
    pub fn said(&self) -> Vec<&str> {
        self.texts.iter().filter(|text| text.is_new).flat_map(|text| text.fragments.iter().map(|f| f.id.as_str())).collect()
    }
    /// Tokens by tier, as the stack's counter counts each fragment.
    pub fn tokens_by_tier(&self) -> BTreeMap<Tier, usize> {
        self.totals.iter().map(|(tier, total)| (*tier, total.tokens)).collect()
    }
    /// All tokens of ours, as the stack's counter counts each fragment.
    pub fn tokens(&self) -> usize {
        self.totals.values().fold(0, |all, total| all.saturating_add(total.tokens))
    }
    /// What became of `previous`, the manifest of an earlier request of this conversation.
    pub fn diff(&self, previous: &Self) -> ManifestDiff {
        ManifestDiff::of(previous, self)
    }

    pub(crate) fn prefix(&self) -> Prefix<'_> {
        Prefix { caller: &self.caller, tools: &self.tools, texts: &self.texts }
    }
}

/// What the fragments of a tier come to.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Total {
    /// How many there are.
    pub fragments: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Their Unicode scalar values.
    pub chars: usize,
    /// Their tokens, each counted by itself.
    pub tokens: usize,
}

impl Total {
    pub(crate) fn by_tier(texts: &[RenderedText]) -> BTreeMap<Tier, Self> {
        const TIERS: [Tier; 4] = [Tier::Stable, Tier::Session, Tier::Turn, Tier::Step];
        let mut totals = [Self::default(); TIERS.len()];
        for fragment in texts.iter().flat_map(|text| text.fragments.iter()) {
            let total = &mut totals[fragment.tier as usize];
            total.fragments += 1;
            total.bytes += fragment.bytes;
            total.chars += fragment.chars;
            total.tokens += fragment.tokens;
        }
        TIERS.into_iter().zip(totals).filter(|(_, total)| total.fragments > 0).collect()
    }
}
