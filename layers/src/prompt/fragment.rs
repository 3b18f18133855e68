//! What a layer adds: a fragment, its text, and where both came from.

mod id;
mod text;

use crate::skill::{ActiveSkill, SkillId};
use crate::text::{Limit, Room, TextChange};
use crate::wire::{ToolDefinition, ToolOutputBound};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use super::{Diagnostic, Lines, Shedding};
pub use id::FragmentId;
pub(crate) use id::SharedId;
pub use text::Text;

/// The id of a skill's body is this and the skill's id.
pub const ACTIVE_SKILL: &str = "active_skill:";

/// When a fragment is collected, and so where its text stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Tier {
    /// At the conversation's start, first in the system prompt: the same for every conversation with this configuration.
    Stable,
    /// At the conversation's start, behind Stable: the same for this conversation.
    Session,
    /// At each user message, at the tail of the conversation.
    Turn,
    /// At each request, tool rounds too, at the tail.
    Step,
}

impl Tier {
    /// As it is serialized.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Session => "session",
            Self::Turn => "turn",
            Self::Step => "step",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whose words a fragment holds. At the tail each stands in a block that says so.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Trust {
    /// The host program's, its settings' and its probes'.
    #[default]
    Host,
    /// The user's own files.
    User,
    /// A file of the repository.
    Repository,
    /// A skill's.
    Skill,
}

impl Trust {
    pub(crate) const ALL: [Self; 4] = [Self::Host, Self::User, Self::Repository, Self::Skill];

    /// As it stands in `<context origin="...">`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::User => "user",
            Self::Repository => "repository",
            Self::Skill => "skill",
        }
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a fragment's text came from.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The host's code.
    #[default]
    Host,
    /// A text of this library.
    BuiltIn,
    /// The configuration.
    Configuration,
    /// What was looked up: the clock, git, the environment.
    Probe,
    /// The metadata of the skills.
    Skills,
    /// A file.
    File {
        /// As found.
        path: String,
        /// The lines of it that were taken, where that is not all of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<Lines>,
    },
}

impl Source {
    /// A file.
    pub fn file(path: impl Into<String>) -> Self {
        Self::File { path: path.into(), lines: None }
    }
    /// Of a file these lines, from 1, the last included.
    pub fn lines(mut self, first: u32, last: u32) -> Self {
        if let Self::File { lines, .. } = &mut self {
            *lines = Some(Lines { first, last });
        }
        self
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "host",
            Self::BuiltIn => "built in",
            Self::Configuration => "configuration",
            Self::Probe => "probe",
            Self::Skills => "skills",
            Self::File { path, lines: None } => path,
            Self::File { path, lines: Some(lines) } => return write!(f, "{path}:{lines}"),
        })
    }
}

/// One piece of text of one layer.
///
/// ```
/// use tower_prompt_layers::{Fragment, Trust, text::Limit};
///
/// let note = Fragment::new("release_note", "The next release is frozen.").trust(Trust::User).limit(Limit::Chars(200));
/// assert_eq!(note.id(), "release_note");
/// ```
#[derive(Clone)]
pub struct Fragment {
    pub(crate) id: SharedId,
    pub(crate) text: Arc<dyn Text>,
    pub(crate) limit: Limit,
    /// Bytes of all skills' bodies in a branch together.
    pub(crate) pool: Option<usize>,
    /// `None`: it never sheds.
    pub(crate) shedding: Option<Shedding>,
    pub(crate) trust: Trust,
    pub(crate) source: Source,
    pub(crate) effect: Option<Effect>,
    /// A change of it waits for a rebase.
    pub(crate) is_fixed: bool,
    /// Where the prompt put it, and who added it: set when it is added.
    pub(crate) tier: Tier,
    pub(crate) layer: &'static str,
}

/// What a fragment brings about where its text is inserted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    Activates(ActiveSkill),
    Suggests(SkillId),
    Selects(Vec<usize>),
}

