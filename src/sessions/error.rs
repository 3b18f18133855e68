//! What can't be done with a stored session.

use crate::layers::{Diagnostic, JournalError, ReplayError};
use std::io;

/// Why a stored session can't be read, or nothing be added to it. `place` says which it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The system refused.
    #[error("{place}: {reason}")]
    Io {
        /// Its path.
        place: String,
        /// What the system said.
        reason: io::Error,
    },
    /// A folder, a pipe or a device.
    #[error("{place}: this is no file")]
    NotAFile {
        /// Its path.
        place: String,
    },
    /// More than is ever read, or would be with what was to be added.
    #[error("{place}: {bytes} bytes, of which at most {max} are read: the conversation needs a new session")]
    TooLarge {
        /// Its path, or its id.
        place: String,
        /// How large it is, or would be.
        bytes: u64,
        /// How large it may be.
        max: u64,
    },
    /// A line, or an event, that can't be understood, with others behind it that may rest on it.
    #[error("{place}:{line}: {reason}")]
    Damaged {
        /// Its path, or its id.
        place: String,
        /// The line, or the event's number, from 1.
        line: usize,
        /// What was found.
        reason: String,
    },
    /// The events can't be played again: of a later version, say.
    #[error("{place}: {reason}")]
    Replay {
        /// Its path, or its id.
        place: String,
        /// Why.
        reason: ReplayError,
    },
    /// The disk, or a process that holds the lock, was waited for too long. What was to be added may be stored later, or not.
    #[error("{place}: the disk or another process kept it for too long")]
    Late {
        /// Its path.
        place: String,
    },
    /// The database refused.
    #[error("{place}: {reason}")]
    Database {
        /// Its path.
        place: String,
        /// What the database said.
        reason: String,
    },
}

impl From<StoreError> for JournalError {
    fn from(error: StoreError) -> Self {
        // The place stands in the message.
        let message = error.to_string();
        Self::Failed(match error {
            StoreError::TooLarge { .. } => Diagnostic::warning("session-too-large", message),
            StoreError::Damaged { .. } | StoreError::Replay { .. } | StoreError::NotAFile { .. } => {
                Diagnostic::warning("session-unreadable", message)
            }
            StoreError::Io { .. } | StoreError::Late { .. } | StoreError::Database { .. } => {
                Diagnostic::warning("session-not-stored", message)
            }
        })
    }
}
