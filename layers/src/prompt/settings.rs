//! What a stack is told once.

use super::manifest::Manifest;
use super::session::{LastSystem, Session};
use super::{Budget, Context, Tier};
use crate::skill::{SkillRegistry, Skills};
use crate::text::{EstimatedTokens, TokenCounter};
use crate::wire::{Conversation, ModelTable};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Where text of the repository stands that is there at the conversation's start (`context.repository_text`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RepositoryText {
    /// In the system prompt.
    #[default]
    System,
    /// In the first `<context>` block, in user role.
    Context,
}

/// Where text that comes or changes behind a session's start stands, and how long it is kept (`context.placement`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TextPlacement {
    /// Behind the newest message, and put back there in later requests: the cached prefix stays.
    #[default]
    Append,
    /// Behind the newest message, and only the newest turn's is kept: fewer tokens, and what followed the turn before is read anew. Facts are said
    /// whole each turn, and bodies of skills are read anew.
    Latest,
    /// In the system prompt, which is another one whenever there is something to say: for models that heed nothing else.
    Front,
}

/// Finds the conversation that a request without a session belongs to.
pub trait Sessions: Send + Sync {
    /// The session of a conversation, as its messages and the host's words about the caller tell it; a new one where none fits.
    fn find(&self, conversation: &Conversation, context: &Context) -> Session;
}

impl<T: Sessions + ?Sized> Sessions for Arc<T> {
    fn find(&self, conversation: &Conversation, context: &Context) -> Session {
        (**self).find(conversation, context)
    }
}

type Observer = Arc<dyn Fn(&Manifest) + Send + Sync>;

/// What a stack is told once: skills, conversations, token counts, an observer. Cheap to clone.
///
/// ```
/// use tower_prompt_layers::{Settings, skill::Skills};
///
/// let settings = Settings::default().skills(Skills::default()).on_manifest(|manifest| println!("{:?}", manifest.said()));
/// # let _ = settings;
/// ```
#[derive(Clone)]
pub struct Settings {
    pub(crate) skills: Arc<dyn SkillRegistry>,
    pub(crate) sessions: Option<Arc<dyn Sessions>>,
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) repository_text: RepositoryText,
    pub(crate) placement: TextPlacement,
    pub(crate) marks_caches: bool,
    pub(crate) models: Arc<ModelTable>,
    pub(crate) budget: Budget,
    pub(crate) context: Context,
    pub(crate) is_per_call: bool,
    pub(crate) preview_max_chars: usize,
    pub(super) last_system: LastSystem,
    pub(super) observer: Option<Observer>,
}

impl Default for Settings {
    /// No skills, no table of conversations, tokens by estimate.
    fn default() -> Self {
        Self {
            skills: Arc::new(Skills::default()),
            sessions: None,
            counter: Arc::new(EstimatedTokens),
            repository_text: RepositoryText::default(),
            placement: TextPlacement::default(),
            marks_caches: true,
            models: Arc::default(),
            budget: Budget::default(),
            context: Context::default(),
            is_per_call: false,
            preview_max_chars: 2000,
            last_system: LastSystem::default(),
            observer: None,
        }
    }
}

impl Settings {
    /// Takes one snapshot of these skills a request.
    pub fn skills(mut self, skills: impl SkillRegistry + 'static) -> Self {
        self.skills = Arc::new(skills);
        self
    }
    /// Knows conversations without a session by this table. Without one each such request stands for itself.
    pub fn sessions(mut self, sessions: impl Sessions + 'static) -> Self {
        self.sessions = Some(Arc::new(sessions));
        self
    }
    /// Counts tokens with this counter, or with the one that it has for the model of a request.
    pub fn counter(mut self, counter: impl TokenCounter + 'static) -> Self {
        self.counter = Arc::new(counter);
        // What another counter counted is not this one's.
        self.last_system = LastSystem::default();
        self
    }
    /// Where text of the repository stands.
    pub fn repository_text(mut self, place: RepositoryText) -> Self {
        self.repository_text = place;
        self
    }
    /// Characters of a skill's body that the event of its loading shows (`skills.preview_max_chars`); 2,000 unless told otherwise.
    pub fn preview_max_chars(mut self, max: NonZeroUsize) -> Self {
        self.preview_max_chars = max.get();
        self
    }
    /// Tells providers which prefixes are worth keeping (`context.cache_marks`); on unless told otherwise.
    pub fn cache_marks(mut self, is_on: bool) -> Self {
        self.marks_caches = is_on;
        self
    }
    /// Knows this of models: what they read, and from how many tokens on a prefix is kept.
    pub fn models(mut self, models: ModelTable) -> Self {
        self.models = Arc::new(models);
        self
    }
    /// Holds what is added to these targets (`budget.max_prompt_tokens`, `budget.max_anchored_tokens`).
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }
    /// Where text stands that comes or changes behind a session's start.
    pub fn placement(mut self, placement: TextPlacement) -> Self {
        self.placement = placement;
        self
    }
    /// What the host says of every request of a stack that is bound to one conversation.
    pub fn context(mut self, context: Context) -> Self {
        self.context = context;
        self
    }
    /// Sees the manifest of each request, before the inner call. Must not block.
    pub fn on_manifest(mut self, observer: impl Fn(&Manifest) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Of the tokens of this model.
    pub(crate) fn counter_of(&self, model: Option<&str>) -> &dyn TokenCounter {
        model.and_then(|model| self.counter.of_model(model)).unwrap_or(&*self.counter)
    }

    /// A stack that many callers share recognises a conversation only among those of its own caller.
    pub(crate) fn recognises(&self, context: &Context) -> bool {
        !self.is_per_call || context.scope.is_some()
    }
    pub(crate) fn observe(&self, manifest: &Manifest) {
        for diagnostic in &manifest.diagnostics {
            tracing::debug!(code = %diagnostic.code, severity = %diagnostic.severity, "{diagnostic}");
        }
        if tracing::enabled!(tracing::Level::DEBUG) {
            let tokens = manifest.tokens_by_tier();
            let first_change = manifest.foreseen.as_ref().and_then(|foreseen| foreseen.first_change.as_ref());
            let of = |tier: Tier| tokens.get(&tier).copied().unwrap_or_default();
            tracing::debug!(
                round = ?manifest.round,
                settled = manifest.settled,
                stable = of(Tier::Stable),
                session = of(Tier::Session),
                turn = of(Tier::Turn),
                step = of(Tier::Step),
                as_before = manifest.foreseen.as_ref().map(|foreseen| foreseen.kept_tokens),
                first_change = first_change.map(tracing::field::display),
                "prompt assembled"
            );
        }
        if let Some(observer) = &self.observer {
            observer(manifest);
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("repository_text", &self.repository_text).field("context", &self.context).finish_non_exhaustive()
    }
}
