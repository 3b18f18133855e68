//! The skill tool in the prompt: its definition, and the skills that the model loaded with it.

use crate::prompt::{Contribute, Entry, Prompt, Round, Tier, Turn, impl_tower_layer};
use crate::skill::{self, SkillArguments, SkillToolOptions, skill_fragment};
use std::num::NonZeroUsize;

/// Offers the skill tool, where there is a skill to load, from a session's start on; for hosts that answer it, with a
/// [`SkillTool`](crate::skill::SkillTool) of the same options. A skill that it loaded comes into force with the request that brings the result, in that
/// branch alone: its body counts as said there, and is said again only where no request holds it any more. So do the arguments of one that was invoked
/// again, and that the model put one down. Stands ahead of [`ActiveSkillsLayer`](crate::ActiveSkillsLayer).
///
/// ```
/// use tower_prompt_layers::skill::SkillToolOptions;
/// use tower_prompt_layers::{PromptStack, Settings, SkillToolLayer, wire::Anthropic};
///
/// let stack = PromptStack::new(Anthropic, Settings::default()).with(SkillToolLayer::new(SkillToolOptions::default()));
/// # let _ = stack;
/// ```
#[derive(Clone, Default, Debug)]
pub struct SkillToolLayer {
    options: SkillToolOptions,
}

impl SkillToolLayer {
    /// With these options.
    pub fn new(options: SkillToolOptions) -> Self {
        Self { options }
    }
}

impl Contribute for SkillToolLayer {
    fn contribute(&self, turn: &Turn, prompt: &mut Prompt) {
        if prompt.round() == Round::Start
            && let Some(definition) = self.options.definition(&turn.skills)
        {
            prompt.add_tool(definition);
        }
        if !prompt.round().collects(Tier::Step) {
            return;
        }
        let skill::Invoked { loaded, again, put_down } = skill::invoked_in(turn, &self.options.name);
        put_down.into_iter().for_each(|id| prompt.put_down(id));
        again.into_iter().for_each(|active| prompt.invoked_again(active));
        if loaded.is_empty() {
            return;
        }
        let pool = self.options.context.max_bytes.map(NonZeroUsize::get);
        prompt.add_later(Tier::Step, || async move {
            let mut entries: Vec<Entry> = Vec::new();
            for (skill, active) in loaded {
                match skill.content.load().await {
                    Ok(text) => {
                        let arguments = active.arguments.as_deref().map_or(SkillArguments::None, SkillArguments::Now);
                        let fragment = skill_fragment(&skill.summary, &text.body, arguments).pool(pool);
                        entries.push(fragment.activating(active.clone()).into());
                    }
                    Err(diagnostic) => entries.push(diagnostic.into()),
                }
            }
            entries
        });
    }
}

impl_tower_layer!(SkillToolLayer);
