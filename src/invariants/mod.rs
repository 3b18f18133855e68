//! Invariants that a selector chooses: when it is asked, how long a prompt waits for it, and what stands where it is late or wrong.
//!
//! The first prompt of a conversation asks the selector and waits for it, up to `invariants.selector.initial_timeout_ms`. The choice stays, through
//! tool rounds and later prompts, until the host says that an answer is committed ([`RelevantInvariants::answer_committed`]): then it is made anew in
//! the background. An answer counts only where nothing newer came. A deadline ends the waiting, and the prompt goes by `on_timeout`; the call runs on,
//! and what it brings serves the prompts to come. A call that fails, or answers nonsense, leaves the choice as it was, and where there was none the
//! words decide ([`by_words`]).
//!
//! ```
//! use std::convert::Infallible;
//! use tower::service_fn;
//! use tower_prompt::layers::invariant::{InvariantSelector, SelectionRequest, SelectionResponse};
//! use tower_prompt::{Assembly, Environment, Workspace};
//!
//! # fn main() -> Result<(), tower_prompt::config::ConfigError> {
//! let selector = service_fn(|request: SelectionRequest| async move {
//!     // A model is asked here, with `request.task` and `request.catalog.numbered()`; its answer is read from JSON.
//!     Ok::<_, serde_json::Error>(serde_json::from_str::<SelectionResponse>(r#"{"numbers": [2, 1], "summary": "Fix the parser"}"#)?)
//! });
//! let environment = Environment::new("/nowhere").variable("BCODE_INVARIANTS__MODE", "relevant");
//! let assembly = Assembly::load(&environment, &Workspace::at("/nowhere"))?.invariant_selector(InvariantSelector::new(selector));
//! let invariants = assembly.relevant_invariants().expect("the mode is `relevant`");
//! # let _ = invariants;
//! # Ok(()) }
//! ```

mod call;
mod choice;
mod conversation;
mod sidecar;

use crate::config;
use crate::layers::invariant::{
    Asked, CatalogSource, ChooseInvariants, Choosing, Chosen, Guidance, InvariantCatalog, InvariantSelector, by_words,
};
use crate::layers::{Diagnostic, InvariantsLayer, Purpose, Session, SessionKey};
use call::{End, Subject};
use conversation::{Conversation, Conversations};
use sidecar::{Sidecar, StateFolder};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;

/// The handle by which a host lets a selector choose, and tells it when an answer is committed. Cheap to clone; clones share the conversations.
///
/// The selector is called on the tokio runtime that the request is polled on, which has its time enabled where a deadline is configured. On another
/// executor the words decide, with a diagnostic.
#[derive(Clone)]
pub struct RelevantInvariants {
    document: CatalogSource,
    selector: InvariantSelector,
    options: Arc<config::InvariantsConfig>,
    folder: Option<Arc<StateFolder>>,
    conversations: Arc<Mutex<Conversations>>,
}

impl RelevantInvariants {
    /// Of this document, chosen by this selector, with these settings (`[invariants]`; its `mode` and `enabled` are not looked at).
    pub fn new(document: CatalogSource, selector: InvariantSelector, options: config::InvariantsConfig) -> Self {
        Self { document, selector, options: Arc::new(options), folder: None, conversations: Arc::default() }
    }
    /// Keeps what it is told to keep ([`keep`](Self::keep)) in this folder.
    pub fn state_folder(mut self, folder: &Path) -> Self {
        self.folder = Some(Arc::new(StateFolder::new(folder)));
        self
    }
    /// The layer that says what is chosen.
    pub fn layer(&self) -> InvariantsLayer {
        InvariantsLayer::relevant(self.document.clone(), self.clone())
    }

    /// The final answer to the user stands in the history: the choice is made anew for this task, in the background. `task` is what is going on now
    /// in the host's words, such as the user's last message and the answer. Must be called on a tokio runtime; elsewhere, and of a blank task, it does
    /// nothing.
    pub fn answer_committed(&self, session: &Session, task: &str) {
        let Ok(runtime) = Handle::try_current() else {
            tracing::warn!("invariants are not selected anew: this is no tokio runtime");
            return;
        };
        if !task.trim().is_empty() {
            self.in_background(&self.conversation(&session.key()), task, &runtime);
        }
    }
    /// Keeps the session's last choice in a file, from now on, and takes it up again where this conversation has none. `id` is the host's name of the
    /// conversation, and the first one stands. The file lies in the state folder, mode 0600, named by a hash of the id; it counts for the same id and
    /// the same text of `INVARIANTS.md` alone. Without a state folder nothing is kept.
    pub fn keep(&self, session: &Session, id: &str) {
        if let Some(folder) = &self.folder {
            self.conversation(&session.key()).sidecar.get_or_init(|| Sidecar::new(folder, id));
        }
    }
    /// Waits until no call of this conversation is under way, and what it brought is kept: for a host that is about to end.
    pub async fn idle(&self, session: &Session) {
        if let Some(conversation) = self.known(&session.key()) {
            conversation.idle().await;
        }
    }

