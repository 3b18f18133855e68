//! Hashes of what callers send: keyed, many a request, and each of many small pieces.

use siphasher::sip128::{Hash128, Hasher128, SipHasher13};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A keyed hash that takes its pieces in one go: what comes out is what each by itself would come to.
pub(super) struct Pieces {
    hasher: SipHasher13,
    held: [u8; ROOM],
    bytes: usize,
}

const ROOM: usize = 128;

impl Pieces {
    pub(super) fn new(key: [u8; 16]) -> Self {
        Self { hasher: SipHasher13::new_with_key(&key), held: [0; ROOM], bytes: 0 }
    }
    pub(super) fn finish128(mut self) -> Hash128 {
        self.pass_on();
        self.hasher.finish128()
    }
    fn pass_on(&mut self) {
        self.hasher.write(&self.held[..self.bytes]);
        self.bytes = 0;
    }
}

impl Hasher for Pieces {
    fn write(&mut self, bytes: &[u8]) {
        if self.bytes + bytes.len() > ROOM {
            self.pass_on();
        }
        if bytes.len() > ROOM {
            return self.hasher.write(bytes);
        }
        self.held[self.bytes..self.bytes + bytes.len()].copy_from_slice(bytes);
        self.bytes += bytes.len();
    }
    /// Of what was passed on alone: whoever wants a hash of 128 bits asks for that.
    fn finish(&self) -> u64 {
        let mut hasher = self.hasher;
        hasher.write(&self.held[..self.bytes]);
        hasher.finish()
    }
}

/// By keys that are hashes already.
pub(super) type ByHash<K, V> = HashMap<K, V, BuildHasherDefault<Passed>>;

/// Passes a hash on.
#[derive(Clone, Default)]
pub(super) struct Passed(u64);

impl Hasher for Passed {
    fn write(&mut self, bytes: &[u8]) {
        // Keys are numbers; of anything else each byte counts.
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
    fn write_u128(&mut self, hash: u128) {
        // Half of a good hash is one.
        let [low, _] = [hash, hash >> 64].map(|half| u64::try_from(half & u128::from(u64::MAX)).unwrap_or_default());
        self.0 = low;
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::hash::Hash;

    proptest! {
        #[test]
        fn pieces_come_to_what_each_by_itself_comes_to(pieces in prop::collection::vec(("\\PC{0,50}", any::<u8>(), any::<u128>(), 0..2_usize), 0..12)) {
            let (mut one_by_one, mut at_once) = (SipHasher13::new_with_key(&[7; 16]), Pieces::new([7; 16]));
            for (text, byte, number, repeated) in &pieces {
                let text = text.repeat(1 + 9 * repeated);
                (*byte, &text, number, [text.len()]).hash(&mut one_by_one);
                (*byte, &text, number, [text.len()]).hash(&mut at_once);
            }
            prop_assert_eq!(at_once.finish(), one_by_one.finish());
            prop_assert_eq!(at_once.finish128().as_u128(), one_by_one.finish128().as_u128());
        }
    }
}
