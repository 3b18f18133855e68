//! Text: what it costs, where it is cut, and what must not break out of it. The one module that cuts, the one that escapes.

mod block;
mod change;
pub mod escape;
pub(crate) mod hash;
mod limit;
mod middle;
mod tokens;

pub use block::Block;
pub use change::{TextChange, TextMode};
pub use limit::{Edge, Fitted, Limit, Room, cut, fit_around, prefix, shorten};
pub use middle::{MiddleCut, cut_middle};
pub use tokens::{EstimatedTokens, TokenCounter};

/// Between a text of the caller's and one of ours, and between two of ours, in one string.
pub const GAP: &str = "\n\n";
