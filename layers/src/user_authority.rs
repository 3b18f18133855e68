//! Whose word counts: the policy on the user's instructions.

use crate::prompt::{Contribute, Fragment, Prompt, Source, Tier, Turn, impl_tower_layer};

/// The policy: what a user's word changes, and what can never speak for the user.
pub const USER_AUTHORITY: &str = include_str!("user_authority.md");

/// Adds the policy on the user's authority, `Stable`. It stands behind profiles, survives a replaced base prompt, is independent of skills, and
/// grants no permission.
#[derive(Clone, Copy, Default, Debug)]
pub struct UserAuthorityLayer;

impl Contribute for UserAuthorityLayer {
    fn contribute(&self, _: &Turn, prompt: &mut Prompt) {
        prompt.add(Tier::Stable, || Fragment::new("user_authority", USER_AUTHORITY.trim_end()).source(Source::BuiltIn).fixed());
    }
}

impl_tower_layer!(UserAuthorityLayer);
