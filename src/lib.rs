//! Prompt assembly as tower middleware.

pub use tower_prompt_layers as layers;

mod assembly;
mod blocking;
#[cfg(feature = "cli")]
pub mod cli;
pub mod config;
mod environment;
mod files;
mod process;
pub mod sections;
mod sessions;
pub mod skills;

pub use assembly::Assembly;
pub use environment::{Environment, Workspace};
pub use sessions::RecentSessions;
