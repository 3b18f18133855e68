//! Where the front matter stands in a file: what may come before its opening fence, and which line closes it.

/// The lines of a text: start, end without the line end, and start of the next. LF, CRLF and CR end a line.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, usize, usize)> {
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= bytes.len() {
            return None;
        }
        let from = start;
        let end = bytes[from..].iter().position(|byte| matches!(byte, b'\n' | b'\r')).map_or(bytes.len(), |length| from + length);
        let ending = usize::from(end < bytes.len()) + usize::from(bytes[end..].starts_with(b"\r\n"));
        start = end + ending;
        Some((from, end, start))
    })
}

/// The opening fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Opening {
    /// `---` or `+++`.
    pub(super) fence: &'static str,
    /// Where its line starts.
    pub(super) start: usize,
    /// Where the front matter starts.
    pub(super) content: usize,
    /// What stands before it.
    pub(super) before: Before,
}

/// What stands before an opening fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Before {
    Nothing,
    BlankLines,
    Comment,
}

/// The opening fence, if the text begins with one, behind nothing but blank lines and HTML comments.
pub(super) fn opening(text: &str) -> Option<Opening> {
    let mut before = Before::Nothing;
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let begun = rest.trim_start_matches(is_blank);
        if let Some(comment) = begun.strip_prefix("<!--") {
            before = Before::Comment;
            let behind = comment.split_once("-->")?.1.trim_start_matches(is_blank);
            let next = ["\r\n", "\n", "\r"].iter().find_map(|end| behind.strip_prefix(end));
            // Text behind a comment is the body's first line. No line is looked for, since a thousand comments may stand on one.
            let next = next.or_else(|| behind.starts_with("<!--").then_some(behind))?;
            at = text.len() - next.len();
            continue;
        }
        let (_, end, next) = lines(rest).next()?;
        let line = &rest[..end];
        if let Some(fence) = ["---", "+++"].into_iter().find(|fence| line.trim_end_matches([' ', '\t']) == *fence) {
            return Some(Opening { fence, start: at, content: at + next, before });
        }
        if !line.trim().is_empty() {
            return None;
        }
        before = if before == Before::Nothing { Before::BlankLines } else { before };
        at += next;
    }
}

/// A blank within a line.
fn is_blank(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\n' | '\r')
}

/// A line that may close the front matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Closing {
    /// Where its line starts.
    pub(super) start: usize,
    /// Where the body starts.
    pub(super) body: usize,
}

/// The lines behind the opening that are exactly its fence (blanks behind it don't show, and don't count). Where `text` is the beginning of a file
/// alone, its last line is none, since it may go on.
pub(super) fn exact_closings(text: &str, opening: Opening, complete: bool) -> impl Iterator<Item = Closing> {
    let content = opening.content;
    lines(&text[content..]).filter_map(move |(start, end, next)| {
        let line = &text[content + start..content + end];
        let whole = complete || content + next < text.len();
        let closes = whole && line.trim_end_matches([' ', '\t']) == opening.fence;
        closes.then_some(Closing { start: content + start, body: content + next })
    })
}

/// The first line that begins with the fence; what stands behind the fence is body.
pub(super) fn loose_closing(text: &str, opening: Opening) -> Option<Closing> {
    let content = opening.content;
    let (start, ..) = lines(&text[content..]).find(|(start, end, _)| text[content + start..content + end].starts_with(opening.fence))?;
    Some(Closing { start: content + start, body: content + start + opening.fence.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_stands_first_or_behind_blanks_and_comments() {
        let cases = [
            ("---\na: b", Some((0, 4, Before::Nothing))),
            ("---  \r\na: b", Some((0, 7, Before::Nothing))),
            ("\n \n---\n", Some((3, 7, Before::BlankLines))),
            ("<!-- a\n---\n b -->\n\n---\nx", Some((19, 23, Before::Comment))),
            ("<!-- a --><!-- b -->\n---\n", Some((21, 25, Before::Comment))),
            ("<!-- a --> text\n---\n", None),
            ("<!-- never closed\n---\n", None),
            ("----\n", None),
            (" ---\n", None),
            ("text\n---\n", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(opening(text).map(|found| (found.start, found.content, found.before)), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_of_comments_is_passed_over_once() {
        // In quadratic time this would take minutes.
        let comments = "<!-- -->\t".repeat(200_000);
        assert_eq!(opening(&format!("{comments}\r\n---\n")).map(|found| found.start), Some(comments.len() + 2));
        assert_eq!(opening(&comments), None);
    }

    #[test]
    fn only_the_exact_fence_closes() {
        let text = "---\na: b\n---x\n ---\n----\n--- \nbody\n---";
        let opening = opening(text).unwrap();
        let starts = |complete| exact_closings(text, opening, complete).map(|closing| &text[closing.body..]).collect::<Vec<_>>();
        assert_eq!(starts(true), ["body\n---", ""]);
        assert_eq!(starts(false), ["body\n---"]);
        let loose = loose_closing(text, opening).unwrap();
        assert!(text[loose.body..].starts_with("x\n"));
    }
}
