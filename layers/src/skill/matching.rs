//! Which skills a text speaks of, and how surely.
//!
//! One automaton holds the keywords, ids and names of all skills, one set of regular expressions their trigger patterns; both are built once a
//! snapshot. A match is a run of whole tokens: `rust` is not in `trust`; `c++`, `/linear` and `.net` match as such; a hyphen, an underline and blanks
//! between two words are one; scripts that write no spaces match inside a run.

use super::{Skill, SkillId, SkillSummary};
use crate::prompt::Diagnostic;
use crate::text::shorten;
use aho_corasick::{AhoCorasick, MatchKind};
use regex::{RegexBuilder, RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use unicode_normalization::UnicodeNormalization;

/// Compiled trigger patterns of all skills take at most so many bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Longer keywords and names are nobody's words; and to build an automaton of one that repeats itself takes the square of its length.
const MAX_NEEDLE_BYTES: usize = 256;

/// What matched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillEvidenceKind {
    /// A trigger pattern.
    Pattern,
    /// A keyword.
    Keyword,
    /// The id.
    Id,
    /// The name.
    Name,
}

/// One thing that matched.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SkillEvidence {
    /// What kind of thing.
    pub kind: SkillEvidenceKind,
    /// The keyword, id, name or pattern, as the skill writes it.
    pub what: String,
    /// What it adds to the score.
    pub weight: f32,
    /// Only in code or in a quotation, where it counts for less.
    pub quoted: bool,
}

/// A skill that a text speaks of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SkillMatch {
    /// Which.
    pub id: SkillId,
    /// The sum of its evidence.
    pub score: f32,
    /// What matched, the weightiest first.
    pub evidence: Vec<SkillEvidence>,
    /// Strong enough to activate: a trigger pattern, a keyword of several words, or two different keywords, outside quotations.
    pub is_strong: bool,
}

struct Needle {
    skill: usize,
    kind: SkillEvidenceKind,
    what: String,
    /// Of several words.
    is_phrase: bool,
}

/// Of one skill what matched: whether it is of several words, and whether it stands in quotations alone.
type Evidence<'a> = BTreeMap<(SkillEvidenceKind, &'a str), (bool, bool)>;

/// Finds the skills that a text speaks of.
pub struct Matcher {
    ids: Vec<SkillId>,
    automaton: Option<AhoCorasick>,
    /// For each pattern of the automaton.
    needles: Vec<Vec<Needle>>,
    patterns: RegexSet,
    pattern_owners: Vec<(usize, String)>,
    diagnostics: Vec<Diagnostic>,
}

