//! Open: the client's request becomes a [`PromptRequest`], read, and its place looked up.

use super::fragment::Entry;
use super::manifest::Manifest;
use super::session::{Bookmark, Commit, JournalError, Opened, Session};
use super::turn::{Contribute, Prompt, Turn};
use super::{Context, Diagnostic, Purpose, Round, Settings};
use crate::wire::{Conversation, Edits, Wire};
use std::fmt;
use std::task::{Context as Cx, Poll};
use tower::{Layer, Service};

/// A request on its way through the layers.
pub struct PromptRequest<R> {
    /// What layers see.
    pub turn: Turn,
    /// What layers add to.
    pub prompt: Prompt,
    request: R,
    session: Session,
    opened: Opened,
    settings: Settings,
}

impl<R> PromptRequest<R> {
    /// Opened: read, and its place looked up.
    pub fn open(wire: &impl Wire<R>, request: R, context: Context, settings: &Settings) -> Self {
        Self::open_with(wire, request, context, settings.clone())
    }
    pub(super) fn open_with(wire: &impl Wire<R>, request: R, mut context: Context, settings: Settings) -> Self {
        let mut conversation = Conversation::default();
        if context.purpose != Purpose::Bare {
            conversation = wire.read(&request);
            if conversation.is_foreign {
                context.purpose = Purpose::Bare;
            }
        }
        let (session, is_named) = match context.purpose {
            // No layer runs, so nothing is looked up.
            Purpose::Bare => (Session::new(), true),
            _ => Session::of(&context, &conversation, &settings),
        };
        let (turn, opened) = session.open(conversation, context, &settings, is_named);
        let prompt = Prompt::new(turn.round);
        Self { turn, prompt, request, session, opened, settings }
    }
    /// A layer adds what it has to say.
    pub fn collect(&mut self, layer: &(impl Contribute + ?Sized)) {
        if self.turn.context.purpose != Purpose::Bare {
            self.prompt.layer = layer.name();
            layer.contribute(&self.turn, &mut self.prompt);
        }
    }
    /// The conversation that it is of, by name or as it was recognised: for a host that answers what the model calls.
    pub fn session(&self) -> &Session {
        &self.session
    }
    /// Settled, once nothing of it is late any more.
    pub(super) fn settle(self, entries: Vec<Entry>) -> Settled<R> {
        let Self { turn, request, session, opened, settings, prompt } = self;
        let collected = prompt.round();
        let said = (turn.context.purpose != Purpose::Bare).then(|| say(&session, &turn, opened, (collected, &entries), &settings));
        let Turn { context, is_named, .. } = turn;
        Settled { request, session, settings, context, is_named, collected, entries, said, retries: 0 }
    }
}

/// So often a request is settled again where another process was first: where two are equally fast, all but one in a hundred thousand get through.
const RETRIES: u32 = 16;

/// A request whose place is settled, before that is stored and it is written.
pub(super) struct Settled<R> {
    request: R,
    session: Session,
    settings: Settings,
    context: Context,
    is_named: bool,
    /// For which round the entries were collected.
    collected: Round,
    entries: Vec<Entry>,
    said: Option<Said>,
    retries: u32,
}

/// What a place comes to: what changes in the request, and what is told of it.
type Said = (Edits, Manifest, Option<Bookmark>);

fn say(session: &Session, turn: &Turn, opened: Opened, collected: (Round, &[Entry]), settings: &Settings) -> Said {
    let bookmark = session.bookmark(&opened);
    let (edits, manifest) = session.settle(turn, opened, collected, settings);
    (edits, manifest, bookmark)
}

