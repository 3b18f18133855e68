//! What the model did with the skill tool, as the results in a request tell.

use super::arguments::{Arguments, Operation};
use crate::prompt::{ACTIVE_SKILL, Turn};
use crate::skill::context::new_arguments;
use crate::skill::{ActiveSkill, Skill, SkillActivationMode, SkillId};
use crate::text::escape;
use crate::wire::{Role, ToolCall};
use serde_json::Value;

/// What the newest results of the skill tool say that is not in force by them yet.
#[derive(Default)]
pub(crate) struct Invoked {
    /// Skills whose bodies stand in the results, in their order.
    pub(crate) loaded: Vec<(Skill, ActiveSkill)>,
    /// Skills in force, with the arguments that they were invoked with again.
    pub(crate) again: Vec<ActiveSkill>,
    /// Skills that the model had loaded.
    pub(crate) put_down: Vec<SkillId>,
}

/// By the results of a tool of this name alone.
pub(crate) fn invoked_in(turn: &Turn, tool: &str) -> Invoked {
    let (newest, calls) = turn.conversation.newest();
    let mut invoked = Invoked::default();
    for message in newest.iter().filter(|message| message.role == Role::Tool) {
        for (result, block) in &message.skill_blocks {
            match message.answers.get(*result).copied().flatten().and_then(|call| calls.get(call)) {
                Some(call) if call.name == tool => invoked.by_call(turn, call, block),
                Some(_) => {}
                // The provider holds the call. What is in force by this is the skill whose body it is, or nothing.
                None if turn.conversation.held_by_provider.is_some() => {
                    let is_its_body = |skill: &&Skill| is_of(block, "skill id", &skill.summary.id);
                    if let Some(skill) = turn.skills.iter().find(is_its_body).filter(|skill| skill.summary.is_for_the_model()) {
                        invoked.load(turn, skill, None);
                    }
                }
                None => {}
            }
        }
    }
    invoked
}

impl Invoked {
    fn by_call(&mut self, turn: &Turn, call: &ToolCall, block: &str) {
        let Ok(Arguments { operation, name: Some(name), input, .. }) = Arguments::read(&Value::from(call.arguments.as_str())) else {
            return;
        };
        let Some(skill) = turn.skills.find(&name).filter(|skill| skill.summary.is_for_the_model()) else { return };
        let id = &skill.summary.id;
        match operation {
            Operation::Invoke if is_of(block, "skill id", id) => self.load(turn, skill, input.as_deref()),
            Operation::Invoke => {
                let again = new_arguments(&ActiveSkill::by_tool(id.clone(), input.as_deref()));
                if again.is_some_and(|again| *again.value() == *block) {
                    self.invoke_again(turn, id, input);
                }
            }
            Operation::Deactivate if is_of(block, "skill_off id", id) => self.put_down(turn, id),
            _ => {}
        }
    }

    fn load(&mut self, turn: &Turn, skill: &Skill, input: Option<&str>) {
        let id = &skill.summary.id;
        self.put_down.retain(|other| other != id);
        if turn.is_active(id.as_str()) && turn.told(&format!("{ACTIVE_SKILL}{id}")).is_some() {
            // Of a tool that does not know the conversation, which gives the body whole each time.
            self.invoke_again(turn, id, input.map(str::to_owned));
        } else if self.loaded.iter().all(|(_, known)| known.id != *id) {
            self.loaded.push((skill.clone(), ActiveSkill::by_tool(id.clone(), input)));
        }
    }
    /// Whoever brought it into force: that stays as it is. Without arguments there is nothing new.
    fn invoke_again(&mut self, turn: &Turn, id: &SkillId, arguments: Option<String>) {
        let known = turn.active.iter().find(|active| active.id == *id);
        let Some(active) = known.filter(|active| arguments.is_some() && active.arguments != arguments) else { return };
        self.again.retain(|other| other.id != *id);
        self.again.push(ActiveSkill { arguments, ..active.clone() });
    }
    fn put_down(&mut self, turn: &Turn, id: &SkillId) {
        self.loaded.retain(|(_, loaded)| loaded.id != *id);
        self.again.retain(|again| again.id != *id);
        if turn.active.iter().any(|active| active.id == *id && active.mode == SkillActivationMode::Tool) && !self.put_down.contains(id) {
            self.put_down.push(id.clone());
        }
    }
}

fn is_of(block: &str, opening: &str, id: &SkillId) -> bool {
    block.starts_with(&format!("<{opening}=\"{}\"", escape::attribute(id.as_str())))
}
