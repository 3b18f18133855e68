//! Repository invariants: what must stay true of the code, whatever is asked of it.

use crate::prompt::{Contribute, Diagnostic, Entry, Fragment, Prompt, Source, Tier, Trust, Turn, impl_tower_layer};
use crate::text::{Block, Limit};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// The id of the fragment that holds all invariants.
pub const REPOSITORY_INVARIANTS: &str = "repository_invariants";

/// A document as it stands now.
#[derive(Clone, PartialEq, Eq, Debug)]
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

/// Adds all invariants of the repository, `Stable` (`invariants.mode = "full"`).
#[derive(Clone)]
pub struct InvariantsLayer {
    document: Arc<dyn DocumentSource>,
    limit: Limit,
}

impl InvariantsLayer {
    /// The whole document, in the system prompt.
    pub fn full(document: impl DocumentSource + 'static) -> Self {
        Self { document: Arc::new(document), limit: Limit::None }
    }
    /// At most so much of it.
    pub fn limit(mut self, limit: Limit) -> Self {
        self.limit = limit;
        self
    }
}

impl Contribute for InvariantsLayer {
    fn contribute(&self, _: &Turn, prompt: &mut Prompt) {
        prompt.add_later(Tier::Stable, || {
            let (document, limit) = (self.document.read(), self.limit);
            async move {
                match document.await {
                    Ok(Some(document)) if !document.text.trim().is_empty() => {
                        let fragment = fragment(&document, limit);
                        document.diagnostics.into_iter().map(Entry::from).chain([fragment.into()]).collect()
                    }
                    Ok(_) => vec![Entry::Gone(REPOSITORY_INVARIANTS.into())],
                    // Silence: that it could not be read does not make it gone.
                    Err(diagnostic) => vec![diagnostic.into()],
                }
            }
        });
    }
}

fn fragment(document: &Document, limit: Limit) -> Fragment {
    let mut block = Block::new(REPOSITORY_INVARIANTS, &document.text);
    if !document.path.is_empty() {
        block = block.path_attribute("path", &document.path).rest_in(&*document.path);
    }
    let source = if document.path.is_empty() { Source::Host } else { Source::file(&*document.path) };
    Fragment::new(REPOSITORY_INVARIANTS, block).limit(limit).trust(Trust::Repository).source(source)
}

impl_tower_layer!(InvariantsLayer);

impl fmt::Debug for InvariantsLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvariantsLayer").field("limit", &self.limit).finish_non_exhaustive()
    }
}
