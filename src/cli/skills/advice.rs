//! What a host may make of a skill's permission hints, as `skills info` tells it.

use crate::layers::skill::{Advice, HintEvaluator, SkillPermissionHints};
use serde::Serialize;

/// A hint and what is suggested.
#[derive(Serialize)]
pub(super) struct Advised {
    hint: String,
    #[serde(flatten)]
    advice: Advice,
}

/// For each hint.
pub(super) fn of(hints: &SkillPermissionHints) -> Vec<Advised> {
    HintEvaluator::default().overview(hints).into_iter().map(|(hint, advice)| Advised { hint, advice }).collect()
}

/// In few words; `None` where the skill says nothing of what it needs.
pub(super) fn in_a_line(hints: &SkillPermissionHints) -> Option<String> {
    let all: Vec<String> = of(hints).iter().map(|of| format!("{} {}", of.advice.suggestion, of.hint)).collect();
    (!hints.is_empty()).then(|| all.join(", "))
}
