//! Keywords, ids and names of all skills, found by one automaton.

use super::folded::Folded;
use super::{SkillEvidenceKind, words};
use crate::prompt::Diagnostic;
use crate::skill::SkillSummary;
use crate::text::shorten;
use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};
use std::collections::BTreeMap;

/// Longer keywords and names are nobody's words; and to build an automaton of one that repeats itself takes the square of its length.
const MAX_NEEDLE_BYTES: usize = 256;

/// A keyword that more skills declare than this, and than an eighth of all, tells nothing and costs much.
const COMMON: usize = 256;

pub(super) struct Needle {
    pub(super) skill: u32,
    pub(super) kind: SkillEvidenceKind,
    /// As the skill writes it.
    pub(super) what: Box<str>,
    /// Of several words.
    pub(super) is_phrase: bool,
    /// What it adds to a score.
    pub(super) weight: f32,
}

#[derive(Default)]
pub(super) struct Needles {
    automaton: Option<NFA>,
    /// For each pattern of the automaton.
    owners: Vec<Box<[Needle]>>,
    begins: Begins,
}

/// What patterns begin with: most words of a text begin with none of these, and need no look at the automaton.
#[derive(Default)]
struct Begins {
    /// Of those of eight bytes and more.
    eights: Bits,
    /// Of those of four to seven.
    fours: Bits,
    /// Of those of two and three.
    twos: Bits,
}

impl Begins {
    fn of(patterns: &[String]) -> Self {
        let of = |least: usize, most: usize| {
            patterns.iter().map(String::as_bytes).filter(move |pattern| (least..=most).contains(&pattern.len()))
        };
        Self {
            eights: Bits::of(of(8, usize::MAX).filter_map(first::<8>)),
            fours: Bits::of(of(4, 7).filter_map(first::<4>)),
            twos: Bits::of(of(2, 3).filter_map(first::<2>)),
        }
    }
    /// A pattern may begin the text.
    fn may(&self, text: &[u8]) -> bool {
        let eights = first::<8>(text).is_some_and(|first| self.eights.may_have(first));
        let fours = first::<4>(text).is_some_and(|first| self.fours.may_have(first));
        let twos = first::<2>(text).is_some_and(|first| self.twos.may_have(first));
        // Which of them it is can't be foretold: all three at once is quicker than one by one.
        eights | fours | twos
    }
}

/// The first bytes as a number.
fn first<const N: usize>(text: &[u8]) -> Option<u64> {
    let first: &[u8; N] = text.first_chunk()?;
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(first);
    Some(u64::from_le_bytes(bytes))
}

/// A set of numbers that may say of one that it has it, and of one that it has never that it hasn't.
#[derive(Default)]
struct Bits(Box<[u64]>);

impl Bits {
    fn of(numbers: impl Iterator<Item = u64> + Clone) -> Self {
        let count = numbers.clone().count();
        // Eight bits for each number, and at most 128 KiB.
        let mut bits = Self(if count == 0 { Box::default() } else { vec![0; count.div_ceil(8).next_power_of_two().min(1 << 14)].into() });
        for number in numbers {
            let (word, bit) = bits.slot(number);
            bits.0[word] |= bit;
        }
        bits
    }
    fn slot(&self, number: u64) -> (usize, u64) {
        // The upper bits of a product are the well mixed ones.
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (usize::try_from(mixed >> 6).unwrap_or_default() & (self.0.len() - 1), 1 << (mixed & 63))
    }
    fn may_have(&self, number: u64) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let (word, bit) = self.slot(number);
        self.0[word] & bit != 0
    }
}

/// What skills declare, as it is looked for, and by whom.
pub(super) fn declared<'a>(
    skills: impl IntoIterator<Item = &'a SkillSummary>,
    diagnostics: &mut Vec<Diagnostic>,
) -> BTreeMap<String, Vec<Needle>> {
    let mut found: BTreeMap<String, Vec<Needle>> = BTreeMap::new();
    let mut count = 0;
    for (skill, summary) in (0..).zip(skills) {
        count += 1;
        let keywords = summary.activation.keywords.iter().map(|keyword| (SkillEvidenceKind::Keyword, keyword.as_str()));
        let named = [(SkillEvidenceKind::Id, summary.id.as_str()), (SkillEvidenceKind::Name, summary.name.as_str())];
        for (kind, what) in keywords.chain(named) {
            // A message that long would be cut anyway.
            let text = if what.len() > 4 * MAX_NEEDLE_BYTES { String::new() } else { Folded::of(what).text.trim().to_owned() };
            let is_short = text.chars().nth(1).is_none() && what.len() <= 4 * MAX_NEEDLE_BYTES;
            if text.is_empty() || is_short || text.len() > MAX_NEEDLE_BYTES {
                if kind == SkillEvidenceKind::Keyword {
                    // A letter alone says nothing.
                    let fault = if is_short { "short" } else { "long" };
                    let message = format!("the keyword {:?} of `{}` is too {fault} to match anything", shorten(what, 80), summary.id);
                    diagnostics.push(Diagnostic::warning("keyword-ignored", message).at(summary.location.clone()));
                }
                continue;
            }
            let is_phrase = text.contains(' ');
            let mut put = |text: String, weight: f32| {
                let same = found.entry(text).or_default();
                if !same.iter().any(|needle| needle.skill == skill) {
                    same.push(Needle { skill, kind, what: what.into(), is_phrase, weight });
                }
            };
            match weight(kind, is_phrase, &text) {
                Some(weight) => put(text, weight),
                None => called_a_skill(&text).into_iter().for_each(|text| put(text, NAMED)),
            }
        }
    }
    found.retain(|text, owners| {
        let is_common = owners.len() > COMMON.max(count / 8);
        // That a skill is called one, in the words that we look for, no one has declared.
        if is_common && owners.iter().any(|needle| needle.is_phrase || needle.kind == SkillEvidenceKind::Keyword) {
            let message = format!("the keyword or name {text:?} is ignored: {} of {count} skills have it", owners.len());
            diagnostics.push(Diagnostic::note("keyword-common", message));
        }
        !is_common
    });
    found
}

