//! Code-backed skills: functions of the host's that a model may call, told of in one line each and run by rules that the host sets.
//!
//! A [`CodeSkill`] is a handler, a `tower::Service`, with a usage such as `search(query, limit?: integer)`, from which its tool definition is made, and
//! with flags. [`CodeSkills`] are those that a host and its plugins register; the configuration (`skills.code`) says which of them may run.
//! [`CodeSkillsLayer`] tells the model of them, and a [`CodeSkillTurn`] answers what it calls: side by side where that is safe, dangerous ones only when
//! they are confirmed, the same side effect once a turn. Nothing here runs but handlers that were registered.
//!
//! Whoever may use elevated skills is told of them when the session starts, and the definitions stay as they are from then on, as all of a cached prefix;
//! each call is held to the authority of its own turn. So users of different authority want sessions of their own.
//!
//! ```
//! use std::convert::Infallible;
//! use tower::service_fn;
//! use tower_prompt::layers::wire::{Format, ToolCalls};
//! use tower_prompt::tools::{CodeSkill, CodeSkillCall, CodeSkills, TurnAuthority};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), tower_prompt::tools::UsageError> {
//! let add = CodeSkill::new("add(a: number, b: number)", "Adds two numbers.", service_fn(|call: CodeSkillCall| async move {
//!     let number = |name: &str| call.arguments[name].as_f64().unwrap_or_default();
//!     Ok::<_, Infallible>((number("a") + number("b")).to_string())
//! }))?;
//! let skills = CodeSkills::new([add.parallel_safe()]);
//!
//! let response = serde_json::json!({"content": [{"type": "tool_use", "id": "1", "name": "add", "input": {"a": 1, "b": 2}}]});
//! let calls = ToolCalls::in_response(Format::Anthropic, &response);
//! let answers = skills.turn(TurnAuthority::Member).answer(&calls).await;
//! assert_eq!(answers[0].as_ref().unwrap().text, "3");
//! # Ok(()) }
//! ```

mod confirmation;
mod layer;
mod listing;
mod registry;
mod routing;
mod skill;
mod turn;
mod usage;

pub use confirmation::{Confirmation, ConfirmationRequest};
pub use layer::{CODE_SKILL_ROUTING, CODE_SKILLS, CodeSkillsLayer};
pub use listing::ListingForm;
pub use registry::{CodeSkills, TurnAuthority};
pub use routing::Routing;
pub use skill::{CodeSkill, CodeSkillCall, CodeSkillFlags};
pub use turn::CodeSkillTurn;
pub use usage::{Parameter, ParameterKind, Usage, UsageError};
