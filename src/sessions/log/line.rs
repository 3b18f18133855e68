//! Lines of a log: what is written in one, and how one is read.

use crate::layers::SessionEvent;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::SystemTime;

/// Who said something, whatever a format calls him.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Speaker {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A message as it was given, in no format of an API: for a caller that keeps no history of its own. See [`SessionLog::add_messages`](super::SessionLog).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoggedMessage {
    /// Whose.
    pub role: Speaker,
    /// All of it.
    pub text: String,
}

impl LoggedMessage {
    /// This, by him.
    pub fn new(role: Speaker, text: impl Into<String>) -> Self {
        Self { role, text: text.into() }
    }
}

/// What a line holds.
#[derive(Debug)]
pub(super) enum Content {
    Event(Box<SessionEvent>),
    Message(LoggedMessage),
}

/// What every line that is written here begins with.
const HEAD: &[u8] = b"{\"seq\":";

#[derive(Serialize)]
struct Line<'a, T: Serialize> {
    seq: u64,
    time: &'a str,
    #[serde(flatten)]
    content: &'a T,
}

#[derive(Serialize)]
struct Said<'a> {
    message: &'a LoggedMessage,
}

pub(super) fn of_event(seq: u64, time: &str, event: &SessionEvent) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Line { seq, time, content: event })
}

pub(super) fn of_message(seq: u64, time: &str, message: &LoggedMessage) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Line { seq, time, content: &Said { message } })
}

/// In RFC 3339; a clock that is beyond all years stands at 1970.
pub(in crate::sessions) fn rfc3339(now: SystemTime) -> String {
    Timestamp::try_from(now).unwrap_or_default().to_string()
}

/// What is no line of a log.
#[derive(Debug)]
pub(super) enum NoLine {
    /// Not JSON: what is left of a line that was being written, perhaps.
    Broken(serde_json::Error),
    /// JSON, and not of this kind.
    Other(String),
}

/// The line's number and what it holds.
pub(super) fn read(line: &[u8]) -> Result<(u64, Content), NoLine> {
    let mut object: Map<String, Value> = match serde_json::from_slice(line) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return Err(NoLine::Other("this is no line of a session's log".into())),
        Err(error) => return Err(NoLine::Broken(error)),
    };
    let Some(seq) = object.remove("seq").and_then(|seq| seq.as_u64()) else {
        return Err(NoLine::Other("this is no line of a session's log: it has no number `seq`".into()));
    };
    object.remove("time");
    let not_understood = |error| NoLine::Other(format!("not understood, and perhaps of a later version: {error}"));
    let content = match object.get("message") {
        Some(message) if !object.contains_key("event") => Content::Message(LoggedMessage::deserialize(message).map_err(not_understood)?),
        _ => Content::Event(Box::new(SessionEvent::deserialize(Value::Object(object)).map_err(not_understood)?)),
    };
    Ok((seq, content))
}

/// Whether this may be what is left of a line that was being written when the process or the machine stopped. A file that was never a log has none,
/// and nothing of it is taken away.
pub(super) fn is_torn(line: &[u8]) -> bool {
    // A file system may have filled up with zeros what was not written yet.
    let written = line.iter().rposition(|byte| *byte != 0).map_or(&[][..], |last| &line[..=last]);
    written.starts_with(HEAD) || HEAD.starts_with(written)
}
