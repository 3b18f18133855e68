//! A request on its way to the upstream, and the answer on its way back.

use super::answer::Passing;
use super::assemble::{Given, Judged};
use super::body::{self, NotPlain};
use super::errors::Refusal;
use super::learn::Learner;
use super::log::{Handling, Passage};
use super::routes::{Dialect, Route};
use super::serve::is_for_another_host;
use super::skill_tool::{Scope, Turn};
use super::{Shared, headers};
use crate::layers::{Context, Purpose, Report, Session};
use axum::body::Body;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue};
use http::request::Parts;
use http::{Request, Response};
use http_body::Body as _;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

/// What is known of a request that the stack assembled.
struct Known {
    route: Route,
    report: Report,
}

/// What is sent on.
struct Sent {
    body: Body,
    handling: Handling,
    known: Option<Known>,
    /// Another proxy is to leave it alone.
    is_marked: bool,
    /// The skill tool is answered here.
    turn: Option<Box<Turn>>,
}

impl Sent {
    fn untouched(body: impl Into<Body>, why: impl Into<Cow<'static, str>>) -> Self {
        Self { body: body.into(), handling: Handling::Untouched(why.into()), known: None, is_marked: false, turn: None }
    }
}

impl Shared {
    /// The answer to a request: the upstream's, or why there is none.
    pub(super) async fn forward(self: Arc<Self>, request: Request<Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let dialect = Dialect::of(&self.upstream.path(parts.uri.path()));
        let mut passage = Passage::new(parts.method.clone(), parts.uri.path().to_owned(), &self.metrics, self.observer.clone());
        match self.carry(parts, body, &mut passage).await {
            Ok((answer, learner, permit)) => {
                let (parts, body) = answer.into_parts();
                passage.answered(parts.status);
                Response::from_parts(parts, Body::new(Passing::new(body, passage, learner, Some(permit))))
            }
            Err(refusal) => {
                let (parts, body) = refusal.answer(dialect).into_parts();
                passage.handling(Handling::Refused(refusal.code()));
                passage.answered(parts.status);
                Response::from_parts(parts, Body::new(Passing::new(body, passage, None, None)))
            }
        }
    }

    async fn carry(
        self: &Arc<Self>,
        mut parts: Parts,
        body: Body,
        passage: &mut Passage,
    ) -> Result<(Response<Body>, Option<Learner>, OwnedSemaphorePermit), Refusal> {
        if is_for_another_host(&parts) {
            return Err(Refusal::OtherHost);
        }
        // Held until the answer's last byte, which a limit on the call alone would not do.
        let permit = self.running.clone().try_acquire_owned().map_err(|_| Refusal::TooMany)?;
        let uri = self.upstream.uri(parts.uri.path_and_query().map_or("/", |path| path.as_str())).map_err(|_| Refusal::BadPath)?;
        let sent = match Route::of(&parts.method, uri.path()) {
            None => Sent { body, handling: Handling::Passed, known: None, is_marked: false, turn: None },
            Some(route) => self.conversation(route, &mut parts, body).await?,
        };
        if let Handling::Untouched(why) = &sent.handling {
            tracing::debug!("{} is sent on untouched: {why}", parts.uri.path());
        }
        passage.handling(sent.handling);
        headers::for_upstream(&mut parts.headers);
        if sent.is_marked {
            parts.headers.insert(headers::ASSEMBLED, HeaderValue::from_static("1"));
        }
        let turn = sent.turn.map(|mut turn| {
            // Read along.
            parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            turn.sent_to((parts.method.clone(), uri.clone(), parts.headers.clone()));
            turn
        });
        let mut request = Request::new(sent.body);
        (*request.method_mut(), *request.uri_mut(), *request.headers_mut()) = (parts.method, uri, parts.headers);
        let answer = self.ask(request).await?;
        let learner = sent.known.and_then(|known| {
            Learner::of(known.route.format, &known.report, &self.metrics, answer.status(), answer.headers())
                .filter(|_| known.route.purpose == Purpose::Converse)
        });
        let (answer, learner) = match (turn, &self.answering) {
            (Some(turn), Some(answering)) => self.answered(answering, turn, answer, learner).await?,
            _ => (answer, learner),
        };
        Ok((answer, learner, permit))
    }

    /// The upstream's answer, without what belongs to its connection.
    pub(super) async fn ask(&self, request: Request<Body>) -> Result<Response<Body>, Refusal> {
        let is_head = *request.method() == http::Method::HEAD;
        match timeout(self.limits.answer_time, self.client.request(request)).await {
            Ok(Ok(answer)) => Ok(for_client(answer, is_head)),
            Ok(Err(error)) => {
                tracing::warn!("the upstream can't be reached: {}", with_causes(&error));
                Err(Refusal::Unreachable)
            }
            Err(_) => Err(Refusal::Late),
        }
    }

