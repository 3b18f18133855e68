//! The profiles that come with the library: a few lines for providers whose models are known to want them.

use super::{Acting, ModelProfile};

/// A profile that comes with the library. Switched off by its id (`prompt_profile.bundled.disabled`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BundledProfile {
    /// Its id.
    pub id: &'static str,
    /// The provider, as the host names it.
    pub provider: &'static str,
    /// Appended to the base prompt.
    pub text: &'static str,
}

impl BundledProfile {
    pub(super) fn acting(&self) -> Acting {
        let profile = ModelProfile { system_prompt: Some(self.text.to_owned()), ..ModelProfile::default() };
        Acting { name: format!("bundled.{}", self.id), is_bundled: true, profile }
    }
}

/// All of them.
pub const BUNDLED_PROFILES: &[BundledProfile] = &[
    BundledProfile { id: "anthropic", provider: "anthropic", text: "Make tool calls that don't need each other's results in one step." },
    BundledProfile {
        id: "openai",
        provider: "openai",
        text: "Go on until the task is done or only the user can decide; a plan alone is no end. \
               Before several tool calls in a row, say in one line what they are for.",
    },
    BundledProfile {
        id: "google",
        provider: "google",
        text: "Call tools by the exact names and parameters of their definitions, and give files as absolute paths.",
    },
    BundledProfile {
        id: "ollama",
        provider: "ollama",
        text: "Take one step at a time: call one tool, and wait for its result. Keep answers short.",
    },
];
