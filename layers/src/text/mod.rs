//! Text: what it costs, where it is cut, and what must not break out of it. The one module that cuts, the one that escapes.

mod block;
pub mod escape;
mod limit;
mod tokens;

pub use block::Block;
pub use limit::{Edge, Fitted, Limit, Room, cut, fit_around, prefix, shorten};
pub use tokens::{EstimatedTokens, TokenCounter};
