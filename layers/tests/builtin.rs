//! The built-in layers, each by what it promises, in a whole stack.

#[path = "builtin/activation.rs"]
mod activation;
#[path = "builtin/authority.rs"]
mod authority;
#[path = "builtin/catalog.rs"]
mod catalog;
#[path = "builtin/contract.rs"]
mod contract;
#[path = "builtin/invariants.rs"]
mod invariants;
#[path = "builtin/overtaken.rs"]
mod overtaken;
#[path = "builtin/profiles.rs"]
mod profiles;
#[path = "builtin/prompt.rs"]
mod prompt;
#[path = "builtin/skill_tool/mod.rs"]
mod skill_tool;
#[path = "builtin/stage.rs"]
mod stage;
#[path = "builtin/suggestion.rs"]
mod suggestion;