impl Matcher {
    /// Over these skills; those that the model may not see are left out.
    pub fn new<'a>(skills: impl IntoIterator<Item = &'a Skill>) -> Self {
        let mut found: BTreeMap<String, Vec<Needle>> = BTreeMap::new();
        let (mut ids, mut sources, mut diagnostics) = (Vec::new(), Vec::new(), Vec::new());
        for summary in for_the_model(skills) {
            let skill = ids.len();
            ids.push(summary.id.clone());
            let keywords = summary.activation.keywords.iter().map(|keyword| (SkillEvidenceKind::Keyword, keyword.as_str()));
            let named = [(SkillEvidenceKind::Id, summary.id.as_str()), (SkillEvidenceKind::Name, summary.name.as_str())];
            for (kind, what) in keywords.chain(named) {
                let needle = match needle(what) {
                    Ok(needle) => needle,
                    Err(fault) => {
                        diagnostics.extend((kind == SkillEvidenceKind::Keyword).then(|| keyword_ignored(summary, what, fault)));
                        continue;
                    }
                };
                let same = found.entry(needle.clone()).or_default();
                if !same.iter().any(|needle| needle.skill == skill) {
                    same.push(Needle { skill, kind, what: what.to_owned(), is_phrase: needle.contains(' ') });
                }
            }
            sources.extend(sound_patterns(summary, &mut diagnostics).map(|pattern| (skill, pattern.clone())));
        }
        let (texts, needles): (Vec<String>, Vec<Vec<Needle>>) = found.into_iter().unzip();
        let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&texts);
        if let Err(reason) = &automaton {
            diagnostics.push(Diagnostic::error("keywords-ignored", format!("the keywords of all skills are ignored: {reason}")));
        }
        let (patterns, pattern_owners) = pattern_set(sources, &mut diagnostics);
        Self { ids, automaton: automaton.ok(), needles, patterns, pattern_owners, diagnostics }
    }

    /// What a matcher over these skills would ignore, without building its automaton: keywords and patterns alone are looked at.
    pub(super) fn ignored<'a>(skills: impl IntoIterator<Item = &'a Skill>) -> Vec<Diagnostic> {
        let (mut sources, mut diagnostics) = (Vec::new(), Vec::new());
        for (skill, summary) in for_the_model(skills).enumerate() {
            let faults = summary.activation.keywords.iter().filter_map(|keyword| Some((keyword, needle(keyword).err()?)));
            diagnostics.extend(faults.map(|(keyword, fault)| keyword_ignored(summary, keyword, fault)));
            sources.extend(sound_patterns(summary, &mut diagnostics).map(|pattern| (skill, pattern.clone())));
        }
        pattern_set(sources, &mut diagnostics);
        diagnostics
    }

    /// What was ignored while it was built.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The skills that `text` speaks of, the surest first; of equal scores by id.
    pub fn find(&self, text: &str) -> Vec<SkillMatch> {
        let folded = Folded::of(text);
        let mut found: BTreeMap<usize, Evidence<'_>> = BTreeMap::new();
        let mut note = |skill, kind, what, is_phrase, quoted| {
            let seen = found.entry(skill).or_default().entry((kind, what)).or_insert((is_phrase, true));
            seen.1 &= quoted;
        };
        for hit in self.automaton.iter().flat_map(|automaton| automaton.find_overlapping_iter(&folded.text)) {
            if folded.is_whole(hit.start(), hit.end()) {
                for needle in &self.needles[hit.pattern().as_usize()] {
                    note(needle.skill, needle.kind, needle.what.as_str(), needle.is_phrase, folded.quoted[hit.start()]);
                }
            }
        }
        for n in self.patterns.matches(text) {
            let (skill, pattern) = &self.pattern_owners[n];
            note(*skill, SkillEvidenceKind::Pattern, pattern.as_str(), false, false);
        }
        let mut matches: Vec<SkillMatch> = found.into_iter().map(|(skill, evidence)| self.weigh(skill, evidence)).collect();
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
        matches
    }

    fn weigh(&self, skill: usize, evidence: Evidence<'_>) -> SkillMatch {
        let (mut keywords, mut is_strong) = (0, false);
        let mut weighed: Vec<SkillEvidence> = Vec::with_capacity(evidence.len());
        for ((kind, what), (phrase, quoted)) in evidence {
            if !quoted {
                keywords += usize::from(kind == SkillEvidenceKind::Keyword);
                is_strong |= kind == SkillEvidenceKind::Pattern || (kind == SkillEvidenceKind::Keyword && phrase);
            }
            let weight = match (kind, phrase) {
                (SkillEvidenceKind::Pattern, _) => 1.0,
                (SkillEvidenceKind::Keyword | SkillEvidenceKind::Id, true) => 0.8,
                (SkillEvidenceKind::Name, true) => 0.7,
                (SkillEvidenceKind::Keyword, false) => 0.5,
                (SkillEvidenceKind::Id | SkillEvidenceKind::Name, false) => 0.4,
            };
            weighed.push(SkillEvidence { kind, what: what.to_owned(), weight: if quoted { weight / 2.0 } else { weight }, quoted });
        }
        weighed.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| (a.kind, &a.what).cmp(&(b.kind, &b.what))));
        let score = weighed.iter().map(|evidence| evidence.weight).sum();
        SkillMatch { id: self.ids[skill].clone(), score, evidence: weighed, is_strong: is_strong || keywords >= 2 }
    }
}

fn for_the_model<'a>(skills: impl IntoIterator<Item = &'a Skill>) -> impl Iterator<Item = &'a SkillSummary> {
    skills.into_iter().map(|skill| &*skill.summary).filter(|summary| summary.is_for_the_model())
}

/// What is looked for in place of a keyword, an id or a name; else what is wrong with it.
fn needle(what: &str) -> Result<String, &'static str> {
    let needle = Folded::of(what).text.trim().to_owned();
    if needle.chars().nth(1).is_none() {
        // A letter alone says nothing.
        return Err("short");
    }
    if needle.len() > MAX_NEEDLE_BYTES { Err("long") } else { Ok(needle) }
}

fn keyword_ignored(summary: &SkillSummary, keyword: &str, fault: &str) -> Diagnostic {
    let message = format!("the keyword {:?} of `{}` is too {fault} to match anything", shorten(keyword, 80), summary.id);
    Diagnostic::warning("keyword-ignored", message).at(summary.location.clone())
}

