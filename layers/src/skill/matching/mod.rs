//! Which skills a text speaks of, how surely, and why.
//!
//! One automaton holds the keywords, ids and names of all skills, one set of regular expressions their trigger patterns, one set of globs their
//! file patterns; an index holds the words of their names and descriptions, since most skills declare nothing else. All are built once a snapshot, when
//! they are first asked for. A keyword matches as a run of whole tokens: `rust` is not in `trust`; `c++`, `/linear` and `.net` match as such; a
//! hyphen, an underline and blanks between two words are one; scripts that write no spaces match inside a run. What stands in code or in a quotation
//! counts for less.

mod files;
mod folded;
mod needles;
mod patterns;
#[cfg(test)]
mod tests;
mod words;

use super::{Skill, SkillId, SkillSummary};
use crate::prompt::Diagnostic;
use files::Files;
pub(crate) use folded::{Folded, is_unspaced};
use needles::{Needle, Needles};
use patterns::Patterns;
pub use patterns::trigger_pattern_fault;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use words::{Fits, Typed, Words};

/// A match with a lower score is too weak to be suggested.
pub const SUGGESTION_THRESHOLD: f32 = 0.4;

/// Of a longer text the beginning and the end are looked at, three parts to one.
pub const MAX_MATCHED_BYTES: usize = 64 * 1024;

/// Matches beyond these are the weakest of too many.
const MAX_MATCHES: usize = 24;

/// By words alone.
const WORTH_TELLING: f32 = SUGGESTION_THRESHOLD / 4.0;

/// What matched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SkillEvidenceKind {
    /// A trigger pattern, of the skill or of the configuration.
    Pattern,
    /// A keyword.
    Keyword,
    /// The id.
    Id,
    /// The name.
    Name,
    /// A file pattern: the host or the text names such a file.
    File,
    /// A word of the id, the name, the keywords or the description. Of negative weight: the description says that the skill is not for this.
    Word,
}

/// One thing that matched.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillEvidence {
    /// What kind of thing.
    pub kind: SkillEvidenceKind,
    /// The keyword, id, name or pattern, as the skill writes it; a word as it stands in the text.
    pub what: String,
    /// What it adds to the score.
    pub weight: f32,
    /// Only in code or in a quotation, where it counts for less.
    pub quoted: bool,
}

/// A skill that a text speaks of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillMatch {
    /// Which.
    pub id: SkillId,
    /// The sum of its evidence.
    pub score: f32,
    /// What matched, the weightiest first.
    pub evidence: Vec<SkillEvidence>,
    /// Strong enough to activate: a trigger pattern, a keyword of several words, or two different keywords, outside quotations. Words of descriptions
    /// never are.
    pub is_strong: bool,
}

/// Finds the skills that a text speaks of.
pub struct Matcher {
    summaries: Vec<Arc<SkillSummary>>,
    needles: Needles,
    patterns: Patterns,
    files: Files,
    /// Not needed to know what is ignored.
    words: OnceLock<Words>,
    diagnostics: Vec<Diagnostic>,
}

/// What of a skill matched, but for words.
enum Declared<'a> {
    Needle(&'a Needle, bool),
    /// A pattern or a file pattern.
    Pattern(SkillEvidenceKind, &'a str),
}

impl Declared<'_> {
    fn weight(&self) -> f32 {
        match self {
            Self::Needle(needle, quoted) => halved(needle.weight, *quoted),
            Self::Pattern(SkillEvidenceKind::Pattern, _) => 1.0,
            Self::Pattern(..) => 0.5,
        }
    }
    fn evidence(&self) -> SkillEvidence {
        let (kind, what, quoted) = match self {
            Self::Needle(needle, quoted) => (needle.kind, &*needle.what, *quoted),
            Self::Pattern(kind, pattern) => (*kind, *pattern, false),
        };
        SkillEvidence { kind, what: what.to_owned(), weight: self.weight(), quoted }
    }
}

