//! One skill that is a function of the host's.

use super::usage::{Usage, UsageError};
use crate::layers::wire::ToolDefinition;
use crate::layers::{SharedAnswer, SharedService};
use serde_json::{Map, Value};
use std::fmt;
use tower::{BoxError, Service};

/// What a handler is called with.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct CodeSkillCall {
    /// The skill.
    pub name: String,
    /// As its usage says: each that is required is there, and of its kind.
    pub arguments: Map<String, Value>,
}

/// What is known of a skill ahead of any call.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is said of a skill by itself")]
#[non_exhaustive]
pub struct CodeSkillFlags {
    /// It looks things up; a host may keep a budget of such calls.
    pub is_research: bool,
    /// It changes something outside: the same call runs once a turn.
    pub is_side_effect: bool,
    /// It takes long or much; a host may keep a budget of such calls.
    pub is_deep: bool,
    /// It runs only when the host confirms the call.
    pub is_dangerous: bool,
    /// For turns of administrators alone.
    pub is_elevated: bool,
    /// It may run beside others of this kind.
    pub is_parallel_safe: bool,
}

/// A function of the host's that a model may call. Cheap to clone.
#[derive(Clone)]
pub struct CodeSkill {
    pub(super) usage: Usage,
    pub(super) description: String,
    pub(super) flags: CodeSkillFlags,
    /// Whose it is, if not the host's own.
    pub(super) plugin: Option<String>,
    handler: SharedService<CodeSkillCall, String, BoxError>,
}

impl CodeSkill {
    /// With this usage, such as `search(query, limit?: integer)`, and this handler, whose answer the model reads. Each call goes to a clone, which is
    /// polled until it is ready first.
    pub fn new<S>(usage: &str, description: impl Into<String>, handler: S) -> Result<Self, UsageError>
    where
        S: Service<CodeSkillCall, Response = String> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
    {
        let (usage, description, flags) = (usage.parse()?, description.into(), CodeSkillFlags::default());
        Ok(Self { usage, description, flags, plugin: None, handler: SharedService::new(handler, Into::into) })
    }
    /// It looks things up.
    pub fn research(mut self) -> Self {
        self.flags.is_research = true;
        self
    }
    /// It changes something outside: the same call runs once a turn.
    pub fn side_effect(mut self) -> Self {
        self.flags.is_side_effect = true;
        self
    }
    /// It takes long or much.
    pub fn deep(mut self) -> Self {
        self.flags.is_deep = true;
        self
    }
    /// It runs only when the host confirms the call: see [`CodeSkillTurn::confirm`](super::CodeSkillTurn::confirm).
    pub fn dangerous(mut self) -> Self {
        self.flags.is_dangerous = true;
        self
    }
    /// For turns of administrators alone.
    pub fn elevated(mut self) -> Self {
        self.flags.is_elevated = true;
        self
    }
    /// It may run beside others of this kind.
    pub fn parallel_safe(mut self) -> Self {
        self.flags.is_parallel_safe = true;
        self
    }
    /// It is this plugin's: `skills.code.safe_mode` leaves it out.
    pub fn plugin(mut self, plugin: impl Into<String>) -> Self {
        self.plugin = Some(plugin.into());
        self
    }

    /// The name by which it is called.
    pub fn name(&self) -> &str {
        self.usage.name()
    }
    /// How it is called.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }
    /// What it does.
    pub fn description(&self) -> &str {
        &self.description
    }
    /// What is known of it ahead of any call.
    pub fn flags(&self) -> CodeSkillFlags {
        self.flags
    }
    /// What the model is told of it as a tool.
    pub fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(self.name(), &*self.description, self.usage.schema())
    }

    pub(super) fn call(&self, arguments: Map<String, Value>) -> SharedAnswer<String, BoxError> {
        self.handler.ask(CodeSkillCall { name: self.name().to_owned(), arguments })
    }
}

impl fmt::Debug for CodeSkill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeSkill")
            .field("usage", &self.usage.to_string())
            .field("description", &self.description)
            .field("flags", &self.flags)
            .field("plugin", &self.plugin)
            .finish_non_exhaustive()
    }
}
