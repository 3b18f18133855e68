//! Which skills the model invoked, as the results in a request tell.

use super::arguments::{Arguments, Operation};
use crate::prompt::{ACTIVE_SKILL, Turn};
use crate::skill::{ActiveSkill, Skill};
use crate::text::escape;
use crate::wire::{Role, ToolCall};
use serde_json::Value;

/// The skills whose bodies stand in the newest results of the skill tool and are not in force by them yet, in the order of the results.
pub(crate) fn invoked_in(turn: &Turn, tool: &str) -> Vec<(Skill, ActiveSkill)> {
    let (newest, calls) = turn.conversation.newest();
    let mut invoked: Vec<(Skill, ActiveSkill)> = Vec::new();
    for message in newest.iter().filter(|message| message.role == Role::Tool) {
        for (result, block) in &message.skill_blocks {
            let call = message.answers.get(*result).copied().flatten().and_then(|call| calls.get(call));
            let found = match call {
                Some(call) => (call.name == tool).then(|| by_call(turn, call)).flatten(),
                // The provider holds the call. What is in force by this is the skill whose body it is, or nothing.
                None if turn.conversation.held_by_provider.is_some() => by_block(turn, block),
                None => None,
            };
            let Some((skill, active)) = found.filter(|(skill, _)| is_block_of(block, skill)) else { continue };
            let is_in_force = turn.active.contains(&active) && turn.told(&format!("{ACTIVE_SKILL}{}", active.id)).is_some();
            if !is_in_force && invoked.iter().all(|(_, known)| known.id != active.id) {
                invoked.push((skill.clone(), active));
            }
        }
    }
    invoked
}

fn by_call<'t>(turn: &'t Turn, call: &ToolCall) -> Option<(&'t Skill, ActiveSkill)> {
    let Arguments { operation, name, input, .. } = Arguments::read(&Value::from(call.arguments.as_str())).ok()?;
    if operation != Operation::Invoke {
        return None;
    }
    let skill = turn.skills.find(&name?).filter(|skill| skill.summary.is_for_the_model())?;
    Some((skill, ActiveSkill::by_tool(skill.summary.id.clone(), input.as_deref())))
}

fn by_block<'t>(turn: &'t Turn, block: &str) -> Option<(&'t Skill, ActiveSkill)> {
    let skill = turn.skills.iter().find(|skill| is_block_of(block, skill) && skill.summary.is_for_the_model())?;
    Some((skill, ActiveSkill::by_tool(skill.summary.id.clone(), None)))
}

fn is_block_of(block: &str, skill: &Skill) -> bool {
    block.starts_with(&format!("<skill id=\"{}\"", escape::attribute(skill.summary.id.as_str())))
}
