//! Prompt assembly as tower middleware.

pub use tower_prompt_layers as layers;

pub mod config;
mod environment;

pub use environment::{Environment, Workspace};
