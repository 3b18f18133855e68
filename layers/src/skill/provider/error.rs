//! Why a provider gave no answer.

use crate::prompt::Diagnostic;
use crate::text::{escape, shorten};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// Characters of a message that a provider gave.
const MAX_MESSAGE: usize = 500;

/// Why a provider gave no answer, in a word that a program can match.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SkillErrorCode {
    /// It has no such skill.
    UnknownSkill,
    /// It does not do this at all.
    Unsupported,
    /// It speaks another version.
    Version,
    /// A request or an answer is larger than it may be.
    TooLarge,
    /// It did not answer in time.
    Late,
    /// It is not there: it ended, could not be started, or waits to be started again.
    Unavailable,
    /// A request or an answer is none that can be understood.
    Invalid,
    /// Anything else, words that are not known among it.
    #[serde(other)]
    Failed,
}

/// Why a provider gave no answer.
///
/// ```
/// use tower_prompt_layers::skill::provider::{SkillError, SkillErrorCode};
///
/// let error: SkillError = serde_json::from_str(r#"{"code": "from-the-future", "message": "no"}"#)?;
/// assert_eq!(error, SkillError::new(SkillErrorCode::Failed, "no"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillError {
    /// In a word.
    pub code: SkillErrorCode,
    /// For a person.
    #[serde(default)]
    pub message: String,
}

impl SkillError {
    /// For this reason.
    pub fn new(code: SkillErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
    /// There is no skill of this id.
    pub fn unknown_skill(id: &str) -> Self {
        Self::new(SkillErrorCode::UnknownSkill, format!("there is no skill `{id}`"))
    }
    /// This kind of request is answered by no one here.
    pub fn unsupported(kind: &str) -> Self {
        Self::new(SkillErrorCode::Unsupported, format!("`{}` is not supported", told(kind)))
    }
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(SkillErrorCode::Invalid, message)
    }
    /// The same with its message in one bounded line, as another's word is to be told.
    pub(super) fn told(self) -> Self {
        Self { message: told(&self.message).into_owned(), ..self }
    }
    /// As what went on in spite of it; `provider` is the provider's label.
    pub fn diagnostic(&self, provider: &str) -> Diagnostic {
        let message = format!("the skill provider {}: {}", told(provider), told(&self.message));
        match self.code {
            SkillErrorCode::UnknownSkill => Diagnostic::warning("provider-skill-unknown", message),
            SkillErrorCode::Unsupported => Diagnostic::warning("provider-unsupported", message),
            SkillErrorCode::Version => Diagnostic::warning("provider-version", message),
            SkillErrorCode::TooLarge => Diagnostic::warning("provider-too-large", message),
            SkillErrorCode::Late => Diagnostic::warning("provider-late", message),
            SkillErrorCode::Unavailable => Diagnostic::warning("provider-unavailable", message),
            SkillErrorCode::Invalid => Diagnostic::warning("provider-answer-invalid", message),
            SkillErrorCode::Failed => Diagnostic::warning("provider-failed", message),
        }
    }
}

/// A text of someone else's in one line that a person can read to its end.
pub(super) fn told(text: &str) -> Cow<'_, str> {
    match escape::one_line(text) {
        Cow::Borrowed(line) => shorten(line, MAX_MESSAGE),
        Cow::Owned(line) => shorten(&line, MAX_MESSAGE).into_owned().into(),
    }
}

impl fmt::Display for SkillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
impl std::error::Error for SkillError {}
