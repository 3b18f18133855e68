//! One call of the selector: a task of its own, which goes on when nobody waits any more.

use super::RelevantInvariants;
use super::choice::{Choice, Kind, Step};
use super::conversation::Conversation;
use crate::layers::invariant::{Guidance, InvariantCatalog, SelectionRequest};
use crate::layers::text::shorten;
use crate::layers::{ContentHash, Diagnostic};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

/// How a call ended, for those who wait for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// With a choice.
    Came,
    /// Something newer came before it.
    Overtaken,
    /// With an error, or an answer that is none.
    Failed,
    /// Its deadline passed.
    TimedOut,
    /// It was cancelled, or panicked.
    Cancelled,
}

/// What is chosen for and from.
pub(super) struct Subject {
    pub(super) task: String,
    pub(super) catalog: Arc<InvariantCatalog>,
}

/// By which a call under way is known.
#[derive(Clone)]
pub(super) struct CallHandle {
    deadline: Option<Instant>,
    end: Arc<watch::Sender<Option<End>>>,
    /// Once it is spawned.
    abort: Arc<OnceLock<AbortHandle>>,
}

impl CallHandle {
    /// Ends it where it stands.
    fn cancel(&self) {
        first_word(&self.end, End::Cancelled);
        self.abort.get().into_iter().for_each(AbortHandle::abort);
    }
    /// How it ended, or that it is late: waits no longer than its deadline.
    pub(super) async fn ended(&self) -> End {
        let mut end = self.end.subscribe();
        let ended = async { end.wait_for(Option::is_some).await.ok().and_then(|end| *end).unwrap_or(End::Cancelled) };
        match self.deadline {
            Some(deadline) => timeout_at(deadline, ended).await.unwrap_or(End::TimedOut),
            None => ended.await,
        }
    }
}

/// A call that is noted and has not started.
struct Noted {
    number: u64,
    handle: CallHandle,
    timeout: Option<Duration>,
    /// What it overtook.
    cancelled: Vec<CallHandle>,
}

/// The task's side of it. Dropped, it has ended, whatever became of it: cancelled and panicking calls too.
struct Running {
    conversation: Arc<Conversation>,
    number: u64,
    end: Arc<watch::Sender<Option<End>>>,
}

impl Running {
    /// The first word stands.
    fn end(&self, end: End) {
        first_word(&self.end, end);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.conversation.choice().ended(self.number);
        self.end(End::Cancelled);
        self.conversation.task_ends();
    }
}

fn first_word(sender: &watch::Sender<Option<End>>, end: End) {
    sender.send_if_modified(|said| {
        let is_first = said.is_none();
        said.get_or_insert(end);
        is_first
    });
}

impl RelevantInvariants {
    /// The call that a prompt waits for, begun where there is none; or the choice that stands. Of prompts at once one begins it.
    pub(super) fn call_to_wait_for(
        &self,
        conversation: &Arc<Conversation>,
        subject: &Subject,
        runtime: &Handle,
    ) -> Result<CallHandle, Guidance> {
        let digest = subject.catalog.digest();
        let noted = {
            let mut choice = conversation.choice();
            match choice.at_prompt(digest, self.options.selector.wait_for_background_on_next_prompt) {
                Step::Ask => self.note(&mut choice, Kind::Initial, Some(digest)),
                Step::Wait(call) => return Ok(call),
                Step::Take(guidance) => return Err(guidance),
            }
        };
        let handle = noted.handle.clone();
        self.start(conversation, noted, Some(&subject.catalog), &subject.task, runtime);
        Ok(handle)
    }
    /// Begins a call in the background.
    pub(super) fn in_background(&self, conversation: &Arc<Conversation>, task: &str, runtime: &Handle) {
        let noted = self.note(&mut conversation.choice(), Kind::Background, None);
        self.start(conversation, noted, None, task, runtime);
    }

    fn note(&self, choice: &mut Choice<CallHandle>, kind: Kind, catalog: Option<ContentHash>) -> Noted {
        let selector = &self.options.selector;
        let timeout = match kind {
            Kind::Initial => selector.initial_timeout(),
            Kind::Background => selector.background_timeout(),
        };
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let handle = CallHandle { deadline, end: Arc::new(watch::Sender::new(None)), abort: Arc::default() };
        let number = choice.next();
        let cancelled = choice.begin(number, kind, catalog, handle.clone(), selector.cancel_stale);
        Noted { number, handle, timeout, cancelled }
    }