impl Fragment {
    /// A fragment of the host's, without a limit.
    pub fn new(id: impl Into<FragmentId>, text: impl Text + 'static) -> Self {
        Self::of_shared(id, Arc::new(text))
    }
    /// Of a text that others hold too.
    pub(crate) fn of_shared(id: impl Into<FragmentId>, text: Arc<dyn Text>) -> Self {
        Self {
            id: id.into().into(),
            text,
            limit: Limit::None,
            pool: None,
            shedding: None,
            trust: Trust::Host,
            source: Source::Host,
            effect: None,
            is_fixed: false,
            tier: Tier::Turn,
            layer: "",
        }
    }
    /// At most so much of it.
    pub fn limit(mut self, limit: Limit) -> Self {
        self.limit = limit;
        self
    }
    /// A skill's body shares so many bytes with those that stand in its branch, and with those that are said with it.
    pub(crate) fn pool(mut self, bytes: Option<usize>) -> Self {
        self.pool = bytes;
        self
    }
    /// Says less where the budget of a session's start is short ([`Budget`](super::Budget)). One that states nothing never does.
    ///
    /// ```
    /// use tower_prompt_layers::{Fragment, Shedding, SheddingRank};
    ///
    /// let glossary = Fragment::new("glossary", "A long glossary.").shedding(SheddingRank::OWN);
    /// let summary = Fragment::new("summary", "A summary.").shedding(Shedding::at(SheddingRank::new(610)).floor(50));
    /// # let _ = (glossary, summary);
    /// ```
    pub fn shedding(mut self, shedding: impl Into<Shedding>) -> Self {
        self.shedding = Some(shedding.into());
        self
    }
    /// Whose words these are.
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }
    /// Where they came from.
    pub fn source(mut self, source: Source) -> Self {
        self.source = source;
        self
    }
    /// Stays as it was told first: a change of it waits for [`Session::rebase`](super::Session::rebase).
    pub fn fixed(mut self) -> Self {
        self.is_fixed = true;
        self
    }
    /// Brings a skill into force in this branch, where the text is inserted.
    pub fn activating(mut self, skill: ActiveSkill) -> Self {
        self.effect = Some(Effect::Activates(skill));
        self
    }
    /// Counts as this skill's suggestion, where the text is inserted.
    pub fn suggesting(mut self, skill: SkillId) -> Self {
        self.effect = Some(Effect::Suggests(skill));
        self
    }
    /// Counts as the choice of these invariants, where the text is inserted.
    pub(crate) fn selecting(mut self, numbers: &[usize]) -> Self {
        self.effect = Some(Effect::Selects(numbers.to_vec()));
        self
    }
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }
    /// The whole text: what changes are noticed by.
    pub fn value(&self) -> Cow<'_, str> {
        self.text.fit(&Room::UNLIMITED).text
    }
}

impl fmt::Debug for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fragment")
            .field("id", &&*self.id)
            .field("tier", &self.tier)
            .field("limit", &self.limit)
            .field("trust", &self.trust)
            .field("source", &self.source)
            .field("value", &self.value())
            .finish_non_exhaustive()
    }
}

/// What a layer says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Entry {
    /// This is so.
    Fragment(Fragment),
    /// This is not there (any more).
    Gone(FragmentId),
    /// Of the ids that begin with `prefix` there are only these.
    Only {
        /// Such as `instructions:`.
        prefix: FragmentId,
        /// Whole ids, the prefix included.
        ids: BTreeSet<FragmentId>,
    },
    /// The user switched this skill off: from here on, in all branches, until it is activated anew.
    Deactivated(SkillId),
    /// The model invoked a skill in force again, with these arguments: the result of the call, which the request holds, says them.
    InvokedAgain(ActiveSkill),
    /// The model put down a skill that it had loaded: from here on in this branch. The result of the call says so.
    PutDown(SkillId),
    /// What becomes of the description of a tool of the caller's, in a session that starts here.
    DescribesTool {
        /// Its exact name.
        name: String,
        /// The change.
        change: TextChange,
    },
    /// A tool of ours that the host answers, in a session that starts here.
    AddsTool {
        /// What the model is told of it.
        definition: ToolDefinition,
        /// The layer that proposes it, as the prompt notes it.
        layer: &'static str,
    },
    /// How much of each tool result is sent, in a session that starts here.
    BoundsToolOutput(ToolOutputBound),
    /// Something was noticed.
    Diagnostic(Diagnostic),
}

impl From<Fragment> for Entry {
    fn from(fragment: Fragment) -> Self {
        Self::Fragment(fragment)
    }
}
impl From<ToolDefinition> for Entry {
    fn from(definition: ToolDefinition) -> Self {
        Self::AddsTool { definition, layer: "" }
    }
}
impl From<Diagnostic> for Entry {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Diagnostic(diagnostic)
    }
}
