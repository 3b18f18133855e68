//! A conversation through a stack, in any format.

use super::bodies::{Message, body, prefix};
use serde_json::Value;
use tower_prompt::Assembly;
use tower_prompt::layers::skill::SkillId;
use tower_prompt::layers::wire::Format;
use tower_prompt::layers::{Context, Manifest, PromptStack, RenderedFragment, Report, Session};

/// Runs a future to its end.
pub(super) fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub(super) fn id(id: &str) -> SkillId {
    SkillId::new(id).unwrap()
}

pub(super) struct Conversation {
    pub(super) format: Format,
    pub(super) stack: PromptStack<Format>,
    pub(super) session: Session,
    pub(super) messages: Vec<Message>,
}

/// A request as it was sent.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) body: Value,
    pub(super) manifest: Manifest,
}

impl Conversation {
    pub(super) fn new(assembly: &Assembly, format: Format) -> Self {
        Self::of(assembly.stack(format), format)
    }
    pub(super) fn of(stack: PromptStack<Format>, format: Format) -> Self {
        Self { format, stack, session: Session::new(), messages: Vec::new() }
    }
    /// The user says something, behind an answer if there was a message before.
    pub(super) fn say(&mut self, text: &str) -> Sent {
        if !self.messages.is_empty() {
            self.messages.push(Message::Assistant("Done.".into()));
        }
        self.messages.push(Message::User(text.into()));
        self.send()
    }
    /// The model calls a tool, and has its result.
    pub(super) fn call_a_tool(&mut self, result: &str) -> Sent {
        let n = self.messages.len();
        self.messages.extend([Message::Call(n), Message::Result(n, result.into())]);
        self.send()
    }
    /// What there is to send, new or again.
    pub(super) fn send(&self) -> Sent {
        self.send_body(body(self.format, &self.messages))
    }
    pub(super) fn send_body(&self, body: Value) -> Sent {
        let report = Report::default();
        let context = Context::default().session(self.session.clone()).report(report.clone());
        let body = wait(self.stack.assemble(body, context));
        Sent { body, manifest: report.manifest().unwrap() }
    }
}

impl Sent {
    /// Each fragment that stands in the request, with its text.
    pub(super) fn fragments(&self) -> impl Iterator<Item = (&RenderedFragment, &str)> {
        let texts = self.manifest.texts.iter();
        texts.flat_map(|text| text.fragments.iter().map(move |fragment| (fragment, text.fragment(fragment))))
    }
    /// Those whose id begins so.
    pub(super) fn of(&self, id: &str) -> Vec<&str> {
        self.fragments().filter(|(fragment, _)| fragment.id.starts_with(id)).map(|(_, text)| text).collect()
    }
    /// Of these, those that it says for the first time.
    pub(super) fn new_of(&self, id: &str) -> Vec<&str> {
        let texts = self.manifest.texts.iter().filter(|text| text.is_new);
        let fragments = texts.flat_map(|text| text.fragments.iter().map(move |fragment| (fragment, text.fragment(fragment))));
        fragments.filter(|(fragment, _)| fragment.id.starts_with(id)).map(|(_, text)| text).collect()
    }
    pub(super) fn ids(&self) -> Vec<&str> {
        self.fragments().map(|(fragment, _)| &*fragment.id).collect()
    }
    /// The system prompt.
    pub(super) fn system(&self) -> &str {
        self.manifest.texts.first().map_or("", |text| &text.text)
    }
    /// Diagnostics with this code.
    pub(super) fn told(&self, code: &str) -> Vec<&str> {
        self.manifest.diagnostics.iter().filter(|found| found.code == code).map(|found| &*found.message).collect()
    }
    /// Whether it holds the other one, and something behind it at most.
    pub(super) fn extends(&self, before: &Self) -> bool {
        prefix(&self.body).starts_with(&prefix(&before.body))
    }
}
