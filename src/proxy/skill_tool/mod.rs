//! The skill tool, answered inside the proxy: a client that knows nothing of skills has them (`proxy.answer_skill_tool`, `serve --tools`).
//!
//! The tool's definition stands in the request. Where the model calls it and nothing else, the proxy runs it, puts the model's message and the results
//! behind the request, as the API has them, and asks again, at most [`MAX_ROUNDS`] times; then once more with the tool forbidden. The client gets one
//! answer:
//!
//! * **whole**: the last round's, charged with what all rounds cost;
//! * **streamed**: each event as it comes, but for those of our calls and the ends and beginnings between rounds; indexes, ids and usage are those of one
//!   stream. Text that the model said ahead of a call has been sent by then, and stays.
//!
//! **Calls beside the client's own.** The client gets its calls. Ours are taken out of what it sees, answered at once, and remembered with the
//! model's whole message; when the client brings its results, both are put back, so that the provider reads its own message and an answer to each call.
//!
//! **The next request** lacks what was done here. It is put back where the client's copy of the answer stands, as the provider said and read it, so the
//! conversation only grows at its end. Where the provider holds the history, the outputs it waits for are added by the id of the response or of
//! the client's calls, and a response id that a stream told before its last round leads to the last round's. What is remembered is
//! bounded and in memory: see [`remembered`]. What the client has is a whole history without it.
//!
//! **Nothing is refused because of this.** A tool of that name that the client defines is the client's. The tool is not offered where the answer isn't
//! one answer to a waiting client (`n`, `candidateCount`, `background`). Where the upstream refuses a request as wrong (400, 404, 422) and the tool
//! is its only one, or something was put back, it is asked once more with the client's own request; a model that takes no tools is remembered.
//!
//! An error behind the first round is the answer, as the API gave it; in a stream it is an event. An answer of more than [`MAX_ANSWER`] bytes is not looked
//! at.

mod frames;
mod judged;
mod offer;
mod readers;
mod remembered;
mod restore;
mod stream;
mod turn;
mod whole;

pub(super) use remembered::Scope;
pub(super) use turn::{Turn, Written};

use super::Shared;
use super::assemble::Sent;
use super::errors::Refusal;
use super::learn::Learner;
use crate::layers::Session;
use crate::layers::skill::SkillTool;
use crate::layers::wire::{ToolAnswer, ToolCalls};
use axum::body::Body;
use frames::Framing;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{Request, Response, StatusCode};
use remembered::Remembered;
use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tower::{ServiceExt, service_fn};
use tower_http::decompression::Decompression;

/// So many rounds of a model's are answered for one request of a client's. Loading a skill and some of its files takes two or three.
const MAX_ROUNDS: usize = 8;
/// Bytes of an answer that is looked at: more than any model says.
const MAX_ANSWER: usize = 16 * 1024 * 1024;
/// Models that are known to take no tools; then they are found out anew.
const MAX_MODELS: usize = 1024;

/// What answers.
pub(super) struct Answering {
    tool: SkillTool,
    remembered: Remembered,
    without_tools: Mutex<HashSet<String>>,
}

impl Answering {
    pub(super) fn new(tool: SkillTool) -> Self {
        Self { tool, remembered: Remembered::default(), without_tools: Mutex::default() }
    }
    pub(super) fn tool_name(&self) -> &str {
        &self.tool.options().name
    }
    /// An answer to each call; of another's tool one that says nothing.
    async fn answers(&self, calls: &ToolCalls, session: Option<&Session>) -> Vec<ToolAnswer> {
        let answers = self.tool.answer(calls, session).await;
        answers.into_iter().map(|answer| answer.map(ToolAnswer::from).unwrap_or_default()).collect()
    }
    fn without_tools(&self) -> MutexGuard<'_, HashSet<String>> {
        self.without_tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn takes_no_tools(&self, model: &str) -> bool {
        self.without_tools().contains(model)
    }
    fn remember_without_tools(&self, model: &str) {
        let mut models = self.without_tools();
        if models.len() >= MAX_MODELS {
            models.clear();
        }
        models.insert(model.to_owned());
    }
}

impl Shared {
    /// The answer to a request that offers the tool, or into which something was put back.
    pub(super) async fn answered(
        self: &Arc<Self>,
        answering: &Arc<Answering>,
        mut turn: Box<Turn>,
        mut answer: Response<Body>,
        mut learner: Option<Learner>,
    ) -> Result<(Response<Body>, Option<Learner>), Refusal> {
        let is_refused = matches!(answer.status(), StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::UNPROCESSABLE_ENTITY);
        let is_alone = turn.offers && !turn.has_tools;
        if is_refused && (is_alone || turn.is_restored) && turn.start_over().is_ok() {
            (answer, learner) = self.ask_again(&mut turn).await?;
            if is_alone && success(&answer) {
                answering.remember_without_tools(&turn.model);
            }
        }
        if !turn.offers || !success(&answer) {
            return Ok((answer, learner));
        }
        let mut answer = plain(answer).await;
        let is_json = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        let streamed = match Framing::of(answer.headers(), turn.head.1.path()) {
            Some(framing) => {
                answer.headers_mut().remove(CONTENT_LENGTH);
                answer.map(|body| Body::new(stream::Streamed::new(self.clone(), answering.clone(), turn, framing, body, learner)))
            }
            None if is_json => whole::answered(self, answering, turn, answer, learner).await?,
            None => return Ok((answer, learner)),
        };
        Ok((streamed, None))
    }

    /// The answer to the turn's next request.
    async fn ask_again(&self, turn: &mut Turn) -> Result<(Response<Body>, Option<Learner>), Refusal> {
        let context = turn.next_context();
        let sent = self.stacks.assembled(turn.format, turn.request.clone(), context).await;
        let Some(Sent { request: mut value, report, .. }) = sent else { return Err(Refusal::Unreachable) };
        if let Some(answering) = &self.answering {
            turn.offer(&mut value, answering.tool_name());
        }
        let (method, uri, headers) = turn.head.clone();
        let mut request = Request::new(Body::from(turn.written.numbers.write(&value)));
        (*request.method_mut(), *request.uri_mut(), *request.headers_mut()) = (method, uri, headers);
        let answer = self.ask(request).await?;
        let learner = Learner::of(turn.format, &report, &self.metrics, answer.status(), answer.headers());
        Ok((answer, learner))
    }
}

fn success(answer: &Response<Body>) -> bool {
    answer.status().is_success()
}

/// The answer without the compression that nobody asked for.
async fn plain(answer: Response<Body>) -> Response<Body> {
    if !answer.headers().contains_key(CONTENT_ENCODING) {
        return answer;
    }
    let mut answer = Some(answer);
    let once = service_fn(move |_: Request<()>| std::future::ready(Ok::<_, Infallible>(answer.take().unwrap_or_default())));
    match Decompression::new(once).oneshot(Request::new(())).await {
        Ok(plain) => plain.map(Body::new),
        Err(never) => match never {},
    }
}
