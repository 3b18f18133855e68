//! A provider in a process of its own.

use super::event::{Ask, Event, Kept};
use super::keeper::Keeper;
use crate::Environment;
use crate::layers::skill::provider::{Answering, SkillError, SkillErrorCode, SkillRequest, SkillResponse, write_request};
use crate::layers::skill::{SkillSource, SkillSourceKind};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tower::Service;

/// A request waits no longer, unless the host says so.
const DEADLINE: Duration = Duration::from_secs(5);

/// Which program provides skills, and how it is run: in the environment's working directory, with `PATH`, `HOME` and `LANG` of the environment and
/// no other variable.
#[derive(Clone, Debug)]
pub struct ProviderProgram {
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) environment: Environment,
    pub(super) source: Arc<SkillSource>,
    pub(super) deadline: Duration,
}

impl ProviderProgram {
    /// `program` is an absolute path, or a name on the environment's `PATH`. Its skills bear `label`, such as `plugin:notes`, as their source.
    pub fn new(label: impl Into<String>, program: impl Into<PathBuf>, environment: &Environment) -> Self {
        let source = Arc::new(SkillSource::new(SkillSourceKind::Plugin, label));
        Self { path: program.into(), arguments: Vec::new(), environment: environment.clone(), source, deadline: DEADLINE }
    }
    /// With these arguments.
    pub fn arguments<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }
    /// A request that is not answered within so long has failed; five seconds unless told otherwise.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}

/// A provider in a process of its own, which speaks [`bcode.skill/v1`](crate::layers::skill::provider), a line each, over its standard input and
/// output. Cheap to clone; clones share the process.
///
/// The program is started by the first request. One that ends, says more than it may, or stays silent past a deadline is killed with all that it
/// started, and started again by a request that comes when its pause is over: 250 ms, twice as long with each failure up to a minute. Within the pause
/// requests fail at once. Several requests may be under way; a request that is dropped leaves the process as it is. When the last clone is
/// dropped, the process is killed.
///
/// Bounds: [64 KiB](crate::layers::skill::provider::MAX_LIST_LINE_BYTES) a line of a list, 8 MiB and 10,000 skills a list,
/// [1 MiB](crate::layers::skill::provider::MAX_ANSWER_BYTES) any other answer, 32 requests at once, 64 lines and 1 MiB that answer nothing, the first
/// KiB of standard error.
///
/// It works on any executor: waiting is done by threads of its own.
#[derive(Clone)]
pub struct ProcessProvider(Arc<Handle>);

struct Handle {
    program: ProviderProgram,
    next: AtomicU64,
    /// Once something was asked; `None` where no thread was to be had.
    kept: OnceLock<Option<Kept>>,
}

impl ProcessProvider {
    /// Nothing is started yet.
    pub fn new(program: ProviderProgram) -> Self {
        Self(Arc::new(Handle { program, next: AtomicU64::new(1), kept: OnceLock::new() }))
    }

    fn ask(&self, request: SkillRequest) -> Result<(oneshot::Receiver<Result<SkillResponse, SkillError>>, Abandon), SkillError> {
        let kept = self.0.kept.get_or_init(|| Keeper::start(self.0.program.clone())).as_ref().ok_or_else(gone)?;
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let line = write_request(id, &request)?;
        let (answer, answered) = oneshot::channel();
        let deadline = Instant::now().checked_add(self.0.program.deadline);
        kept.events.send(Event::Ask(Ask { id, line, request, deadline, answer })).map_err(|_| gone())?;
        Ok((answered, Abandon { id, events: kept.events.clone() }))
    }
}

/// Says that nobody waits any more.
struct Abandon {
    id: u64,
    events: mpsc::Sender<Event>,
}

impl Drop for Abandon {
    fn drop(&mut self) {
        // Without a keeper there is nobody to tell.
        let _ = self.events.send(Event::Abandoned(self.id));
    }
}

fn gone() -> SkillError {
    SkillError::new(SkillErrorCode::Unavailable, "it is no longer run")
}

impl Service<SkillRequest> for ProcessProvider {
    type Response = SkillResponse;
    type Error = SkillError;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), SkillError>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: SkillRequest) -> Answering {
        let asked = self.ask(request);
        Box::pin(async move {
            let (answered, _abandon) = asked?;
            answered.await.unwrap_or_else(|_| Err(gone()))
        })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Some(Some(kept)) = self.kept.get() {
            // Here and now: a host that is about to end has no time for its keeper.
            kept.child.kill();
            let _ = kept.events.send(Event::Over);
        }
    }
}

impl fmt::Debug for ProcessProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessProvider").field("program", &self.0.program).finish_non_exhaustive()
    }
}
