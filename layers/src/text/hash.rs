//! A text's hash where nothing hangs on it but speed (FNV-1a): who makes two texts meet gains nothing.

/// Of no text.
pub(crate) const NOTHING: u64 = 0xcbf2_9ce4_8422_2325;

/// Of a text and one byte more.
pub(crate) fn and(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
}

/// Of a text.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(NOTHING, and)
}
