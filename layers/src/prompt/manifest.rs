//! What was sent, fragment by fragment, and the handle by which it reaches the host.

use super::fragment::{Source, Tier, Trust};
use super::session::Bookmark;
use super::{Diagnostic, Round};
use crate::skill::{ExecutionOptions, SkillActivationMode, SkillId};
use crate::text::Limit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hasher;
use std::sync::{Arc, Mutex, PoisonError};

/// A content hash: 128 bits, the same on every machine. It tells texts apart; it is no signature.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(u128);

impl ContentHash {
    /// Of a text's bytes.
    pub fn of(text: &str) -> Self {
        use siphasher::sip128::Hasher128;
        let mut hasher = siphasher::sip128::SipHasher13::new();
        hasher.write(text.as_bytes());
        Self(hasher.finish128().as_u128())
    }
}
impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

/// Where a text of ours stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// In the system prompt.
    System,
    /// Behind this message (by its position in the request as it came).
    BehindMessage(usize),
}

/// A limit that a fragment was held to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LimitOutcome {
    /// As configured.
    pub limit: Limit,
    /// The whole text's size in the limit's unit.
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

/// One text of ours in the request, and the fragments that it is made of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RenderedText {
    /// Where it stands.
    pub placement: Placement,
    /// It stands here for the first time; else it was put back.
    pub is_new: bool,
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

/// A tool result that is sent cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CutOutput {
    /// The message that it stands in; of a run of results the last one's.
    pub message: usize,
    /// Characters of the whole.
    pub chars: usize,
    /// Characters that may be sent.
    pub limit: usize,
}

/// Something that took effect with the text that says it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A skill was suggested to the model.
    SkillSuggested {
        /// Which.
        id: SkillId,
    },
    /// A skill came into force.
    SkillActivated {
        /// Which.
        id: SkillId,
        /// By whom.
        mode: SkillActivationMode,
    },
}

/// What was sent: all of our texts in a request, byte for byte, and what was noticed on the way.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// What the request was to its conversation.
    pub round: Round,
    /// This request settled its place; false where the place stood already, or there was none.
    pub settled: bool,
    /// Of the system prompt; `None` where there is none.
    pub system_hash: Option<ContentHash>,
    /// Our texts in the order in which they stand.
    pub texts: Vec<RenderedText>,
    /// The caller's tools whose descriptions were changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub described_tools: Vec<String>,
    /// The tool results that were cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_outputs: Vec<CutOutput>,
    /// What took effect.
    pub events: Vec<Event>,
    /// What the skills activated here ask of the call.
    pub execution: ExecutionOptions,
    /// What was noticed.
    pub diagnostics: Vec<Diagnostic>,
}

impl Manifest {
    /// All fragments, each with its placement.
    pub fn fragments(&self) -> impl Iterator<Item = (Placement, &RenderedFragment)> {
        self.texts.iter().flat_map(|text| text.fragments.iter().map(move |fragment| (text.placement, fragment)))
    }
    /// The ids of what this request says for the first time, in order.
    pub fn said(&self) -> Vec<&str> {
        self.texts.iter().filter(|text| text.is_new).flat_map(|text| text.fragments.iter().map(|f| f.id.as_str())).collect()
    }
    /// Tokens by tier, as the stack's counter counts each fragment.
    pub fn tokens_by_tier(&self) -> BTreeMap<Tier, usize> {
        let mut totals = BTreeMap::new();
        for (_, fragment) in self.fragments() {
            *totals.entry(fragment.tier).or_default() += fragment.tokens;
        }
        totals
    }
}

/// What the provider said of a response's tokens.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Usage {
    /// All tokens of the request.
    pub input_tokens: u64,
    /// Of these, served from the cache.
    pub cached_tokens: u64,
}

/// Where a request's manifest is left. A cheap handle: filled before the inner call, so it survives errors, streams, buffers and boxes.
#[derive(Clone, Default)]
pub struct Report(Arc<Mutex<Reported>>);

#[derive(Default)]
struct Reported {
    manifest: Option<Manifest>,
    usage: Option<Usage>,
    bookmark: Option<Bookmark>,
}

impl Report {
    /// The manifest of the last request that reported here.
    pub fn manifest(&self) -> Option<Manifest> {
        self.lock().manifest.clone()
    }
    /// What the provider said.
    pub fn usage(&self) -> Option<Usage> {
        self.lock().usage
    }
    /// Keeps what the provider said beside what was foreseen.
    pub fn record_usage(&self, usage: Usage) {
        self.lock().usage = Some(usage);
    }
    /// The response's id: a later request that names it as its history goes on where this one ended.
    pub fn record_response_id(&self, id: &str) {
        let bookmark = self.lock().bookmark.clone();
        if let Some(bookmark) = bookmark {
            bookmark.bind(id);
        }
    }

    pub(crate) fn fill(&self, manifest: Manifest, bookmark: Option<Bookmark>) {
        *self.lock() = Reported { manifest: Some(manifest), usage: None, bookmark };
    }
    /// Nothing was added: what an earlier request said is no word about this one.
    pub(crate) fn clear(&self) {
        *self.lock() = Reported::default();
    }
    fn lock(&self) -> std::sync::MutexGuard<'_, Reported> {
        // Nothing half-written can be seen: each write is one assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reported = self.lock();
        f.debug_struct("Report").field("filled", &reported.manifest.is_some()).field("usage", &reported.usage).finish()
    }
}
