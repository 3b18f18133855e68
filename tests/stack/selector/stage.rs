//! A selector that does what a test says, in virtual time, and a conversation whose invariants it chooses.

use crate::place::Place;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context as Cx, Poll};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tower::Service;
use tower_prompt::config;
use tower_prompt::invariants::RelevantInvariants;
use tower_prompt::layers::invariant::{CatalogSource, InvariantSelector, SelectionRequest, SelectionResponse};
use tower_prompt::layers::wire::OpenAiChat;
use tower_prompt::layers::{Context, Diagnostic, Document, DocumentSource, Manifest, PromptStack, Purpose, ReadingDocument, Report};
use tower_prompt::layers::{Session, Settings};

pub(super) const DOCUMENT: &str = "\
## Storage
* **One writer.** A table has one writer.
* **Keys.** Keys never change.
## Output
* **Tabs.** Columns are separated by tabs.
* **Quiet.** Nothing but data on stdout.
";

pub(super) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// What the selector does at one call.
#[derive(Clone)]
pub(super) enum Act {
    /// Names these, after so long.
    Names(Duration, Vec<usize>),
    /// Fails, after so long.
    Fails(Duration),
    Panics,
}

pub(super) fn names(after: u64, numbers: &[usize]) -> Act {
    Act::Names(ms(after), numbers.to_vec())
}
pub(super) fn fails(after: u64) -> Act {
    Act::Fails(ms(after))
}

/// What became of the calls.
#[derive(Default)]
pub(super) struct Log {
    acts: VecDeque<Act>,
    pub(super) requests: Vec<SelectionRequest>,
    /// Calls that were dropped before they ended, by their place among all.
    pub(super) dropped: Vec<usize>,
}

#[derive(Clone)]
pub(super) struct Selector {
    pub(super) log: Arc<Mutex<Log>>,
    /// Of this instance alone: a clone must be polled itself.
    is_ready: Arc<Mutex<Instances>>,
    own: usize,
}

#[derive(Default)]
struct Instances {
    count: usize,
    ready: Option<usize>,
}

impl Selector {
    fn new(acts: impl IntoIterator<Item = Act>) -> Self {
        let log = Log { acts: acts.into_iter().collect(), ..Log::default() };
        Self { log: Arc::new(Mutex::new(log)), is_ready: Arc::default(), own: 0 }
    }
}

/// Notes that a call was dropped before it ended.
struct Dropped(Arc<Mutex<Log>>, Option<usize>);
impl Dropped {
    fn ended(&mut self) {
        self.1 = None;
    }
}
impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some(call) = self.1 {
            self.0.lock().unwrap().dropped.push(call);
        }
    }
}

type Answering = Pin<Box<dyn Future<Output = Result<SelectionResponse, std::io::Error>> + Send>>;

