//! What the host says of itself.

use super::bounded;
use crate::layers::{Prompt, Section, Tier, Turn, sections};

/// `runtime_mode`: the agent's id and its operating mode, as the host gives them in the request's context. Absent where it gives neither.
#[derive(Clone, Copy, Default, Debug)]
pub struct RuntimeMode;

impl Section for RuntimeMode {
    fn name(&self) -> &'static str {
        "runtime_mode"
    }
    fn add(&self, turn: &Turn, prompt: &mut Prompt) {
        let host = &turn.context.host;
        let lines = [("Agent", &host.agent), ("Mode", &host.mode)];
        let told: Vec<String> =
            lines.into_iter().filter_map(|(name, value)| Some(format!("{name}: {}", bounded(value.as_ref()?)))).collect();
        if told.is_empty() {
            return prompt.gone("runtime_mode");
        }
        prompt.add(Tier::Session, || sections::fragment("runtime_mode", &told.join("\n")));
    }
}