impl Needles {
    pub(super) fn of<'a>(skills: impl IntoIterator<Item = &'a SkillSummary>, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let found = declared(skills, diagnostics);
        let (texts, owners): (Vec<String>, Vec<Box<[Needle]>>) = found.into_iter().map(|(text, owners)| (text, owners.into())).unzip();
        let automaton = NFA::builder().match_kind(MatchKind::Standard).build(&texts);
        if let Err(reason) = &automaton {
            diagnostics.push(Diagnostic::error("keywords-ignored", format!("the keywords of all skills are ignored: {reason}")));
        }
        let begins = Begins::of(&texts);
        Self { automaton: automaton.ok(), owners, begins }
    }

    /// Each that stands in the text, once, and whether it stands in quotations alone. A keyword begins where a token does, so the automaton is asked
    /// from there alone, which takes a fraction of a search from every byte; how far it is followed is bounded by the longest keyword.
    pub(super) fn find(&self, text: &Folded) -> Vec<(&Needle, bool)> {
        let Some((automaton, start)) = self.automaton.as_ref().and_then(|nfa| Some((nfa, nfa.start_state(Anchored::Yes).ok()?))) else {
            return Vec::new();
        };
        let bytes = text.text.as_bytes();
        let mut hits: Vec<(usize, bool)> = Vec::new();
        for from in text.starts().filter(|from| self.begins.may(&bytes[*from..])) {
            let mut state = start;
            for (at, byte) in bytes.iter().enumerate().skip(from) {
                state = automaton.next_state(Anchored::Yes, state, *byte);
                if !automaton.is_special(state) {
                    continue;
                }
                if automaton.is_dead(state) {
                    break;
                }
                if automaton.is_match(state) && text.is_whole(from, at + 1) {
                    // Keywords that end here and began later are found from where they began.
                    let ending = (0..automaton.match_len(state)).map(|n| automaton.match_pattern(state, n));
                    let here = ending.filter(|pattern| automaton.pattern_len(*pattern) == at + 1 - from);
                    hits.extend(here.map(|pattern| (pattern.as_usize(), text.is_quoted(from) && text.is_quoted(at))));
                }
            }
        }
        // Of the same, the unquoted is first.
        hits.sort_unstable();
        hits.dedup_by_key(|(pattern, _)| *pattern);
        hits.into_iter().flat_map(|(pattern, quoted)| self.owners[pattern].iter().map(move |needle| (needle, quoted))).collect()
    }
}

/// A skill that is named as one.
const NAMED: f32 = 0.5;

/// A name of one word means the skill where the text calls it one.
fn called_a_skill(name: &str) -> [String; 4] {
    [format!("{name} skill"), format!("`{name}` skill"), format!("skill {name}"), format!("skill: {name}")]
}

/// `None` for what the words of names find better: a name of one word, which is often one that many tasks share (`build`, `review`).
fn weight(kind: SkillEvidenceKind, is_phrase: bool, text: &str) -> Option<f32> {
    let is_declared = kind == SkillEvidenceKind::Keyword;
    match (is_declared, is_phrase) {
        (true, true) => Some(0.8),
        (true, false) => Some(if words::says_little(text) && text.chars().all(char::is_alphanumeric) { 0.2 } else { 0.5 }),
        (false, true) => Some(if words::says_little(text) { 0.1 } else { NAMED }),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_begins_no_pattern_most_needs_no_look_at_the_automaton() {
        assert_eq!((first::<4>(b"abcde"), first::<4>(b"abc")), (Some(u64::from_le_bytes(*b"abcd\0\0\0\0")), None));
        let begins = Begins::of(&["cargo test", "rust", "go"].map(str::to_owned));
        assert!(["cargo test", "cargo tests", "rusty", "gone"].iter().all(|text| begins.may(text.as_bytes())));
        let others = (b'a'..=b'z').flat_map(|a| (b'a'..=b'z').map(move |b| [a, b, b'q', b'q', b'q', b'q', b'q', b'q', b'q']));
        assert!(others.filter(|text| begins.may(text)).count() < 26 * 26 / 4);
        assert!(!begins.may(b"x"));
    }

    #[test]
    fn a_set_of_bits_has_all_that_is_in_it_and_little_else() {
        let words = |numbers: std::ops::Range<u32>| numbers.filter_map(|n| first::<8>(format!("{:x}w{n}", n * 7).as_bytes()));
        let bits = Bits::of(words(1_000..2_000));
        assert!(words(1_000..2_000).all(|word| bits.may_have(word)));
        assert!(words(5_000..7_000).filter(|word| bits.may_have(*word)).count() < 1_000);
        assert!(!Bits::of(0..0).may_have(0));
    }

    #[test]
    fn several_words_weigh_more_than_one_and_words_of_many_tasks_less() {
        use SkillEvidenceKind::{Keyword, Name};
        for (kind, text, worth) in [
            (Keyword, "borrow checker", Some(0.8)),
            (Keyword, "kubernetes", Some(0.5)),
            (Keyword, "file", Some(0.2)),
            (Name, "borrow checker", Some(0.5)),
            (Name, "file list", Some(0.1)),
            (Name, "kubernetes", None),
        ] {
            assert_eq!(weight(kind, text.contains(' '), text), worth, "{kind:?} {text}");
        }
    }
}
