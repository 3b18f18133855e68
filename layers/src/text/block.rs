//! A text between tags of its own: how sections, instructions and skills stand in a prompt.

use super::{Edge, Fitted, Room, cut, escape, fit_around};
use crate::prompt::Text;
use std::ops::Range;

/// Prose inside a block that it can't break out of. Cut, it keeps its closing tag and says how much is missing.
///
/// ```
/// use tower_prompt_layers::{Text, text::{Block, Limit, Room}};
///
/// let block = Block::new("deploy", "Staging is frozen.\n</deploy>").attribute("team", "R&D");
/// assert_eq!(block.to_string(), "<deploy team=\"R&amp;D\">\nStaging is frozen.\n&lt;/deploy>\n</deploy>");
/// assert_eq!(block.fit(&Room::UNLIMITED.with(Limit::Bytes(5))).text, "");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The opening tag, what is ours behind it, the body, a line end where it has none, the closing tag.
    whole: String,
    /// Where the opening tag ends.
    open: usize,
    body: Range<usize>,
    /// Where the closing tag begins.
    close: usize,
    edge: Edge,
    rest_in: Option<String>,
}

impl Block {
    /// `body` between `<tag>` and `</tag>`, on lines of their own. Blanks at its end are dropped.
    pub fn new(tag: &str, body: &str) -> Self {
        Self::escaped(tag, &escape::prose(body, &[tag]))
    }
    /// As [`new`](Self::new), of prose that was escaped already.
    pub(crate) fn escaped(tag: &str, body: &str) -> Self {
        let body = body.trim_end();
        let mut whole = String::with_capacity(body.len() + 2 * tag.len() + "<>\n\n</>".len());
        whole.extend(["<", tag, ">\n"]);
        let open = whole.len();
        whole.push_str(body);
        let body = open..whole.len();
        whole.push_str(line_end(&whole[body.clone()]));
        let close = whole.len();
        whole.extend(["</", tag, ">"]);
        Self { whole, open, body, close, edge: Edge::Line, rest_in: None }
    }
    /// With an attribute of one line.
    pub fn attribute(self, name: &str, value: &str) -> Self {
        self.raw_attribute(name, &escape::attribute(value))
    }
    /// With an attribute that is a path: it reads as the same path once it is unescaped.
    pub fn path_attribute(self, name: &str, path: &str) -> Self {
        self.raw_attribute(name, &escape::path(path))
    }
    /// With lines of ours ahead of the body, which are never cut.
    pub fn head(mut self, head: impl AsRef<str>) -> Self {
        let (before, head) = (self.open..self.body.start, head.as_ref());
        self.whole.replace_range(before.clone(), head);
        let moved = |at: usize| at - before.len() + head.len();
        (self.body, self.close) = (moved(self.body.start)..moved(self.body.end), moved(self.close));
        self
    }
    /// Cut here; at line ends unless told otherwise.
    pub fn edge(mut self, edge: Edge) -> Self {
        self.edge = edge;
        self
    }
    /// A cut says that the rest stands in this file.
    pub fn rest_in(mut self, path: impl Into<String>) -> Self {
        self.rest_in = Some(path.into());
        self
    }

    fn raw_attribute(mut self, name: &str, escaped: &str) -> Self {
        let attribute = format!(" {name}=\"{escaped}\"");
        self.whole.insert_str(self.open - ">\n".len(), &attribute);
        let by = attribute.len();
        (self.open, self.body, self.close) = (self.open + by, self.body.start + by..self.body.end + by, self.close + by);
        self
    }
    fn body(&self) -> &str {
        &self.whole[self.body.clone()]
    }
    fn around(&self, body: &str, marker: &str) -> String {
        let (ahead, close) = (&self.whole[..self.body.start], &self.whole[self.close..]);
        [ahead, body, line_end(body), marker, line_end(marker), close].concat()
    }
    fn marker(&self, missing: usize) -> String {
        match &self.rest_in {
            Some(path) => format!("[{missing} bytes cut; the rest is in {}]", escape::path(path)),
            None => super::limit::marker(missing),
        }
    }
}

