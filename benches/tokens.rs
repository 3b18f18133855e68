//! How far the estimate of tokens is from exact counts, and what exact counting costs: `NAME RATIO` lines.
//!
//! `estimate/NAME` is the estimate over the count of `o200k_base` (`estimate/aside/NAME`: of texts that it was not fitted on); `cost/exact` the time of an exact count over that of an estimate of the same text.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tower_prompt::ExactTokens;
use tower_prompt::layers::text::{EstimatedTokens, TokenCounter};
use tower_prompt::layers::wire::Vocabulary;

#[path = "../tests/tokens/corpus.rs"]
mod corpus;

fn main() {
    let exact = ExactTokens::new(Vocabulary::O200k);
    let mut all = (0, 0);
    for (name, text) in corpus::ALL {
        let (estimated, counted) = (EstimatedTokens.count(text), exact.count(text));
        all = (all.0 + estimated, all.1 + counted);
        println!("estimate/{name} {:.3}", ratio(estimated, counted));
    }
    println!("estimate/all {:.3}", ratio(all.0, all.1));
    let mut aside = (0, 0);
    for (name, text) in corpus::ASIDE {
        let (estimated, counted) = (EstimatedTokens.count(text), exact.count(text));
        aside = (aside.0 + estimated, aside.1 + counted);
        println!("estimate/{name} {:.3}", ratio(estimated, counted));
    }
    println!("estimate/aside/all {:.3}", ratio(aside.0, aside.1));
    let text: String = corpus::ALL.iter().map(|(_, text)| *text).collect();
    let cost = best(&exact, &text).as_secs_f64() / best(&EstimatedTokens, &text).as_secs_f64();
    println!("cost/exact {cost:.1}");
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand tokens")]
fn ratio(estimated: usize, counted: usize) -> f64 {
    estimated as f64 / counted as f64
}

fn best(counter: &dyn TokenCounter, text: &str) -> Duration {
    let once = || {
        let begun = Instant::now();
        black_box(counter.count(black_box(text)));
        begun.elapsed()
    };
    (0..50).map(|_| once()).min().unwrap_or_default()
}
