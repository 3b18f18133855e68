//! Answers that stream: each event as it comes, and over all rounds one well-formed stream.

use super::frames::{Frame, Frames, Framing};
use super::judged::{Verdict, verdict};
use super::readers::{Across, Fate, Reader, reader};
use super::turn::{Settling, Turn};
use super::{Answering, MAX_ANSWER, success};
use crate::layers::wire::Format;
use crate::proxy::Shared;
use crate::proxy::errors::Refusal;
use crate::proxy::learn::Learner;
use crate::proxy::routes::Dialect;
use axum::body::Body;
use bytes::Bytes;
use http_body::Frame as Piece;
use http_body_util::{BodyExt, Limited};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The body of such an answer. Dropped, it ends the call that is running.
pub(super) struct Streamed {
    shared: Arc<Shared>,
    answering: Arc<Answering>,
    /// Away while the next round is asked for.
    turn: Option<Box<Turn>>,
    state: State,
    framing: Framing,
    frames: Frames,
    reader: Box<dyn Reader>,
    across: Across,
    learner: Option<Learner>,
    /// Bytes of this round.
    read: usize,
    out: VecDeque<Bytes>,
    /// Goes ahead of what the client is sent from here on.
    settling: Option<Settling>,
    held: VecDeque<Bytes>,
    has_begun: bool,
    /// The round said so, where a format has a word for it: some servers name no reason beside it.
    is_done: bool,
}

enum State {
    Reading(Body),
    /// Nothing of it is looked at any more.
    Passing(Body),
    Asking(Pin<Box<dyn Future<Output = (Box<Turn>, Asked)> + Send>>),
    Over,
}

enum Asked {
    Answered(Body, Option<Learner>),
    /// The error, as the API says it.
    Failed(Value),
}

impl Streamed {
    pub(super) fn new(
        shared: Arc<Shared>,
        answering: Arc<Answering>,
        turn: Box<Turn>,
        framing: Framing,
        body: Body,
        learner: Option<Learner>,
    ) -> Self {
        let across = Across::new(answering.tool_name());
        Self {
            reader: reader(turn.format),
            frames: Frames::new(framing),
            turn: Some(turn),
            state: State::Reading(body),
            read: 0,
            out: VecDeque::new(),
            settling: None,
            held: VecDeque::new(),
            has_begun: false,
            is_done: false,
            shared,
            answering,
            framing,
            across,
            learner,
        }
    }
    fn send(&mut self, bytes: Bytes) {
        let out = if self.settling.is_some() { &mut self.held } else { &mut self.out };
        if self.framing == Framing::Array {
            out.push_back(Bytes::from_static(if self.has_begun { b",\r\n" } else { b"[" }));
        }
        self.has_begun = true;
        out.push_back(bytes);
    }
    fn verdict(&self, turn: &Turn) -> Verdict {
        verdict(turn.format, &self.across.tool, &self.reader.response(), turn.is_last())
    }
    fn frame(&mut self, frame: Frame) {
        let Ok(mut event) = serde_json::from_str::<Value>(&frame.data) else {
            self.is_done |= frame.data == "[DONE]";
            let is_end_of_round = self.is_done && self.turn.as_ref().is_some_and(|turn| self.verdict(turn) == Verdict::GoesOn);
            if !is_end_of_round {
                self.send(frame.raw);
            }
            return;
        };
        let had_ended = self.reader.has_ended();
        let fate = self.reader.event(&mut event, &mut self.across);
        if !had_ended
            && self.reader.has_ended()
            && let Some(turn) = &mut self.turn
        {
            let response = self.reader.response();
            if verdict(turn.format, &self.across.tool, &response, turn.is_last()) != Verdict::GoesOn {
                self.settling = turn.settle(&self.answering, response);
            }
        }
        match fate {
            Fate::Passes => self.send(frame.raw),
            Fate::Changed => self.send(self.framing.written(frame.name.as_deref(), &event)),
            Fate::Held => {}
        }
    }
    fn see(&mut self, bytes: &Bytes) -> Result<(), io::Error> {
        if let Some(learner) = &mut self.learner {
            learner.see(bytes);
        }
        // What is no array is one value, and passes.
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if self.framing == Framing::Array && !self.across.is_later && self.read == 0 && first.is_some_and(|first| *first != b'[') {
            if let State::Reading(body) = std::mem::replace(&mut self.state, State::Over) {
                self.state = State::Passing(body);
            }
            self.out.push_back(bytes.clone());
            return Ok(());
        }
        self.frames.push(bytes);
        while let Some(frame) = self.frames.next() {
            self.frame(frame);
        }
        self.read += bytes.len();
        if self.read <= MAX_ANSWER {
            return Ok(());
        }
        let is_as_it_came = !self.across.is_later && self.framing != Framing::Array;
        let is_plain = self.turn.as_ref().is_some_and(|turn| self.verdict(turn) == Verdict::Plain);
        match std::mem::replace(&mut self.state, State::Over) {
            State::Reading(body) if is_as_it_came && is_plain => {
                self.state = State::Passing(body);
                let rest = self.frames.rest();
                self.out.push_back(rest);
                Ok(())
            }
            _ => Err(io::Error::other("the answer is too long to be looked at")),
        }
    }
    /// The round's body has ended.
    fn end(&mut self) {
        if let Some(mut learner) = self.learner.take() {
            learner.end();
        }
        if let Some(frame) = self.frames.last() {
            self.frame(frame);
        }
        self.state = State::Over;
        let is_whole = self.is_done || self.reader.has_ended();
        if is_whole
            && self.turn.as_ref().is_some_and(|turn| self.verdict(turn) == Verdict::GoesOn)
            && let Some(mut turn) = self.turn.take()
        {
            let response = self.reader.response();
            self.reader.hand_over(&mut self.across);
            self.across.is_later = true;
            let (shared, answering) = (self.shared.clone(), self.answering.clone());
            self.state = State::Asking(Box::pin(async move {
                turn.go_on(&answering, &response, true).await;
                let asked = ask(&shared, &mut turn).await;
                (turn, asked)
            }));
        } else if self.framing == Framing::Array {
            let end: &'static [u8] = if self.has_begun { b"]" } else { b"[]" };
            let out = if self.settling.is_some() { &mut self.held } else { &mut self.out };
            out.push_back(Bytes::from_static(end));
        }
    }
    fn begin(&mut self, turn: Box<Turn>, asked: Asked) {
        match asked {
            Asked::Answered(body, learner) => {
                self.frames = Frames::new(self.framing);
                self.reader = reader(turn.format);
                self.across.is_last = turn.is_last();
                self.across.spent.clone_from(&turn.spent);
                (self.learner, self.read, self.is_done) = (learner, 0, false);
                (self.state, self.turn) = (State::Reading(body), Some(turn));
            }
            Asked::Failed(error) => {
                let name = matches!(turn.format, Format::Anthropic | Format::OpenAiResponses).then_some("error");
                self.state = State::Over;
                self.send(self.framing.written(name, &error));
                if self.framing == Framing::Array {
                    self.out.push_back(Bytes::from_static(b"]"));
                }
            }
        }
    }
}

