//! Who is told of a session's events as they happen. A session may have several: see [`Session::on_event`](crate::layers::Session::on_event).

use crate::layers::{EventSink, SessionEvent};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc;

/// Tells `tracing` of each event, at level DEBUG: its name, which skill it is about, how many bytes were said. What a skill's body begins with is told
/// at level TRACE alone, and no other text at any level.
///
/// ```
/// use tower_prompt::layers::Session;
/// use tower_prompt::sessions::TracedEvents;
///
/// let session = Session::new().on_event(TracedEvents);
/// # let _ = session;
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct TracedEvents;

impl EventSink for TracedEvents {
    fn record(&self, event: &SessionEvent) {
        let name = event.name();
        match event {
            SessionEvent::SystemRendered(system) => {
                tracing::debug!(event = name, bytes = system.text().len(), hash = %system.hash(), "session");
            }
            SessionEvent::TextAnchored(said) => {
                tracing::debug!(event = name, bytes = said.text().len(), active = said.active().len(), "session");
            }
            SessionEvent::SkillActivated { skill, everywhere, .. } => {
                tracing::debug!(event = name, skill = %skill.id, mode = ?skill.mode, everywhere, "session");
            }
            SessionEvent::SkillContextLoaded { id, bytes, truncated, preview, .. } => {
                tracing::debug!(event = name, skill = %id, bytes, truncated, "session");
                tracing::trace!(event = name, skill = %id, preview, "session");
            }
            SessionEvent::Purged { skill: id, .. }
            | SessionEvent::SkillSuggested { id, .. }
            | SessionEvent::SkillDeactivated { id, .. }
            | SessionEvent::SkillInvocationFailed { id, .. }
            | SessionEvent::SuggestionAccepted { id, .. }
            | SessionEvent::SuggestionDismissed { id, .. } => tracing::debug!(event = name, skill = %id, "session"),
            SessionEvent::InvariantsSelected { numbers, .. } => tracing::debug!(event = name, chosen = numbers.len(), "session"),
            _ => tracing::debug!(event = name, "session"),
        }
    }
}

/// Sends each event on, to whoever holds the other end. It waits for no one: what finds the channel full is left out, and counted.
///
/// ```
/// use std::num::NonZeroUsize;
/// use tower_prompt::layers::{Session, skill::SkillId};
/// use tower_prompt::sessions::EventChannel;
///
/// let (channel, mut events) = EventChannel::new(NonZeroUsize::new(64).unwrap());
/// let session = Session::new().on_event(channel.clone());
/// session.activate(SkillId::new("rust")?, None);
///
/// let names: Vec<&str> = std::iter::from_fn(|| events.try_recv().ok()).map(|event| event.name()).collect();
/// assert_eq!(names, ["started", "skill_activated"]);
/// assert_eq!(channel.missed(), 0);
/// # Ok::<(), tower_prompt::layers::skill::InvalidSkillId>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventChannel {
    sender: mpsc::Sender<SessionEvent>,
    missed: Arc<AtomicU64>,
}

impl EventChannel {
    /// Of so many events that wait to be received, and the end where they are.
    pub fn new(capacity: NonZeroUsize) -> (Self, mpsc::Receiver<SessionEvent>) {
        // The channel's own bound is beyond all memory.
        let (sender, receiver) = mpsc::channel(capacity.get().min(usize::MAX >> 4));
        (Self { sender, missed: Arc::default() }, receiver)
    }
    /// How many events found it full.
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }
}

impl EventSink for EventChannel {
    fn record(&self, event: &SessionEvent) {
        if let Err(mpsc::error::TrySendError::Full(event)) = self.sender.try_send(event.clone())
            && self.missed.fetch_add(1, Ordering::Relaxed) == 0
        {
            tracing::warn!(event = event.name(), "a channel of session events is full: some are left out");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fmt::Write;
    use std::sync::Mutex;
    use tracing::field::{Field, Visit};
    use tracing::span;
    use tracing::{Event, Level, Metadata, Subscriber};

    /// All that is said up to a level.
    struct Listener(Level, Arc<Mutex<String>>);
    struct Line<'a>(&'a mut String);
    impl Visit for Line<'_> {
        fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
            let _ = write!(self.0, " {field}={value:?}");
        }
    }
    impl Subscriber for Listener {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() <= self.0
        }
        fn event(&self, event: &Event<'_>) {
            let heard = &mut *self.1.lock().unwrap();
            let _ = write!(heard, "\n{}", event.metadata().level());
            event.record(&mut Line(heard));
        }
        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }
        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
    }

    fn heard_at(level: Level) -> String {
        let heard = Arc::default();
        let event = |fields| serde_json::from_value::<SessionEvent>(fields).unwrap();
        let activated = event(json!({
            "event": "skill_activated", "id": "rust", "mode": "explicit", "arguments": "SECRET arguments", "everywhere": true
        }));
        let loaded = event(json!({
            "event": "skill_context_loaded", "id": "rust", "source": "SECRET source", "bytes": 7, "truncated": true, "preview": "PREVIEW"
        }));
        tracing::subscriber::with_default(Listener(level, Arc::clone(&heard)), || {
            TracedEvents.record(&loaded);
            TracedEvents.record(&activated);
            TracedEvents.record(&SessionEvent::Compacted);
        });
        heard.lock().unwrap().clone()
    }

    #[test]
    fn previews_are_told_at_trace_alone_and_other_text_at_no_level() {
        assert_eq!(heard_at(Level::INFO), "");
        let told = heard_at(Level::DEBUG);
        assert_eq!(told.matches("\nDEBUG").count(), 3, "{told}");
        assert!(told.contains("event=\"skill_context_loaded\" skill=rust bytes=7 truncated=true"), "{told}");
        assert!(!told.contains("PREVIEW") && !told.contains("SECRET"), "{told}");
        let told = heard_at(Level::TRACE);
        assert!(told.contains("preview=\"PREVIEW\"") && !told.contains("SECRET"), "{told}");
    }

    #[test]
    fn a_full_channel_is_not_waited_for_and_one_that_no_one_reads_is_let_be() {
        let (channel, mut events) = EventChannel::new(NonZeroUsize::MIN);
        for _ in 0..3 {
            channel.record(&SessionEvent::Compacted);
        }
        assert_eq!((channel.missed(), events.try_recv()), (2, Ok(SessionEvent::Compacted)));
        channel.record(&SessionEvent::Rebased);
        assert_eq!((channel.missed(), events.try_recv()), (2, Ok(SessionEvent::Rebased)));
        drop(events);
        channel.record(&SessionEvent::Compacted);
        assert_eq!(channel.missed(), 2);
        assert_eq!(EventChannel::new(NonZeroUsize::MAX).0.missed(), 0);
    }
}
