//! The layers of `tower-prompt`, pure: no file, no clock, no process. Whatever comes from outside reaches a layer as a value, or as a future that
//! its maker gave a deadline.
//!
//! A request is opened (read, and its place looked up: which [`Round`] it is), each layer adds [`Fragment`]s to its [`Prompt`], and Render settles
//! with the [`Session`] what is said where. A conversation only grows at its end: what was put behind a message is put back there, byte for byte,
//! in every later request. [`PromptStack`] is all of it as one layer; [`Contribute`] is a layer of one's own.
//!
//! Here are the request model and the layers; what they stand on is in the modules: [`skill`], [`invariant`], [`profile`], [`text`], and [`wire`] for
//! the formats of requests.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod invariant;
pub mod profile;
pub mod skill;
pub mod text;
pub mod wire;

mod active_skills;
mod invariants;
mod prompt;
pub mod sections;
mod shared_service;
mod skill_activation;
mod skill_catalog;
mod skill_classifier;
mod skill_tool;
mod sync;
mod system_prompt;
mod tool_output;
mod user_authority;

pub use active_skills::ActiveSkillsLayer;
pub use invariant::{Document, DocumentSource, ReadingDocument};
pub use invariants::{InvariantsLayer, RELEVANT_INVARIANTS, REPOSITORY_INVARIANTS};
pub use prompt::*;
pub use sections::{Section, SectionsLayer, TextSection};
pub use shared_service::{SharedAnswer, SharedService};
pub use skill_activation::{ActivationLifetime, AutoActivate, MatchEffect, SKILL_SUGGESTION, SkillActivationLayer};
pub use skill_catalog::{SKILL_CATALOG, SkillCatalogLayer};
pub use skill_classifier::{ClassifierError, ClassifyByModel, SkillQuestion};
pub use skill_tool::SkillToolLayer;
pub use system_prompt::{BASE_PROMPT, MODEL_PROFILE, SystemPromptLayer};
pub use tool_output::ToolOutputLayer;
pub use user_authority::{USER_AUTHORITY, UserAuthorityLayer};
