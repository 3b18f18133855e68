//! Skills as values, and a conversation with one stack.

use serde_json::{Value, json};
use tower_prompt_layers::skill::{Skill, SkillId, SkillSource, SkillSourceKind, SkillSummary, Skills};
use tower_prompt_layers::wire::OpenAiChat;
use tower_prompt_layers::{Context, Manifest, PromptStack, Report, Session};

pub(crate) fn id(id: &str) -> SkillId {
    SkillId::new(id).unwrap()
}

/// A skill with this description, these keywords and this body.
pub(crate) fn skill(name: &str, keywords: &[&str], body: &str) -> Skill {
    let source = SkillSource::new(SkillSourceKind::User, "user:skills").path("/skills");
    let mut summary = SkillSummary::new(id(name), format!("About {name}"), source);
    summary.location = format!("/skills/{name}/SKILL.md");
    let keywords = keywords.iter().map(|&keyword| keyword.to_owned()).collect();
    summary.activation.keywords = keywords;
    Skill::new(summary, body.to_owned())
}

pub(crate) fn skills(all: impl IntoIterator<Item = Skill>) -> Skills {
    Skills::new(all, Vec::new())
}

/// One conversation, a message of the user's at a time.
pub(crate) struct Chat {
    stack: PromptStack<OpenAiChat>,
    pub(crate) session: Session,
    pub(crate) messages: Vec<Value>,
}

/// What the model gets behind the last message, in the system prompt, and the manifest.
pub(crate) struct Sent {
    pub(crate) system: String,
    pub(crate) tail: String,
    pub(crate) manifest: Manifest,
}

impl Chat {
    pub(crate) fn new(stack: PromptStack<OpenAiChat>) -> Self {
        Self { stack, session: Session::new(), messages: Vec::new() }
    }
    /// The user says this.
    pub(crate) async fn says(&mut self, text: &str) -> Sent {
        if !self.messages.is_empty() {
            self.messages.push(json!({"role": "assistant", "content": "ok"}));
        }
        self.messages.push(json!({"role": "user", "content": text}));
        self.send().await
    }
    /// The request as it stands.
    pub(crate) async fn send(&self) -> Sent {
        let report = Report::default();
        let context = Context::default().session(self.session.clone()).report(report.clone());
        let sent = self.stack.assemble(json!({"messages": self.messages}), context).await;
        let messages = sent["messages"].as_array().unwrap();
        let system = messages.iter().find(|message| message["role"] == "system").map(|message| message["content"].as_str().unwrap());
        let last = messages.last().unwrap()["content"].as_str().unwrap();
        let own = self.messages.last().unwrap()["content"].as_str().unwrap();
        Sent {
            system: system.unwrap_or_default().to_owned(),
            tail: last.strip_prefix(own).unwrap_or(last).trim_start().to_owned(),
            manifest: report.manifest().unwrap(),
        }
    }
}

impl Sent {
    pub(crate) fn codes(&self) -> Vec<&str> {
        self.manifest.diagnostics.iter().map(|diagnostic| &*diagnostic.code).collect()
    }
}
