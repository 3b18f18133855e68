//! What happens to a program, and what is known of what is under way.

use super::child::{Pipes, Slot};
use crate::layers::skill::SkillList;
use crate::layers::skill::provider::{SkillError, SkillErrorCode, SkillRequest, SkillResponse};
use std::io;
use std::sync::mpsc::Sender;
use std::time::{Instant, SystemTime};
use tokio::sync::oneshot;

/// What happens.
pub(super) enum Event {
    Ask(Ask),
    /// Nobody waits for this request any more.
    Abandoned(u64),
    /// A process said something.
    Said {
        process: u64,
        line: Vec<u8>,
    },
    /// A process closed its output, or can't be read.
    Ended {
        process: u64,
        error: Option<io::Error>,
    },
    /// Nobody asks any more.
    Over,
}

/// A request on its way.
pub(super) struct Ask {
    pub(super) id: u64,
    pub(super) line: String,
    pub(super) request: SkillRequest,
    pub(super) deadline: Option<Instant>,
    pub(super) answer: oneshot::Sender<Result<SkillResponse, SkillError>>,
}

/// What a provider holds of its keeper.
pub(super) struct Kept {
    pub(super) events: Sender<Event>,
    pub(super) child: Slot,
}

/// A request that was sent.
pub(super) struct Sent {
    pub(super) request: SkillRequest,
    pub(super) at: Instant,
    /// `None` once it passed.
    pub(super) deadline: Option<Instant>,
    /// `None` where nobody waits any more.
    pub(super) answer: Option<oneshot::Sender<Result<SkillResponse, SkillError>>>,
    /// The lines of a list that came, for who waits.
    pub(super) list: SkillList,
    pub(super) bytes: usize,
    pub(super) skills: usize,
}

/// The process that runs.
pub(super) struct Running {
    pub(super) number: u64,
    pub(super) started: SystemTime,
    pub(super) pipes: Pipes,
    pub(super) last_answer: Option<Instant>,
    pub(super) stray_lines: usize,
    pub(super) stray_bytes: usize,
    /// What was wrong with the first of them.
    pub(super) first_stray: Option<String>,
}

/// Why a process is ended.
pub(super) enum Why {
    /// It closed its output: it may have ended by itself.
    Closed,
    /// It did what it must not.
    For(SkillErrorCode, String),
}

impl Running {
    /// What it said that answers nothing, in a few words; `None` where that was told.
    pub(super) fn strays(&self) -> Option<String> {
        let first = self.first_stray.as_ref()?;
        Some(format!("it printed {} lines that answer nothing, one of them {first}", self.stray_lines))
    }
}
