//! Skills as values: ids, summaries, the snapshot that a request works with, matching, and the text of an active skill.

mod active;
mod id;
mod model;
mod snapshot;

pub(crate) use active::ActiveSkills;
pub use active::{ActiveSkill, SkillActivationMode};
pub use id::{InvalidSkillId, SkillId};
pub use model::{
    ExecutionOptions, SkillActivation, SkillList, SkillManifest, SkillPermissionHints, SkillSource, SkillSourceKind, SkillSummary,
    SkillVisibility,
};
pub use snapshot::{LoadSkill, LoadingSkill, Skill, SkillLoadError, SkillRegistry, SkillText, Skills};
