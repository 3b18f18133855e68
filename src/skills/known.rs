//! What was read before: as long as a file's stamp holds, it costs a stat and is not opened again.

use super::skill_file::{Place, Reading};
use crate::files::Stamp;
use crate::layers::Diagnostic;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;

/// The last reading of all roots.
#[derive(Default)]
pub(super) struct Known {
    hasher: RandomState,
    /// By key.
    files: Vec<KnownFile>,
    /// Theirs, close together: of ten thousand files, each is looked for among all.
    keys: Vec<Key>,
    /// Of each root, where it was there.
    pub(super) places: Vec<Option<Arc<Place>>>,
    /// What finding said; what reading says is with the files.
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// A file as it was read.
pub(super) struct KnownFile {
    /// Of its path as found.
    pub(super) key: Key,
    pub(super) root: u32,
    /// Its place among all files, in the order in which they were found.
    pub(super) order: u32,
    pub(super) stamp: Stamp,
    /// A change would surely have another stamp.
    pub(super) is_settled: bool,
    pub(super) reading: Reading,
}

/// A path's hash, with secret keys: of ten thousand paths two have the same one once in 10¹¹ times. It takes a tenth of the path's room, and the
/// stamp that is compared with it holds device and inode besides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Key(u64);

impl Known {
    pub(super) fn key(&self, path: &Path) -> Key {
        Key(self.hasher.hash_one(path.as_os_str().as_encoded_bytes()))
    }
    /// The file with this key as it was read in this root.
    pub(super) fn get(&self, key: Key, root: u32) -> Option<&KnownFile> {
        let at = self.keys.binary_search(&key).ok()?;
        Some(&self.files[at]).filter(|file| file.root == root)
    }
    pub(super) fn files(&self) -> &[KnownFile] {
        &self.files
    }
    pub(super) fn set(&mut self, mut files: Vec<KnownFile>, places: Vec<Option<Arc<Place>>>, diagnostics: Vec<Diagnostic>) {
        files.sort_unstable_by_key(|file| file.key);
        files.shrink_to_fit();
        self.keys = files.iter().map(|file| file.key).collect();
        (self.files, self.places, self.diagnostics) = (files, places, diagnostics);
    }
}
