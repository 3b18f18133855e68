//! Conversations that begin alike share what they begin with.

use super::entry::Values;
use super::said::Piece;
use crate::prompt::manifest::{ContentHash, RenderedFragment};
use crate::sync::{Mutex, MutexGuard};
use std::sync::{Arc, PoisonError};

/// The system prompt that a stack rendered last, with what was counted of it. It is looked at by its bytes: who begins with the same texts copies,
/// counts and hashes none of them again, and holds no copy of them. One a stack; for one
/// model, by which tokens may be counted.
#[derive(Clone, Default)]
pub(crate) struct LastSystem(Arc<Mutex<Option<Arc<Rendered>>>>);

/// A system prompt as it was rendered.
pub(super) struct Rendered {
    model: Option<String>,
    pub(super) text: Arc<str>,
    hash: ContentHash,
    pub(super) fragments: Arc<[RenderedFragment]>,
    values: Values,
}

impl LastSystem {
    /// That of this model.
    pub(super) fn get(&self, model: Option<&str>) -> Option<Arc<Rendered>> {
        self.lock().clone().filter(|last| last.model.as_deref() == model)
    }
    pub(super) fn put(&self, model: Option<&str>, text: &Arc<str>, fragments: &Arc<[RenderedFragment]>, values: &Values) {
        let (text, fragments, values) = (text.clone(), fragments.clone(), values.clone());
        let rendered = Rendered { model: model.map(str::to_owned), hash: ContentHash::of(&text), text, fragments, values };
        *self.lock() = Some(Arc::new(rendered));
    }
    /// Of a system prompt, which may be this one.
    pub(super) fn hash_of(&self, text: &Arc<str>) -> ContentHash {
        let last = self.lock().clone().filter(|last| Arc::ptr_eq(&last.text, text));
        last.map_or_else(|| ContentHash::of(text), |last| last.hash)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Rendered>>> {
        // What is under the lock is replaced whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rendered {
    /// These are its fragments, all of them, byte for byte.
    pub(super) fn is(&self, pieces: &[Piece<'_>]) -> bool {
        self.fragments.len() == pieces.len() && self.fragments.iter().zip(pieces).all(|(said, piece)| self.is_said(said, piece))
    }
    /// The fragment that says the same text under the same id.
    pub(super) fn same(&self, id: &str, text: &str) -> Option<&RenderedFragment> {
        self.fragments.iter().find(|said| said.id == id && self.text_of(said) == text)
    }
    /// The same value, where it was told.
    pub(super) fn value(&self, id: &str, value: &str) -> Option<Arc<str>> {
        let told = self.values.get(id)?.as_ref()?;
        told.says(value).then(|| told.text.clone())
    }

    fn is_said(&self, said: &RenderedFragment, piece: &Piece<'_>) -> bool {
        let fragment = piece.fragment;
        said.id == *fragment.id
            && said.layer == fragment.layer
            && (said.trust, said.tier, said.limit) == (fragment.trust, fragment.tier, piece.limit)
            && said.source == fragment.source
            && self.text_of(said) == piece.text
    }
    fn text_of(&self, said: &RenderedFragment) -> &str {
        self.text.get(said.offset..said.end()).unwrap_or_default()
    }
}
