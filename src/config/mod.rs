//! The configuration, `bcode.toml`: where it is looked for, what it may say, and what holds in the end.
//!
//! [`load`] reads all sources in their order, later over earlier: built-in defaults, the user's file, the workspace's two files, the file that
//! `BCODE_CONFIG` names, the text in `BCODE_CONFIG_TOML`, one variable a key, the files of [`Loader::file`], the values of [`Loader::set`].
//! A fault in a discovered file costs that key and a finding; a fault in something named is an error that tells all findings. A file has at
//! most 1 MiB. Findings and values have their file, line and column.
//!
//! Depends on [`Environment`](crate::Environment) and [`Workspace`](crate::Workspace) for everything outside, and on [`KEYS`] for what is
//! allowed; nothing here knows what a setting brings about.
//!
//! ```
//! use tower_prompt::{Environment, Workspace, config};
//!
//! let environment = Environment::new("/nowhere").variable("BCODE_CONFIG_TOML", "skills.prompt.catalog = 'names'");
//! let error = config::load(&environment, &Workspace::at("/nowhere")).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "BCODE_CONFIG_TOML:1:25: error[value-unknown]: `skills.prompt.catalog` has the text \"names\"; \
//!      allowed: \"off\", \"names_only\" or \"summary\"",
//! );
//! ```

mod check;
mod composition;
mod effect;
mod keys;
mod load;
mod model;
mod nearest;
mod place;
mod read;
mod reference;
mod schema;
mod source;
mod table;
mod text;
mod value;
mod values;
mod variables;

pub use keys::{Key, KeyKind, TextForm};
pub use load::{ConfigError, Loaded, Loader, load};
pub use model::*;
pub use place::{Origin, OriginKind};
pub use reference::reference;
pub use schema::schema;
pub use table::KEYS;
pub use values::{ConfigValue, ConfigValues};
