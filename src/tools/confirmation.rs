//! Dangerous calls: the host is asked first.

use serde_json::{Map, Value};

/// A dangerous call that a model wants to make.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ConfirmationRequest {
    /// The skill.
    pub name: String,
    /// What it says of itself.
    pub description: String,
    /// With these arguments.
    pub arguments: Map<String, Value>,
}

/// What the host says of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Confirmation {
    /// It may run, this once.
    Approved,
    /// It may not; the model reads the reason.
    Refused(String),
}
