//! What happens to a session, as values: all that changes it, in the order in which it happened. A session is what its events make of it, so they
//! can be kept anywhere and played again.

use super::entry::{System, Values, is_false};
use super::places::{Anchor, AnchorKey};
use crate::prompt::manifest::{ContentHash, RenderedFragment};
use crate::skill::{ActiveSkill, ActiveSkills, SkillId};
use crate::wire::Role;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Something that happened to a session. What changes it comes back byte for byte when it is played again; the rest is there to be read.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionEvent {
    /// It was made. The first of its events.
    Started(Beginning),
    /// Its system prompt was rendered.
    SystemRendered(SystemText),
    /// A place was settled: what stands behind it, which may be nothing.
    TextAnchored(AnchoredText),
    /// An earlier place was sent again.
    PlaceRevisited(Revisit),
    /// Places that were not used for long were forgotten.
    PlacesForgotten(ForgottenPlaces),
    /// The next request renders the system prompt anew.
    Rebased,
    /// A skill's body was taken out of what had been sent.
    #[non_exhaustive]
    Purged {
        /// Which.
        skill: SkillId,
    },
    /// The host compacted the history: what counts was said once more.
    Compacted,
    /// The provider holds a history under a name.
    HistoryNamed(NamedHistory),
    /// A skill was suggested to the model.
    #[non_exhaustive]
    SkillSuggested {
        /// Which.
        id: SkillId,
    },
    /// A skill came into force.
    #[non_exhaustive]
    SkillActivated {
        /// Which, by whom and with which arguments.
        #[serde(flatten)]
        skill: ActiveSkill,
        /// In all branches, by the host's word; else where it was said.
        everywhere: bool,
    },
    /// A skill was switched off.
    #[non_exhaustive]
    SkillDeactivated {
        /// Which.
        id: SkillId,
        /// In all branches, by the host's word; else where the model put it down.
        #[serde(default = "everywhere")]
        everywhere: bool,
    },
    /// A skill's body was said. The body itself is in no event of its own.
    #[non_exhaustive]
    SkillContextLoaded {
        /// Which.
        id: SkillId,
        /// Where it came from.
        source: String,
        /// Of what was said.
        bytes: usize,
        /// Not all of it fit.
        truncated: bool,
        /// How it begins.
        preview: String,
    },
    /// A skill that was to come into force could not.
    #[non_exhaustive]
    SkillInvocationFailed {
        /// Which.
        id: SkillId,
    },
    /// The user took up a suggestion.
    #[non_exhaustive]
    SuggestionAccepted {
        /// Of which skill.
        id: SkillId,
    },
    /// The user wants to hear no more of a suggestion.
    #[non_exhaustive]
    SuggestionDismissed {
        /// Of which skill.
        id: SkillId,
    },
    /// Invariants were chosen for the task.
    #[non_exhaustive]
    InvariantsSelected {
        /// Their numbers in the document.
        numbers: Vec<usize>,
    },
}

/// As earlier logs mean it, which had no other.
fn everywhere() -> bool {
    true
}

impl SessionEvent {
    /// Its name, as in its serialized form.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Started(_) => "started",
            Self::SystemRendered(_) => "system_rendered",
            Self::TextAnchored(_) => "text_anchored",
            Self::PlaceRevisited(_) => "place_revisited",
            Self::PlacesForgotten(_) => "places_forgotten",
            Self::Rebased => "rebased",
            Self::Purged { .. } => "purged",
            Self::Compacted => "compacted",
            Self::HistoryNamed(_) => "history_named",
            Self::SkillSuggested { .. } => "skill_suggested",
            Self::SkillActivated { .. } => "skill_activated",
            Self::SkillDeactivated { .. } => "skill_deactivated",
            Self::SkillContextLoaded { .. } => "skill_context_loaded",
            Self::SkillInvocationFailed { .. } => "skill_invocation_failed",
            Self::SuggestionAccepted { .. } => "suggestion_accepted",
            Self::SuggestionDismissed { .. } => "suggestion_dismissed",
            Self::InvariantsSelected { .. } => "invariants_selected",
        }
    }
}

/// What a session is made with. Holds the key of its anchors: a log of it is for its owner's eyes.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Beginning {
    /// Of the events that follow.
    pub(super) version: u32,
    pub(super) key: AnchorKey,
    pub(super) max_places: usize,
}

/// Events of a later version are not understood.
pub(super) const VERSION: u32 = 1;

impl fmt::Debug for Beginning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beginning").field("version", &self.version).field("max_places", &self.max_places).finish_non_exhaustive()
    }
}

/// A session's system prompt.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemText {
    #[serde(flatten)]
    pub(super) system: System,
}

impl SystemText {
    /// The text.
    pub fn text(&self) -> &str {
        &self.system.text
    }
    /// Of the text.
    pub fn hash(&self) -> ContentHash {
        ContentHash::of(&self.system.text)
    }
}

impl fmt::Debug for SystemText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemText").field("text", &self.text()).finish_non_exhaustive()
    }
}

/// What was settled at a place.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct AnchoredText {
    pub(super) anchor: Anchor,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<Anchor>,
    pub(super) role: Role,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub(super) text: Arc<str>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub(super) fragments: Arc<[RenderedFragment]>,
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub(super) values: Values,
    #[serde(default, skip_serializing_if = "ActiveSkills::is_empty")]
    pub(super) active: ActiveSkills,
    /// Of these, those that came into force here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) activated: Vec<SkillId>,
    /// The moment, among what the host said, when the request was opened.
    pub(super) opened: u64,
    /// The places since the parent.
    pub(super) read: Vec<Anchor>,
    /// The history was compacted here: all that holds was said once more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) compacted: bool,
    /// Of the message that it stands behind.
    #[serde(with = "hex")]
    pub(super) message: u128,
    /// That message came with a cache mark.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) came_marked: bool,
    /// How many places the request had.
    pub(super) places: usize,
}

impl AnchoredText {
    /// The text; empty where there was nothing to say.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// What it is made of.
    pub fn fragments(&self) -> &[RenderedFragment] {
        &self.fragments
    }
    /// The skills in force here.
    pub fn active(&self) -> &[ActiveSkill] {
        self.active.as_slice()
    }
}

impl fmt::Debug for AnchoredText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnchoredText").field("text", &self.text()).field("active", &self.active).finish_non_exhaustive()
    }
}

/// An earlier place was sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Revisit {
    pub(super) anchor: Option<Anchor>,
    pub(super) places: usize,
}

/// Places that were forgotten.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ForgottenPlaces {
    pub(super) anchors: Vec<Anchor>,
}

/// Where a history stands that the provider holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NamedHistory {
    pub(super) name: Anchor,
    pub(super) at: Anchor,
    /// The last request that named it: where it went on from, and the place that it settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) last: Option<(Anchor, Anchor)>,
}

/// Hashes as 32 hex digits: JSON numbers end earlier.
pub(super) mod hex {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(hash: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{hash:032x}"))
    }
    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map_err(serde::de::Error::custom)
    }
}
