//! `[invariants]`.

use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::time::Duration;

/// `[invariants]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InvariantsConfig {
    /// `false` stops loading, reminders and selector in both modes.
    pub enabled: bool,
    /// All of them, or those that a selector chose.
    pub mode: InvariantsMode,
    /// How many a selector may choose.
    pub max_selected: NonZeroUsize,
    /// Whether the selector's summary of the task is sent too.
    pub include_task_summary: bool,
    /// `[invariants.selector]`.
    pub selector: SelectorConfig,
}

/// `invariants.mode`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InvariantsMode {
    /// All, in the system prompt.
    Full,
    /// Those that a selector chose for the task.
    Relevant,
}

/// `[invariants.selector]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SelectorConfig {
    /// Which model selects; `None`: the active one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_profile: Option<String>,
    /// Milliseconds for a selection that the request waits for; `None`: no deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_timeout_ms: Option<NonZeroUsize>,
    /// Milliseconds for a selection in the background; `None`: no deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_timeout_ms: Option<NonZeroUsize>,
    /// Whether the next prompt waits for a selection in the background.
    pub wait_for_background_on_next_prompt: bool,
    /// Whether a selection that is late is cancelled.
    pub cancel_on_timeout: bool,
    /// Whether a selection for an older prompt is cancelled.
    pub cancel_stale: bool,
    /// What stands where a selection is late.
    pub on_timeout: OnSelectorTimeout,
}

impl SelectorConfig {
    /// [`SelectorConfig::initial_timeout_ms`] as a duration.
    pub fn initial_timeout(&self) -> Option<Duration> {
        self.initial_timeout_ms.map(milliseconds)
    }
    /// [`SelectorConfig::background_timeout_ms`] as a duration.
    pub fn background_timeout(&self) -> Option<Duration> {
        self.background_timeout_ms.map(milliseconds)
    }
}

fn milliseconds(count: NonZeroUsize) -> Duration {
    Duration::from_millis(u64::try_from(count.get()).unwrap_or(u64::MAX))
}

/// `invariants.selector.on_timeout`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnSelectorTimeout {
    /// All invariants.
    Full,
    /// What was selected last.
    Previous,
    /// A selection without a model.
    Deterministic,
    /// Nothing.
    None,
}
