//! Conversations: those that are known by their own messages, and sessions that outlast the process.
//!
//! A [`Session`](crate::layers::Session) is what its events make of it. [`SessionLog`] keeps the events of one in a file, a [`SessionStore`] those of
//! many under ids: in memory ([`MemoryStore`]), in an embedded database (`SqliteStore`, feature `store-sqlite`), in one that replicas on several machines
//! share (`PostgresStore`, feature `store-postgres`), or where a host keeps its own data.
//! Whoever owns a stored session opens it before the request; what the request settles is stored before it is sent.
//!
//! ```
//! use serde_json::json;
//! use tower_prompt::layers::{Context, PromptStack, Settings, SystemPromptLayer, wire::OpenAiChat};
//! use tower_prompt::sessions::SessionLog;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let log = SessionLog::at(folder.path().join("session.jsonl"));
//! let stack = PromptStack::new(OpenAiChat, Settings::default()).with(SystemPromptLayer::replaced("Be brief."));
//! let request = json!({"messages": [{"role": "user", "content": "hi"}]});
//!
//! let sent = stack.assemble(request.clone(), Context::default().session(log.open().await?.session)).await;
//! // Later, in another process, whatever the base prompt is by now:
//! let stack = PromptStack::new(OpenAiChat, Settings::default()).with(SystemPromptLayer::replaced("Be thorough."));
//! assert_eq!(stack.assemble(request, Context::default().session(log.open().await?.session)).await, sent);
//! # Ok(()) }
//! ```
//!
//! [`TracedEvents`] and [`EventChannel`] are told of events as they happen: `session.on_event(TracedEvents)`. A session may have several.

#[cfg(any(feature = "store-sqlite", feature = "store-postgres"))]
mod database;
mod error;
mod held;
mod log;
mod recent;
mod sinks;
mod store;

#[cfg(feature = "store-postgres")]
pub use database::PostgresStore;
#[cfg(feature = "store-sqlite")]
pub use database::SqliteStore;
pub use error::StoreError;
pub use held::OpenSessions;
pub use log::{LoggedMessage, OpenedLog, SessionLog, Speaker};
pub use recent::RecentSessions;
pub use sinks::{EventChannel, TracedEvents};
pub use store::{InvalidSessionId, MemoryStore, OpeningSession, RemovingSession, SessionId, SessionStore};
