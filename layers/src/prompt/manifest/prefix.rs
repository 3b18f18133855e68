//! A request in the order in which a provider hashes it, and where two of them part.
//!
//! What is compared is what the stack knows: its own texts byte for byte, and of the caller's part what anchors see (role, texts without blanks at
//! their end, media, calls) beside the caller's system text, the names of its tools and how long tool results are. What a caller changes of the
//! rest (thinking, ids, cache marks, schemas, the content of a result of the same length) is not seen.

use super::tools::first_changed;
use super::{ContentHash, Placement, RenderedFragment, RenderedText, RenderedTool};
use crate::wire::Role;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter;
use std::sync::Arc;

/// A message of the caller's, without its words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallersMessage {
    /// Position in the request as it came; of a run of results the last one's. A message that holds results and words of the user's is two of these.
    pub at: usize,
    /// Who speaks.
    pub role: Role,
    /// Of what is seen of it, with the session's key.
    pub hash: ContentHash,
}

/// What the caller's part of a request is known by. Its hashes are keyed: equal means the same, and tells no one of what.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallersPart {
    /// Tells the hashes of one key from those of another; those of a session, or of a table of conversations, are of one.
    pub key: Option<ContentHash>,
    /// The provider holds the history before these messages.
    #[serde(default)]
    pub is_history_held: bool,
    /// Of the names of the caller's tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ContentHash>,
    /// Of the caller's system text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<ContentHash>,
    /// Oldest first.
    #[serde(with = "shared_list")]
    pub messages: Arc<[CallersMessage]>,
}

mod shared_list {
    use super::{Arc, CallersMessage};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    pub(super) fn serialize<S: Serializer>(list: &Arc<[CallersMessage]>, serializer: S) -> Result<S::Ok, S::Error> {
        list.as_ref().serialize(serializer)
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[CallersMessage]>, D::Error> {
        Vec::deserialize(deserializer).map(Into::into)
    }
}

impl CallersPart {
    /// Hashes of both can be compared.
    pub(super) fn is_comparable_with(&self, other: &Self) -> bool {
        self.key.is_some() && self.key == other.key && !self.is_history_held && !other.is_history_held
    }
}

/// What of the caller's changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallersPlace {
    /// The tools that it offers.
    Tools,
    /// Its own system text.
    System,
    /// This message (by its position in the request as it came): another, or gone.
    Message(usize),
}

/// The first thing that is not as it was: from there on a provider reads anew.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FirstChange {
    /// A text of ours.
    Us {
        /// Where it stands; a text that is gone, where it stood.
        placement: Placement,
        /// The first byte of it that changed.
        offset: usize,
        /// The fragment that changed, came or went there.
        fragment: String,
    },
    /// The definition of a tool of ours.
    Tool {
        /// The tool that changed, came or went.
        name: String,
    },
    /// The caller's own words.
    Caller {
        /// Which of them.
        place: CallersPlace,
    },
}

impl fmt::Display for FirstChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Us { placement: Placement::System, offset, fragment } => {
                write!(f, "we changed the system prompt from byte {offset} on, in `{fragment}`")
            }
            Self::Us { placement: Placement::BehindMessage(at), offset, fragment } => {
                write!(f, "we changed the text behind message {} from byte {offset} on, in `{fragment}`", at + 1)
            }
            Self::Tool { name } => write!(f, "we offer another tool `{name}`"),
            Self::Caller { place: CallersPlace::Tools } => f.write_str("the caller offers other tools"),
            Self::Caller { place: CallersPlace::System } => f.write_str("the caller changed its system text"),
            Self::Caller { place: CallersPlace::Message(at) } => write!(f, "the caller changed its messages from message {} on", at + 1),
        }
    }
}

/// How much of a request the one before had already, from its first byte on: what a cache of prefixes can serve. Of the caller's part only tokens
/// that the provider counts tell (see [`Report::record_usage`](super::Report::record_usage)).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Foreseen {
    /// Where it parts from the request before; none where it goes on from it, or ends within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_change: Option<FirstChange>,
    /// Tokens of our fragments that stand ahead of that, or of the end of the request before.
    pub kept_tokens: usize,
    /// Tokens of our other fragments.
    pub new_tokens: usize,
}

/// A request as it is hashed: tools, ours behind the caller's, system, messages with our texts behind them.
#[derive(Clone, Copy)]
pub(crate) struct Prefix<'a> {
    pub(crate) caller: &'a CallersPart,
    pub(crate) tools: &'a [RenderedTool],
    pub(crate) texts: &'a [RenderedText],
}

#[derive(Clone, Copy)]
enum Unit<'a> {
    Tools(Option<ContentHash>),
    OurTools(&'a [RenderedTool]),
    CallersSystem(Option<ContentHash>),
    Message(&'a CallersMessage),
    Text(&'a RenderedText),
}

impl Unit<'_> {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Unit::Tools(one), Unit::Tools(other)) | (Unit::CallersSystem(one), Unit::CallersSystem(other)) => one == other,
            (Unit::OurTools(one), Unit::OurTools(other)) => first_changed(one, other).is_none(),
            (Unit::Message(one), Unit::Message(other)) => (one.role, one.hash) == (other.role, other.hash),
            (Unit::Text(one), Unit::Text(other)) => Arc::ptr_eq(&one.text, &other.text) || one.text == other.text,
            _ => false,
        }
    }
    fn tokens(&self) -> usize {
        if let Unit::Text(text) = self { tokens(text, usize::MAX) } else { 0 }
    }
    fn callers_place(&self) -> Option<CallersPlace> {
        match self {
            Unit::Tools(_) => Some(CallersPlace::Tools),
            Unit::CallersSystem(_) => Some(CallersPlace::System),
            Unit::Message(message) => Some(CallersPlace::Message(message.at)),
            Unit::OurTools(_) | Unit::Text(_) => None,
        }
    }
}

