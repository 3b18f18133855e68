//! The upstream's answer on its way to the client: each byte as it comes, while its place among the running requests is held.

use super::learn::Learner;
use super::log::Passage;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::OwnedSemaphorePermit;

pin_project! {
    /// A body that passes. Dropped, when the client has hung up, it ends the upstream's call.
    pub(super) struct Passing<B> {
        #[pin]
        body: B,
        passage: Passage,
        learner: Option<Learner>,
        permit: Option<OwnedSemaphorePermit>,
    }
}

impl<B: Body<Data = Bytes>> Passing<B> {
    pub(super) fn new(body: B, mut passage: Passage, learner: Option<Learner>, permit: Option<OwnedSemaphorePermit>) -> Self {
        if body.is_end_stream() {
            passage.whole();
        }
        Self { body, passage, learner, permit }
    }
}

impl<B: Body<Data = Bytes>> Body for Passing<B> {
    type Data = Bytes;
    type Error = B::Error;
    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let mut this = self.project();
        let frame = ready!(this.body.as_mut().poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            this.passage.sent(data.len());
            if let Some(learner) = this.learner {
                learner.see(data);
            }
        }
        // What an answer of known length says is known before the client has all of it.
        if frame.is_none() || matches!(frame, Some(Ok(_))) && this.body.is_end_stream() {
            this.passage.whole();
            if let Some(mut learner) = this.learner.take() {
                learner.end();
            }
        }
        if frame.is_none() {
            this.permit.take();
        }
        Poll::Ready(frame)
    }
    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
