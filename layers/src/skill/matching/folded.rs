//! A text as keywords are looked for in it: in its compatible form (NFKC) and folded to lower case, its blanks, hyphens and underlines single spaces.

use unicode_normalization::UnicodeNormalization;

pub(crate) struct Folded {
    pub(crate) text: String,
    /// The runs of bytes that stand in a quotation or in code, in order.
    quotations: Vec<(usize, usize)>,
}

impl Folded {
    pub(crate) fn of(source: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(source.len()), quotations: Vec::new() };
        let mut in_fence = false;
        for line in source.split_inclusive('\n') {
            let trimmed = line.trim_start();
            let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
            let start = folded.text.len();
            if is_fence || in_fence || trimmed.starts_with('>') {
                folded.fold_line(line, &mut |_| {});
                folded.quotations.push((start, folded.text.len()));
            } else {
                // Inline code ends with its line.
                let (mut code, mut code_from) = (Vec::new(), None);
                folded.fold_line(line, &mut |at| match code_from.take() {
                    Some(from) => code.push((from, at)),
                    None => code_from = Some(at),
                });
                folded.quotations.append(&mut code);
            }
            in_fence ^= is_fence;
        }
        folded
    }

    /// `tick` hears where a backtick stands.
    fn fold_line(&mut self, line: &str, tick: &mut impl FnMut(usize)) {
        let plain = line.strip_suffix('\n').unwrap_or(line);
        if is_plain(plain) {
            let start = self.text.len();
            self.text.push_str(plain);
            self.text[start..].make_ascii_lowercase();
            if plain.len() < line.len() {
                self.push('\n', tick);
            }
        } else if line.is_ascii() {
            // What needs no look of its own is taken over in runs.
            let mut rest = line;
            while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'-' | b'_' | b'`') || byte <= b' ') {
                let start = self.text.len();
                self.text.push_str(&rest[..at]);
                self.text[start..].make_ascii_lowercase();
                self.push(char::from(rest.as_bytes()[at]), tick);
                rest = &rest[at + 1..];
            }
            let start = self.text.len();
            self.text.push_str(rest);
            self.text[start..].make_ascii_lowercase();
        } else {
            for c in line.nfkc().flat_map(char::to_lowercase) {
                match c {
                    // Letters that lower case leaves apart, and case folding doesn't.
                    'ß' => self.text.push_str("ss"),
                    'ς' => self.text.push('σ'),
                    c => self.push(c, tick),
                }
            }
        }
    }

    fn push(&mut self, c: char, tick: &mut impl FnMut(usize)) {
        match c {
            c if c == '-' || c == '_' || c.is_whitespace() => {
                if self.text.as_bytes().last() != Some(&b' ') {
                    self.text.push(' ');
                }
            }
            c => {
                if c == '`' {
                    tick(self.text.len());
                }
                self.text.push(c);
            }
        }
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

/// Folding it is to write its letters small.
fn is_plain(line: &str) -> bool {
    // All of it at once: without a way out in the middle this takes a fraction of the time.
    let is_odd = |byte: u8| matches!(byte, 0..b' ' | b'-' | b'_' | b'`' | 0x7f..);
    let bytes = line.as_bytes();
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    let doubled = pairs.fold(0, |doubled, (a, b)| doubled | (u8::from(*a == b' ') & u8::from(*b == b' ')));
    doubled == 0 && !bytes.iter().fold(false, |odd, byte| odd | is_odd(*byte)) && !line.starts_with(' ')
}

/// Scripts that write no spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
