//! Who provides skills, in the world: folders, programs, and the registry that a stack takes them from.
//!
//! [`FolderProvider`] and [`ProcessProvider`] are two [`SkillProvider`](crate::layers::skill::provider::SkillProvider)s, and a host's own service is
//! a third. [`ProvidedSkills`] keeps one snapshot of what they list. What went wrong with a provider is a
//! [`Diagnostic`](crate::layers::Diagnostic) of the snapshot, or of the request that wanted a body:
//!
//! | code | severity | says |
//! | --- | --- | --- |
//! | `provider-unavailable` | warning | it ended, could not be started, or waits to be started again |
//! | `provider-late` | warning | it did not answer in time |
//! | `provider-too-large` | warning | it said more than it may |
//! | `provider-version` | warning | it speaks another version |
//! | `provider-answer-invalid` | warning | what it said is no answer |
//! | `provider-skill-unknown`, `provider-unsupported`, `provider-failed` | warning | what it says itself |
//! | `provider-skill-invalid` | warning | an item of its list is no skill |
//! | `provider-location-ignored` | note | it named files for skills; they are left out |
//! | `provider-stray` | note | it printed lines that are no answers |
//! | `provider-text-cut` | warning | a body was cut at `skills.max_skill_file_bytes` |
//! | `skill-shadowed` | warning | a provider of higher precedence has the same id |

mod backoff;
mod child;
mod event;
mod folder;
mod keeper;
mod process;
mod provided;

pub use folder::FolderProvider;
pub use process::{ProcessProvider, ProviderProgram};
pub use provided::ProvidedSkills;