fn is_strong(declared: &[(u32, Declared<'_>)]) -> bool {
    let mut keywords = 0;
    declared.iter().any(|(_, found)| match found {
        Declared::Pattern(kind, _) => *kind == SkillEvidenceKind::Pattern,
        Declared::Needle(needle, quoted) if needle.kind == SkillEvidenceKind::Keyword && !quoted => {
            keywords += 1;
            needle.is_phrase || keywords == 2
        }
        Declared::Needle(..) => false,
    })
}

impl Matcher {
    /// Over these skills; those that the model may not see are left out.
    pub fn new<'a>(skills: impl IntoIterator<Item = &'a Skill>) -> Self {
        let summaries: Vec<Arc<SkillSummary>> =
            skills.into_iter().map(|skill| &skill.summary).filter(|summary| summary.is_for_the_model()).cloned().collect();
        let all = || summaries.iter().map(|summary| &**summary);
        let mut diagnostics = Vec::new();
        let needles = Needles::of(all(), &mut diagnostics);
        let patterns = Patterns::of(all(), &mut diagnostics);
        let files = Files::of(all(), &mut diagnostics);
        Self { needles, patterns, files, words: OnceLock::new(), diagnostics, summaries }
    }

    /// What a matcher over these skills would ignore, without building its automaton.
    pub(crate) fn ignored<'a>(skills: impl IntoIterator<Item = &'a Skill>) -> Vec<Diagnostic> {
        let all: Vec<&SkillSummary> =
            skills.into_iter().map(|skill| &*skill.summary).filter(|summary| summary.is_for_the_model()).collect();
        let mut diagnostics = Vec::new();
        needles::declared(all.iter().copied(), &mut diagnostics);
        Patterns::of(all.iter().copied(), &mut diagnostics);
        Files::of(all.iter().copied(), &mut diagnostics);
        diagnostics
    }

    /// What was ignored while it was built.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The skills that `text` speaks of, the surest first, of equal scores by id; 24 at most. Of a text longer than [`MAX_MATCHED_BYTES`] just
    /// its ends are looked at.
    pub fn find(&self, text: &str) -> Vec<SkillMatch> {
        self.find_with_files(text, &[])
    }

    /// The skills that `text`, or one of these paths, speaks of. See [`find`](Self::find).
    pub fn find_with_files(&self, text: &str, files: &[String]) -> Vec<SkillMatch> {
        let text = excerpt(text);
        let words = self.words.get_or_init(|| Words::of(self.summaries.iter().map(|summary| &**summary)));
        let typed = Typed::of(&text);
        self.matches(&self.declared(&text, files), &words.fits(&typed))
    }

    /// As [`find_with_files`](Self::find_with_files), by what skills declare alone: keywords, ids, names and patterns. Takes half the time; what is
    /// [strong](SkillMatch::is_strong) is so by these.
    pub fn find_declared(&self, text: &str, files: &[String]) -> Vec<SkillMatch> {
        self.matches(&self.declared(&excerpt(text), files), &Fits::none(&Typed::default()))
    }

    fn matches(&self, declared: &[(u32, Declared<'_>)], fits: &Fits<'_>) -> Vec<SkillMatch> {
        let of_words = |skill: u32| fits.of(skill).map_or(0.0, |fit| fit.score);
        let of_skill = |skill: u32| {
            let from = declared.partition_point(|(other, _)| *other < skill);
            &declared[from..from + declared[from..].partition_point(|(other, _)| *other == skill)]
        };
        let declared_by = declared.chunk_by(|a, b| a.0 == b.0).map(|found| {
            let weight: f32 = found.iter().map(|(_, found)| found.weight()).sum();
            (found[0].0, weight + of_words(found[0].0))
        });
        let mut scores: Vec<(u32, f32)> = declared_by.collect();
        let by_words = fits.iter().filter(|fit| fit.score >= WORTH_TELLING && of_skill(fit.skill).is_empty());
        scores.extend(by_words.map(|fit| (fit.skill, fit.score)));
        let surest = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then_with(|| self.id(a.0).cmp(self.id(b.0)));
        if scores.len() > MAX_MATCHES {
            scores.select_nth_unstable_by(MAX_MATCHES, surest);
            scores.truncate(MAX_MATCHES);
        }
        scores.sort_unstable_by(surest);
        let told = |(skill, score): (u32, f32)| {
            let found = of_skill(skill);
            let mut evidence: Vec<SkillEvidence> = found.iter().map(|(_, found)| found.evidence()).collect();
            evidence.extend(fits.of(skill).into_iter().flat_map(|fit| fits.why(fit)).map(of_word));
            evidence.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| (a.kind, &a.what).cmp(&(b.kind, &b.what))));
            SkillMatch { id: self.id(skill).clone(), score, evidence, is_strong: is_strong(found) }
        };
        scores.into_iter().map(told).collect()
    }

    fn id(&self, skill: u32) -> &SkillId {
        &self.summaries[skill as usize].id
    }

    /// In the order of the skills.
    fn declared(&self, text: &str, files: &[String]) -> Vec<(u32, Declared<'_>)> {
        let needles = self.needles.find(&Folded::of(text));
        let mut declared: Vec<(u32, Declared<'_>)> =
            needles.into_iter().map(|(needle, quoted)| (needle.skill, Declared::Needle(needle, quoted))).collect();
        let patterns = self.patterns.find(text);
        declared.extend(patterns.map(|(skill, pattern)| (skill, Declared::Pattern(SkillEvidenceKind::Pattern, pattern))));
        let files = self.files.find(text, files).into_iter();
        declared.extend(files.map(|(skill, pattern)| (skill, Declared::Pattern(SkillEvidenceKind::File, pattern))));
        declared.sort_by_key(|(skill, _)| *skill);
        declared
    }
}

impl std::fmt::Debug for Matcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Matcher").field("skills", &self.summaries.len()).finish_non_exhaustive()
    }
}

fn of_word((word, weight, quoted): (&str, f32, bool)) -> SkillEvidence {
    SkillEvidence { kind: SkillEvidenceKind::Word, what: word.to_owned(), weight, quoted }
}

fn halved(weight: f32, quoted: bool) -> f32 {
    if quoted { weight / 2.0 } else { weight }
}

/// What is looked at.
fn excerpt(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_MATCHED_BYTES {
        return Cow::Borrowed(text);
    }
    let (head, tail) = ends(text, MAX_MATCHED_BYTES / 4 * 3, MAX_MATCHED_BYTES / 4);
    // No run of tokens goes across.
    Cow::Owned([head, "\n\0\n", tail].concat())
}

/// At most so many bytes of it.
fn beginning(text: &str, most: usize) -> &str {
    if text.len() <= most { text } else { ends(text, most, 0).0 }
}

/// So many bytes of a longer text's beginning and end; what a cut would tear is left out.
fn ends(text: &str, head: usize, tail: usize) -> (&str, &str) {
    let (mut head, mut tail) = (head.min(text.len()), text.len().saturating_sub(tail));
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    let (head, tail) = (&text[..head], &text[tail..]);
    let is_torn = |c: char| c.is_alphanumeric() && !folded::is_unspaced(c);
    (head.trim_end_matches(is_torn), tail.trim_start_matches(is_torn))
}
