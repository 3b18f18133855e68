//! A conversation's body, assembled, or as it came.

use super::Shared;
use super::lossless::{self, AsWritten};
use super::routes::Route;
use super::skill_tool::{Scope, Turn, Written};
use crate::Assembly;
use crate::blocking::off_the_executor;
use crate::layers::wire::Format;
use crate::layers::{Context, PromptStack, Purpose, Report, Session};
use bytes::Bytes;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Bodies from here on are read, assembled and written off the executor: what is smaller takes less than other requests would notice.
const LARGE: usize = 256 * 1024;

/// A stack for each format, over the same skills and conversations.
#[derive(Clone)]
pub(super) struct Stacks(Vec<(Format, PromptStack<Format>)>);

/// A request's body, and what is known of it.
pub(super) struct Given {
    pub(super) route: Route,
    pub(super) path: String,
    pub(super) plain: Bytes,
    pub(super) context: Context,
    pub(super) scope: Scope,
    /// As the header names it.
    pub(super) session: Option<String>,
}

/// What is sent on.
pub(super) enum Judged {
    Assembled(Assembled),
    /// The body as it came, and why.
    Untouched(Cow<'static, str>),
}

pub(super) struct Assembled {
    pub(super) body: Vec<u8>,
    pub(super) report: Report,
    /// The skill tool is answered here.
    pub(super) turn: Option<Box<Turn>>,
}

/// A request as the upstream gets it.
pub(super) struct Sent {
    pub(super) request: Value,
    pub(super) report: Report,
    /// By its name, or as it was recognised.
    session: Session,
}

impl Stacks {
    pub(super) fn of(assembly: &Assembly) -> Self {
        Self(Format::ALL.map(|format| (format, assembly.stack(format))).into())
    }
    /// The request as it is sent; `None`: it is no conversation.
    pub(super) async fn assembled(&self, format: Format, request: Value, context: Context) -> Option<Sent> {
        let (_, stack) = self.0.iter().find(|(known, _)| *known == format)?;
        let report = context.report.clone();
        let open = stack.begin(request, context);
        let session = open.session().clone();
        let request = stack.finish(open).await;
        report.manifest().is_some().then_some(Sent { request, report, session })
    }
}

impl Shared {
    /// A body that is no conversation, or that can't be written again as it was meant, is left as it is: the API judges it. A large one doesn't keep the
    /// executor's threads from other requests.
    pub(super) async fn assembled_or_untouched(self: &Arc<Self>, given: Given) -> Judged {
        if given.plain.len() < LARGE {
            return self.judged(given).await;
        }
        let Ok(turn) = self.large.clone().acquire_owned().await else { return Judged::Untouched("nothing is assembled any more".into()) };
        let (shared, runtime) = (self.clone(), Handle::current());
        let work = off_the_executor(move || {
            // Also where nobody waits for it any more.
            let _turn = turn;
            runtime.block_on(shared.judged(given))
        });
        work.await.unwrap_or_else(|| Judged::Untouched("it could not be assembled".into()))
    }

    async fn judged(&self, given: Given) -> Judged {
        let Given { route, path, plain, context, scope, session } = given;
        let (mut value, written) = match lossless::read(&plain) {
            Ok(read) => read,
            Err(why) => return Judged::Untouched(why),
        };
        let numbers: Arc<AsWritten> = Arc::new(written);
        let answering = self.answering.as_ref().filter(|_| route.format != Format::OllamaGenerate);
        let mut turn = answering.and_then(|answering| {
            let written = Written { plain, numbers: numbers.clone() };
            Turn::open(answering, (route.format, scope), &mut value, written, &context, &path)
        });
        let Some(Sent { request: mut value, report, session: of }) = self.stacks.assembled(route.format, value, context).await else {
            return Judged::Untouched("it is no conversation".into());
        };
        // A prefix is to stay what it is, and nothing of the answer is looked at.
        turn = turn.filter(|_| route.purpose == Purpose::Converse).map(|turn| turn.of(of));
        if let (Some(open), Some(answering)) = (&mut turn, answering)
            && !open.offer(&mut value, answering.tool_name())
        {
            turn = None;
        }
        let body = numbers.write(&value);
        self.show(session, &report, value, body.len());
        Judged::Assembled(Assembled { body, report, turn: turn.map(Box::new) })
    }
    /// Where requests are shown, this is the last.
    pub(super) fn show(&self, session: Option<String>, report: &Report, value: Value, bytes: usize) {
        if let (Some(last), Some(manifest)) = (&self.last, report.manifest()) {
            last.keep(session, manifest, value, bytes);
        }
    }
}
