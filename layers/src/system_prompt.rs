//! The base prompt: built in, or replaced.

use crate::prompt::{Contribute, Fragment, Prompt, Source, Tier, Turn, impl_tower_layer};
use std::sync::Arc;

/// The base prompt that is built in: short, and general for agents that work on code.
pub const BASE_PROMPT: &str = include_str!("system_prompt.md");

/// Adds the base prompt, `Stable`. Replacing it replaces this text and nothing else: every section stays, and the user's authority too.
///
/// ```
/// use tower_prompt_layers::SystemPromptLayer;
///
/// let built_in = SystemPromptLayer::default();
/// let own = SystemPromptLayer::replaced("You review pull requests.");
/// assert_ne!(built_in.text(), own.text());
/// ```
#[derive(Clone, Debug)]
pub struct SystemPromptLayer {
    text: Arc<str>,
    source: Source,
}

impl Default for SystemPromptLayer {
    /// The built-in text.
    fn default() -> Self {
        Self { text: BASE_PROMPT.trim_end().into(), source: Source::BuiltIn }
    }
}

impl SystemPromptLayer {
    /// The host's own text instead of the built-in one. An empty one adds nothing.
    pub fn replaced(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), source: Source::Host }
    }
    /// Says where the text came from.
    pub fn source(mut self, source: Source) -> Self {
        self.source = source;
        self
    }
    /// The base prompt.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Contribute for SystemPromptLayer {
    fn contribute(&self, _: &Turn, prompt: &mut Prompt) {
        let base = || Fragment::new("base", self.text.clone()).source(self.source.clone());
        prompt.add(Tier::Stable, || (!self.text.is_empty()).then(base));
    }
}

impl_tower_layer!(SystemPromptLayer);
