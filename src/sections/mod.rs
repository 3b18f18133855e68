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

use crate::layers::{Fragment, Round};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A probed value, on one line and no longer than anyone needs.
pub(crate) fn bounded(value: &str) -> String {
    use crate::layers::text::{escape, shorten};
    escape::text(&shorten(value, 256))
}

/// The fragment that was made last, for whoever asks for the same again: a server's turns are of few agents, and come by the hundred a second. Clones
/// share it.
struct Kept<K>(Arc<Mutex<Option<(K, Fragment)>>>);

impl<K> Kept<K> {
    fn or_make(&self, is_same: impl FnOnce(&K) -> bool, make: impl FnOnce() -> Option<(K, Fragment)>) -> Option<Fragment> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, fragment)) = kept.as_ref().filter(|(key, _)| is_same(key)) {
            return Some(fragment.clone());
        }
        let made = make()?;
        Some(kept.insert(made).1.clone())
    }
}

impl<K> Default for Kept<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}
impl<K> Clone for Kept<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}
impl<K> fmt::Debug for Kept<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kept(..)")
    }
}

/// What is looked up once for a conversation is looked up in this round: at its start, and anew when its history was compacted.
fn is_looked_up_in(round: Round) -> bool {
    matches!(round, Round::Start | Round::Compacted)
}
