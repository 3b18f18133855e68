//! Prompt assembly as tower middleware.

pub use tower_prompt_layers as layers;

mod blocking;
mod environment;
pub mod skills;

pub use environment::{Environment, Workspace};
