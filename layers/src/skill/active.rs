//! A skill in force: by whom, with which arguments.

use super::SkillId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Who brought a skill into force.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SkillActivationMode {
    /// The host or the user, by name.
    Explicit,
    /// The user took up a suggestion.
    Suggested,
    /// The user's words matched it.
    Automatic,
    /// The model, through the skill tool.
    Tool,
}

/// A skill in force.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ActiveSkill {
    /// Which.
    pub id: SkillId,
    /// What it was invoked with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// By whom.
    pub mode: SkillActivationMode,
}

impl ActiveSkill {
    /// By the host or the user.
    pub fn explicit(id: SkillId, arguments: Option<&str>) -> Self {
        Self { id, arguments: arguments.map(str::to_owned), mode: SkillActivationMode::Explicit }
    }
    /// By the model, through the skill tool.
    pub fn by_tool(id: SkillId, arguments: Option<&str>) -> Self {
        Self { mode: SkillActivationMode::Tool, ..Self::explicit(id, arguments) }
    }
    /// By the user's words.
    pub fn automatic(id: SkillId) -> Self {
        Self { id, arguments: None, mode: SkillActivationMode::Automatic }
    }
}

/// The skills in force in order of activation, each once.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ActiveSkills(Arc<Vec<ActiveSkill>>);

impl FromIterator<ActiveSkill> for ActiveSkills {
    fn from_iter<T: IntoIterator<Item = ActiveSkill>>(skills: T) -> Self {
        Self(Arc::new(Vec::from_iter(skills)))
    }
}

impl ActiveSkills {
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.0.iter().any(|skill| skill.id.as_str() == id)
    }
    /// Behind the others, or in its own place with what it was activated with last.
    pub(crate) fn put(&mut self, skill: ActiveSkill) {
        let all = Arc::make_mut(&mut self.0);
        match all.iter_mut().find(|active| active.id == skill.id) {
            Some(active) => *active = skill,
            None => all.push(skill),
        }
    }
    /// Adds those that are not there yet.
    pub(crate) fn merge(&mut self, others: &[ActiveSkill]) {
        for skill in others {
            if !self.contains(skill.id.as_str()) {
                Arc::make_mut(&mut self.0).push(skill.clone());
            }
        }
    }
    pub(crate) fn remove(&mut self, id: &SkillId) {
        if self.contains(id.as_str()) {
            Arc::make_mut(&mut self.0).retain(|skill| skill.id != *id);
        }
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub(crate) fn as_slice(&self) -> &[ActiveSkill] {
        &self.0
    }
    pub(crate) fn into_vec(self) -> Vec<ActiveSkill> {
        Arc::unwrap_or_clone(self.0)
    }
    pub(crate) fn same_ids(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().all(|skill| other.contains(skill.id.as_str()))
    }
}
