//! A description's sentences: the first says what a skill is, others when to use it, and some what it is not for.

use super::Field;
use super::tokens::{Token, tokens};

/// The words of a description, each with the part of it where it stands.
pub(super) fn words(description: &str, each: &mut impl FnMut(&str, Field)) {
    let mut sentence: Vec<String> = Vec::new();
    let mut is_first = true;
    let mut say = |sentence: &mut Vec<String>| {
        let excluded = excluded_from(sentence);
        let field = if is_first { Field::Opening } else { Field::Description };
        for (n, word) in sentence.iter().enumerate() {
            each(word, if n < excluded { field } else { Field::Exclusion });
        }
        is_first &= sentence.is_empty();
        sentence.clear();
    };
    tokens(description, &mut |token| match token {
        Token::Word(word, _) => sentence.push(word.to_owned()),
        Token::End => say(&mut sentence),
    });
    say(&mut sentence);
}

/// From which word on a sentence says what a skill is not for: `do not use for X`, `not for X`, `for X use Y instead`.
fn excluded_from(sentence: &[String]) -> usize {
    const DENIED: [&str; 11] = ["use", "used", "trigger", "apply", "for", "intended", "meant", "invoke", "needed", "when", "suitable"];
    let at = |n: usize| sentence.get(n).map_or("", String::as_str);
    let is_denial = |n: usize| matches!(at(n), "not" | "never" | "dont") && DENIED.contains(&at(n + 1));
    let denial = (0..sentence.len()).find(|n| is_denial(*n));
    // The other skill to use is named behind `use`; `use this skill` is an invitation.
    let points_away = |from: usize| {
        let uses = (from..sentence.len()).find(|n| at(*n) == "use");
        uses.is_some_and(|n| !matches!(at(n + 1), "this" | "it" | "the" | "when" | "whenever"))
    };
    let is_instead = sentence.iter().any(|word| word == "instead");
    let begins = (0..sentence.len()).find(|n| at(*n) == "for" && (*n == 0 || is_instead)).filter(|n| points_away(*n));
    denial.into_iter().chain(begins).min().unwrap_or(sentence.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_skill_is_not_for_is_known_as_such() {
        let excluded = |text: &str| {
            let mut found = String::new();
            words(text, &mut |word, field| {
                if field == Field::Exclusion {
                    found.extend([word, " "]);
                }
            });
            found.trim_end().to_owned()
        };
        for (text, words) in [
            ("Tunes SQL. Not for schema design.", "not for schema design"),
            ("Word files. Do NOT use for PDFs or sheets. Use it often.", "not use for pdfs or sheets"),
            ("Godot games, not for Unity", "not for unity"),
            ("Data. For charts alone use chart-maker.", "for charts alone use chart maker"),
            ("Postmortems; for raw logs use log-analysis instead.", "for raw logs use log analysis instead"),
            ("For tables, use this skill. Don't use when it is late!", "dont use when it is late"),
            ("For all charts. It does not guess.", ""),
            ("Charts for teams that use Rust.", ""),
            ("", ""),
        ] {
            assert_eq!(excluded(text), words, "{text:?}");
        }
    }

    #[test]
    fn the_first_sentence_opens_a_description() {
        let mut found = Vec::new();
        words("\n- Bakes bread. Makes dough. Not for cakes.", &mut |word, field| found.push((word.to_owned(), field)));
        let fields = |of: Field| found.iter().filter(|(_, field)| *field == of).map(|(word, _)| &**word).collect::<Vec<_>>();
        assert_eq!(fields(Field::Opening), ["bakes", "bread"]);
        assert_eq!(fields(Field::Description), ["makes", "dough"]);
        assert_eq!(fields(Field::Exclusion), ["not", "for", "cakes"]);
    }
}