/// A skill's trigger patterns that compile within bounds.
fn sound_patterns<'s>(summary: &'s SkillSummary, diagnostics: &mut Vec<Diagnostic>) -> impl Iterator<Item = &'s String> {
    summary.activation.trigger_patterns.iter().filter(|pattern| {
        let built = RegexBuilder::new(pattern).case_insensitive(true).size_limit(MAX_PATTERN_BYTES / 4).build();
        if let Err(reason) = &built {
            let (reason, shown) = (one_line(&reason.to_string()), shorten(pattern, 200));
            let message = format!("the trigger pattern {shown:?} of `{}` is ignored: {reason}", summary.id);
            diagnostics.push(Diagnostic::warning("pattern-ignored", message).at(summary.location.clone()));
        }
        built.is_ok()
    })
}

/// As many patterns as fit the bound, in the skills' order.
fn pattern_set(mut sources: Vec<(usize, String)>, diagnostics: &mut Vec<Diagnostic>) -> (RegexSet, Vec<(usize, String)>) {
    let all = sources.len();
    loop {
        let set =
            RegexSetBuilder::new(sources.iter().map(|(_, pattern)| pattern)).case_insensitive(true).size_limit(MAX_PATTERN_BYTES).build();
        if let Ok(set) = set {
            if sources.len() < all {
                let message = format!("{} of {all} trigger patterns are ignored: compiled, they take over 1 MiB", all - sources.len());
                diagnostics.push(Diagnostic::warning("patterns-ignored", message));
            }
            return (set, sources);
        }
        // Each compiles by itself, so an empty set is reached at the latest.
        sources.truncate(sources.len() / 2);
    }
}

fn one_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().trim().to_owned()
}

/// A text in its compatible form (NFKC) and folded to lower case, its blanks, hyphens and underlines single spaces, and of each byte whether it stands in a quotation.
pub(crate) struct Folded {
    pub(crate) text: String,
    quoted: Vec<bool>,
}

impl Folded {
    pub(crate) fn of(source: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(source.len()), quoted: Vec::with_capacity(source.len()) };
        let mut in_fence = false;
        for line in source.split_inclusive('\n') {
            let trimmed = line.trim_start();
            let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
            let is_quoted = is_fence || in_fence || trimmed.starts_with('>');
            // Inline code ends with its line.
            let mut code_from = None;
            for c in line.nfkc() {
                match c {
                    c if c.is_whitespace() || c == '-' || c == '_' => {
                        if !folded.text.ends_with(' ') {
                            folded.text.push(' ');
                        }
                    }
                    '`' => {
                        match code_from.take() {
                            Some(from) => folded.quoted[from..].fill(true),
                            None => code_from = Some(folded.text.len()),
                        }
                        folded.text.push('`');
                    }
                    c => c.to_lowercase().for_each(|c| folded.fold(c)),
                }
                folded.quoted.resize(folded.text.len(), is_quoted);
            }
            in_fence ^= is_fence;
        }
        folded
    }

    /// Letters that lower case leaves apart, and case folding doesn't.
    fn fold(&mut self, lower: char) {
        match lower {
            'ß' => self.text.push_str("ss"),
            'ς' => self.text.push('σ'),
            other => self.text.push(other),
        }
    }

    /// The run of bytes begins and ends where tokens do.
    fn is_whole(&self, start: usize, end: usize) -> bool {
        let joins = |c: char| c.is_alphanumeric() && !is_unspaced(c);
        let (first, last) = (self.text[start..].chars().next(), self.text[..end].chars().next_back());
        let before = self.text[..start].chars().next_back();
        let mut rest = self.text[end..].chars();
        let (behind, beyond) = (rest.next(), rest.next());
        let is_free = |inside: Option<char>, outside: Option<char>| !outside.is_some_and(joins) || inside.is_some_and(is_unspaced);
        // `c` of `c++` and `cargo` of `cargo.toml` are no tokens of their own.
        let goes_on = match behind {
            Some('+' | '#') => true,
            Some('.') => beyond.is_some_and(char::is_alphanumeric),
            _ => false,
        };
        is_free(first, before) && is_free(last, behind) && !(goes_on && last.is_some_and(char::is_alphanumeric))
    }
}

