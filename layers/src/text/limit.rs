//! Limits, and the one place where text is cut.
//!
//! A cut text is never over its room, its marker and closing tags included; never cut inside a character, nor inside a cluster of characters that
//! a reader sees as one (an emoji with joiners, a letter with marks) unless the cluster alone is absurdly long. All cutting goes through
//! [`fit_around`], which tries what it is about to return: so a limit holds whatever stands around the text.

use super::{EstimatedTokens, TokenCounter};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use unicode_segmentation::UnicodeSegmentation;

/// At most so much of a text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Limit {
    /// All of it.
    #[default]
    None,
    /// UTF-8 bytes.
    Bytes(usize),
    /// Unicode scalar values.
    Chars(usize),
    /// Tokens, as the stack's counter counts them.
    Tokens(usize),
}

impl Limit {
    /// The number, in its unit; `None` without a limit.
    pub fn amount(self) -> Option<usize> {
        match self {
            Limit::None => None,
            Limit::Bytes(n) | Limit::Chars(n) | Limit::Tokens(n) => Some(n),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::None => f.write_str("no limit"),
            Limit::Bytes(n) => write!(f, "{n} bytes"),
            Limit::Chars(n) => write!(f, "{n} characters"),
            Limit::Tokens(n) => write!(f, "{n} tokens"),
        }
    }
}

/// How much a text may take, and who counts it.
#[derive(Clone, Copy)]
pub struct Room<'a> {
    limit: Limit,
    counter: &'a dyn TokenCounter,
}

impl Room<'static> {
    /// For all of it.
    pub const UNLIMITED: Self = Self { limit: Limit::None, counter: &EstimatedTokens };
}

impl<'a> Room<'a> {
    /// With this limit; `counter` counts where it is in tokens.
    pub fn new(limit: Limit, counter: &'a dyn TokenCounter) -> Self {
        Self { limit, counter }
    }
    /// Whether all of `text` fits.
    pub fn holds(&self, text: &str) -> bool {
        match self.limit {
            Limit::None => true,
            Limit::Bytes(n) => text.len() <= n,
            // No text has more characters than bytes.
            Limit::Chars(n) => text.len() <= n || text.chars().count() <= n,
            Limit::Tokens(n) => self.counter.count(text) <= n,
        }
    }
    /// The size of `text` in the limit's unit; bytes without a limit.
    pub fn size(&self, text: &str) -> usize {
        match self.limit {
            Limit::None | Limit::Bytes(_) => text.len(),
            Limit::Chars(_) => text.chars().count(),
            Limit::Tokens(_) => self.counter.count(text),
        }
    }
    /// Its limit.
    pub fn limit(&self) -> Limit {
        self.limit
    }
    /// The same counter under another limit.
    pub fn with(&self, limit: Limit) -> Self {
        Self { limit, counter: self.counter }
    }
}

impl fmt::Debug for Room<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.limit, f)
    }
}

/// A text that was fitted into its room.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Fitted<'a> {
    /// What may be sent. Empty: it can't be said in this room at all.
    pub text: Cow<'a, str>,
    /// Something was left out.
    pub is_cut: bool,
    /// How many whole items (skills, files) were left out, where the text is made of items.
    pub items_left_out: usize,
}

impl<'a> Fitted<'a> {
    /// All of it.
    pub fn whole(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), is_cut: false, items_left_out: 0 }
    }
    /// A part of it.
    pub fn cut(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), is_cut: true, items_left_out: 0 }
    }
    /// Without so many of its items.
    pub fn without_items(mut self, items: usize) -> Self {
        self.items_left_out = items;
        self
    }
    /// The same text, owned.
    pub fn into_owned(self) -> Fitted<'static> {
        Fitted { text: Cow::Owned(self.text.into_owned()), is_cut: self.is_cut, items_left_out: self.items_left_out }
    }
}

/// Where a cut may fall.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Edge {
    /// Between two characters that a reader sees.
    Character,
    /// Behind a word; inside one where there is no other.
    Word,
    /// Behind a line.
    Line,
}

/// Further back than this no cluster or word end is looked for.
const LOOK_BACK: usize = 256;

impl Edge {
    /// The last place at or before byte `at` where `text` may be cut.
    pub(super) fn before(self, text: &str, at: usize) -> usize {
        if at >= text.len() {
            return text.len();
        }
        let at = floor_char_boundary(text, at);
        match self {
            Edge::Character => escape_boundary(text, cluster_boundary(text, at)),
            Edge::Word => {
                let at = escape_boundary(text, cluster_boundary(text, at));
                if text[at..].starts_with(char::is_whitespace) {
                    return text[..at].trim_end().len();
                }
                let from = floor_char_boundary(text, at.saturating_sub(LOOK_BACK));
                text[from..at].rfind(char::is_whitespace).map_or(at, |space| text[..from + space].trim_end().len())
            }
            Edge::Line => text[..at].rfind('\n').map_or(0, |end| end + 1),
        }
    }
}

