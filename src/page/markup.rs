//! The one place that writes markup.

use crate::layers::text::escape::is_invisible;
use std::fmt::Write;

/// A document that grows. What is not [`raw`](Self::raw) is escaped, for text and for quoted attributes alike.
#[derive(Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Markup of our own; never of a prompt.
    pub(super) fn raw(&mut self, markup: &str) -> &mut Self {
        self.0.push_str(markup);
        self
    }
    /// A number, as people read it.
    pub(super) fn number(&mut self, number: usize) -> &mut Self {
        let digits = number.to_string();
        for (n, digit) in digits.chars().enumerate() {
            if n > 0 && (digits.len() - n).is_multiple_of(3) {
                self.0.push(',');
            }
            self.0.push(digit);
        }
        self
    }
    /// A text; what no one sees of it is shown by its number.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '\t' | '\n' => self.0.push(c),
                c if is_hidden(c) => {
                    // Writing to a string can't fail.
                    let _ = write!(self.0, "<b class=\"hidden\">U+{:04X}</b>", c as u32);
                }
                c => self.escaped(c),
            }
        }
        self
    }
    /// A sentence of ours that quotes in backticks.
    pub(super) fn prose(&mut self, sentence: &str) -> &mut Self {
        for (n, piece) in sentence.split('`').enumerate() {
            if n % 2 == 0 {
                self.text(piece)
            } else {
                self.raw("<code>").text(piece).raw("</code>")
            };
        }
        self
    }
    /// A quoted attribute's value.
    pub(super) fn attribute(&mut self, value: &str) -> &mut Self {
        for c in value.chars() {
            if is_hidden(c) || c == '\n' || c == '\t' {
                let _ = write!(self.0, "[U+{:04X}]", c as u32);
            } else {
                self.escaped(c);
            }
        }
        self
    }
    fn escaped(&mut self, c: char) {
        match c {
            '&' => self.0.push_str("&amp;"),
            '<' => self.0.push_str("&lt;"),
            '>' => self.0.push_str("&gt;"),
            '"' => self.0.push_str("&quot;"),
            '\'' => self.0.push_str("&#39;"),
            c => self.0.push(c),
        }
    }
    /// A text with its line ends. Of a line end at its beginning HTML takes one away, so there is one.
    pub(super) fn preformatted(&mut self, class: &str, text: &str) -> &mut Self {
        self.raw("<pre class=\"").raw(class).raw("\">\n").text(text).raw("</pre>\n")
    }
    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// A carriage return is white space that a page swallows.
fn is_hidden(c: char) -> bool {
    c == '\r' || is_invisible(c)
}

/// `3 skills`, `1 skill`.
pub(super) fn counted(count: usize, thing: &str) -> String {
    let mut text = Markup::default();
    text.number(count).raw(" ").raw(thing).raw(if count == 1 { "" } else { "s" });
    text.into_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_closes_what_it_stands_in() {
        let mut page = Markup::default();
        page.raw("<p title=\"").attribute("\"><script>\n").raw("\">").text("</p>&'\u{202e}\r\u{0}").raw("</p>");
        let expected = "<p title=\"&quot;&gt;&lt;script&gt;[U+000A]\">&lt;/p&gt;&amp;&#39;\
                        <b class=\"hidden\">U+202E</b><b class=\"hidden\">U+000D</b><b class=\"hidden\">U+0000</b></p>";
        assert_eq!(page.into_text(), expected);
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, shown) in
            [(0, "0 tokens"), (1, "1 token"), (999, "999 tokens"), (1_000, "1,000 tokens"), (1_234_567, "1,234,567 tokens")]
        {
            assert_eq!(counted(number, "token"), shown);
        }
    }
}