    /// `catalog` is read first where there is none. The conversation is not locked here: what is cancelled, or can't be spawned, locks it.
    fn start(&self, conversation: &Arc<Conversation>, noted: Noted, catalog: Option<&Arc<InvariantCatalog>>, task: &str, runtime: &Handle) {
        let Noted { number, handle, timeout, cancelled } = noted;
        cancelled.iter().for_each(CallHandle::cancel);
        conversation.task_begins();
        let running = Running { conversation: Arc::clone(conversation), number, end: Arc::clone(&handle.end) };
        let task = runtime.spawn(self.clone().run(running, catalog.cloned(), task.to_owned(), timeout.zip(handle.deadline)));
        let abort = handle.abort.get_or_init(|| task.abort_handle());
        if *handle.end.borrow() == Some(End::Cancelled) {
            // Overtaken before there was anything to abort.
            abort.abort();
        }
    }

    async fn run(self, running: Running, catalog: Option<Arc<InvariantCatalog>>, task: String, deadline: Option<(Duration, Instant)>) {
        let selected = self.select(catalog, task);
        let selected = match deadline.filter(|_| self.options.selector.cancel_on_timeout) {
            None => Ok(selected.await),
            Some((timeout, deadline)) => timeout_at(deadline, selected).await.map_err(|_| timeout),
        };
        let conversation = &running.conversation;
        match selected {
            Ok(Ok((catalog, guidance, dropped))) => {
                dropped.into_iter().for_each(|dropped| conversation.notice(dropped));
                if Self::counts(&running, &catalog, guidance) {
                    running.end(End::Came);
                    self.write(conversation).await;
                } else {
                    conversation.notice(Diagnostic::note("selection-overtaken", "a selection of invariants came behind a newer one"));
                    running.end(End::Overtaken);
                }
            }
            Ok(Err((subject, failed))) => {
                self.fall_back(&running, subject.as_ref());
                conversation.notice(failed);
                running.end(End::Failed);
            }
            Err(timeout) => {
                let message = format!("the selection of invariants was cancelled after {} ms", timeout.as_millis());
                conversation.notice(Diagnostic::warning("selector-cancelled", message));
                running.end(End::TimedOut);
            }
        }
    }

    fn counts(running: &Running, catalog: &InvariantCatalog, guidance: Guidance) -> bool {
        let mut choice = running.conversation.choice();
        let counts = choice.came(running.number, catalog.digest(), guidance);
        if counts {
            choice.older_than(running.number).for_each(|older| first_word(&older.end, End::Overtaken));
        }
        counts
    }
    fn fall_back(&self, running: &Running, subject: Option<&Subject>) {
        let mut choice = running.conversation.choice();
        if choice.ended(running.number)
            && let Some(subject) = subject
        {
            choice.fall_back(subject.catalog.digest(), self.by_words(subject));
        }
    }

    async fn select(
        &self,
        catalog: Option<Arc<InvariantCatalog>>,
        task: String,
    ) -> Result<(Arc<InvariantCatalog>, Guidance, Option<Diagnostic>), (Option<Subject>, Diagnostic)> {
        let catalog = match catalog {
            Some(catalog) => catalog,
            None => match self.document.read().await {
                Ok(Some(catalog)) if !catalog.is_empty() => catalog,
                Ok(_) => return Err((None, Diagnostic::note("invariants-missing", "there is no invariant to choose"))),
                Err(diagnostic) => return Err((None, diagnostic)),
            },
        };
        let max = self.options.max_selected;
        let request = SelectionRequest::new(&task, Arc::clone(&catalog), max).model_profile(self.options.selector.model_profile.clone());
        let task = request.task.clone();
        let answer = self.selector.select(request).await.map_err(|error| {
            let reason = error.to_string();
            let reason = shorten(reason.lines().next().unwrap_or_default(), 200).into_owned();
            Diagnostic::warning("selector-failed", format!("the selector of invariants failed: {reason}"))
        });
        match answer.and_then(|answer| answer.accept(&catalog, max)) {
            Ok((guidance, dropped)) => Ok((catalog, self.accepted(guidance), dropped)),
            Err(failed) => Err((Some(Subject { task, catalog }), failed)),
        }
    }

    async fn write(&self, conversation: &Arc<Conversation>) {
        if let Some(sidecar) = conversation.sidecar.get()
            && let Err(diagnostic) = sidecar.write(conversation).await
        {
            conversation.notice(diagnostic);
        }
    }
}
