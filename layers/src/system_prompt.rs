//! The base prompt: built in, or replaced; and what profiles for providers and models make of it.

use crate::profile::{Acting, ModelProfiles};
use crate::prompt::{Contribute, Fragment, Prompt, Round, Source, Tier, Turn, impl_tower_layer};
use crate::text::{TextChange, TextMode};
use std::collections::VecDeque;
use std::sync::Arc;

/// The base prompt that is built in: short, and general for agents that work on code.
pub const BASE_PROMPT: &str = include_str!("system_prompt.md");

/// How the ids of fragments of profiles begin; the profile's name follows, as `provider.openai`.
pub const MODEL_PROFILE: &str = "model_profile:";

const BASE: &str = "base";

/// Adds the base prompt and the profiles that fit the model, `Stable`. Replacing it replaces this text and nothing else: every section stays, and the
/// user's authority too. As it was at a session's start it stays, until [`Session::rebase`](crate::Session::rebase).
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
    profiles: Option<Arc<ModelProfiles>>,
}

impl Default for SystemPromptLayer {
    /// The built-in text, without profiles.
    fn default() -> Self {
        Self { text: BASE_PROMPT.trim_end().into(), source: Source::BuiltIn, profiles: None }
    }
}

impl SystemPromptLayer {
    /// The host's own text instead of the built-in one. An empty one adds nothing.
    pub fn replaced(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), source: Source::Host, profiles: None }
    }
    /// Says where the text came from.
    pub fn source(mut self, source: Source) -> Self {
        self.source = source;
        self
    }
    /// With these profiles for providers and models.
    pub fn profiles(mut self, profiles: ModelProfiles) -> Self {
        self.profiles = Some(Arc::new(profiles));
        self
    }
    /// The base prompt.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The base and the texts of these profiles, in the order in which they stand.
    fn fragments(&self, acting: &[Acting]) -> VecDeque<Fragment> {
        let base = Fragment::new(BASE, self.text.clone()).source(self.source.clone()).fixed();
        let mut all: VecDeque<Fragment> = (!self.text.is_empty()).then_some(base).into_iter().collect();
        for Acting { name, is_bundled, profile } in acting {
            let Some(text) = profile.system_prompt.as_deref().map(str::trim) else { continue };
            if profile.system_prompt_mode == TextMode::Replace {
                all.clear();
            }
            if text.is_empty() {
                continue;
            }
            let source = if *is_bundled { Source::BuiltIn } else { Source::Configuration };
            let fragment = Fragment::new(format!("{MODEL_PROFILE}{name}"), Arc::<str>::from(text)).source(source).fixed();
            match profile.system_prompt_mode {
                TextMode::Prepend => all.push_front(fragment),
                TextMode::Append | TextMode::Replace => all.push_back(fragment),
            }
        }
        all
    }
}

impl Contribute for SystemPromptLayer {
    fn contribute(&self, turn: &Turn, prompt: &mut Prompt) {
        // Told once, whatever the model is later.
        let is_told = turn.told(BASE).is_some() || turn.told_bytes(MODEL_PROFILE) > 0;
        if turn.round != Round::Start && is_told {
            return;
        }
        let profiles = self.profiles.as_ref().filter(|_| prompt.round().collects(Tier::Stable));
        let of = |profiles: &Arc<ModelProfiles>| profiles.acting(&turn.context.host, turn.provider(), turn.conversation.model.as_deref());
        let acting = profiles.map(of).unwrap_or_default();
        for fragment in self.fragments(&acting) {
            prompt.add(Tier::Stable, || fragment);
        }
        for (name, description) in acting.iter().flat_map(|acting| &acting.profile.tool_description) {
            prompt.describe_tool(name.as_str(), TextChange::default().then(description.mode, &description.text));
        }
    }
}

impl_tower_layer!(SystemPromptLayer);
