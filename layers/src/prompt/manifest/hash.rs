//! Content hashes.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::Hasher;

/// A content hash: 128 bits, the same on every machine. It tells texts apart; it is no signature.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(u128);

impl ContentHash {
    /// Of a text's bytes.
    pub fn of(text: &str) -> Self {
        use siphasher::sip128::Hasher128;
        let mut hasher = siphasher::sip128::SipHasher13::new();
        hasher.write(text.as_bytes());
        Self(hasher.finish128().as_u128())
    }
    /// Of what was hashed already.
    pub(crate) fn of_digest(digest: u128) -> Self {
        Self(digest)
    }
}
impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}
