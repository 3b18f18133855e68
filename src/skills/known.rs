//! What was read before: as long as a file's stamp holds, it costs a stat and is not opened again.

use super::skill_file::{Place, Reading};
use super::walk::{Evidence, Listed};
use crate::files::Stamp;
use crate::layers::Diagnostic;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::path::Path;
use std::sync::Arc;

/// The last reading of all roots.
#[derive(Default)]
pub(super) struct Known {
    hasher: RandomState,
    /// In the order in which they were found.
    files: Vec<KnownFile>,
    /// Of their paths as found, in order, and close together: of ten thousand files, each is looked for among all.
    keys: Vec<Key>,
    /// Where the file of each key stands.
    places_of_keys: Vec<u32>,
    /// Of each root, where it was there.
    pub(super) places: Vec<Option<Arc<Place>>>,
    /// What finding said; what reading says is with the files.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What folders held, by the keys of their paths.
    listings: HashMap<Key, Listed, BuildHasherDefault<AsItIs>>,
    /// What tells whether all this stands.
    pub(super) evidence: Option<Evidence>,
}

/// A file as it was read.
pub(super) struct KnownFile {
    pub(super) root: u32,
    /// A change would surely have another stamp.
    pub(super) is_settled: bool,
    pub(super) stamp: Stamp,
    pub(super) reading: Reading,
}

/// A path's hash, with secret keys: of ten thousand paths two have the same one once in 10¹¹ times. It takes a tenth of the path's room, and the
/// stamp that is compared with it holds device and inode besides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Key(u64);

/// A set of them; what is a hash already is not hashed again.
pub(super) type Keys = HashSet<Key, BuildHasherDefault<AsItIs>>;

#[derive(Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

impl Known {
    pub(super) fn key(&self, path: &Path) -> Key {
        Key(self.hasher.hash_one(path.as_os_str().as_encoded_bytes()))
    }
    /// The file with this key as it was read in this root, and its place among all.
    pub(super) fn get(&self, key: Key, root: u32) -> Option<(usize, &KnownFile)> {
        let at = self.places_of_keys[self.keys.binary_search(&key).ok()?] as usize;
        self.files.get(at).filter(|file| file.root == root).map(|file| (at, file))
    }
    /// What the folder with this key held.
    pub(super) fn listed(&self, key: Key) -> Option<&Listed> {
        self.listings.get(&key)
    }
    pub(super) fn set_found(&mut self, listings: Vec<(Key, Listed)>, evidence: Option<Evidence>) {
        self.listings = listings.into_iter().collect();
        self.evidence = evidence;
    }
    pub(super) fn files(&self) -> &[KnownFile] {
        &self.files
    }
    pub(super) fn set(&mut self, files: Vec<(Key, KnownFile)>, places: Vec<Option<Arc<Place>>>, diagnostics: Vec<Diagnostic>) {
        let mut keys: Vec<(Key, u32)> = files.iter().map(|(key, _)| *key).zip(0..).collect();
        keys.sort_unstable();
        self.files = Vec::with_capacity(files.len());
        self.files.extend(files.into_iter().map(|(_, file)| file));
        (self.keys, self.places_of_keys) = keys.into_iter().unzip();
        (self.places, self.diagnostics) = (places, diagnostics);
    }
}
