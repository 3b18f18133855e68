//! One copy of each value that a session keeps, however many entries tell it.

use super::hashing::ByHash;
use std::sync::{Arc, Weak};

/// Texts that entries hold, by what they look like.
#[derive(Clone, Default)]
pub(super) struct Interned(ByHash<u64, Vec<Weak<str>>>);

impl Interned {
    /// The copy of this text.
    pub(super) fn text(&mut self, text: &str) -> Arc<str> {
        self.known(text, || text.into())
    }
    /// The copy of this text: this one, where there is none yet.
    pub(super) fn shared(&mut self, text: &Arc<str>) -> Arc<str> {
        self.known(text, || text.clone())
    }
    fn known(&mut self, text: &str, make: impl FnOnce() -> Arc<str>) -> Arc<str> {
        let alike = self.0.entry(sample(text)).or_default();
        alike.retain(|value| value.strong_count() > 0);
        let is_same = |value: &Arc<str>| std::ptr::eq(&raw const **value, text) || **value == *text;
        if let Some(value) = alike.iter().filter_map(Weak::upgrade).find(is_same) {
            return value;
        }
        let value = make();
        alike.push(Arc::downgrade(&value));
        value
    }
    /// Those that no entry holds any more go.
    pub(super) fn forget_unheld(&mut self) {
        self.0.retain(|_, values| values.iter().any(|value| value.strong_count() > 0));
    }
}

/// Of a text its length, and some of it: all of a short one. Texts that are told apart by the rest of them are compared.
fn sample(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    const PIECES: usize = 4;
    const BYTES: usize = 128;
    let (mut hasher, bytes) = (DefaultHasher::new(), text.as_bytes());
    bytes.len().hash(&mut hasher);
    if bytes.len() <= PIECES * BYTES {
        bytes.hash(&mut hasher);
    } else {
        let step = (bytes.len() - BYTES) / (PIECES - 1);
        (0..PIECES).map(|n| n * step).for_each(|at| bytes[at..at + BYTES].hash(&mut hasher));
    }
    hasher.finish()
}