impl Service<SelectionRequest> for Selector {
    type Response = SelectionResponse;
    type Error = std::io::Error;
    type Future = Answering;
    fn poll_ready(&mut self, cx: &mut Cx<'_>) -> Poll<Result<(), Self::Error>> {
        let mut instances = self.is_ready.lock().unwrap();
        if self.own == 0 {
            // Ready at the second poll.
            instances.count += 1;
            self.own = instances.count;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        instances.ready = Some(self.own);
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: SelectionRequest) -> Answering {
        assert_eq!(self.is_ready.lock().unwrap().ready.take(), Some(self.own), "the instance that was polled ready is the one called");
        let mut log = self.log.lock().unwrap();
        log.requests.push(request);
        let act = log.acts.pop_front().expect("the selector is called as often as the test says");
        let mut dropped = Dropped(self.log.clone(), Some(log.requests.len() - 1));
        Box::pin(async move {
            let answer = match act {
                Act::Names(after, numbers) => {
                    sleep(after).await;
                    let summary = format!("Task of {numbers:?}");
                    Ok(SelectionResponse::new(numbers).summary(summary))
                }
                Act::Fails(after) => {
                    sleep(after).await;
                    Err(std::io::Error::other("no model\nat all"))
                }
                Act::Panics => panic!("on purpose"),
            };
            dropped.ended();
            answer
        })
    }
}

/// A document that a test changes.
#[derive(Clone)]
pub(super) struct Changing(pub(super) Arc<Mutex<Option<&'static str>>>);
impl DocumentSource for Changing {
    fn read(&self) -> ReadingDocument {
        let found: Ready<Result<Option<Document>, Diagnostic>> = ready(Ok(self.0.lock().unwrap().map(Document::new)));
        Box::pin(found)
    }
}

/// `[invariants]` as a configuration file says it.
pub(super) fn options(lines: &str) -> config::InvariantsConfig {
    let place = Place::new();
    place.write("work/bcode.toml", format!("[invariants]\n{lines}\n"));
    place.assembly("").config().invariants.clone()
}

/// A conversation with a selector.
pub(super) struct Chat {
    pub(super) stack: PromptStack<OpenAiChat>,
    pub(super) session: Session,
    pub(super) invariants: RelevantInvariants,
    pub(super) document: Changing,
    log: Arc<Mutex<Log>>,
    messages: Vec<Value>,
    begun: Instant,
}

impl Chat {
    pub(super) fn new(lines: &str, acts: impl IntoIterator<Item = Act>) -> Self {
        Self::of(lines, acts, |invariants| invariants)
    }
    pub(super) fn of(
        lines: &str,
        acts: impl IntoIterator<Item = Act>,
        with: impl FnOnce(RelevantInvariants) -> RelevantInvariants,
    ) -> Self {
        let (selector, document) = (Selector::new(acts), Changing(Arc::new(Mutex::new(Some(DOCUMENT)))));
        let log = selector.log.clone();
        let source = CatalogSource::new(document.clone());
        let invariants = with(RelevantInvariants::new(source, InvariantSelector::new(selector), options(lines)));
        let stack = PromptStack::new(OpenAiChat, Settings::default()).with(invariants.layer());
        Self { stack, session: Session::new(), invariants, document, log, messages: Vec::new(), begun: Instant::now() }
    }
    /// The user says something, and this is what is said of invariants behind it.
    pub(super) async fn says(&mut self, text: &str) -> Said {
        self.hears(&json!({"role": "user", "content": text}));
        self.send(Purpose::Converse).await
    }
    /// The next message, behind an answer if there was one before.
    pub(super) fn hears(&mut self, message: &Value) {
        if !self.messages.is_empty() {
            self.messages.push(json!({"role": "assistant", "content": "Done."}));
        }
        self.messages.push(message.clone());
    }
    pub(super) async fn calls_a_tool(&mut self) -> Said {
        let call = json!({"id": "c", "type": "function", "function": {"name": "list", "arguments": "{}"}});
        self.messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        self.messages.push(json!({"role": "tool", "tool_call_id": "c", "content": "a"}));
        self.send(Purpose::Converse).await
    }
    pub(super) async fn send(&self, purpose: Purpose) -> Said {
        let report = Report::default();
        let context = Context::default().session(self.session.clone()).purpose(purpose).report(report.clone());
        let sent = self.stack.assemble(json!({"messages": self.messages}), context).await;
        let last = sent["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
        let manifest = report.manifest().unwrap();
        let new = if manifest.said().contains(&"relevant_invariants") { last } else { String::new() };
        Said { text: new, manifest }
    }
    pub(super) fn commits(&self, task: &str) {
        self.invariants.answer_committed(&self.session, task);
    }
    /// Lets what is under way go on for so long.
    pub(super) async fn pass(&self, milliseconds: u64) {
        sleep(ms(milliseconds)).await;
        // And for all that happens in the same moment.
        for _ in 0..16 {
            tokio::task::yield_now().await;
        }
    }
    /// Milliseconds since it began.
    pub(super) fn now(&self) -> u128 {
        self.begun.elapsed().as_millis()
    }
    pub(super) fn calls(&self) -> usize {
        self.log.lock().unwrap().requests.len()
    }
    pub(super) fn request(&self, call: usize) -> SelectionRequest {
        self.log.lock().unwrap().requests[call].clone()
    }
    pub(super) fn dropped(&self) -> Vec<usize> {
        self.log.lock().unwrap().dropped.clone()
    }
}

/// What a request said anew.
pub(super) struct Said {
    pub(super) text: String,
    manifest: Manifest,
}

impl Said {
    /// The titles of the invariants that were said; all four where the document was.
    pub(super) fn titles(&self) -> Vec<&'static str> {
        ["One writer", "Keys", "Tabs", "Quiet"].into_iter().filter(|title| self.text.contains(&format!("**{title}.**"))).collect()
    }
    pub(super) fn codes(&self) -> Vec<&str> {
        self.manifest.diagnostics.iter().map(|found| &*found.code).collect()
    }
    pub(super) fn messages(&self) -> Vec<&str> {
        self.manifest.diagnostics.iter().map(|found| &*found.message).collect()
    }
}
