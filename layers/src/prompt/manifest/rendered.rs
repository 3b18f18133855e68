//! Our texts as they stand in a request, and the fragments that they are made of.

use super::ContentHash;
use crate::prompt::fragment::{Source, Tier, Trust};
use crate::text::Limit;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Where a text of ours stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Placement {
    /// In the system prompt.
    System,
    /// Behind this message (by its position in the request as it came).
    BehindMessage(usize),
}

impl fmt::Display for Placement {
    /// For a person, who counts messages from 1.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("system prompt"),
            Self::BehindMessage(at) => write!(f, "behind message {}", at.saturating_add(1)),
        }
    }
}

/// Whose limit it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LimitKind {
    /// The fragment's own.
    #[default]
    Own,
    /// What the budget left it.
    Budget,
}

/// A limit that a fragment was held to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LimitOutcome {
    /// Whose it is.
    #[serde(default)]
    pub kind: LimitKind,
    /// As configured.
    pub limit: Limit,
    /// The size, in the limit's unit, of what would be said without it: the whole text, or all of what changed in it.
    pub before: usize,
    /// What stands in the request, in the same unit.
    pub after: usize,
    /// It bit.
    pub cut: bool,
    /// Whole items that were left out, where the text is made of items.
    pub items_left_out: usize,
}

/// A fragment as it was rendered.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RenderedFragment {
    /// Its id.
    pub id: String,
    /// The layer that added it.
    pub layer: String,
    /// Where its text came from.
    pub source: Source,
    /// Whose words these are.
    pub trust: Trust,
    /// When it was collected.
    pub tier: Tier,
    /// First byte in the rendered text.
    pub offset: usize,
    /// Bytes in the rendered text.
    pub bytes: usize,
    /// Unicode scalar values.
    pub chars: usize,
    /// By the stack's counter.
    pub tokens: usize,
    /// Of the rendered bytes.
    pub hash: ContentHash,
    /// Where it has a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitOutcome>,
}

impl RenderedFragment {
    /// The byte behind it in the rendered text.
    pub fn end(&self) -> usize {
        self.offset.saturating_add(self.bytes)
    }
}

impl RenderedText {
    /// A fragment's bytes; empty where it is none of this text's.
    pub fn fragment(&self, fragment: &RenderedFragment) -> &str {
        self.text.get(fragment.offset..fragment.end()).unwrap_or_default()
    }
}

/// One text of ours in the request, and the fragments that it is made of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RenderedText {
    /// Where it stands.
    pub placement: Placement,
    /// It stands here for the first time; else it was put back.
    pub is_new: bool,
    /// The message right before it, by its position in [`CallersPart::messages`](super::CallersPart::messages); none before the system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<usize>,
    /// The text, byte for byte.
    #[serde(with = "shared_text")]
    pub text: Arc<str>,
    /// In their order. What lies between them is punctuation.
    #[serde(with = "shared_list")]
    pub fragments: Arc<[RenderedFragment]>,
}

mod shared_text {
    use super::Arc;
    use serde::{Deserialize, Deserializer, Serializer};
    pub(super) fn serialize<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(deserializer).map(Into::into)
    }
}
mod shared_list {
    use super::{Arc, RenderedFragment};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    pub(super) fn serialize<S: Serializer>(list: &Arc<[RenderedFragment]>, serializer: S) -> Result<S::Ok, S::Error> {
        list.as_ref().serialize(serializer)
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[RenderedFragment]>, D::Error> {
        Vec::deserialize(deserializer).map(Into::into)
    }
}
