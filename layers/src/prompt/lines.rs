//! A range of lines.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Lines of a file, from 1, the last included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Lines {
    /// The first.
    pub first: u32,
    /// The last.
    pub last: u32,
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        if self.last == self.first { Ok(()) } else { write!(f, "-{}", self.last) }
    }
}
