//! The instructions of the skills in force, once each.

use crate::prompt::{ACTIVE_SKILL, Contribute, Prompt, Round, Tier, Turn, impl_tower_layer};
use crate::skill::{self, SkillContextOptions};

/// Adds the body of each skill in force, where this branch was not told of it yet: at the conversation's start in the system prompt (`Session`),
/// later at the tail (`Step`: in tool rounds too). Bodies are read then, and not again: a skill that is invoked again gets its new arguments alone.
///
/// ```
/// use serde_json::json;
/// use tower_prompt_layers::skill::{Skill, SkillId, SkillSource, SkillSourceKind, SkillSummary, Skills};
/// use tower_prompt_layers::{ActiveSkillsLayer, Context, PromptStack, Session, Settings, wire::OpenAiChat};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), tower_prompt_layers::skill::InvalidSkillId> {
/// let source = SkillSource::new(SkillSourceKind::User, "own");
/// let summary = SkillSummary::new("deploy".parse()?, "Deploys.", source);
/// let skills = Skills::new([Skill::new(summary, "Deploy with care.".to_owned())], Vec::new());
/// let stack = PromptStack::new(OpenAiChat, Settings::default().skills(skills)).with(ActiveSkillsLayer::default());
///
/// let session = Session::new();
/// session.activate("deploy".parse::<SkillId>()?, None);
/// let sent = stack.assemble(json!({"messages": [{"role": "user", "content": "Go."}]}), Context::default().session(session)).await;
/// assert!(sent["messages"][0]["content"].as_str().unwrap().ends_with("Deploy with care.\n</skill>"));
/// # Ok(()) }
/// ```
#[derive(Clone, Default, Debug)]
pub struct ActiveSkillsLayer {
    options: SkillContextOptions,
}

impl ActiveSkillsLayer {
    /// With these limits and tool names.
    pub fn new(options: SkillContextOptions) -> Self {
        Self { options }
    }
}

impl Contribute for ActiveSkillsLayer {
    fn contribute(&self, turn: &Turn, prompt: &mut Prompt) {
        if !prompt.round().collects(Tier::Step) {
            return;
        }
        // Of skills that were not told of there is nothing to say.
        if !turn.told_skills_are_in_force() {
            prompt.only(ACTIVE_SKILL, turn.active.iter().map(|active| format!("{ACTIVE_SKILL}{}", active.id)));
        }
        let (mut new, mut again) = (Vec::new(), Vec::new());
        let told_of_all = turn.told_of_all_skills();
        for active in &turn.active {
            if told_of_all || turn.told_of_skill(&active.id).is_some() {
                // Invoked again with other arguments.
                again.extend((!turn.was_active(active)).then_some(active));
            } else if let Some(skill) = turn.skills.get(active.id.as_str()).filter(|skill| skill.summary.is_usable()) {
                new.push((skill.clone(), active.clone()));
            } else {
                prompt.diagnose(skill::unknown_skill(active.id.as_str()));
                prompt.deactivate(active.id.clone());
            }
        }
        for active in again {
            prompt.add(Tier::Step, || skill::new_arguments(active));
        }
        if !new.is_empty() {
            let tier = if prompt.round() == Round::Start { Tier::Session } else { Tier::Step };
            prompt.add_later(tier, || skill::bodies(new, turn, &self.options, |fragment, _| fragment));
        }
    }
}

impl_tower_layer!(ActiveSkillsLayer);
