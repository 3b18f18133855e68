//! What went on in spite of something: a place, a reason, and a code that a program can match.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// How much a [`Diagnostic`] matters. There will be no fourth: a host can say for each what it does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing was lost.
    Note,
    /// Something was read differently than written, left out, or cut.
    Warning,
    /// Something could not be used at all.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// Something that was noticed and stopped nothing. Prints as `path:line:column: severity[code]: message`.
///
/// ```
/// use tower_prompt_layers::{Diagnostic, Severity};
///
/// let found = Diagnostic::warning("skill-shadowed", "`rust` stands in two roots").at("a/SKILL.md").line(3).column(7);
/// assert_eq!(found.severity, Severity::Warning);
/// assert_eq!(found.to_string(), "a/SKILL.md:3:7: warning[skill-shadowed]: `rust` stands in two roots");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// In kebab case, stable across releases. `docs/diagnostics.md` in the repository has all of them.
    pub code: Cow<'static, str>,
    /// What was found and what is allowed, for a person.
    pub message: String,
    /// The file that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Line in that file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in that line in characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl Diagnostic {
    /// With no place yet.
    pub fn new(severity: Severity, code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { severity, code: code.into(), message: message.into(), path: None, line: None, column: None }
    }
    /// Of severity note.
    pub fn note(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message)
    }
    /// Of severity warning.
    pub fn warning(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }
    /// Of severity error.
    pub fn error(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }
    /// In this file; an empty path is none.
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into()).filter(|path| !path.is_empty());
        self
    }
    /// In this line, from 1.
    pub fn line(mut self, line: usize) -> Self {
        self.line = u32::try_from(line).ok();
        self
    }
    /// In this column in characters, from 1.
    pub fn column(mut self, column: usize) -> Self {
        self.column = u32::try_from(column).ok();
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{path}:")?;
            for number in [self.line, self.column].into_iter().map_while(|number| number) {
                write!(f, "{number}:")?;
            }
            f.write_str(" ")?;
        }
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)
    }
}
