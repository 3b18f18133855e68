//! The layers of `tower-prompt`, pure.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod prompt;
pub mod skill;

pub use prompt::{Diagnostic, Severity};
