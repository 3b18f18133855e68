//! Skills as values: ids, summaries, the snapshot that a request works with, matching, and the text of an active skill.

mod active;
mod arguments;
mod catalog;
mod command;
mod compact;
mod context;
mod id;
mod matching;
mod model;
mod permissions;
pub mod provider;
mod snapshot;
mod tool;

pub(crate) use active::ActiveSkills;
pub use active::{ActiveSkill, SkillActivationMode};
pub use arguments::substitute_arguments;
pub(crate) use catalog::Catalog;
pub use catalog::{CatalogFormat, CatalogMode, CatalogOptions, LoadSkillsBy};
pub use command::{HostCommand, SkillWords};
pub use compact::{Seldom, SummaryPart, TextMap};
pub use context::{ACTIVE_SKILLS, SkillArguments, SkillContextOptions, skill_block, skill_fragment};
pub(crate) use context::{bodies, new_arguments, unknown_skill};
pub use id::{InvalidSkillId, SkillId};
pub(crate) use matching::{Folded, is_unspaced};
pub use matching::{MAX_MATCHED_BYTES, Matcher, SUGGESTION_THRESHOLD, SkillEvidence, SkillEvidenceKind, SkillMatch, trigger_pattern_fault};
pub use model::{
    ExecutionOptions, SkillActivation, SkillDiagnostic, SkillList, SkillManifest, SkillPermissionHints, SkillPlaceholders,
    SkillRequirements, SkillResources, SkillSource, SkillSourceKind, SkillSummary, SkillVisibility,
};
pub use permissions::{Advice, HintEvaluator, PermissionSuggestion, SKILL_SCRIPT_EXECUTE, SkillAction};
pub use snapshot::{
    LoadSkill, LoadingFiles, LoadingResource, LoadingSkill, Skill, SkillFiles, SkillLoadError, SkillRegistry, SkillResource, SkillText,
    Skills,
};
pub(crate) use tool::{Invoked, invoked_in};
pub use tool::{InvokedSkill, SkillTool, SkillToolCall, SkillToolOptions, SkillToolResult};
