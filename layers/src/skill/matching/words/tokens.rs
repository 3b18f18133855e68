//! A text as words: in lower case and in compatible form, parts of `camelCase` too, and pairs of characters where a script writes no spaces.

use super::super::folded::is_unspaced;
use super::{NOTHING, and, hash};
use unicode_normalization::UnicodeNormalization;

/// What a text is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    /// With its hash.
    Word(&'a str, u64),
    /// A sentence ends, or a list's item.
    End,
}

/// Longer ones are nobody's words: keys, hashes, encoded data.
const MAX_WORD_BYTES: usize = 64;

pub(super) fn tokens(text: &str, each: &mut impl FnMut(Token<'_>)) {
    if text.is_ascii() { ascii(text, each) } else { run(text.nfkc(), each) }
}

/// As [`run`], without looking at each character by itself.
fn ascii(text: &str, each: &mut impl FnMut(Token<'_>)) {
    let (bytes, lower) = (text.as_bytes(), text.to_ascii_lowercase());
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let (mut hash, mut has_upper) = (NOTHING, false);
        while let Some(byte) = lower.as_bytes().get(at).filter(|byte| byte.is_ascii_alphanumeric()) {
            hash = and(hash, *byte);
            has_upper |= at > start && bytes[at] != *byte;
            at += 1;
        }
        // What is not plain is left to the other.
        if matches!(bytes.get(at), Some(b'\'' | b'+' | b'#')) && at > start {
            let end = text[at..].find(char::is_whitespace).map_or(text.len(), |end| at + end);
            run(text[start..end].chars(), each);
            at = end;
        } else if at == start {
            if ends(char::from(bytes[at]), bytes.get(at + 1).copied().map(char::from)) {
                each(Token::End);
            }
            at += 1;
        } else if at - start <= MAX_WORD_BYTES {
            each(Token::Word(&lower[start..at], hash));
            // Nearly all words have no parts.
            if has_upper {
                let mut room = String::new();
                parts(&text[start..at], |part| say_one(part, &mut room, each));
            }
        }
    }
}

fn ends(c: char, next: Option<char>) -> bool {
    match c {
        '.' | ';' | '!' | '?' => next.is_none_or(char::is_whitespace),
        '。' | '；' | '！' | '？' => true,
        '\n' => matches!(next, Some('\n' | '-' | '*' | '#')),
        _ => false,
    }
}

fn run(chars: impl Iterator<Item = char>, each: &mut impl FnMut(Token<'_>)) {
    let mut chars = chars.peekable();
    let (mut word, mut lower) = (String::new(), String::new());
    let mut is_long = false;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        // `don't` is one word, and so are `c++` and `c#`.
        let is_joint = matches!(c, '\'' | '’') && !word.is_empty() && next.is_some_and(char::is_alphabetic);
        let is_sign = matches!(c, '+' | '#') && matches!(word.as_bytes(), [b'a'..=b'z' | b'A'..=b'Z'] | [_, b'+']);
        if c.is_alphanumeric() || is_sign {
            is_long |= word.len() >= MAX_WORD_BYTES;
            if !is_long {
                word.push(c);
            }
            continue;
        }
        if is_joint {
            continue;
        }
        if !is_long {
            say(&word, &mut lower, each);
        }
        word.clear();
        is_long = false;
        if ends(c, next) {
            each(Token::End);
        }
    }
    if !is_long {
        say(&word, &mut lower, each);
    }
}

/// `lower` is room that is used again.
fn say(word: &str, lower: &mut String, each: &mut impl FnMut(Token<'_>)) {
    if word.is_empty() {
        return;
    }
    let mut say_one = |text: &str| say_one(text, lower, each);
    if word.is_ascii() {
        say_one(word);
        parts(word, say_one);
        return;
    }
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let unspaced = is_unspaced(first);
        let end = rest.find(|c| is_unspaced(c) != unspaced).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        if unspaced && run.chars().nth(1).is_some() {
            let starts = run.char_indices().map(|(at, _)| at);
            let ends = run.char_indices().map(|(at, _)| at).skip(2).chain([run.len()]);
            starts.zip(ends).for_each(|(start, end)| say_one(&run[start..end]));
        } else {
            say_one(run);
        }
        rest = behind;
    }
}

fn say_one(text: &str, lower: &mut String, each: &mut impl FnMut(Token<'_>)) {
    lower.clear();
    if text.is_ascii() {
        lower.push_str(text);
        lower.make_ascii_lowercase();
    } else {
        lower.extend(text.chars().flat_map(char::to_lowercase));
    }
    each(Token::Word(lower, hash(lower)));
}

/// Of `camelCase` and `HTTPServer`; nothing of words that aren't such.
fn parts(word: &str, mut say_one: impl FnMut(&str)) {
    let bytes = word.as_bytes();
    let is_plural = || bytes.strip_suffix(b"s").is_some_and(|head| head.iter().all(u8::is_ascii_uppercase));
    let begins = |at: usize| {
        bytes[at].is_ascii_uppercase()
            && (bytes[at - 1].is_ascii_lowercase() || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase))
            && bytes[at - 1].is_ascii_alphabetic()
    };
    if !bytes.iter().any(u8::is_ascii_lowercase) || is_plural() {
        return;
    }
    let mut start = 0;
    for at in (1..bytes.len()).filter(|at| begins(*at)) {
        say_one(&word[start..at]);
        start = at;
    }
    if start > 0 {
        say_one(&word[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> String {
        let mut said = String::new();
        tokens(text, &mut |token| match token {
            Token::Word(word, of) => {
                assert_eq!(of, hash(word));
                said.extend([word, " "]);
            }
            Token::End => said.push_str("| "),
        });
        said.trim_end().to_owned()
    }

    #[test]
    fn a_text_is_words_in_any_script() {
        for (text, words) in [
            ("Don't use v1.2.", "dont use v1 2 |"),
            ("C++ and C#, f(x)+1", "c++ and c# f x 1"),
            ("useEffect in HTTPServer; PDFs", "useeffect use effect in httpserver http server | pdfs"),
            ("分析数据。API接口", "分析 析数 数据 | api 接口"),
            ("ＰＤＦ Straße", "pdf straße"),
            ("one\ntwo\n\n- three", "one two | | three"),
            ("aB useJSON x2Beta", "ab a b usejson use json x2beta"),
            ("foo+bar x)y", "foo bar x y"),
            ("", ""),
        ] {
            assert_eq!(all(text), words, "{text:?}");
        }
        assert_eq!(all(&"x".repeat(1_000)), "");
        assert_eq!(all(&format!("é{} ü", "x".repeat(1_000))), "ü");
    }
}
