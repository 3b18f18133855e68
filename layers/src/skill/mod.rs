//! Skills as values: ids, summaries, the snapshot that a request works with, matching, and the text of an active skill.

mod id;
mod model;
mod snapshot;

pub use id::{InvalidSkillId, SkillId};
pub use model::{
    ExecutionOptions, SkillActivation, SkillList, SkillManifest, SkillPermissionHints, SkillRequirements, SkillSource, SkillSourceKind,
    SkillSummary, SkillVisibility,
};
pub use snapshot::{LoadSkill, LoadingSkill, Skill, SkillLoadError, SkillRegistry, SkillText, Skills};