/// Scripts that write no spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::{SkillActivation, SkillSource, SkillSourceKind, SkillSummary};
    use std::sync::Arc;

    fn skill(id: &str, keywords: &[&str], patterns: &[&str]) -> Skill {
        let source = SkillSource { kind: SkillSourceKind::Bundled, label: "test".into(), path: None };
        let mut summary = SkillSummary::new(SkillId::new(id).unwrap(), "", source);
        let own = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        summary.activation =
            SkillActivation { keywords: own(keywords), trigger_patterns: own(patterns), ..SkillActivation::default() }.into();
        Skill::new(summary, String::new())
    }
    fn found(keywords: &[&str], text: &str) -> bool {
        !Matcher::new(&[skill("zz-test-skill", keywords, &[])]).find(text).is_empty()
    }

    #[test]
    fn what_is_ignored_is_the_same_with_and_without_an_automaton() {
        let large = vec!["(a{30}){30}"; 60];
        let mut hidden = skill("hidden", &["x"], &["("]);
        Arc::make_mut(&mut hidden.summary).hidden = true;
        let long = "x".repeat(300);
        let skills = [skill("a", &["x", "ok", " ", &long], &["(", "a+"]), hidden, skill("b", &[], &large), skill("c", &["-"], &["["])];
        let ignored = Matcher::ignored(&skills);
        assert_eq!(ignored, Matcher::new(&skills).diagnostics());
        let codes: BTreeMap<&str, usize> = ignored.iter().fold(BTreeMap::new(), |mut codes, found| {
            *codes.entry(&*found.code).or_default() += 1;
            codes
        });
        assert_eq!(codes, BTreeMap::from([("keyword-ignored", 4), ("pattern-ignored", 2), ("patterns-ignored", 1)]));
    }

    #[test]
    fn a_keyword_is_a_run_of_whole_tokens() {
        for (keyword, text, matches) in [
            ("rust", "I trust you", false),
            ("ui", "the build", false),
            ("git", "a digit", false),
            ("log", "a dialog", false),
            ("hack", "Hacker News", false),
            ("rust", "Rust!", true),
            ("code review", "code-review", true),
            ("code review", "Code  review", true),
            ("code review", "code_review", true),
            ("/linear", "use /linear now", true),
            (".env", "read .env", true),
            ("c#", "in C#.", true),
            ("c++", "modern c++ code", true),
            ("cargo", "cargo.toml", false),
            ("cargo", "use cargo.", true),
            ("分析", "请分析数据", true),
            ("straße", "STRASSE", true),
            ("οδός", "ΟΔΌΣ", true),
            ("caf\u{e9}", "cafe\u{301}!", true),
            ("навык", "Новый НАВЫК!", true),
            ("", "anything", false),
            ("  ", "any  thing", false),
            ("r", "use r", false),
        ] {
            assert_eq!(found(&[keyword], text), matches, "{keyword:?} in {text:?}");
        }
    }

    #[test]
    fn one_word_suggests_and_two_activate() {
        let matcher = Matcher::new(&[skill("rust-debugging", &["rust", "cargo", "borrow checker"], &[])]);
        let strong = |text: &str| matcher.find(text).first().map(|found| found.is_strong);
        assert_eq!(strong("cargo fails"), Some(false));
        assert_eq!(strong("cargo and rust"), Some(true));
        assert_eq!(strong("the borrow checker"), Some(true));
        assert_eq!(strong("`cargo` and\n> rust"), Some(false));
        assert_eq!(strong("nothing"), None);
    }

    #[test]
    fn patterns_are_bounded_and_the_bad_ones_ignored() {
        let matcher = Matcher::new(&[skill("a", &["", "x"], &["(", "(a{1000}){1000}", "panicked at"])]);
        assert!(matcher.find("thread main PANICKED AT src").first().unwrap().is_strong);
        let codes: Vec<&str> = matcher.diagnostics().iter().map(|found| &*found.code).collect();
        assert_eq!(codes, ["keyword-ignored", "keyword-ignored", "pattern-ignored", "pattern-ignored"]);
    }

    #[test]
    fn what_is_too_long_for_a_word_is_left_out_at_once() {
        let long = "a-".repeat(30_000);
        let mut named = skill("a", &[&long], &[]);
        Arc::make_mut(&mut named.summary).name.clone_from(&long);
        let start = std::time::Instant::now();
        let matcher = Matcher::new(&[named]);
        assert!(start.elapsed().as_secs() < 5);
        assert!(matcher.diagnostics().len() == 1 && matcher.diagnostics()[0].message.len() < 200);
    }

    #[test]
    fn hidden_skills_are_not_found() {
        let mut hidden = skill("a", &["rust"], &[]);
        Arc::make_mut(&mut hidden.summary).hidden = true;
        assert!(Matcher::new(&[hidden]).find("rust").is_empty());
    }

    #[test]
    fn the_surest_comes_first_and_says_why() {
        let matcher = Matcher::new(&[skill("b", &["rust"], &[]), skill("a", &["rust", "cargo test"], &[]), skill("c", &["rust"], &[])]);
        let found = matcher.find("cargo test in rust");
        assert_eq!(found.iter().map(|found| found.id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(found[0].evidence[0].what, "cargo test");
    }
}
