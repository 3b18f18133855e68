//! The arguments of most calls are plain JSON: their canonical form is known without building a value of them.

use super::canonical::MARKS;

/// Deeper ones are left to the parser, which has a bound of its own.
const DEPTH: usize = 32;

/// An object's canonical form, where it is plain: no escapes in it, whole numbers alone, keys in order and none of them a mark. `None` is no fault: who
/// parses it finds out.
pub(super) fn canonical(text: &str) -> Option<String> {
    let mut reader = Reader { text, at: 0, out: String::with_capacity(text.len()) };
    reader.blanks();
    reader.next_is(b'{').then_some(())?;
    reader.value(0)?;
    reader.blanks();
    (reader.at == text.len()).then_some(reader.out)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    out: String,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
    fn next_is(&self, byte: u8) -> bool {
        self.peek() == Some(byte)
    }
    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }
    /// One of these, with blanks around it.
    fn sign(&mut self, allowed: &[u8]) -> Option<u8> {
        self.blanks();
        let sign = self.peek().filter(|byte| allowed.contains(byte))?;
        self.at += 1;
        self.out.push(char::from(sign));
        self.blanks();
        Some(sign)
    }
    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'{' if depth < DEPTH => self.object(depth),
            b'[' if depth < DEPTH => self.array(depth),
            b'"' => self.string().map(drop),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.word(),
        }
    }
    fn object(&mut self, depth: usize) -> Option<()> {
        self.sign(b"{")?;
        if self.sign(b"}").is_some() {
            return Some(());
        }
        let mut last = None;
        loop {
            let key = self.string()?;
            // Of two alike the later one counts, and others are sorted.
            if last.is_some_and(|last| last >= key) || MARKS.contains(&key) {
                return None;
            }
            last = Some(key);
            self.sign(b":")?;
            self.value(depth + 1)?;
            if self.sign(b",}")? == b'}' {
                return Some(());
            }
        }
    }
    fn array(&mut self, depth: usize) -> Option<()> {
        self.sign(b"[")?;
        if self.sign(b"]").is_some() {
            return Some(());
        }
        loop {
            self.value(depth + 1)?;
            if self.sign(b",]")? == b']' {
                return Some(());
            }
        }
    }
    /// What stands between the quotation marks.
    fn string(&mut self) -> Option<&'a str> {
        if !self.next_is(b'"') {
            return None;
        }
        let (text, start) = (self.text, self.at + 1);
        let is_special = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\' | 0x7f);
        let end = start + text.as_bytes()[start..].iter().position(is_special)?;
        self.at = end;
        self.next_is(b'"').then_some(())?;
        self.at = end + 1;
        self.out.push_str(&text[start - 1..=end]);
        Some(&text[start..end])
    }
    /// A whole one, as it is written again.
    fn number(&mut self) -> Option<()> {
        const DIGITS: usize = 18;
        let rest = &self.text[self.at..];
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        let is_plain = match count {
            0 => false,
            // Less than nothing is no whole number, and none begins with a zero.
            1 => digits.len() == rest.len() || !digits.starts_with('0'),
            _ => count <= DIGITS && !digits.starts_with('0'),
        };
        if !is_plain || matches!(digits.as_bytes().get(count), Some(b'.' | b'e' | b'E')) {
            return None;
        }
        self.take(rest.len() - digits.len() + count);
        Some(())
    }
    fn word(&mut self) -> Option<()> {
        let rest = &self.text[self.at..];
        let word = ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word))?;
        self.take(word.len());
        Some(())
    }
    fn take(&mut self, bytes: usize) {
        self.out.push_str(&self.text[self.at..self.at + bytes]);
        self.at += bytes;
    }
}
