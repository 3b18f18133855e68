//! Trigger patterns of all skills as one set of regular expressions, bounded in size.

use crate::prompt::Diagnostic;
use crate::skill::SkillSummary;
use crate::text::shorten;
use regex::{RegexBuilder, RegexSet, RegexSetBuilder};

/// Compiled trigger patterns of all skills take at most so many bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Why a text is no trigger pattern; `None` where it is one. It is not blank, which nearly every text matches, and compiles, by itself within a quarter of the bytes that all patterns have together.
pub fn trigger_pattern_fault(pattern: &str) -> Option<String> {
    if pattern.trim().is_empty() {
        return Some("it is empty".to_owned());
    }
    let built = RegexBuilder::new(pattern).case_insensitive(true).size_limit(MAX_PATTERN_BYTES / 4).build();
    // The last line says what is wrong; those before it draw it.
    built.err().map(|reason| {
        let reason = reason.to_string();
        let last = reason.lines().last().unwrap_or_default().trim();
        last.strip_prefix("error: ").unwrap_or(last).to_owned()
    })
}

#[derive(Default)]
pub(super) struct Patterns {
    set: RegexSet,
    owners: Vec<(u32, String)>,
}

impl Patterns {
    pub(super) fn of<'a>(skills: impl IntoIterator<Item = &'a SkillSummary>, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut sources = Vec::new();
        for (skill, summary) in (0..).zip(skills) {
            for pattern in &summary.activation.trigger_patterns {
                match trigger_pattern_fault(pattern) {
                    None => sources.push((skill, pattern.clone())),
                    Some(reason) => {
                        let message = format!("the trigger pattern {:?} of `{}` is ignored: {reason}", shorten(pattern, 200), summary.id);
                        diagnostics.push(Diagnostic::warning("pattern-ignored", message).at(summary.location.clone()));
                    }
                }
            }
        }
        Self::within_bounds(sources, diagnostics)
    }

    /// As many as fit, in the skills' order.
    fn within_bounds(mut owners: Vec<(u32, String)>, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let all = owners.len();
        loop {
            let patterns = owners.iter().map(|(_, pattern)| pattern);
            let set = RegexSetBuilder::new(patterns).case_insensitive(true).size_limit(MAX_PATTERN_BYTES).build();
            if let Ok(set) = set {
                if owners.len() < all {
                    let message = format!("{} of {all} trigger patterns are ignored: compiled, they take over 1 MiB", all - owners.len());
                    diagnostics.push(Diagnostic::warning("patterns-ignored", message));
                }
                return Self { set, owners };
            }
            // Each compiles by itself, so an empty set is reached at the latest.
            owners.truncate(owners.len() / 2);
        }
    }

    /// The skills whose patterns match, with the pattern.
    pub(super) fn find(&self, text: &str) -> impl Iterator<Item = (u32, &str)> {
        let matched = if self.owners.is_empty() { None } else { Some(self.set.matches(text)) };
        matched.into_iter().flatten().map(|n| (self.owners[n].0, &*self.owners[n].1))
    }
}
