//! Render: waits for late texts, settles with the session what stands where, and turns the request back into the client's.

use super::fragment::Entry;
use super::open::PromptRequest;
use super::turn::Slot;
use crate::wire::Wire;
use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Context as Cx, Poll, ready};
use tower::{Layer, Service};

/// Polls all late slots side by side; what they bring stands where they were added.
pub(super) struct Join(Vec<Slot>);

impl Join {
    pub(super) fn of<R>(request: &mut PromptRequest<R>) -> Self {
        Self(mem::take(&mut request.prompt.slots))
    }
    fn waits(&self) -> bool {
        self.0.iter().any(|slot| matches!(slot, Slot::Late { .. }))
    }
    pub(super) fn poll(&mut self, cx: &mut Cx<'_>) -> Poll<Vec<Entry>> {
        for slot in &mut self.0 {
            if let Slot::Late { layer, tier, later } = slot
                && let Poll::Ready(mut entries) = later.as_mut().poll(cx)
            {
                for entry in &mut entries {
                    if let Entry::Fragment(fragment) = entry {
                        (fragment.layer, fragment.tier) = (*layer, *tier);
                    }
                }
                *slot = Slot::Came(entries);
            }
        }
        if self.waits() { Poll::Pending } else { Poll::Ready(self.take()) }
    }
    fn take(&mut self) -> Vec<Entry> {
        let mut all = Vec::with_capacity(self.0.len());
        for slot in self.0.drain(..) {
            match slot {
                Slot::Ready(entry) => all.push(entry),
                Slot::Came(entries) => all.extend(entries),
                Slot::Late { .. } => {}
            }
        }
        all
    }
}

impl fmt::Debug for Join {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Join").field("slots", &self.0.len()).field("waits", &self.waits()).finish()
    }
}

/// The last layer of a stack that is put together by hand, with the same wire as [`OpenLayer`](super::OpenLayer).
#[derive(Clone, Copy, Debug)]
pub struct RenderLayer<W>(W);

impl<W> RenderLayer<W> {
    /// Writes requests with `wire`.
    pub fn new(wire: W) -> Self {
        Self(wire)
    }
}

impl<S, W: Clone> Layer<S> for RenderLayer<W> {
    type Service = Render<S, W>;
    fn layer(&self, inner: S) -> Render<S, W> {
        Render { inner, wire: self.0.clone() }
    }
}

/// Turns requests back. See [`RenderLayer`].
#[derive(Clone, Copy, Debug)]
pub struct Render<S, W> {
    inner: S,
    wire: W,
}

impl<S: Service<R> + Clone, W: Wire<R> + Clone, R> Service<PromptRequest<R>> for Render<S, W> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = Rendering<S, W, R>;
    fn poll_ready(&mut self, cx: &mut Cx<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }
    fn call(&mut self, mut request: PromptRequest<R>) -> Self::Future {
        let mut join = Join::of(&mut request);
        if !join.waits() {
            let state = State::Calling { call: self.inner.call(request.render(&self.wire, &join.take())) };
            return Rendering { state };
        }
        // What was polled ready is given back while the late texts come, so that they may use the same service.
        let fresh = self.inner.clone();
        drop(mem::replace(&mut self.inner, fresh.clone()));
        Rendering { state: State::Joining { request: Some(request), join, inner: Some(fresh), wire: self.wire.clone() } }
    }
}

pin_project_lite::pin_project! {
    /// The future of [`Render`]: late texts, then the inner service's readiness, then its own call.
    #[must_use = "futures do nothing unless polled"]
    pub struct Rendering<S, W, R>
    where
        S: Service<R>,
    {
        #[pin]
        state: State<S, W, R>,
    }
}

pin_project_lite::pin_project! {
    #[project = Projected]
    enum State<S, W, R>
    where
        S: Service<R>,
    {
        Joining { request: Option<PromptRequest<R>>, join: Join, inner: Option<S>, wire: W },
        Readying { request: Option<R>, inner: S },
        Calling { #[pin] call: S::Future },
    }
}

impl<S: Service<R>, W: Wire<R>, R> Future for Rendering<S, W, R> {
    type Output = Result<S::Response, S::Error>;
    fn poll(self: Pin<&mut Self>, cx: &mut Cx<'_>) -> Poll<Self::Output> {
        const ONCE: &str = "taken once, on leaving this state";
        let mut state = self.project().state;
        loop {
            let next = match state.as_mut().project() {
                Projected::Joining { request, join, inner, wire } => {
                    let entries = ready!(join.poll(cx));
                    let request = request.take().expect(ONCE).render(wire, &entries);
                    State::Readying { request: Some(request), inner: inner.take().expect(ONCE) }
                }
                Projected::Readying { request, inner } => {
                    ready!(inner.poll_ready(cx))?;
                    State::Calling { call: inner.call(request.take().expect(ONCE)) }
                }
                Projected::Calling { call } => return call.poll(cx),
            };
            state.set(next);
        }
    }
}

impl<S: Service<R>, W, R> fmt::Debug for Rendering<S, W, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rendering").finish_non_exhaustive()
    }
}
