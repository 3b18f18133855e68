//! What a budget did.

use serde::{Deserialize, Serialize};

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum BudgetKind {
    /// Of what is added at the start: `budget.max_prompt_tokens`.
    Prompt,
    /// Of what stands behind messages, at a compaction: `budget.max_anchored_tokens`.
    Anchored,
}

impl BudgetKind {
    /// The key of the configuration.
    pub fn key(self) -> &'static str {
        match self {
            Self::Prompt => "budget.max_prompt_tokens",
            Self::Anchored => "budget.max_anchored_tokens",
        }
    }
}

/// What a budget did where it was held to. All in tokens, by the stack's counter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BudgetOutcome {
    /// Which one.
    pub kind: BudgetKind,
    /// As configured.
    pub limit: usize,
    /// What all of it would take, each text counted with what stands around it.
    pub before: usize,
    /// What it takes, the texts counted whole. Over the limit where what never sheds is.
    pub after: usize,
    /// What said less for it, in the order in which it stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shed: Vec<ShedFragment>,
}

/// A fragment that said less for a budget.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShedFragment {
    /// Its id.
    pub id: String,
    /// Tokens of it without the budget.
    pub before: usize,
    /// Tokens that stand in the request; 0: nothing of it.
    pub after: usize,
    /// Whole items that were left out, where the text is made of items.
    #[serde(default)]
    pub items_left_out: usize,
}
