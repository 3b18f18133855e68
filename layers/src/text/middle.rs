//! Cutting the middle out of a text: what came first and what came last say most of a command's output.

use super::limit::{Edge, behind};
use super::{Room, prefix};
use std::ops::Range;

/// A text without its middle.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MiddleCut {
    /// The bytes that are left out.
    pub left_out: Range<usize>,
    /// What stands in their place; empty where there is no room for it.
    pub marker: String,
}

impl MiddleCut {
    /// What is left of the text that was cut.
    pub fn apply(&self, text: &str) -> String {
        [&text[..self.left_out.start], &self.marker, &text[self.left_out.end..]].concat()
    }
}

/// How the middle of `text` is cut out so that the rest fits, with what `marker` says of the text left out in its place. `None` where all of it fits.
///
/// Head and tail get the same room, and end at a line where that costs little. Where not even the marker fits, there is a head alone.
pub fn cut_middle(text: &str, room: &Room<'_>, marker: impl Fn(&str) -> String) -> Option<MiddleCut> {
    if room.holds(text) {
        return None;
    }
    let cut_to = |keep: usize| {
        let head = line_or_character(text, keep.div_ceil(2));
        let tail = behind_line_or_character(text, text.len() - keep / 2).max(head);
        let cut = MiddleCut { left_out: head..tail, marker: marker(&text[head..tail]) };
        room.holds(&cut.apply(text)).then_some(cut)
    };
    let Some(mut best) = cut_to(0) else {
        return Some(MiddleCut { left_out: prefix(text, room).len()..text.len(), marker: String::new() });
    };
    let (mut low, mut high) = (0, text.len());
    while low + 1 < high {
        let middle = low.midpoint(high);
        match cut_to(middle) {
            Some(cut) => {
                low = middle;
                if cut.left_out.len() <= best.left_out.len() {
                    best = cut;
                }
            }
            None => high = middle,
        }
    }
    Some(best)
}

/// Of a head or a tail this part is given up for a line's end.
const PART_OF_A_LINE: usize = 4;

/// The last place at or before `at` that is fit for a cut.
fn line_or_character(text: &str, at: usize) -> usize {
    let line = Edge::Line.before(text, at);
    if at - line <= at / PART_OF_A_LINE { line } else { Edge::Character.before(text, at) }
}

/// The first place at or behind `at` that is fit for a cut.
fn behind_line_or_character(text: &str, at: usize) -> usize {
    let at = behind(text, at);
    let line = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    if line - at <= (text.len() - at) / PART_OF_A_LINE { line } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Limit;
    use proptest::prelude::*;

    fn marked(left_out: &str) -> String {
        format!("[{} cut]", left_out.chars().count())
    }
    fn cut(text: &str, limit: Limit) -> String {
        cut_middle(text, &Room::UNLIMITED.with(limit), marked).map_or_else(|| text.to_owned(), |cut| cut.apply(text))
    }

    proptest! {
        #[test]
        fn never_over_its_room_and_the_rest_is_the_texts_own(
            pieces in proptest::collection::vec("[a-z ]{0,9}|\n|&lt;|👨‍👩‍👧‍👦|e\u{301}|中文", 0..40),
            n in 0..200_usize,
            unit in 0..3_usize,
        ) {
            let text = pieces.concat();
            let room = Room::UNLIMITED.with([Limit::Bytes(n), Limit::Chars(n), Limit::Tokens(n)][unit]);
            match cut_middle(&text, &room, marked) {
                None => prop_assert!(room.holds(&text)),
                Some(cut) => {
                    prop_assert!(!room.holds(&text) && room.holds(&cut.apply(&text)));
                    prop_assert!(cut.marker.is_empty() || cut.marker == marked(&text[cut.left_out.clone()]));
                    // What was cut is cut no more.
                    prop_assert_eq!(cut_middle(&cut.apply(&text), &room, marked), None);
                }
            }
        }
    }

    #[test]
    fn head_and_tail_stay() {
        let text = "0123456789".repeat(10);
        assert_eq!(cut(&text, Limit::Chars(30)), "01234567890[78 cut]90123456789");
    }

    #[test]
    fn lines_stay_whole_where_that_costs_little() {
        let text = (1..=40).fold(String::new(), |text, n| format!("{text}line {n}\n"));
        let (head, tail) = ("line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\n", "line 36\nline 37\nline 38\nline 39\nline 40\n");
        assert_eq!(cut(&text, Limit::Chars(100)), format!("{head}[222 cut]{tail}"));
    }

    #[test]
    fn of_short_lines_none_is_torn_in_any_room() {
        let text = (100..200).fold(String::new(), |text, n| format!("{text}line {n}\n"));
        for n in (100..text.len()).step_by(7) {
            let cut = cut_middle(&text, &Room::UNLIMITED.with(Limit::Bytes(n)), marked).unwrap();
            assert_eq!((cut.left_out.start % 9, cut.left_out.end % 9), (0, 0), "{n}");
        }
    }

    #[test]
    fn a_marker_without_room_leaves_a_head() {
        assert_eq!(cut("a long text", Limit::Chars(4)), "a lo");
        assert_eq!(cut("a long text", Limit::Chars(0)), "");
    }

    #[test]
    fn clusters_and_escapes_are_not_torn_at_either_side() {
        let torn = ["\u{200d}[", "]\u{200d}", "]\u{301}", "]lt;", "&[", "&l[", "&lt[", "]t;", "];"];
        // Also far from the text's beginning.
        for between in [60, 600] {
            let text = format!("ab👨‍👩‍👧‍👦{}&lt;👨‍👩‍👧‍👦e\u{301}", "-".repeat(between));
            for n in 0..text.len() {
                let cut = cut(&text, Limit::Bytes(n));
                assert!(torn.iter().all(|torn| !cut.contains(torn)), "{n}: {cut}");
            }
        }
    }
}
