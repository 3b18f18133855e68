//! Prompt assembly as [tower](https://docs.rs/tower) middleware: a stack of layers around any client of an LLM, from the configuration in
//! `bcode.toml`, the skills in folders, and what is true of machine and repository.
//!
//! The layers themselves, the request model and the wire formats are in [`layers`], which knows no file, clock or process. Here is the world that
//! they look at: [`config`], [`skills`], [`sections`], and [`Assembly`], which makes a stack of them.
//!
//! ```
//! use serde_json::json;
//! use tower_prompt::layers::{Context, wire::OpenAiChat};
//! use tower_prompt::{Assembly, Environment, Workspace};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), tower_prompt::config::ConfigError> {
//! let environment = Environment::new("/nowhere").variable("TZ", "UTC");
//! let stack = Assembly::load(&environment, &Workspace::at("/nowhere"))?.stack(OpenAiChat);
//!
//! let bare = json!({"model": "gpt", "messages": [{"role": "user", "content": "hi"}]});
//! let assembled = stack.assemble(bare, Context::default()).await;
//!
//! assert_eq!(assembled["messages"][0]["role"], "system");
//! assert!(assembled["messages"][1]["content"].as_str().unwrap().starts_with("hi\n\n<context origin="));
//! # Ok(()) }
//! ```

pub use tower_prompt_layers as layers;

mod assembly;
mod blocking;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(any(feature = "async-openai", feature = "genai", feature = "rig"))]
pub mod clients;
pub mod config;
mod environment;
mod files;
pub mod invariants;
#[cfg(feature = "page")]
pub mod page;
mod process;
pub mod providers;
#[cfg(feature = "proxy")]
pub mod proxy;
pub mod sections;
pub mod sessions;
pub mod skills;
#[cfg(feature = "tokens")]
mod tokens;
#[cfg(feature = "tools")]
pub mod tools;

pub use assembly::Assembly;
pub use environment::{Environment, Workspace};
pub use sessions::RecentSessions;
#[cfg(feature = "tokens")]
pub use tokens::{ExactTokens, TokensByModel};

/// The code in README compiles and is true.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
