//! Targets for what is added, and what goes first where they are short.
//!
//! A text is shed in its own way, by [`Text::fit`](super::Text::fit) in less room, and never below the least that is to be said of it. Values are
//! compared in later turns, not what was sent of them: what a budget shed is no change, and nothing is said of it.

mod shed;

pub(crate) use shed::{Shed, Standing, TailTags, shed, total};

/// Targets in tokens, by the stack's counter: none unless told otherwise.
///
/// ```
/// use tower_prompt_layers::{Budget, Settings};
///
/// let settings = Settings::default().budget(Budget::default().max_prompt_tokens(Some(4_000)).max_anchored_tokens(Some(20_000)));
/// # let _ = settings;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Budget {
    pub(crate) max_prompt_tokens: Option<usize>,
    pub(crate) max_anchored_tokens: Option<usize>,
}

impl Budget {
    /// Of all that is added at a session's start: the system prompt, and what stands behind the first message. Fragments that state a rank
    /// ([`Fragment::shedding`](super::Fragment::shedding)) shed until it fits; where those that state none are over it alone, a diagnostic says so.
    pub fn max_prompt_tokens(mut self, tokens: Option<usize>) -> Self {
        self.max_prompt_tokens = tokens;
        self
    }
    /// Of what stands behind messages. Where it grows over that, the facts that were told longest ago are not said again at the next compaction.
    pub fn max_anchored_tokens(mut self, tokens: Option<usize>) -> Self {
        self.max_anchored_tokens = tokens;
        self
    }
}

/// Who sheds first: the lowest rank, and of equal ranks the fragment that stands first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SheddingRank(u16);

impl SheddingRank {
    /// The catalog of skills: its descriptions go, ids and names stay.
    pub const CATALOG: Self = Self(100);
    /// What the machine is and has: toolchains, hosting.
    pub const MACHINE: Self = Self(200);
    /// What git says.
    pub const GIT: Self = Self(300);
    /// The repository's invariants.
    pub const INVARIANTS: Self = Self(400);
    /// Instruction files but for the nearest, the farthest first.
    pub const INSTRUCTIONS: Self = Self(500);
    /// Sections of one's own, behind all of these.
    pub const OWN: Self = Self(600);

    /// Any place among these.
    pub const fn new(rank: u16) -> Self {
        Self(rank)
    }
}

/// When a fragment sheds, and down to what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shedding {
    pub(crate) rank: SheddingRank,
    pub(crate) floor: usize,
}

impl Shedding {
    /// Down to nothing, but for what its text keeps ([`Text::least`](super::Text::least)).
    pub const fn at(rank: SheddingRank) -> Self {
        Self { rank, floor: 0 }
    }
    /// Not to less than so many tokens. A text that can't be said in so few goes whole.
    pub const fn floor(mut self, tokens: usize) -> Self {
        self.floor = tokens;
        self
    }
}

impl From<SheddingRank> for Shedding {
    fn from(rank: SheddingRank) -> Self {
        Self::at(rank)
    }
}
