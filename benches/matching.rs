//! How well suggestions hit, and what looking for skills costs. `cargo bench --bench matching` prints `NAME VALUE` lines:
//!
//! * `precision`, `recall`, `no-fit`, `absent` in percent, of the best suggestion alone, by the size of the registry, on the prompts that were kept
//!   aside (`tuning/`: on the others);
//! * `match/keywords`: matching 4 KiB of text with the keywords of 10,000 skills, against aho-corasick's own scan of it with the same patterns;
//! * `match`: with the words of their names and descriptions as well, against the same (`-- match`: these two alone).

#[path = "../tests/matching/measure.rs"]
mod measure;

use aho_corasick::AhoCorasick;
use measure::{Random, WORDS, figures, prompts, skill};
use std::hint::black_box;
use std::time::{Duration, Instant};
use tower_prompt::layers::skill::{Skill, Skills};

fn main() {
    if std::env::args().any(|argument| argument == "match") {
        return print_cost(10_000);
    }
    for (size, registries) in [(5, 100), (50, 20), (500, 3), (2_000, 1)] {
        for (of, kept_aside) in [("", true), ("tuning/", false)] {
            let reached = figures(size, registries, kept_aside);
            println!("{of}precision/{size} {:.1}", reached.precision);
            println!("{of}recall/{size} {:.1}", reached.recall);
            println!("{of}no-fit/{size} {:.1}", reached.no_fit);
            println!("{of}absent/{size} {:.1}", reached.absent);
        }
    }
    print_cost(10_000);
}

/// The fastest of each: whatever else the machine does only adds to them.
fn print_cost(count: usize) {
    let mut random = Random(1);
    let (skills, patterns) = with_keywords(count, &mut random);
    let skills = Skills::new(skills, Vec::new());
    let text = text(4 * 1024, &patterns, &mut random);
    let automaton = AhoCorasick::new(&patterns).expect("so many patterns fit");
    let lower = text.to_lowercase();
    let [mut of_scan, mut of_keywords, mut of_match] = [Duration::MAX; 3];
    for _ in 0..500 {
        of_scan = of_scan.min(timed(|| automaton.find_overlapping_iter(&lower).count()));
        of_keywords = of_keywords.min(timed(|| skills.matcher().find_declared(&text, &[]).len()));
        of_match = of_match.min(timed(|| skills.matcher().find(&text).len()));
    }
    let found = skills.matcher().find(&text).len();
    eprintln!("scan {of_scan:?}, keywords {of_keywords:?}, match {of_match:?}, {found} matches");
    println!("match/keywords {:.2}", of_keywords.as_secs_f64() / of_scan.as_secs_f64());
    println!("match {:.2}", of_match.as_secs_f64() / of_scan.as_secs_f64());
}

/// Each skill with three keywords of its own, a phrase among them, and what they are as patterns, ids included.
fn with_keywords(count: usize, random: &mut Random) -> (Vec<Skill>, Vec<String>) {
    let (mut skills, mut patterns) = (Vec::new(), Vec::new());
    for number in 0..count {
        let id = format!("{}-{}-{number:05}", random.pick(WORDS), random.pick(WORDS));
        let phrase = format!("{} {} {}", random.pick(WORDS), random.pick(WORDS), random.pick(WORDS));
        let keywords = vec![name(random), name(random), phrase];
        patterns.push(id.replace('-', " "));
        patterns.extend(keywords.clone());
        let words: Vec<&str> = (0..30).map(|_| random.pick(WORDS)).collect();
        skills.push(skill(&id, &id, keywords, words.join(" ")));
    }
    patterns.sort();
    patterns.dedup();
    (skills, patterns)
}

/// As of a product.
fn name(random: &mut Random) -> String {
    const SYLLABLES: &[&str] =
        &["ba", "cor", "dex", "fi", "gra", "hol", "ix", "ju", "kel", "lum", "mo", "nar", "ox", "pri", "qua", "rin", "sto", "tur"];
    (0..3).map(|_| random.pick(SYLLABLES)).collect()
}

/// What users type, of the set, with a keyword now and then.
fn text(bytes: usize, keywords: &[String], random: &mut Random) -> String {
    let mut text = String::new();
    for (number, prompt) in prompts().into_iter().enumerate() {
        text.push_str(&prompt.text);
        text.push('\n');
        if number % 8 == 0 {
            text.push_str(&keywords[random.below(keywords.len())]);
            text.push(' ');
        }
    }
    let end = (0..=bytes).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    text.truncate(end);
    text
}

fn timed<T>(work: impl Fn() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}