impl<'a> Prefix<'a> {
    /// Of requests whose callers' parts can't be compared, the system prompt alone.
    fn units(self, whole: bool) -> Vec<Unit<'a>> {
        let stands_in_system = |text: &&RenderedText| text.placement == Placement::System;
        let mut units = Vec::with_capacity(3 + self.texts.len() + self.caller.messages.len());
        units.extend(whole.then_some(Unit::Tools(self.caller.tools)));
        // Behind the caller's tools, ahead of all text.
        units.push(Unit::OurTools(self.tools));
        units.extend(self.texts.iter().filter(stands_in_system).map(Unit::Text));
        if !whole {
            return units;
        }
        units.push(Unit::CallersSystem(self.caller.system));
        let mut tail = self.texts.iter().filter(|text| !stands_in_system(text)).peekable();
        for (n, message) in self.caller.messages.iter().enumerate() {
            units.push(Unit::Message(message));
            units.extend(iter::from_fn(|| tail.next_if(|text| text.follows == Some(n))).map(Unit::Text));
        }
        units
    }

    /// As it follows on `before`.
    pub(crate) fn since(self, before: Self) -> Foreseen {
        let whole = self.caller.is_comparable_with(before.caller);
        let mut old = before.units(whole);
        let mut new = self.units(whole);
        // An answer that was begun for the model is not sent yet.
        for units in [&mut old, &mut new] {
            while matches!(units.last(), Some(Unit::Message(message)) if message.role == Role::Assistant) {
                units.pop();
            }
        }
        let same = old.iter().zip(&new).take_while(|(old, new)| old.is(new)).count();
        let all_tokens = |units: &[Unit<'_>]| units.iter().map(Unit::tokens).fold(0, usize::saturating_add);
        let mut kept_tokens = all_tokens(&new[..same]);
        let first_change = match (old.get(same), new.get(same)) {
            (Some(old), Some(new)) => {
                let (change, kept) = parting(old, new);
                kept_tokens = kept_tokens.saturating_add(kept);
                Some(change)
            }
            // What stood behind the last message, and does no more.
            (Some(Unit::Text(old)), None) => Some(parting_of_texts(Some(old), None).0),
            (None, Some(Unit::Text(new))) if new.placement == Placement::System => Some(parting_of_texts(None, Some(new)).0),
            _ => None,
        };
        let all = self.texts.iter().map(|text| tokens(text, usize::MAX)).fold(0, usize::saturating_add);
        Foreseen { first_change, kept_tokens, new_tokens: all.saturating_sub(kept_tokens) }
    }
}

/// Tokens of the fragments that end by `end`.
fn tokens(text: &RenderedText, end: usize) -> usize {
    text.fragments.iter().filter(|fragment| fragment.end() <= end).fold(0, |all, fragment| all.saturating_add(fragment.tokens))
}

/// Where two units part, and the tokens of the new one ahead of that.
fn parting(old: &Unit<'_>, new: &Unit<'_>) -> (FirstChange, usize) {
    match (old, new) {
        (Unit::OurTools(old), Unit::OurTools(new)) => {
            (FirstChange::Tool { name: first_changed(old, new).unwrap_or_default().to_owned() }, 0)
        }
        (Unit::Text(old), Unit::Text(new)) => parting_of_texts(Some(old), Some(new)),
        // Ours came or went between two things of the caller's.
        (Unit::Text(old), _) => parting_of_texts(Some(old), None),
        (_, Unit::Text(new)) => parting_of_texts(None, Some(new)),
        (_, new) => (FirstChange::Caller { place: new.callers_place().unwrap_or(CallersPlace::System) }, 0),
    }
}

fn parting_of_texts(old: Option<&RenderedText>, new: Option<&RenderedText>) -> (FirstChange, usize) {
    let (was, is) = (old.map_or("", |text| &*text.text), new.map_or("", |text| &*text.text));
    let offset = was.bytes().zip(is.bytes()).take_while(|(was, is)| was == is).count();
    let placement = new.or(old).map_or(Placement::System, |text| text.placement);
    let fragment = changed_fragment(old, new, offset).to_owned();
    (FirstChange::Us { placement, offset, fragment }, new.map_or(0, |new| tokens(new, offset)))
}

/// The fragment that came, else the one that went, else the one that changed. Between two fragments it is the next one's doing.
fn changed_fragment<'a>(old: Option<&'a RenderedText>, new: Option<&'a RenderedText>, offset: usize) -> &'a str {
    let at = |text: Option<&'a RenderedText>| text?.fragments.iter().find(|fragment| offset < fragment.end());
    let stands_in = |text: Option<&RenderedText>, fragment: &RenderedFragment| {
        text.is_some_and(|text| text.fragments.iter().any(|other| other.id == fragment.id))
    };
    let (was, is) = (at(old), at(new));
    let came = is.filter(|fragment| !stands_in(old, fragment));
    let went = was.filter(|fragment| !stands_in(new, fragment));
    let last = || new.or(old).and_then(|text| text.fragments.last());
    came.or(went).or(is).or(was).or_else(last).map_or("", |fragment| &fragment.id)
}
