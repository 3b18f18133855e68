//! Folder skills: reading their files.

mod fields;
#[allow(dead_code, reason = "reading the beginning of a file alone is for finding")]
pub mod front_matter;

pub use fields::{Described, describe};
