//! What the invariants layer stands on: the document, the catalog that it is read as, and the choice of those that count for a task.
//!
//! ```
//! use std::num::NonZeroUsize;
//! use tower_prompt_layers::Document;
//! use tower_prompt_layers::invariant::{InvariantCatalog, by_words};
//!
//! let document = Document::new("## Storage\n\n* **One writer.** A table has one writer.\n* **Keys.** Keys never change.\n");
//! let catalog = InvariantCatalog::read(document);
//! let title = catalog.get(2).and_then(|invariant| invariant.title());
//!
//! assert_eq!(title, Some("Keys."));
//! assert_eq!(by_words("May I rename the keys?", &catalog, NonZeroUsize::MIN), [2]);
//! ```

mod by_words;
mod catalog;
mod document;
mod guidance;
mod markdown;
mod selection;

pub use by_words::by_words;
pub use catalog::{Invariant, InvariantCatalog};
pub use document::{CatalogSource, Document, DocumentSource, ReadingDocument};
pub use guidance::Guidance;
pub(crate) use guidance::GuidanceText;
pub(crate) use selection::bounded;
pub use selection::{
    Asked, ChooseInvariants, Choosing, Chosen, InvariantSelector, SelectByWords, Selecting, SelectionRequest, SelectionResponse,
};
