//! The choice without a model: the invariants that share words with the task.
//!
//! A word is a run of letters, digits and marks of any script, in its compatible form (NFKC) and folded to lower case; `c++` and `c#` are words, and
//! `-`, `_`, `/` and `.` separate. A letter alone says nothing. Where a script writes no blanks between words (Chinese, Japanese, Thai and its
//! neighbours), and in Korean, where particles stick to them, each two characters in a row count as a word. A word that few invariants hold weighs
//! more: one and the logarithm of how many there are to each that holds it, in whole numbers, the same on every machine. However often a word stands
//! in a text, it counts once.

use super::InvariantCatalog;
use crate::skill::{Folded, is_unspaced};
use regex::Regex;
use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::sync::LazyLock;

/// The numbers of at most `max` invariants that share words with the task, in the catalog's order: those that share most; of equals the first. None
/// where no word is shared.
pub fn by_words(task: &str, catalog: &InvariantCatalog, max: NonZeroUsize) -> Vec<usize> {
    let mut known: HashMap<String, usize> = HashMap::new();
    for_each_word(task, |word| {
        let next = known.len();
        known.entry(word.to_owned()).or_insert(next);
    });
    if known.is_empty() {
        return Vec::new();
    }
    let mut holders = vec![0; known.len()];
    let mut shared: Vec<(usize, BTreeSet<usize>)> = Vec::new();
    for invariant in catalog.iter() {
        let mut words = BTreeSet::new();
        for_each_word(invariant.text, |word| words.extend(known.get(word)));
        words.iter().for_each(|word| holders[*word] += 1);
        if !words.is_empty() {
            shared.push((invariant.number, words));
        }
    }
    let score = |words: &BTreeSet<usize>| words.iter().map(|word| weight(catalog.len(), holders[*word])).sum::<u64>();
    let mut scored: Vec<(u64, usize)> = shared.iter().map(|(number, words)| (score(words), *number)).collect();
    scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut chosen: Vec<usize> = scored.into_iter().take(max.get()).map(|(_, number)| number).collect();
    chosen.sort_unstable();
    chosen
}

/// 1 + log2(all / holding), in 65,536ths; between powers of two along a line.
fn weight(all: usize, holding: usize) -> u64 {
    const ONE: u64 = 1 << 16;
    // Beyond these bounds a document has no invariants.
    let (all, holding) = (all.min(1 << 30) as u64, holding.clamp(1, 1 << 30) as u64);
    let ratio = all.max(holding) * ONE / holding;
    let power = ratio.ilog2();
    let fraction = ((ratio * ONE) >> power) - ONE;
    ONE + u64::from(power - 16) * ONE + fraction
}

fn for_each_word(text: &str, mut found: impl FnMut(&str)) {
    static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\w+[+#]*").expect("it never changes, and each test here compiles it"));
    let folded = Folded::of(text).text;
    for word in WORD.find_iter(&folded).map(|word| word.as_str()) {
        word.split(is_paired).filter(|run| run.chars().nth(1).is_some()).for_each(&mut found);
        for run in word.split(|c| !is_paired(c)).filter(|run| !run.is_empty()) {
            let ends: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
            match &*ends {
                [_, _] => found(run),
                ends => ends.windows(3).for_each(|pair| found(&run[pair[0]..pair[2]])),
            }
        }
    }
}

/// Read two characters at a time.
fn is_paired(c: char) -> bool {
    is_unspaced(c) || ('\u{ac00}'..='\u{d7a3}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariant::Document;
    use proptest::prelude::*;

    fn chosen(task: &str, invariants: &[&str], max: usize) -> Vec<usize> {
        let document = invariants.iter().flat_map(|text| ["* ", text, "\n"]).collect::<String>();
        by_words(task, &InvariantCatalog::read(Document::new(document)), NonZeroUsize::new(max).unwrap())
    }

    #[test]
    fn words_of_any_script_are_shared() {
        for (task, invariant, is_shared) in [
            ("Fix the PARSER!", "The parser is total.", true),
            ("rename foo_bar", "Foo stays.", true),
            ("in src/wire/json.rs", "The wire: no loss.", true),
            ("trust it", "rust only", false),
            ("a b", "A, b.", false),
            ("modern C++", "C++ is out.", true),
            ("c", "C++ is out.", false),
            ("STRASSE", "Jede Straße.", true),
            ("Ломай НАВЫК", "Каждый навык цел.", true),
            ("分析データ", "データは一つ。", true),
            ("请分析", "数据不变", false),
            ("字", "字", true),
            ("파일을 고쳐", "파일은 하나다.", true),
            ("แก้ไขไฟล์", "ไฟล์เดียว", true),
            ("कुंजी बदलो", "कुंजी स्थिर है।", true),
            ("ﬁle", "One file.", true),
            ("cafe\u{301}", "CAFÉ", true),
            ("", "Anything.", false),
            ("?! 🙂", "🙂", false),
        ] {
            assert_eq!(!chosen(task, &[invariant], 1).is_empty(), is_shared, "{task:?} {invariant:?}");
        }
    }

    #[test]
    fn rare_words_weigh_more_and_of_equals_the_first_is_chosen() {
        let all = ["the wire", "the clock", "the wire and the store", "the wire", "a lexer"];
        assert_eq!(chosen("the clock", &all, 1), [2], "`the` is in most of them");
        assert_eq!(chosen("the wire", &all, 2), [1, 3]);
        assert_eq!(chosen("the wire store", &all, 1), [3]);
        assert_eq!(chosen("the wire", &all, 9), [1, 2, 3, 4], "in their order, without what shares nothing");
        assert_eq!(chosen("clock clock clock wire store", &["clock clock", "wire store"], 1), [2], "often is once");
    }

    #[test]
    fn weights_are_logarithms() {
        let ones = [(1, 1), (4, 4), (2, 1), (8, 1), (3, 2)].map(|(all, holding)| weight(all, holding));
        assert_eq!(ones, [65_536, 65_536, 2 * 65_536, 4 * 65_536, 65_536 + 32_768]);
        assert!(weight(usize::MAX, 1) > weight(usize::MAX, 2) && weight(0, 0) == 65_536);
    }

    proptest! {
        #[test]
        fn a_choice_is_bounded_ordered_and_the_same_again(
            task in "(?s).{0,60}",
            texts in prop::collection::vec("[a-c分析データ가나 ]{0,12}", 0..9),
            max in 1..5_usize,
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let numbers = chosen(&task, &texts, max);
            prop_assert!(numbers.len() <= max && numbers.is_sorted());
            prop_assert!(numbers.iter().all(|number| (1..=texts.len()).contains(number)));
            prop_assert_eq!(chosen(&task, &texts, max), numbers);
        }
    }
}
