//! Render: waits for late texts, settles with the session what stands where, and turns the request back into the client's.

use super::fragment::Entry;
use super::open::{PromptRequest, Settled};
use super::session::Commit;
use super::turn::Late;
use crate::wire::Wire;
use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Context as Cx, Poll, ready};
use tower::{Layer, Service};

/// Polls all that comes later side by side; what they bring stands where they were added.
pub(super) struct Join {
    entries: Vec<Entry>,
    late: Vec<Late>,
}

impl Join {
    pub(super) fn of<R>(request: &mut PromptRequest<R>) -> Self {
        Self { entries: mem::take(&mut request.prompt.entries), late: mem::take(&mut request.prompt.late) }
    }
    fn waits(&self) -> bool {
        self.late.iter().any(|late| late.came.is_none())
    }
    pub(super) fn poll(&mut self, cx: &mut Cx<'_>) -> Poll<Vec<Entry>> {
        for late in self.late.iter_mut().filter(|late| late.came.is_none()) {
            let Poll::Ready(mut entries) = late.later.as_mut().poll(cx) else { continue };
            for entry in &mut entries {
                match entry {
                    Entry::Fragment(fragment) => (fragment.layer, fragment.tier) = (late.layer, late.tier),
                    Entry::AddsTool { layer: by, .. } => *by = late.layer,
                    _ => {}
                }
            }
            late.came = Some(entries);
        }
        if self.waits() { Poll::Pending } else { Poll::Ready(self.take()) }
    }
    fn take(&mut self) -> Vec<Entry> {
        let mut all = mem::take(&mut self.entries);
        // From the last on, so that the places of those before it stay.
        for Late { behind, came, .. } in self.late.drain(..).rev() {
            all.splice(behind..behind, came.unwrap_or_default());
        }
        all
    }
}

impl fmt::Debug for Join {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Join").field("entries", &self.entries.len()).field("late", &self.late.len()).field("waits", &self.waits()).finish()
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
        let state = if join.waits() {
            State::Joining { request: Some(request), join, inner: None, wire: self.wire.clone() }
        } else {
            match Stored::of(request.settle(join.take())) {
                Ok(settled) => State::Calling { call: self.inner.call(settled.write(&self.wire)) },
                Err(stored) => State::Storing { stored: Some(stored), inner: None, wire: self.wire.clone() },
            }
        };
        let mut rendering = Rendering { state };
        if let State::Joining { inner, .. } | State::Storing { inner, .. } = &mut rendering.state {
            // What was polled ready is given back while others are waited for, so that they may use the same service.
            let fresh = self.inner.clone();
            drop(mem::replace(&mut self.inner, fresh.clone()));
            *inner = Some(fresh);
        }
        rendering
    }
}

/// A settled request, and what must be stored before it is sent.
pub(super) struct Stored<R> {
    settled: Box<Settled<R>>,
    commit: Commit,
}

impl<R> Stored<R> {
    /// The request itself where nothing has to be stored.
    pub(super) fn of(settled: Settled<R>) -> Result<Settled<R>, Self> {
        match settled.commit() {
            None => Ok(settled),
            Some(commit) => Err(Self { settled: Box::new(settled), commit }),
        }
    }
    /// Stored; where another process was first, settled anew and stored again.
    pub(super) fn poll(&mut self, wire: &impl Wire<R>, cx: &mut Cx<'_>) -> Poll<()> {
        loop {
            let stored = ready!(Pin::new(&mut self.commit).poll(cx));
            match self.settled.after(wire, stored) {
                None => return Poll::Ready(()),
                Some(commit) => self.commit = commit,
            }
        }
    }
    pub(super) fn into_settled(self) -> Settled<R> {
        *self.settled
    }
}

pin_project_lite::pin_project! {
    /// The future of [`Render`]: late texts, then what must be stored, then the inner service's readiness and its own call.
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
        Storing { stored: Option<Stored<R>>, inner: Option<S>, wire: W },
        Readying { request: Option<R>, inner: S },
        Calling { #[pin] call: S::Future },
    }
}

impl<S: Service<R>, W: Wire<R> + Clone, R> Future for Rendering<S, W, R> {
    type Output = Result<S::Response, S::Error>;
    fn poll(self: Pin<&mut Self>, cx: &mut Cx<'_>) -> Poll<Self::Output> {
        const ONCE: &str = "taken once, on leaving this state";
        let mut state = self.project().state;
        loop {
            let next = match state.as_mut().project() {
                Projected::Joining { request, join, inner, wire } => {
                    let entries = ready!(join.poll(cx));
                    let settled = request.take().expect(ONCE).settle(entries);
                    match Stored::of(settled) {
                        Ok(settled) => State::Readying { request: Some(settled.write(wire)), inner: inner.take().expect(ONCE) },
                        Err(stored) => State::Storing { stored: Some(stored), inner: inner.take(), wire: wire.clone() },
                    }
                }
                Projected::Storing { stored, inner, wire } => {
                    ready!(stored.as_mut().expect(ONCE).poll(wire, cx));
                    let settled = stored.take().expect(ONCE).into_settled();
                    State::Readying { request: Some(settled.write(wire)), inner: inner.take().expect(ONCE) }
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
