//! A text as keywords are looked for in it: in its compatible form (NFKC) and folded to lower case, its blanks, hyphens and underlines single spaces.

use unicode_normalization::UnicodeNormalization;

pub(crate) struct Folded {
    pub(crate) text: String,
    /// The runs of bytes that stand in a quotation or in code, in order.
    quotations: Vec<(usize, usize)>,
}

impl Folded {
    pub(crate) fn of(source: &str) -> Self {
        let mut folding = Folding { bytes: Vec::with_capacity(source.len()), quotations: Vec::new() };
        let mut in_fence = false;
        for line in source.split_inclusive('\n') {
            let trimmed = line.trim_start();
            let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
            folding.line(line, is_fence || in_fence || trimmed.starts_with('>'));
            in_fence ^= is_fence;
        }
        // Whole characters went in.
        Self { text: String::from_utf8(folding.bytes).unwrap_or_default(), quotations: folding.quotations }
    }

    pub(super) fn is_quoted(&self, at: usize) -> bool {
        let next = self.quotations.partition_point(|(start, _)| *start <= at);
        next.checked_sub(1).is_some_and(|last| at < self.quotations[last].1)
    }

    /// Where a token may begin: behind what no token goes on from, and at each character of a script without spaces.
    pub(super) fn starts(&self) -> impl Iterator<Item = usize> {
        let bytes = self.text.as_bytes();
        let mut goes_on = false;
        bytes.iter().enumerate().filter_map(move |(at, byte)| {
            let went_on = goes_on;
            if byte.is_ascii() {
                goes_on = byte.is_ascii_alphanumeric();
                return (!went_on && *byte != b' ').then_some(at);
            }
            // The other bytes of a character.
            let c = self.text.get(at..)?.chars().next()?;
            let unspaced = is_unspaced(c);
            goes_on = !unspaced && c.is_alphanumeric();
            (!went_on || unspaced).then_some(at)
        })
    }

    /// The run of bytes begins and ends where tokens do.
    pub(super) fn is_whole(&self, start: usize, end: usize) -> bool {
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

/// A text on its way.
struct Folding {
    bytes: Vec<u8>,
    quotations: Vec<(usize, usize)>,
}

impl Folding {
    fn line(&mut self, line: &str, is_quoted: bool) {
        let start = self.bytes.len();
        if line.is_ascii() {
            self.ascii(line.as_bytes());
        } else {
            self.chars(line);
        }
        let end = self.bytes.len();
        if is_quoted {
            self.quotations.push((start, end));
        } else if self.bytes[start..end].contains(&b'`') {
            // Inline code ends with its line. A wide backtick is folded to one.
            let mut ticks = (start..end).filter(|at| self.bytes[*at] == b'`');
            while let (Some(from), Some(to)) = (ticks.next(), ticks.next()) {
                self.quotations.push((from, to));
            }
        }
    }
    fn last_is_blank(&self) -> bool {
        self.bytes.last() == Some(&b' ')
    }
    /// All of it at once, and then what is one blank too many: without a branch a byte this takes a fraction of the time.
    fn ascii(&mut self, line: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend(line.iter().map(|byte| folded(*byte)));
        // From the blank before it on.
        let from = start.saturating_sub(1);
        let of_line = &self.bytes[from..];
        let pairs = of_line.iter().zip(of_line.iter().skip(1));
        if pairs.fold(0, |doubled, (a, b)| doubled | (u8::from(*a == b' ') & u8::from(*b == b' '))) != 0 {
            let (mut end, mut last) = (start, if start > from { self.bytes[from] } else { 0 });
            for at in start..self.bytes.len() {
                let byte = self.bytes[at];
                self.bytes[end] = byte;
                end += usize::from(byte != b' ' || last != b' ');
                last = byte;
            }
            self.bytes.truncate(end);
        }
    }
    fn chars(&mut self, line: &str) {
        for c in line.nfkc().flat_map(char::to_lowercase) {
            match c {
                // Letters that lower case leaves apart, and case folding doesn't.
                'ß' => self.bytes.extend_from_slice(b"ss"),
                'ς' => self.push('σ'),
                c if c == '-' || c == '_' || c.is_whitespace() => {
                    if !self.last_is_blank() {
                        self.bytes.push(b' ');
                    }
                }
                c => self.push(c),
            }
        }
    }
    fn push(&mut self, c: char) {
        self.bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// What an ASCII character is folded to.
fn folded(byte: u8) -> u8 {
    // The white space of Unicode: with the vertical tab.
    let is_blank = matches!(byte, b'-' | b'_' | b'\t'..=b'\r');
    if is_blank { b' ' } else { byte.to_ascii_lowercase() }
}

/// Scripts that write no spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Character by character, of a text without code and quotations.
    fn plainly(text: &str) -> String {
        let mut folded = String::new();
        for c in text.nfkc().flat_map(char::to_lowercase) {
            match c {
                'ß' => folded.push_str("ss"),
                'ς' => folded.push('σ'),
                c if c == '-' || c == '_' || c.is_whitespace() => {
                    if !folded.ends_with(' ') {
                        folded.push(' ');
                    }
                }
                c => folded.push(c),
            }
        }
        folded
    }
    fn plain_starts(text: &str) -> Vec<usize> {
        let mut goes_on = false;
        let starts = text.char_indices().filter(|(_, c)| {
            let (went_on, unspaced) = (goes_on, is_unspaced(*c));
            goes_on = !unspaced && c.is_alphanumeric();
            (!went_on || unspaced) && *c != ' '
        });
        starts.map(|(at, _)| at).collect()
    }

    #[test]
    fn what_stands_in_code_and_quotations_is_known_as_such() {
        let folded = Folded::of("Run `ls -l` now\n> Quoted\n```\ncode `x`\n```\nand `open");
        let quoted: String = folded.text.char_indices().map(|(at, c)| if folded.is_quoted(at) { c } else { '.' }).collect();
        assert_eq!(folded.text, "run `ls l` now > quoted ``` code `x` ``` and `open");
        let wide = Folded::of("Run ｀ls｀");
        assert_eq!((wide.text.as_str(), wide.is_quoted(5), wide.is_quoted(0)), ("run `ls`", true, false));
        assert_eq!(quoted, "....`ls l......> quoted ``` code `x` ``` .........");
    }

    proptest! {
        #[test]
        fn a_text_is_folded_as_its_characters_are(text in "([ -~\t\n]{0,80}|\\PC{0,40}|[a-z ]{60,70}[é語ß _-]{0,3}){0,5}") {
            // Composition doesn't go across lines.
            let lines: String = text.split_inclusive('\n').map(|line| line.nfkc().collect::<String>()).collect();
            let folded = Folded::of(&text);
            prop_assert_eq!(&folded.text, &plainly(&lines));
            prop_assert_eq!(folded.starts().collect::<Vec<_>>(), plain_starts(&folded.text));
        }
    }
}
