//! The words that a user typed: each once, with what is known of it.

use super::common::{is_generic, is_silent};
use super::stem::stem;
use super::tokens::{Token, tokens};
use super::{Mixed, NOTHING, and, common, hash};
use std::collections::HashMap;
use std::ops::Range;

/// Of a long text these bytes at its beginning and its end: what is wanted stands there, and what lies between is pasted.
const HEAD_BYTES: usize = 768;
const TAIL_BYTES: usize = 256;

/// Distinct words that are looked up, at most.
const MAX_WORDS: usize = 96;

/// What stands in a fence or a quotation counts so much less.
const QUOTED: f32 = 0.5;

/// Pairs of characters overlap, so each of them says less than a word.
const OF_A_PAIR: f32 = 0.6;

pub(in super::super) struct Word {
    pub(super) stem: u64,
    /// Where it stands in the letters of all words, as the text has it but in lower case, and where its stem does.
    typed: Range<usize>,
    stemmed: Range<usize>,
    pub(super) is_generic: bool,
    pub(super) is_quoted: bool,
    /// Of characters of a script without spaces.
    pub(super) is_pair: bool,
}

impl Word {
    /// What its place and its script leave of its weight.
    pub(super) fn factor(&self) -> f32 {
        (if self.is_quoted { QUOTED } else { 1.0 }) * (if self.is_pair { OF_A_PAIR } else { 1.0 })
    }
    /// Stems of other names of the same thing.
    pub(super) fn other_names(&self) -> &'static [u64] {
        common::other_names(self.stem)
    }
    /// What it may have been meant to be: a letter left out, doubled, replaced, or two in each other's place. Short words are each other's neighbours.
    pub(super) fn slips(&self, typed: &Typed, is_known: impl Fn(u64) -> bool) -> Option<u64> {
        const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
        let word = &typed.letters.as_bytes()[self.stemmed.clone()];
        if !(5..=24).contains(&word.len()) || !word.iter().all(u8::is_ascii_lowercase) {
            return None;
        }
        let known = |parts: [&[u8]; 3]| {
            let bytes = parts.into_iter().flatten();
            let hash = bytes.fold(NOTHING, |hash, byte| and(hash, *byte));
            is_known(hash).then_some(hash)
        };
        // The first letter is seldom wrong.
        for at in 1..=word.len() {
            let (head, rest) = word.split_at(at);
            if let [a, b, tail @ ..] = rest
                && let Some(found) = known([head, &[*b, *a], tail])
            {
                return Some(found);
            }
            if let Some(found) = rest.get(1..).and_then(|tail| known([head, &[], tail])) {
                return Some(found);
            }
            for letter in LETTERS {
                let put_in = known([head, &[*letter], rest]);
                if let Some(found) = put_in.or_else(|| known([head, &[*letter], rest.get(1..)?])) {
                    return Some(found);
                }
            }
        }
        None
    }
}

/// A text's words, in their order.
#[derive(Default)]
pub(in super::super) struct Typed {
    pub(super) words: Vec<Word>,
    letters: String,
}

impl Typed {
    pub(in super::super) fn of(text: &str) -> Self {
        // Words and the blanks behind them have some letters each, and many words are silent.
        let likely = MAX_WORDS.min(text.len() / 6 + 1);
        let mut words: Vec<Word> = Vec::with_capacity(likely);
        let mut letters = String::with_capacity(2 * MAX_WORDS);
        // By word and by stem where it stands among the words.
        let mut seen: HashMap<u64, usize, Mixed> = HashMap::with_capacity_and_hasher(2 * likely, Mixed::default());
        let mut in_fence = false;
        let mut stemmed = String::new();
        for line in excerpt(text).into_iter().flat_map(str::lines) {
            let trimmed = line.trim_start();
            if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
                in_fence = !in_fence;
                continue;
            }
            let is_quoted = in_fence || trimmed.starts_with('>');
            tokens(line, &mut |token| {
                let Token::Word(word, spelled) = token else { return };
                if is_silent(word, spelled) {
                    return;
                }
                if let Some(before) = seen.get(&spelled) {
                    words[*before].is_quoted &= is_quoted;
                    return;
                }
                if words.len() == MAX_WORDS {
                    return;
                }
                stemmed.clear();
                stemmed.push_str(word);
                stem(&mut stemmed);
                let stem = hash(&stemmed);
                let at = *seen.entry(stem).or_insert(words.len());
                seen.insert(spelled, at);
                match words.get_mut(at) {
                    Some(word) => word.is_quoted &= is_quoted,
                    None => words.push(Word {
                        stem,
                        typed: put(&mut letters, word),
                        stemmed: put(&mut letters, &stemmed),
                        is_generic: is_generic(stem),
                        is_quoted,
                        is_pair: word.chars().next().is_some_and(super::super::folded::is_unspaced),
                    }),
                }
            });
        }
        Self { words, letters }
    }
    /// A word as the text has it, in lower case.
    pub(super) fn typed(&self, word: &Word) -> &str {
        &self.letters[word.typed.clone()]
    }
}

fn put(letters: &mut String, word: &str) -> Range<usize> {
    let start = letters.len();
    letters.push_str(word);
    start..letters.len()
}

fn excerpt(text: &str) -> [&str; 2] {
    if text.len() <= HEAD_BYTES + TAIL_BYTES {
        return [text, ""];
    }
    let (head, tail) = super::super::ends(text, HEAD_BYTES, TAIL_BYTES);
    [head, tail]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_all_its_forms_are_and_a_pair_says_less() {
        for (text, factor) in
            [("gizmo", 1.0), ("> gizmo", 0.5), ("> gizmos\ngizmo", 1.0), ("> planning\nplans", 1.0), ("> 分析", 0.3), ("分析", 0.6)]
        {
            let typed = Typed::of(text);
            assert_eq!(typed.words.len(), 1, "{text}");
            assert!((typed.words[0].factor() - factor).abs() < 1e-6, "{text}: {}", typed.words[0].factor());
        }
    }

    #[test]
    fn what_lies_between_the_ends_of_a_long_text_is_passed_over() {
        let has_words = |head: usize, tail: usize| !Typed::of(&format!("{} gizmo {}", ".".repeat(head), ".".repeat(tail))).words.is_empty();
        for (head, tail, is_seen) in [(500, 500, true), (700, 5_000, true), (5_000, 200, true), (800, 500, false), (5_000, 5_000, false)] {
            assert_eq!(has_words(head, tail), is_seen, "{head} {tail}");
        }
    }
}