/// What ends the last line.
fn line_end(text: &str) -> &'static str {
    if text.is_empty() || text.ends_with('\n') { "" } else { "\n" }
}

impl Text for Block {
    fn fit(&self, room: &Room<'_>) -> Fitted<'_> {
        if room.holds(&self.whole) {
            return Fitted::whole(&*self.whole);
        }
        let marked = |kept: &str| self.around(kept, &self.marker(self.body.len() - kept.len()));
        let plain = |kept: &str| self.around(kept, "");
        let fitted = fit_around(self.body(), self.edge, room, marked)
            // A limit smaller than the marker: some text without it, or nothing.
            .or_else(|| fit_around(self.body(), Edge::Character, room, plain).filter(|cut| cut.len() > plain("").len()));
        Fitted::cut(fitted.unwrap_or_default())
    }
}

impl std::fmt::Display for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.whole)
    }
}

impl Text for str {
    fn fit(&self, room: &Room<'_>) -> Fitted<'_> {
        cut(self, Edge::Word, room)
    }
}
impl Text for String {
    fn fit(&self, room: &Room<'_>) -> Fitted<'_> {
        self.as_str().fit(room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Limit;
    use proptest::prelude::*;

    #[test]
    fn a_cut_block_says_how_much_is_missing_and_where_it_is() {
        let block = Block::new("instructions", "First rule.\nSecond rule.\nThird rule, with many words in it so that something must go.\n")
            .rest_in("a/AGENTS.md");
        let fitted = block.fit(&Room::UNLIMITED.with(Limit::Bytes(90)));
        assert_eq!(fitted.text, "<instructions>\nFirst rule.\n[73 bytes cut; the rest is in a/AGENTS.md]\n</instructions>");
        assert!(fitted.is_cut);
    }

    #[test]
    fn a_cut_block_keeps_its_attributes_and_our_lines_ahead() {
        let text = "One line of it.\n".repeat(9);
        let block = Block::new("skill", &text).head("Given lines.\n").attribute("id", "a").path_attribute("path", "R&D").head("Ours.\n");
        let open = "<skill id=\"a\" path=\"R&amp;D\">\nOurs.\n";
        assert_eq!(block.to_string(), format!("{open}{text}</skill>"));
        let fitted = block.fit(&Room::UNLIMITED.with(Limit::Bytes(90)));
        assert_eq!(fitted.text, format!("{open}One line of it.\n[127 bytes cut]\n</skill>"));
    }

    #[test]
    fn an_empty_body_is_a_block_all_the_same() {
        assert_eq!(Block::new("a", " \n").to_string(), "<a>\n</a>");
    }

    #[test]
    fn where_not_even_the_marker_fits_there_is_some_text_or_nothing() {
        let (block, empty) = (Block::new("note", "First rule, second rule."), "<note>\n</note>".len());
        let fitted = |bytes: usize| block.fit(&Room::UNLIMITED.with(Limit::Bytes(bytes))).text.into_owned();
        assert_eq!(fitted(empty), "");
        assert_eq!(fitted(empty + 1), "", "text takes a line end along");
        assert_eq!(fitted(empty + 2), "<note>\nF\n</note>");
        assert_eq!(fitted(empty + 6), "<note>\nFirst\n</note>");
    }

    proptest! {
        #[test]
        fn a_block_in_any_room_is_whole_or_absent(body in "(</?note>|[a-z é\n]{0,9}){0,12}", n in 0..200_usize, unit in 0..3_usize) {
            let limit = [Limit::Bytes(n), Limit::Chars(n), Limit::Tokens(n)][unit];
            let room = Room::UNLIMITED.with(limit);
            let block = Block::new("note", &body).rest_in("x.md");
            let fitted = block.fit(&room);
            prop_assert!(room.holds(&fitted.text));
            prop_assert_eq!(fitted.is_cut, !room.holds(&block.to_string()));
            if !fitted.text.is_empty() {
                prop_assert!(fitted.text.starts_with("<note>\n") && fitted.text.ends_with("\n</note>"));
                prop_assert_eq!(fitted.text.matches("</note>").count(), 1);
            }
        }
    }
}
