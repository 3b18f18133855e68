//! What git says of the repository. All sections of a turn that want something of it share one probe: one `git status`, and at a conversation's
//! start one `git rev-parse` beside it.

mod command;
mod head;
mod probe;
mod revision;
mod status;
mod worktree;

pub use revision::GitRevision;
pub use status::DynamicRepositoryContext;
pub use worktree::WorktreeContext;
