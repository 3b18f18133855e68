//! What is asked and answered.

use super::SkillError;
use crate::prompt::Diagnostic;
use crate::skill::{SkillId, SkillList, SkillManifest, SkillText};
use serde::{Deserialize, Serialize};
use tower::Service;

/// The version that is spoken here; each line says it.
pub const API: &str = "bcode.skill/v1";

/// What a provider is asked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkillRequest {
    /// All its skills, by their summaries.
    List,
    /// One skill in full, but for its body.
    Describe {
        /// Which.
        skill: SkillId,
    },
    /// The instructions of one skill.
    Context(SkillContextRequest),
    /// What one skill does by itself. Most do nothing.
    Invoke(InvokeSkillRequest),
}

impl SkillRequest {
    pub(super) const KINDS: [&'static str; 4] = ["list", "describe", "context", "invoke"];

    /// The word for it on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Describe { .. } => "describe",
            Self::Context(_) => "context",
            Self::Invoke(_) => "invoke",
        }
    }
    /// The skill that it is about; `None` where it is about all.
    pub fn skill(&self) -> Option<&SkillId> {
        match self {
            Self::List => None,
            Self::Describe { skill } => Some(skill),
            Self::Context(SkillContextRequest { skill, .. }) | Self::Invoke(InvokeSkillRequest { skill, .. }) => Some(skill),
        }
    }
}

/// Asks for the instructions of a skill.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillContextRequest {
    /// Which.
    pub skill: SkillId,
    /// What is over so many bytes is cut by who asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<usize>,
}

impl SkillContextRequest {
    /// All of this skill's.
    pub fn new(skill: SkillId) -> Self {
        Self { skill, max_bytes: None }
    }
    /// So much of them.
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = Some(max_bytes);
        self
    }
}

/// The instructions of a skill.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillContextResponse {
    /// As they were written: placeholders for arguments stand in them still.
    pub body: String,
    /// The line of the skill's file on which they begin, from 1, where there is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_line: Option<u32>,
    /// What was found while they were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

impl SkillContextResponse {
    /// These.
    pub fn new(body: impl Into<String>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }
}

impl From<SkillText> for SkillContextResponse {
    fn from(SkillText { body, first_line, diagnostics }: SkillText) -> Self {
        Self { body, first_line, diagnostics }
    }
}
impl From<SkillContextResponse> for SkillText {
    fn from(SkillContextResponse { body, first_line, diagnostics }: SkillContextResponse) -> Self {
        Self { body, first_line, diagnostics }
    }
}

/// Asks a skill to do what it does by itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InvokeSkillRequest {
    /// Which.
    pub skill: SkillId,
    /// What it is invoked with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

impl InvokeSkillRequest {
    /// Without input.
    pub fn new(skill: SkillId) -> Self {
        Self { skill, input: None }
    }
    /// With this input.
    pub fn input(mut self, input: impl Into<String>) -> Self {
        self.input = Some(input.into());
        self
    }
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InvokeSkillResponse {
    /// For who invoked it: a tool result, most likely.
    pub text: String,
    /// It tells of a failure.
    #[serde(default)]
    pub is_error: bool,
}

impl InvokeSkillResponse {
    /// It went well.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }
    /// It did not.
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }
}

/// What a provider answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkillResponse {
    /// All its skills.
    List(SkillList),
    /// One skill in full.
    Describe {
        /// But for its body.
        manifest: Box<SkillManifest>,
    },
    /// The instructions of one skill.
    Context(SkillContextResponse),
    /// What a skill did.
    Invoke(InvokeSkillResponse),
}

impl SkillResponse {
    /// The word for it on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::List(_) => "list",
            Self::Describe { .. } => "describe",
            Self::Context(_) => "context",
            Self::Invoke(_) => "invoke",
        }
    }
    /// An error where it is no answer to such a request: of another kind, or about another skill.
    pub fn to(self, request: &SkillRequest) -> Result<Self, SkillError> {
        match (&self, request) {
            (Self::Describe { manifest }, SkillRequest::Describe { skill }) if manifest.summary.id != *skill => {
                Err(SkillError::invalid(format!("asked for `{skill}`, it described `{}`", manifest.summary.id)))
            }
            _ if self.kind() == request.kind() => Ok(self),
            _ => Err(SkillError::invalid(format!("asked for `{}`, it answered `{}`", request.kind(), self.kind()))),
        }
    }
}

/// Who provides skills: any `tower::Service` of this shape. Its answers come in bounded time; a request that is dropped changes nothing.
pub trait SkillProvider: Service<SkillRequest, Response = SkillResponse, Error = SkillError> {}
impl<S: Service<SkillRequest, Response = SkillResponse, Error = SkillError>> SkillProvider for S {}