    /// The body of a request on a conversation's path.
    async fn conversation(self: &Arc<Self>, mut route: Route, parts: &mut Parts, body: Body) -> Result<Sent, Refusal> {
        if parts.headers.contains_key(headers::ASSEMBLED) {
            return Ok(Sent::untouched(body, "another proxy assembled it"));
        }
        match headers::purpose(&parts.headers) {
            Some(purpose) => route.purpose = purpose,
            None if parts.headers.contains_key(headers::PURPOSE) => {
                tracing::warn!("{} says a purpose that is none of converse, same-prefix and bare", headers::PURPOSE);
            }
            None => {}
        }
        if route.purpose == Purpose::Bare {
            return Ok(Sent { is_marked: true, ..Sent::untouched(body, "it is to stay bare") });
        }
        if headers::binds_the_body(&parts.headers) {
            return Ok(Sent::untouched(body, "its headers sign the body"));
        }
        let max = self.limits.body_bytes;
        let is_larger =
            |length: &HeaderValue| length.to_str().is_ok_and(|length| length.parse::<u64>().is_ok_and(|length| length > max as u64));
        if parts.headers.get(CONTENT_LENGTH).is_some_and(is_larger) {
            return Err(Refusal::TooLarge(max));
        }
        let raw = body::read(body, max, self.limits.body_pause).await?;
        let plain = match body::decompressed(&parts.headers, raw.clone(), max).await {
            Ok(plain) => plain,
            Err(NotPlain::TooLarge) => return Err(Refusal::TooLarge(max)),
            Err(NotPlain::Unknown) => return Ok(Sent::untouched(raw, "its content coding is unknown, or its bytes are not in it")),
        };
        let named = self.session_named(parts).map(HeaderValue::as_bytes);
        let given = Given {
            route,
            path: parts.uri.path().to_owned(),
            plain,
            scope: Scope::new(&headers::scope(&parts.headers, parts.uri.query()), named),
            session: named.map(|named| String::from_utf8_lossy(named).into_owned()),
            context: self.context(route.purpose, parts).await,
        };
        match self.assembled_or_untouched(given).await {
            Judged::Untouched(why) => Ok(Sent::untouched(raw, why)),
            Judged::Assembled(assembled) => {
                parts.headers.remove(CONTENT_ENCODING);
                let known = Some(Known { route, report: assembled.report });
                Ok(Sent { body: assembled.body.into(), handling: Handling::Assembled, known, is_marked: true, turn: assembled.turn })
            }
        }
    }

    async fn context(&self, purpose: Purpose, parts: &Parts) -> Context {
        let scope = headers::scope(&parts.headers, parts.uri.query());
        let mut context = Context::default().purpose(purpose).compacted(headers::is_compacted(&parts.headers));
        context.host.provider = self.upstream.provider().map(str::to_owned);
        context.session = self.session(&scope, parts).await;
        context.scope(scope)
    }
    /// The conversation that the request names. Where its store fails it is known by its messages.
    async fn session(&self, scope: &str, parts: &Parts) -> Option<Session> {
        let id = headers::session_id(scope, self.session_named(parts)?)?;
        match timeout(STORE_DEADLINE, self.sessions.open(&id)).await {
            Ok(Ok(session)) => Some(session),
            Ok(Err(error)) => {
                tracing::warn!("a session can't be opened: {error}");
                None
            }
            Err(_) => {
                tracing::warn!("a session can't be opened: its store is late");
                None
            }
        }
    }
    fn session_named<'a>(&self, parts: &'a Parts) -> Option<&'a HeaderValue> {
        parts.headers.get(self.session_header.as_ref()?)
    }
}

/// A store of sessions is not waited for longer.
const STORE_DEADLINE: Duration = Duration::from_secs(5);

/// The upstream's answer without what belongs to its connection.
fn for_client(mut answer: Response<hyper::body::Incoming>, is_head: bool) -> Response<Body> {
    let is_exact = answer.body().size_hint().exact().is_some();
    let headers = answer.headers_mut();
    headers::drop_hop_by_hop(headers);
    // A length beside chunks is none.
    if !is_exact && !is_head {
        headers.remove(CONTENT_LENGTH);
    }
    *answer.version_mut() = http::Version::HTTP_11;
    answer.map(Body::new)
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |all, cause| format!("{all}: {cause}"))
}