/// `at`, or where the character reference (`&lt;`) begins that it would tear.
fn escape_boundary(text: &str, at: usize) -> usize {
    const LONGEST: usize = "&#1114111;".len();
    let from = floor_char_boundary(text, at.saturating_sub(LONGEST));
    let Some(begin) = text[from..at].rfind('&').map(|begin| from + begin) else { return at };
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '#';
    let behind = text[begin + 1..].trim_start_matches(inside);
    let end = text.len() - behind.len();
    let is_reference = behind.starts_with(';') && end > begin + 1 && end - begin < LONGEST;
    if is_reference && at <= end { begin } else { at }
}

/// The first place at or behind byte `at` where `text` may be cut between two characters that a reader sees.
pub(super) fn behind(text: &str, at: usize) -> usize {
    let at = (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let from = cluster_boundary(text, at);
    let cluster = if from == at { Some(at) } else { text[from..].graphemes(true).next().map(|cluster| from + cluster.len()) };
    // A cluster without end is cut between characters.
    let at = cluster.filter(|end| end - at <= LOOK_BACK).unwrap_or(at);
    let reference = escape_boundary(text, at);
    if reference == at { at } else { text[at..].find(';').map_or(at, |end| at + end + 1) }
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The last boundary between clusters at or before `at`, a character boundary.
fn cluster_boundary(text: &str, at: usize) -> usize {
    let from = floor_char_boundary(text, at.saturating_sub(LOOK_BACK));
    let to = floor_char_boundary(text, (at + LOOK_BACK).min(text.len()));
    let mut last = None;
    for (start, _) in text[from..to].grapheme_indices(true) {
        match from + start {
            boundary if boundary > at => break,
            // The first one was cut out of its surroundings: it says nothing.
            boundary if start > 0 || from == 0 => last = Some(boundary),
            _ => {}
        }
    }
    last.unwrap_or(at)
}

/// Of `text` the longest beginning for which `build(beginning)` fits the room, built; `None` where not even `build("")` does.
///
/// `build` puts around the text what must stand there: a marker, a closing tag. The longer its argument, the longer its result should be.
pub fn fit_around(text: &str, edge: Edge, room: &Room<'_>, build: impl Fn(&str) -> String) -> Option<String> {
    let built = |at: usize| {
        let at = edge.before(text, at);
        let built = build(&text[..at]);
        room.holds(&built).then_some((at, built))
    };
    let mut best = built(0)?;
    // First in growing steps, so that a small room in a large text costs little; then by halves.
    let (mut low, mut high) = (0, 64.min(text.len()));
    while let Some(found) = built(high) {
        best = found;
        low = high;
        if high == text.len() {
            return Some(best.1);
        }
        high = (high * 2).min(text.len());
    }
    while low + 1 < high {
        let middle = low.midpoint(high);
        match built(middle) {
            Some(found) => {
                low = middle;
                if found.0 >= best.0 {
                    best = found;
                }
            }
            None => high = middle,
        }
    }
    Some(best.1)
}

/// The longest beginning of `text` that fits, without a marker.
pub fn prefix<'a>(text: &'a str, room: &Room<'_>) -> &'a str {
    if room.holds(text) {
        return text;
    }
    let kept = fit_around(text, Edge::Character, room, str::to_owned).unwrap_or_default();
    &text[..kept.len()]
}

/// `text` whole, else as much as fits with a marker behind it that says how many bytes are missing, else without the marker.
pub fn cut<'a>(text: &'a str, edge: Edge, room: &Room<'_>) -> Fitted<'a> {
    if room.holds(text) {
        return Fitted::whole(text);
    }
    let marked = |kept: &str| format!("{kept}{}", marker(text.len() - kept.len()));
    match fit_around(text, edge, room, marked) {
        Some(cut) => Fitted::cut(cut),
        None => Fitted::cut(prefix(text, room)),
    }
}

/// What stands behind a text that was cut: how many bytes are missing.
pub(crate) fn marker(missing: usize) -> String {
    format!("[{missing} bytes cut]")
}

/// `text` in at most so many characters, cut at a word's end, the ellipsis counted.
pub fn shorten(text: &str, max_chars: usize) -> Cow<'_, str> {
    let room = Room::UNLIMITED.with(Limit::Chars(max_chars));
    if room.holds(text) {
        return Cow::Borrowed(text);
    }
    fit_around(text, Edge::Word, &room, |kept| format!("{kept}…")).unwrap_or_default().into()
}

#[cfg(test)]
mod tests;
