//! `--session FILE`: the conversation that goes on from one call to the next.

use super::terminal::Terminal;
use super::workspace::wait;
use super::{Failure, Outcome};
use crate::layers::skill::{ActiveSkill, SkillActivationMode};
use crate::layers::{AnchorKey, JournalError, Session};
use crate::sessions::{LoggedMessage, SessionLog, Speaker, StoreError};
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// A conversation: its session, and the messages that `-m` gave so far.
pub(super) struct Conversation {
    pub(super) session: Session,
    pub(super) messages: Vec<LoggedMessage>,
    /// How many of these are kept.
    kept: usize,
    /// Where the rest of it goes.
    log: Option<SessionLog>,
}

impl Conversation {
    /// One that begins here and is kept nowhere.
    pub(super) fn new() -> Self {
        Self { session: Session::with_key(AnchorKey::public()), messages: Vec::new(), kept: 0, log: None }
    }
    /// As this file has it; what is said from now on is not kept.
    pub(super) fn read(path: &Path, terminal: &mut Terminal) -> Result<Self, Failure> {
        let read = Self::of(&SessionLog::at(path), terminal)?;
        Ok(Self { session: read.session.copy(), ..read })
    }
    /// As this file has it, and kept in it. No other process comes in between until it is dropped.
    pub(super) fn locked(path: &Path, terminal: &mut Terminal) -> Result<Self, Failure> {
        let log = terminal.during("Waiting for another process that uses the session", || SessionLog::at(path).lock());
        let log = log.map_err(|error| failed(&error))?;
        Ok(Self { log: Some(log.clone()), ..Self::of(&log, terminal)? })
    }
    fn of(log: &SessionLog, terminal: &mut Terminal) -> Result<Self, Failure> {
        let opened = wait(log.open())?.map_err(|error| failed(&error))?;
        terminal.diagnostics(&opened.diagnostics);
        Ok(Self { session: opened.session, kept: opened.messages.len(), messages: opened.messages, log: None })
    }

    /// The user's next message, behind what the model answered to the one before.
    pub(super) fn say(&mut self, answer: Option<&str>, message: &str) -> Outcome {
        let said = |role: Speaker, text: &str| LoggedMessage::new(role, text);
        if let Some(answer) = answer {
            if self.messages.last().is_none_or(|last| last.role != Speaker::User) {
                return Err(Failure::Usage("--answer: there is no message before, to which this would be the answer".into()));
            }
            self.messages.push(said(Speaker::Assistant, answer));
        }
        self.messages.push(said(Speaker::User, message));
        Ok(())
    }
    /// Keeps what was said, where it is kept.
    pub(super) fn keep(&self) -> Outcome {
        let Some(log) = &self.log else { return Ok(()) };
        // What the request brought is stored already, unless that failed.
        wait(self.session.store())?.map_err(|error| match error {
            JournalError::Failed(found) => Failure::failed(format!("--session {}", found.message)),
            _ => Failure::failed("--session: another process wrote to this file meanwhile"),
        })?;
        wait(log.add_messages(self.messages[self.kept..].to_vec()))?.map_err(|error| failed(&error))
    }
}

fn failed(error: &StoreError) -> Failure {
    Failure::failed(format!("--session {error}"))
}

/// The skills that are active in the conversation in this file; `None` where there is no such option.
pub(super) fn active_in(session: Option<&Path>, terminal: &mut Terminal) -> Result<Option<Vec<ActiveSkill>>, Failure> {
    let Some(path) = session else { return Ok(None) };
    if !path.exists() {
        return Err(Failure::failed(format!("--session {}: there is no such file", path.display())));
    }
    Ok(Some(Conversation::read(path, terminal)?.session.active()))
}

/// How a skill is active in a session, if it is.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Activity(pub(super) Option<ActiveSkill>);

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(ActiveSkill { arguments, mode, .. }) = &self.0 else { return f.write_str("no") };
        f.write_str(match mode {
            SkillActivationMode::Explicit => "yes, by name",
            SkillActivationMode::Suggested => "yes, as it was suggested",
            SkillActivationMode::Automatic => "yes, by the user's words",
            SkillActivationMode::Tool => "yes, by the model",
            _ => "yes",
        })?;
        arguments.iter().try_for_each(|arguments| write!(f, ", with {arguments}"))
    }
}
