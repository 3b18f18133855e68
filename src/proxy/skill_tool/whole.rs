//! Answers that don't stream.

use super::judged::{Verdict, charge, strip, verdict};
use super::turn::Turn;
use super::{Answering, MAX_ANSWER, success};
use crate::proxy::Shared;
use crate::proxy::errors::Refusal;
use crate::proxy::learn::Learner;
use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::Response;
use http::header::CONTENT_LENGTH;
use http::response::Parts;
use http_body_util::BodyExt;
use serde_json::Value;
use std::sync::Arc;

/// An answer, once the model has said all that it says by itself. The client sees the last round, charged with the others.
pub(super) async fn answered(
    shared: &Arc<Shared>,
    answering: &Arc<Answering>,
    mut turn: Box<Turn>,
    mut answer: Response<Body>,
    mut learner: Option<Learner>,
) -> Result<Response<Body>, Refusal> {
    loop {
        let (parts, body) = answer.into_parts();
        let bytes = match collect(body).await {
            Collected::Whole(bytes) => bytes,
            Collected::Other(body) => return Ok(Response::from_parts(parts, body)),
        };
        if let Some(mut learner) = learner.take() {
            learner.see(&bytes);
            learner.end();
        }
        let Ok(mut response) = serde_json::from_slice::<Value>(&bytes) else { return Ok(Response::from_parts(parts, bytes.into())) };
        let tool = &answering.tool.options().name;
        let verdict = verdict(turn.format, tool, &response, turn.is_last());
        if verdict == Verdict::GoesOn {
            turn.go_on(answering, &response, false).await;
            let (next, next_learner) = shared.ask_again(&mut turn).await?;
            (answer, learner) = (next, next_learner);
            if !success(&answer) {
                // As the API says it: who sends the request again begins anew.
                return Ok(answer);
            }
            continue;
        }
        if let Some(settling) = turn.settle(answering, response.clone()) {
            settling.await;
        }
        if verdict == Verdict::Plain && turn.rounds == 0 {
            return Ok(Response::from_parts(parts, bytes.into()));
        }
        strip(turn.format, &mut response, tool);
        charge(turn.format, &mut response, &turn.spent);
        return Ok(changed(parts, response.to_string().into()));
    }
}

fn changed(mut parts: Parts, body: Bytes) -> Response<Body> {
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, body.into())
}

enum Collected {
    Whole(Bytes),
    /// It is too long to be looked at, or broke off.
    Other(Body),
}

async fn collect(mut body: Body) -> Collected {
    let mut bytes = BytesMut::new();
    loop {
        match body.frame().await {
            None => return Collected::Whole(bytes.freeze()),
            Some(Ok(frame)) => bytes.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Some(Err(error)) => return Collected::Other(Body::new(Ahead { first: Some(bytes.freeze()), rest: Err(Some(error)) })),
        }
        if bytes.len() > MAX_ANSWER {
            return Collected::Other(Body::new(Ahead { first: Some(bytes.freeze()), rest: Ok(body) }));
        }
    }
}

/// What was read already, and the rest.
struct Ahead {
    first: Option<Bytes>,
    rest: Result<Body, Option<axum::Error>>,
}

impl http_body::Body for Ahead {
    type Data = Bytes;
    type Error = axum::Error;
    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        if let Some(first) = self.first.take() {
            return std::task::Poll::Ready(Some(Ok(http_body::Frame::data(first))));
        }
        match &mut self.rest {
            Ok(body) => std::pin::Pin::new(body).poll_frame(cx),
            Err(error) => std::task::Poll::Ready(error.take().map(Err)),
        }
    }
}
