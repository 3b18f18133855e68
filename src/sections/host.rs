//! What the host says of itself.

use super::{Kept, bounded};
use crate::layers::{Fragment, Prompt, Section, Source, Tier, Turn, sections};

/// `runtime_mode`: the agent's id and its operating mode, as the host gives them in the request's context. Absent where it gives neither.
#[derive(Clone, Default, Debug)]
pub struct RuntimeMode {
    /// Of this agent and mode.
    last: Kept<[Option<String>; 2]>,
}

impl Section for RuntimeMode {
    fn name(&self) -> &'static str {
        "runtime_mode"
    }
    fn add(&self, turn: &Turn, prompt: &mut Prompt) {
        let host = &turn.context.host;
        if host.agent.is_none() && host.mode.is_none() {
            return prompt.gone("runtime_mode");
        }
        prompt.add(Tier::Session, || {
            let is_same = |[agent, mode]: &[Option<String>; 2]| *agent == host.agent && *mode == host.mode;
            self.last.or_make(is_same, || {
                let mut told = String::new();
                for (name, value) in [("Agent: ", &host.agent), ("\nMode: ", &host.mode)] {
                    if let Some(value) = value {
                        told.extend([if told.is_empty() { name.trim_start() } else { name }, &bounded(value)]);
                    }
                }
                Some(([host.agent.clone(), host.mode.clone()], sections::fragment("runtime_mode", &told)))
            })
        });
    }
}

/// `agent_suffix`: `system_prompt.agent_suffix`, or where that is empty the text that the host gives in the request's context
/// ([`Context::agent_suffix`](crate::layers::Context::agent_suffix)).
#[derive(Clone, Debug)]
pub struct AgentSuffix {
    /// Put together once; none where the configuration has no text.
    configured: Option<Fragment>,
}

impl AgentSuffix {
    /// With this text of the configuration.
    pub fn new(configured: impl Into<String>) -> Self {
        Self { configured: suffix(&configured.into(), Source::Configuration) }
    }
}

impl Section for AgentSuffix {
    fn name(&self) -> &'static str {
        "agent_suffix"
    }
    fn add(&self, turn: &Turn, prompt: &mut Prompt) {
        let hosts = || suffix(turn.context.host.agent_suffix.as_deref()?, Source::Host);
        prompt.add(Tier::Stable, || self.configured.clone().or_else(hosts));
    }
}

/// Like the base, it is what it was at the session's start until that is rendered anew.
fn suffix(text: &str, source: Source) -> Option<Fragment> {
    (!text.trim().is_empty()).then(|| sections::fragment("agent_suffix", text).source(source).fixed())
}
