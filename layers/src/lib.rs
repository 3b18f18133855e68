//! The layers of `tower-prompt`, pure: no file, no clock, no process. Whatever comes from outside reaches a layer as a value, or as a future that
//! its maker gave a deadline.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod prompt;
pub mod skill;
pub mod text;
pub mod wire;

mod system_prompt;
mod user_authority;

pub use prompt::*;
pub use system_prompt::{BASE_PROMPT, SystemPromptLayer};
pub use user_authority::{USER_AUTHORITY, UserAuthorityLayer};
