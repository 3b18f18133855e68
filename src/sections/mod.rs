//! The sections that look at the world: clock, machine, locale, repository, git.

mod datetime;
mod execution;
mod git;
mod host;
mod instructions;
mod locale;

pub use datetime::CurrentDatetime;
pub use execution::ExecutionEnvironment;
pub use git::DynamicRepositoryContext;
pub use host::RuntimeMode;
pub use instructions::RepositoryContext;
pub use locale::Locale;

/// A probed value, on one line and no longer than anyone needs.
fn bounded(value: &str) -> String {
    use crate::layers::text::{escape, shorten};
    escape::text(&shorten(value, 256))
}
