//! Repository invariants: what must stay true of the code, whatever is asked of it.
//!
//! All of them, told once in the system prompt, or at each prompt of the user's those that count for the task:
//!
//! ```
//! use serde_json::json;
//! use std::num::NonZeroUsize;
//! use tower_prompt_layers::invariant::{CatalogSource, Document, SelectByWords};
//! use tower_prompt_layers::{Context, InvariantsLayer, PromptStack, Settings, wire::OpenAiChat};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let document = CatalogSource::new(Document::new("## Storage\n* **Keys.** Keys never change.\n* **One writer.** Others ask it."));
//! let layer = InvariantsLayer::relevant(document, SelectByWords::new(NonZeroUsize::MIN));
//! let stack = PromptStack::new(OpenAiChat, Settings::default()).with(layer);
//!
//! let sent = stack.assemble(json!({"messages": [{"role": "user", "content": "Rename the keys."}]}), Context::default()).await;
//! let text = sent["messages"][0]["content"].as_str().unwrap();
//! assert!(text.contains("## Storage\n* **Keys.** Keys never change.\n</relevant_invariants>"));
//! # }
//! ```

use crate::invariant::{Asked, CatalogSource, ChooseInvariants, Chosen, Document, DocumentSource, GuidanceText, InvariantCatalog, bounded};
use crate::prompt::{Contribute, Diagnostic, Entry, Fragment, Prompt, SheddingRank, Source, Text, Tier, Trust, Turn, impl_tower_layer};
use crate::sync::Mutex;
use crate::text::{Block, Limit};
use std::fmt;
use std::sync::{Arc, PoisonError};

/// The id of the fragment that holds all invariants.
pub const REPOSITORY_INVARIANTS: &str = "repository_invariants";
/// The id of the fragment that holds those that count for the task.
pub const RELEVANT_INVARIANTS: &str = "relevant_invariants";

/// Adds the repository's invariants: all of them, or those that count for the task.
#[derive(Clone)]
pub struct InvariantsLayer {
    mode: Mode,
    limit: Limit,
}

type LastWhole = Arc<Mutex<Option<(Document, Fragment)>>>;

#[derive(Clone)]
enum Mode {
    /// The fragment is made anew only when the document changed.
    Full(Arc<dyn DocumentSource>, LastWhole),
    Relevant(CatalogSource, Arc<dyn ChooseInvariants>),
}

impl InvariantsLayer {
    /// The whole document, `Stable`: in the system prompt (`invariants.mode = "full"`).
    pub fn full(document: impl DocumentSource + 'static) -> Self {
        Self { mode: Mode::Full(Arc::new(document), Arc::default()), limit: Limit::None }
    }
    /// The invariants that are chosen for the task, `Turn`: behind the user's message (`invariants.mode = "relevant"`). The same choice again says
    /// nothing; another one is said whole.
    pub fn relevant(document: CatalogSource, chooser: impl ChooseInvariants + 'static) -> Self {
        Self { mode: Mode::Relevant(document, Arc::new(chooser)), limit: Limit::None }
    }
    /// At most so much of them.
    pub fn limit(mut self, limit: Limit) -> Self {
        self.limit = limit;
        self
    }
}

impl Contribute for InvariantsLayer {
    fn contribute(&self, turn: &Turn, prompt: &mut Prompt) {
        let limit = self.limit;
        match &self.mode {
            Mode::Full(document, last) => prompt.add_later(Tier::Stable, || {
                let (document, last) = (document.read(), Arc::clone(last));
                async move { full(document.await, limit, &last) }
            }),
            Mode::Relevant(document, chooser) => prompt.add_later(Tier::Turn, || {
                let (document, chooser) = (document.read(), Arc::clone(chooser));
                let (session, purpose, task) = (turn.session.clone(), turn.context.purpose, bounded(&turn.user_text().unwrap_or_default()));
                async move {
                    match document.await {
                        Ok(Some(catalog)) if !catalog.is_empty() => {
                            let asked = Asked { session, purpose, task, catalog: Arc::clone(&catalog) };
                            let (chosen, noticed) = chooser.choose(asked).await;
                            let noticed = catalog.diagnostics().cloned().chain(noticed);
                            noticed.map(Entry::from).chain(relevant(&catalog, chosen, limit).map(Entry::from)).collect()
                        }
                        Ok(found) => absent(found.as_deref()),
                        // Silence: that it could not be read does not make it gone.
                        Err(diagnostic) => vec![diagnostic.into()],
                    }
                }
            }),
        }
    }
}

fn full(document: Result<Option<Document>, Diagnostic>, limit: Limit, last: &LastWhole) -> Vec<Entry> {
    match document {
        Ok(Some(document)) if !document.text.trim().is_empty() => {
            // What is under the lock is replaced whole.
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = last.as_ref().filter(|(same, _)| *same == document).map(|(_, fragment)| fragment.clone().limit(limit));
            let fragment = kept.unwrap_or_else(|| {
                let fragment = fragment(REPOSITORY_INVARIANTS, &document.path, whole(REPOSITORY_INVARIANTS, &document), limit);
                last.insert((document.clone(), fragment)).1.clone()
            });
            document.diagnostics.into_iter().map(Entry::from).chain([fragment.into()]).collect()
        }
        Ok(_) => vec![Entry::Gone(REPOSITORY_INVARIANTS.into())],
        // Silence: that it could not be read does not make it gone.
        Err(diagnostic) => vec![diagnostic.into()],
    }
}

fn relevant(catalog: &InvariantCatalog, chosen: Chosen, limit: Limit) -> Option<Fragment> {
    let (document, id) = (catalog.document(), RELEVANT_INVARIANTS);
    match chosen {
        Chosen::These(guidance) if !guidance.numbers().is_empty() => {
            Some(fragment(id, &document.path, GuidanceText::new(id, &guidance, catalog), limit).selecting(guidance.numbers()))
        }
        Chosen::Whole => Some(fragment(id, &document.path, whole(id, document), limit)),
        // Silence: those that were said before hold all the same.
        Chosen::These(_) | Chosen::Nothing => None,
    }
}

/// There is nothing to choose from.
fn absent(catalog: Option<&InvariantCatalog>) -> Vec<Entry> {
    let noticed = catalog.into_iter().flat_map(|catalog| {
        let path = &catalog.document().path;
        let none = Diagnostic::note("invariants-missing", "holds no bullet, so there is no invariant to choose");
        let none = if path.is_empty() { none } else { none.at(path.clone()) };
        catalog.diagnostics().cloned().chain([none])
    });
    noticed.map(Entry::from).chain([Entry::Gone(RELEVANT_INVARIANTS.into())]).collect()
}

fn whole(tag: &str, document: &Document) -> Block {
    let block = Block::new(tag, &document.text);
    if document.path.is_empty() { block } else { block.path_attribute("path", &document.path).rest_in(&*document.path) }
}

fn fragment(id: &'static str, path: &str, text: impl Text + 'static, limit: Limit) -> Fragment {
    let source = if path.is_empty() { Source::Host } else { Source::file(path) };
    Fragment::new(id, text).limit(limit).shedding(SheddingRank::INVARIANTS).trust(Trust::Repository).source(source)
}

impl_tower_layer!(InvariantsLayer);

impl fmt::Debug for InvariantsLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match self.mode {
            Mode::Full(..) => "full",
            Mode::Relevant(..) => "relevant",
        };
        f.debug_struct("InvariantsLayer").field("mode", &mode).field("limit", &self.limit).finish_non_exhaustive()
    }
}
