//! The document as it comes from outside, and its last reading as a catalog.

use super::InvariantCatalog;
use crate::prompt::Diagnostic;
use crate::sync::Mutex;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};

/// A document as it stands now.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Document {
    /// Where it stands, as a model would open it; empty where it is no file.
    pub path: String,
    /// Its text.
    pub text: String,
    /// What was noticed while it was read.
    pub diagnostics: Vec<Diagnostic>,
}

impl Document {
    /// A text that is no file.
    pub fn new(text: impl Into<String>) -> Self {
        Self { path: String::new(), text: text.into(), diagnostics: Vec::new() }
    }
    /// It stands there, as a model would open it.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }
    /// With what was noticed while it was read.
    pub fn diagnostics(mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) -> Self {
        self.diagnostics = diagnostics.into_iter().collect();
        self
    }
}

/// A document under way. It does not block, and has its deadline in it.
pub type ReadingDocument = Pin<Box<dyn Future<Output = Result<Option<Document>, Diagnostic>> + Send>>;

/// A document that comes from outside and may change: a file, a row of a database.
pub trait DocumentSource: Send + Sync {
    /// The document now; `None` where there is none.
    fn read(&self) -> ReadingDocument;
}

impl DocumentSource for Document {
    fn read(&self) -> ReadingDocument {
        Box::pin(std::future::ready(Ok(Some(self.clone()))))
    }
}

impl<T: DocumentSource + ?Sized> DocumentSource for Arc<T> {
    fn read(&self) -> ReadingDocument {
        (**self).read()
    }
}

/// A document's catalog, parsed again only when the document changed. Clones share it.
#[derive(Clone)]
pub struct CatalogSource {
    document: Arc<dyn DocumentSource>,
    last: Arc<Mutex<Option<Arc<InvariantCatalog>>>>,
}

impl CatalogSource {
    /// Of this document.
    pub fn new(document: impl DocumentSource + 'static) -> Self {
        Self { document: Arc::new(document), last: Arc::default() }
    }
    /// The catalog of the document as it stands now; `None` where there is none, or a blank one. The future has the document's deadline in it.
    pub fn read(&self) -> impl Future<Output = Result<Option<Arc<InvariantCatalog>>, Diagnostic>> + Send + use<> {
        let (reading, last) = (self.document.read(), Arc::clone(&self.last));
        async move {
            let Some(document) = reading.await?.filter(|document| !document.text.trim().is_empty()) else { return Ok(None) };
            // What is under the lock is replaced whole.
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = last.as_ref().filter(|known| *known.document() == document) {
                return Ok(Some(Arc::clone(known)));
            }
            let catalog = Arc::new(InvariantCatalog::read(document));
            *last = Some(Arc::clone(&catalog));
            Ok(Some(catalog))
        }
    }
}

impl fmt::Debug for CatalogSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogSource").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn a_document_that_did_not_change_is_not_parsed_again() {
        // Its catalog has something to say.
        let source = CatalogSource::new(Document::new("* a\n<!--\n"));
        let read = || match std::pin::pin!(source.read()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(Some(catalog))) => catalog,
            other => panic!("{other:?}"),
        };
        let first = read();
        assert!(Arc::ptr_eq(&first, &read()) && first.diagnostics().count() == 1);
    }
}
