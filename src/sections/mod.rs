//! The sections that look at the world: clock, machine, locale, repository, git.
//!
//! They send no user name, host name, address or variable's value, but for the locale's variables and the shell's name; paths only where a section
//! is about a path. Each looks things up only where its tier is collected: in a tool round and in a retry no process starts and no file is read.

mod datetime;
mod execution;
mod git;
mod host;
mod hosting;
mod instructions;
mod locale;
mod toolchain;

pub use datetime::CurrentDatetime;
pub use execution::ExecutionEnvironment;
pub use git::{DynamicRepositoryContext, GitRevision, WorktreeContext};
pub use host::{AgentSuffix, RuntimeMode};
pub use hosting::HostingEnvironment;
pub use instructions::RepositoryContext;
pub use locale::Locale;
pub use toolchain::ToolchainContext;

use crate::layers::Round;

/// A probed value, on one line and no longer than anyone needs.
pub(crate) fn bounded(value: &str) -> String {
    use crate::layers::text::{escape, shorten};
    escape::text(&shorten(value, 256))
}

/// What is looked up once for a conversation is looked up in this round: at its start, and anew when its history was compacted.
fn is_looked_up_in(round: Round) -> bool {
    matches!(round, Round::Start | Round::Compacted)
}
