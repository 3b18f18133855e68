//! What may happen in a conversation, and in the workspace meanwhile.

use super::conversation::{Conversation, Sent, id};
use super::world::World;
use crate::place::Place;
use std::fs;
use tower_prompt::Assembly;

/// What may happen in a conversation.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Say(String),
    Tool(String),
    Retry,
    Activate(usize),
    Deactivate(usize),
    Instructions(String),
    Skill(usize, String),
    Remove(usize),
}

/// Takes a step; the request, where it makes one.
pub(super) fn take(step: &Step, talk: &mut Conversation, place: &Place, assembly: &Assembly, world: &World) -> Option<Sent> {
    let skill = |n: usize| world.skills.get(n % world.skills.len()).unwrap();
    match step {
        Step::Say(text) => return Some(talk.say(text)),
        Step::Tool(_) | Step::Retry if talk.messages.is_empty() => {}
        Step::Tool(output) => return Some(talk.call_a_tool(output)),
        Step::Retry => return Some(talk.send()),
        Step::Activate(n) => talk.session.activate(id(&skill(*n).id), None),
        Step::Deactivate(n) => talk.session.deactivate(&id(&skill(*n).id)),
        Step::Instructions(text) => drop(place.write("work/AGENTS.md", text)),
        Step::Skill(n, text) => {
            let mut changed = skill(*n).clone();
            changed.description.clone_from(text);
            place.write(&changed.path(), changed.file());
            assembly.skills().reload();
        }
        Step::Remove(n) => {
            // It may be gone already.
            let _ = fs::remove_file(place.at(skill(*n).path()));
            assembly.skills().reload();
        }
    }
    None
}