async fn ask(shared: &Arc<Shared>, turn: &mut Turn) -> Asked {
    let dialect = Dialect::of(turn.head.1.path());
    let format = turn.format;
    let failed = |error: Value| Asked::Failed(as_event(format, error));
    let (answer, learner) = match shared.ask_again(turn).await {
        Ok(answered) => answered,
        Err(refusal) => return failed(refusal.body(dialect)),
    };
    let framing = Framing::of(answer.headers(), turn.head.1.path());
    if success(&answer) && framing.is_some() {
        return Asked::Answered(answer.into_body(), learner);
    }
    // Errors are short.
    let told = Limited::new(answer.into_body(), 64 * 1024).collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    match serde_json::from_slice(&told) {
        Ok(error @ Value::Object(_)) => failed(error),
        _ => failed(Refusal::Unreachable.body(dialect)),
    }
}

/// An error in the middle of a stream.
fn as_event(format: Format, error: Value) -> Value {
    if format != Format::OpenAiResponses {
        return error;
    }
    let inner = error.get("error").unwrap_or(&error);
    json!({"type": "error", "code": inner["code"], "message": inner["message"], "param": inner["param"]})
}

impl http_body::Body for Streamed {
    type Data = Bytes;
    type Error = axum::Error;
    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Piece<Bytes>, axum::Error>>> {
        let this = &mut *self;
        loop {
            if let Some(bytes) = this.out.pop_front() {
                return Poll::Ready(Some(Ok(Piece::data(bytes))));
            }
            if let Some(settling) = &mut this.settling {
                ready!(settling.as_mut().poll(cx));
                this.settling = None;
                this.out.append(&mut this.held);
                continue;
            }
            match &mut this.state {
                State::Over => return Poll::Ready(None),
                State::Passing(body) => return Pin::new(body).poll_frame(cx),
                State::Asking(asking) => {
                    let (turn, asked) = ready!(asking.as_mut().poll(cx));
                    this.begin(turn, asked);
                }
                State::Reading(body) => match ready!(Pin::new(body).poll_frame(cx)) {
                    Some(Ok(piece)) => {
                        if let Some(bytes) = piece.data_ref()
                            && let Err(error) = this.see(bytes)
                        {
                            return Poll::Ready(Some(Err(axum::Error::new(error))));
                        }
                    }
                    Some(Err(error)) => {
                        this.state = State::Over;
                        return Poll::Ready(Some(Err(error)));
                    }
                    None => this.end(),
                },
            }
        }
    }
}
