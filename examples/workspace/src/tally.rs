//! Counts lines, words and characters of files.

use std::process::ExitCode;

#[derive(Debug, PartialEq, Default)]
struct Tally {
    lines: usize,
    words: usize,
    chars: usize,
}

fn tally(text: &str) -> Tally {
    Tally { lines: text.lines().count(), words: text.split_whitespace().count(), chars: text.chars().count() }
}

fn main() -> ExitCode {
    let mut outcome = ExitCode::SUCCESS;
    for name in std::env::args().skip(1) {
        match std::fs::read_to_string(&name) {
            Ok(text) => {
                let Tally { lines, words, chars } = tally(&text);
                println!("{lines}\t{words}\t{chars}\t{name}");
            }
            Err(error) => {
                eprintln!("{name}: {error}");
                outcome = ExitCode::FAILURE;
            }
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_counted() {
        for (text, lines, words, chars) in [("", 0, 0, 0), ("one", 1, 1, 3), ("one two\nthree\n", 2, 3, 14), ("é\n", 1, 1, 2)] {
            assert_eq!(tally(text), Tally { lines, words, chars }, "{text:?}");
        }
    }
}
