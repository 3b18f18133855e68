//! What the host says of a request: which conversation it belongs to, what it is for, and who asks.

use super::Report;
use super::session::Session;
use serde::{Deserialize, Serialize};

/// What a request is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Purpose {
    /// A turn of the conversation.
    #[default]
    Converse,
    /// The identical prefix with what stands at the places held, nothing new and no state: the host's summarising call, `count_tokens`. Before the
    /// conversation's start it is rendered as the start would be, and not kept.
    SamePrefix,
    /// Untouched, no layer runs: titles, extraction, embeddings, moderation.
    Bare,
}

/// What the host says of a caller: shown by sections, read by profiles. Part of what tells one conversation without a session from another.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
#[non_exhaustive]
pub struct Host {
    /// The agent's id.
    pub agent: Option<String>,
    /// The operating mode, such as `plan` or `build`.
    pub mode: Option<String>,
    /// A text of the agent's own, for the section `agent_suffix`.
    pub agent_suffix: Option<String>,
    /// The provider that the request goes to.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The family of models that it is one of, for profiles.
    pub family: Option<String>,
    /// Its entry in the host's catalog of models, for profiles.
    pub catalog_entry: Option<String>,
    /// The turn is that of an administrator, who may use elevated code-backed skills.
    pub is_administrator: bool,
}

/// What a host says with a request, or once for a stack.
#[derive(Clone, Default, Debug)]
#[non_exhaustive]
pub struct Context {
    /// The conversation's memory; without one it is known by its messages, where the stack has a table of conversations.
    pub session: Option<Session>,
    /// What the request is for.
    pub purpose: Purpose,
    /// The host compacted the history, and kept its head.
    pub compacted: bool,
    /// Whose conversations these are, where they are known by their messages: a tenant, a user, hashed credentials.
    pub scope: Option<String>,
    /// What the host says of the caller.
    pub host: Host,
    /// Paths that the message is about, such as files that it brings or that are open: skills' file patterns are matched with them.
    pub files: Vec<String>,
    /// Filled before the inner call.
    pub report: Report,
}

impl Context {
    /// In this conversation.
    pub fn session(mut self, session: Session) -> Self {
        self.session = Some(session);
        self
    }
    /// For this purpose.
    pub fn purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = purpose;
        self
    }
    /// The host compacted the history.
    pub fn compacted(mut self, compacted: bool) -> Self {
        self.compacted = compacted;
        self
    }
    /// Among the conversations of this scope.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = Some(scope.into());
        self
    }
    /// About these files.
    pub fn files<P: Into<String>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.files = paths.into_iter().map(Into::into).collect();
        self
    }
    /// Reports here.
    pub fn report(mut self, report: Report) -> Self {
        self.report = report;
        self
    }
    /// The host's agent and its operating mode.
    pub fn agent(mut self, agent: impl Into<String>, mode: impl Into<String>) -> Self {
        (self.host.agent, self.host.mode) = (Some(agent.into()), Some(mode.into()));
        self
    }
    /// A text of the agent's own; the section `agent_suffix` tells it where the configuration has none.
    pub fn agent_suffix(mut self, text: impl Into<String>) -> Self {
        self.host.agent_suffix = Some(text.into());
        self
    }
    /// The provider and the model that the request goes to.
    pub fn model(mut self, provider: impl Into<String>, model: impl Into<String>) -> Self {
        (self.host.provider, self.host.model) = (Some(provider.into()), Some(model.into()));
        self
    }
    /// The family of models, by an id that profiles use.
    pub fn model_family(mut self, family: impl Into<String>) -> Self {
        self.host.family = Some(family.into());
        self
    }
    /// The entry in the host's catalog of models, by an id that profiles use.
    pub fn catalog_entry(mut self, entry: impl Into<String>) -> Self {
        self.host.catalog_entry = Some(entry.into());
        self
    }
}