impl<R> Settled<R> {
    /// What must be stored before it is sent.
    pub(super) fn commit(&self) -> Option<Commit> {
        self.said.as_ref().and_then(|_| Commit::of(&self.session))
    }
    /// What is to be stored next, where `stored` was a conflict: the session is another now, and the place is settled on it anew.
    pub(super) fn after(&mut self, wire: &impl Wire<R>, stored: Result<(), JournalError>) -> Option<Commit> {
        let failed = match stored {
            Ok(()) => return None,
            Err(JournalError::Conflict) if self.retries < RETRIES => {
                self.retries += 1;
                let conversation = wire.read(&self.request);
                let (turn, opened) = self.session.open(conversation, self.context.clone(), &self.settings, self.is_named);
                self.said = Some(say(&self.session, &turn, opened, (self.collected, &self.entries), &self.settings));
                return self.commit();
            }
            Err(JournalError::Conflict) => {
                Diagnostic::warning("session-not-stored", "the session is changed by others faster than it can be stored")
            }
            Err(JournalError::Failed(diagnostic)) => diagnostic,
        };
        if let Some((_, manifest, _)) = &mut self.said {
            manifest.diagnostics.push(failed);
        }
        None
    }
    pub(super) fn write(self, wire: &impl Wire<R>) -> R {
        let Some((edits, manifest, bookmark)) = self.said else {
            self.context.report.clear();
            return self.request;
        };
        self.settings.observe(&manifest);
        self.context.report.fill(manifest, bookmark);
        wire.write(self.request, &edits)
    }
}

impl<R> fmt::Debug for PromptRequest<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptRequest").field("turn", &self.turn).field("prompt", &self.prompt).finish_non_exhaustive()
    }
}

/// Opens requests. See [`OpenLayer`].
#[derive(Clone, Debug)]
pub struct Open<S, W> {
    inner: S,
    wire: W,
    settings: Settings,
}

impl<S: Service<PromptRequest<R>>, W: Wire<R>, R> Service<R> for Open<S, W> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;
    fn poll_ready(&mut self, cx: &mut Cx<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }
    fn call(&mut self, request: R) -> S::Future {
        let context = self.settings.context.clone();
        self.inner.call(PromptRequest::open(&self.wire, request, context, &self.settings))
    }
}

/// The first layer of a stack that is put together by hand: one service a conversation, with the context of its [`Settings`].
#[derive(Clone, Debug)]
pub struct OpenLayer<W> {
    wire: W,
    settings: Settings,
}

impl<W> OpenLayer<W> {
    /// Reads requests with `wire`.
    pub fn new(wire: W, settings: &Settings) -> Self {
        Self { wire, settings: settings.clone() }
    }
}

impl<S, W: Clone> Layer<S> for OpenLayer<W> {
    type Service = Open<S, W>;
    fn layer(&self, inner: S) -> Open<S, W> {
        Open { inner, wire: self.wire.clone(), settings: self.settings.clone() }
    }
}

/// A request with a context of its own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Call<R> {
    /// The client's request.
    pub request: R,
    /// What the host says with it.
    pub context: Context,
}

impl<R> Call<R> {
    /// This request, of which the host says this.
    pub fn new(request: R, context: Context) -> Self {
        Self { request, context }
    }
}

/// Opens requests that bring their own context. See [`OpenCallLayer`].
#[derive(Clone, Debug)]
pub struct OpenCall<S, W> {
    inner: S,
    wire: W,
    settings: Settings,
}

impl<S: Service<PromptRequest<R>>, W: Wire<R>, R> Service<Call<R>> for OpenCall<S, W> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;
    fn poll_ready(&mut self, cx: &mut Cx<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }
    fn call(&mut self, call: Call<R>) -> S::Future {
        self.inner.call(PromptRequest::open(&self.wire, call.request, call.context, &self.settings))
    }
}

/// As [`OpenLayer`], for a service of many conversations: takes [`Call`]s. Without a session or a scope in its context a call is a conversation
/// of its own.
#[derive(Clone, Debug)]
pub struct OpenCallLayer<W> {
    wire: W,
    settings: Settings,
}

impl<W> OpenCallLayer<W> {
    /// Reads requests with `wire`.
    pub fn new(wire: W, settings: &Settings) -> Self {
        let settings = Settings { is_per_call: true, ..settings.clone() };
        Self { wire, settings }
    }
}

impl<S, W: Clone> Layer<S> for OpenCallLayer<W> {
    type Service = OpenCall<S, W>;
    fn layer(&self, inner: S) -> OpenCall<S, W> {
        OpenCall { inner, wire: self.wire.clone(), settings: self.settings.clone() }
    }
}
