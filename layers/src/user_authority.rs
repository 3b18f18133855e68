//! Whose word counts: the policy on the user's instructions.

use crate::prompt::{Contribute, Fragment, Prompt, Source, Tier, Turn, impl_tower_layer};
use std::sync::LazyLock;

/// The policy: what a user's word changes, and what can never speak for the user.
pub const USER_AUTHORITY: &str = include_str!("user_authority.md");

/// Adds the policy on the user's authority, `Stable`. It stands behind profiles, survives a replaced base prompt, is independent of skills, and
/// grants no permission.
///
/// ```
/// use serde_json::json;
/// use tower_prompt_layers::{Context, PromptStack, Settings, SystemPromptLayer, UserAuthorityLayer, wire::OpenAiChat};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let base = SystemPromptLayer::replaced("You review pull requests.");
/// let stack = PromptStack::new(OpenAiChat, Settings::default()).with(base).with(UserAuthorityLayer);
///
/// let sent = stack.assemble(json!({"messages": [{"role": "user", "content": "hi"}]}), Context::default()).await;
/// let system = sent["messages"][0]["content"].as_str().unwrap();
/// assert!(system.starts_with("You review pull requests.\n\n<user_authority>"));
/// # }
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct UserAuthorityLayer;

impl Contribute for UserAuthorityLayer {
    fn contribute(&self, _: &Turn, prompt: &mut Prompt) {
        static POLICY: LazyLock<Fragment> =
            LazyLock::new(|| Fragment::new("user_authority", USER_AUTHORITY.trim_end()).source(Source::BuiltIn).fixed());
        prompt.add(Tier::Stable, || POLICY.clone());
    }
}

impl_tower_layer!(UserAuthorityLayer);
