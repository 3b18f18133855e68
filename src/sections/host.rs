//! What the host says of itself.

use super::bounded;
use crate::layers::{Prompt, Section, Source, Tier, Turn, sections};

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

/// `agent_suffix`: `system_prompt.agent_suffix`, or where that is empty the text that the host gives in the request's context
/// ([`Context::agent_suffix`](crate::layers::Context::agent_suffix)).
#[derive(Clone, Debug)]
pub struct AgentSuffix {
    configured: String,
}

impl AgentSuffix {
    /// With this text of the configuration.
    pub fn new(configured: impl Into<String>) -> Self {
        Self { configured: configured.into() }
    }
}

impl Section for AgentSuffix {
    fn name(&self) -> &'static str {
        "agent_suffix"
    }
    fn add(&self, turn: &Turn, prompt: &mut Prompt) {
        let is_there = |text: &&str| !text.trim().is_empty();
        let configured = Some(&*self.configured).filter(is_there).map(|text| (text, Source::Configuration));
        let hosts = turn.context.host.agent_suffix.as_deref().filter(is_there).map(|text| (text, Source::Host));
        // Like the base, it is what it was at the session's start until that is rendered anew.
        if let Some((text, source)) = configured.or(hosts) {
            prompt.add(Tier::Stable, || sections::fragment("agent_suffix", text).source(source).fixed());
        }
    }
}
