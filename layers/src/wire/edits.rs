//! What Render asks of a wire. Positions are those of the request as it was read.

use super::cache::CacheMarks;
use super::tool_output::ToolOutputBound;
use super::tools::ToolDefinition;
use super::{GAP, Spot};
use crate::text::TextChange;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A text of ours that leaves its old place. There will be no other kind without a new major version: a wire that misses one sends it twice.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Removal {
    /// Of this part's text so many bytes are the caller's.
    Cut {
        /// The message.
        at: usize,
        /// The part of its content; 0 where that is one string.
        part: usize,
        /// Bytes to keep.
        keep: usize,
    },
    /// This part of its content.
    Part {
        /// The message.
        at: usize,
        /// The part.
        part: usize,
    },
    /// The message.
    Message {
        /// The message.
        at: usize,
    },
}

impl Removal {
    /// The message that it is about.
    pub fn at(&self) -> usize {
        match self {
            Removal::Cut { at, .. } | Removal::Part { at, .. } | Removal::Message { at } => *at,
        }
    }
}

/// A text of ours that stands behind a message.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Append {
    /// The message.
    pub at: usize,
    /// Where behind it.
    pub spot: Spot,
    /// The text, whole.
    pub text: Arc<str>,
}

impl Append {
    /// This text, behind this message.
    pub fn new(at: usize, spot: Spot, text: impl Into<Arc<str>>) -> Self {
        Self { at, spot, text: text.into() }
    }
}

/// Our system prompt, in front of the caller's own.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct SystemEdit {
    /// Our text; empty: none.
    pub text: Arc<str>,
    /// Where it is a message of its own: as `developer`, because the caller spoke so when the conversation began.
    pub as_developer: bool,
    /// Texts of later turns that stand behind it, where all of ours stands in front.
    pub said: Vec<Arc<str>>,
    /// Former ones, taken off the front of what a caller kept.
    pub former: Vec<Arc<str>>,
}

impl SystemEdit {
    /// Adds nothing and takes nothing off.
    pub fn is_nothing(&self) -> bool {
        self.text.is_empty() && self.said.is_empty() && self.former.is_empty()
    }
    /// All of ours, in one string.
    pub fn ours(&self) -> Cow<'_, str> {
        if self.said.is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let all = std::iter::once(&self.text).chain(&self.said).map(|text| &**text).filter(|text| !text.is_empty());
        Cow::Owned(all.collect::<Vec<_>>().join(GAP))
    }
    /// The caller's own words of a text that may begin with ours. The longest of ours that it begins with is ours: one may begin with another.
    pub fn callers<'a>(&self, text: &'a str) -> &'a str {
        let ours = std::iter::once(&self.text).chain(&self.former).filter(|ours| !ours.is_empty());
        let behind = ours.filter_map(|ours| {
            let rest = text.strip_prefix(&**ours)?;
            if rest.is_empty() { Some(rest) } else { rest.strip_prefix(GAP) }
        });
        let rest = behind.min_by_key(|rest| rest.len()).unwrap_or(text);
        // Of the texts of later turns a caller may have kept the first ones.
        self.said.iter().fold(rest, |rest, said| match rest.strip_prefix(&**said) {
            Some("") => "",
            Some(behind) => behind.strip_prefix(GAP).unwrap_or(rest),
            None => rest,
        })
    }
    /// Ours, then the caller's, in one string.
    pub fn in_front_of(&self, text: &str) -> String {
        let callers = self.callers(text);
        match (&*self.ours(), callers) {
            ("", callers) => callers.to_owned(),
            (ours, "") => ours.to_owned(),
            (ours, callers) => [ours, callers].join(GAP),
        }
    }
}

/// What a wire changes in a request, and all that it changes. Lists are ordered by message.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Edits {
    /// Our system prompt; `None` leaves the caller's alone.
    pub system: Option<SystemEdit>,
    /// Texts of ours that leave, so that each is put where it belongs.
    pub removals: Vec<Removal>,
    /// Texts of ours that stand behind messages.
    pub appends: Vec<Append>,
    /// Tools of ours, behind the caller's. One whose name is taken is left out.
    pub tools: Arc<[ToolDefinition]>,
    /// What becomes of the descriptions of the caller's tools, by name. Names and schemas stay.
    pub tool_descriptions: Arc<BTreeMap<String, TextChange>>,
    /// How much of each tool result is sent.
    pub tool_output: Option<ToolOutputBound>,
    /// Where the provider is told that a prefix is worth keeping; `None`: nowhere.
    pub cache: Option<CacheMarks>,
}

impl Edits {
    /// What leaves this message.
    pub fn removals_at(&self, at: usize) -> &[Removal] {
        let begin = self.removals.partition_point(|removal| removal.at() < at);
        let end = self.removals.partition_point(|removal| removal.at() <= at);
        &self.removals[begin..end]
    }
    /// What stands behind this message.
    pub fn appends_at(&self, at: usize) -> &[Append] {
        let begin = self.appends.partition_point(|append| append.at < at);
        let end = self.appends.partition_point(|append| append.at <= at);
        &self.appends[begin..end]
    }
    /// Nothing of this message changes.
    pub fn leaves(&self, at: usize) -> bool {
        self.removals_at(at).is_empty() && self.appends_at(at).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_system_text_comes_off_the_front_once_and_the_callers_stays_whole() {
        let system = SystemEdit { text: "NEW".into(), former: vec!["OLD".into()], ..SystemEdit::default() };
        for (given, sent) in [
            ("", "NEW"),
            ("HOST", "NEW\n\nHOST"),
            ("NEW", "NEW"),
            ("NEW\n\nHOST", "NEW\n\nHOST"),
            ("OLD\n\nHOST", "NEW\n\nHOST"),
            ("OLDER", "NEW\n\nOLDER"),
            ("NEW\n\nNEW", "NEW\n\nNEW"),
            ("  HOST  ", "NEW\n\n  HOST  "),
        ] {
            assert_eq!(system.in_front_of(given), sent);
        }
    }

    #[test]
    fn so_do_the_texts_of_later_turns_as_many_as_stand_there() {
        let system = SystemEdit { text: "NEW".into(), said: vec!["1".into(), "2".into()], ..SystemEdit::default() };
        for given in ["", "NEW", "NEW\n\n1", "NEW\n\n1\n\n2"] {
            assert_eq!(system.in_front_of(given), "NEW\n\n1\n\n2");
        }
        assert_eq!(system.in_front_of("NEW\n\n1\n\nHOST"), "NEW\n\n1\n\n2\n\nHOST");
        assert_eq!(system.in_front_of("NEW\n\n12"), "NEW\n\n1\n\n2\n\n12");
    }
}