    fn conversation(&self, session: &SessionKey) -> Arc<Conversation> {
        self.conversations.lock().unwrap_or_else(PoisonError::into_inner).of(session)
    }
    fn known(&self, session: &SessionKey) -> Option<Arc<Conversation>> {
        self.conversations.lock().unwrap_or_else(PoisonError::into_inner).known(session)
    }

    fn accepted(&self, guidance: Guidance) -> Guidance {
        if self.options.include_task_summary { guidance } else { guidance.without_summary() }
    }
    fn by_words(&self, subject: &Subject) -> Guidance {
        Guidance::of(by_words(&subject.task, &subject.catalog, self.options.max_selected))
    }

    async fn choose_now(self, asked: Asked) -> (Chosen, Vec<Diagnostic>) {
        let subject = Subject { task: asked.task, catalog: asked.catalog };
        let digest = subject.catalog.digest();
        if asked.purpose == Purpose::SamePrefix {
            // Nothing is begun, and nothing kept.
            let made = self.known(&asked.session).and_then(|known| known.choice().made(digest).cloned());
            return (Chosen::These(made.unwrap_or_else(|| self.by_words(&subject))), Vec::new());
        }
        let conversation = self.conversation(&asked.session);
        self.restore(&conversation, &subject.catalog).await;
        let chosen = self.choose_in(&conversation, subject).await;
        (chosen, conversation.take_noticed())
    }

    async fn choose_in(&self, conversation: &Arc<Conversation>, subject: Subject) -> Chosen {
        let digest = subject.catalog.digest();
        let made = || conversation.choice().made(digest).cloned();
        if subject.task.trim().is_empty() {
            // An image alone is no task to choose for.
            return made().map_or(Chosen::Nothing, Chosen::These);
        }
        let Ok(runtime) = Handle::try_current() else {
            conversation.notice(Diagnostic::warning("selector-not-run", "the selector was not asked: this is no tokio runtime"));
            return Chosen::These(made().unwrap_or_else(|| self.by_words(&subject)));
        };
        let call = match self.call_to_wait_for(conversation, &subject, &runtime) {
            Ok(call) => call,
            Err(guidance) => return Chosen::These(guidance),
        };
        match call.ended().await {
            End::TimedOut => {
                let fallback = self.options.selector.on_timeout;
                let message = format!("the selection of invariants is late, and `on_timeout` is {fallback:?}").to_lowercase();
                conversation.notice(Diagnostic::warning("selector-late", message));
                match fallback {
                    config::OnSelectorTimeout::Full => Chosen::Whole,
                    config::OnSelectorTimeout::Previous => made().map_or(Chosen::Whole, Chosen::These),
                    config::OnSelectorTimeout::Deterministic => Chosen::These(self.by_words(&subject)),
                    config::OnSelectorTimeout::None => Chosen::Nothing,
                }
            }
            End::Came | End::Failed | End::Overtaken | End::Cancelled => Chosen::These(made().unwrap_or_else(|| self.by_words(&subject))),
        }
    }

    /// What was kept of an earlier process, once.
    async fn restore(&self, conversation: &Arc<Conversation>, catalog: &Arc<InvariantCatalog>) {
        let Some(sidecar) = conversation.sidecar.get() else { return };
        let read = async {
            match sidecar.read(catalog, self.options.max_selected).await {
                Ok(Some(guidance)) => conversation.choice().fall_back(catalog.digest(), self.accepted(guidance)),
                Ok(None) => {}
                Err(diagnostic) => conversation.notice(diagnostic),
            }
        };
        conversation.restored.get_or_init(|| read).await;
    }
}

/// The keys that only a selector heeds, where one is set and there is no selector.
pub(crate) fn without_selector(options: &config::InvariantsConfig) -> Option<Diagnostic> {
    let usual = config::Config::default().invariants;
    let (set, default) = (&options.selector, &usual.selector);
    let keys = [
        ("include_task_summary", options.include_task_summary != usual.include_task_summary),
        ("selector.model_profile", set.model_profile != default.model_profile),
        ("selector.initial_timeout_ms", set.initial_timeout_ms != default.initial_timeout_ms),
        ("selector.background_timeout_ms", set.background_timeout_ms != default.background_timeout_ms),
        (
            "selector.wait_for_background_on_next_prompt",
            set.wait_for_background_on_next_prompt != default.wait_for_background_on_next_prompt,
        ),
        ("selector.cancel_on_timeout", set.cancel_on_timeout != default.cancel_on_timeout),
        ("selector.cancel_stale", set.cancel_stale != default.cancel_stale),
        ("selector.on_timeout", set.on_timeout != default.on_timeout),
    ];
    let keys: Vec<String> = keys.iter().filter(|(_, is_set)| *is_set).map(|(key, _)| format!("`invariants.{key}`")).collect();
    let message = || format!("{}: for a selector, and the host gave none; the words of each message choose", keys.join(", "));
    (!keys.is_empty()).then(|| Diagnostic::warning("selector-missing", message()))
}

impl ChooseInvariants for RelevantInvariants {
    fn choose(&self, asked: Asked) -> Choosing {
        Box::pin(self.clone().choose_now(asked))
    }
}

impl fmt::Debug for RelevantInvariants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelevantInvariants").field("options", &self.options).field("folder", &self.folder).finish_non_exhaustive()
    }
}
