//! Exact token counts, and how far the estimate is from them.

use std::time::{Duration, Instant};
use tower_prompt::layers::text::{EstimatedTokens, TokenCounter};
use tower_prompt::layers::wire::Vocabulary;
use tower_prompt::{ExactTokens, TokensByModel};

#[path = "tokens/corpus.rs"]
mod corpus;

#[test]
fn counts_are_those_of_the_vocabulary() {
    let (older, newer) = (ExactTokens::new(Vocabulary::Cl100k), ExactTokens::new(Vocabulary::O200k));
    // As published: "tiktoken is great!" is six tokens in cl100k_base.
    assert_eq!(older.count("tiktoken is great!"), 6);
    for counter in [older, newer] {
        assert_eq!(counter.count(""), 0);
        assert_eq!(counter.count("hello world"), 2);
        assert_eq!(counter.count("123456"), 2);
        assert!(counter.count("<|endoftext|>") > 1, "in a prompt it is plain text");
    }
}

#[test]
fn the_model_says_which_vocabulary_counts() {
    let (text, by_model) = (corpus::ALL[2].1, TokensByModel::default());
    let count = |model: &str| by_model.of_model(model).map(|counter| counter.count(text));
    let (older, newer) = (ExactTokens::new(Vocabulary::Cl100k).count(text), ExactTokens::new(Vocabulary::O200k).count(text));
    assert_ne!(older, newer);
    assert_eq!((count("gpt-4o-mini"), count("openai/gpt-5"), count("gpt-4-turbo")), (Some(newer), Some(newer), Some(older)));
    for unknown in ["claude-sonnet-4-5", "gemini-2.5-pro", "own"] {
        assert_eq!(count(unknown), None, "the estimate counts");
    }
    assert_eq!(by_model.count(text), EstimatedTokens.count(text));
}

/// The bounds that README states.
#[test]
fn the_estimate_is_near_the_exact_count() {
    let mut all = (0, 0);
    for (name, text) in corpus::ALL {
        let (estimated, exact) = (EstimatedTokens.count(text), ExactTokens::new(Vocabulary::O200k).count(text));
        all = (all.0 + estimated, all.1 + exact);
        let percent = estimated * 100 / exact;
        assert!((90..=110).contains(&percent), "{name}: {estimated} for {exact}");
    }
    assert!(all.0 * 100 >= all.1 * 95 && all.0 * 100 <= all.1 * 105, "{all:?}");
}

#[test]
fn hostile_texts_take_no_more_than_their_length() {
    let exact = ExactTokens::new(Vocabulary::O200k);
    exact.count("unpacked");
    let texts = ["a", " ", "ab", " \n", "'", "A'S", "\u{301}", "中", "😀", "\u{a0}\t", "-"];
    for text in texts {
        let (small, large) = (text.repeat(65_536 / text.len()), text.repeat(524_288 / text.len()));
        let took = |text: &str| {
            let begun = Instant::now();
            let tokens = exact.count(text);
            (tokens, begun.elapsed())
        };
        let ((few, short), (many, long)) = (took(&small), took(&large));
        assert!(many >= few * 7 && many <= few * 9, "{text:?}: {few} and {many}");
        // Eight times the text; what takes quadratic time would take sixty-four times as long.
        assert!(long <= short * 30 + Duration::from_millis(200), "{text:?}: {short:?} and {long:?}");
    }
}

/// And what it is worth for texts that it has not seen.
#[test]
fn of_texts_that_were_kept_aside_the_estimate_is_not_far_off() {
    let mut all = (0, 0);
    for (name, text) in corpus::ASIDE {
        let (estimated, exact) = (EstimatedTokens.count(text), ExactTokens::new(Vocabulary::O200k).count(text));
        all = (all.0 + estimated, all.1 + exact);
        let percent = estimated * 100 / exact;
        assert!((85..=110).contains(&percent), "{name}: {estimated} for {exact}");
    }
    assert!(all.0 * 100 >= all.1 * 95 && all.0 * 100 <= all.1 * 105, "{all:?}");
}

/// Older vocabularies split other scripts than Latin finer: the estimate is of current ones.
#[test]
fn in_an_older_vocabulary_other_scripts_take_up_to_three_times_as_many_tokens() {
    for (name, text) in corpus::ASIDE {
        let percent = EstimatedTokens.count(text) * 100 / ExactTokens::new(Vocabulary::Cl100k).count(text);
        let is_latin = matches!(name, "aside/english" | "aside/python" | "aside/sql" | "aside/json" | "aside/markdown");
        let expected = if is_latin { 95..=110 } else { 30..=85 };
        assert!(expected.contains(&percent), "{name}: {percent}");
    }
}
