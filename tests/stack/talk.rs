//! A conversation through a stack, which checks of each request that it extends the one before.

use crate::place::Place;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tower_prompt::layers::skill::SkillId;
use tower_prompt::layers::wire::OpenAiChat;
use tower_prompt::layers::{Context, Diagnostic, Manifest, PromptStack, Report, Session};
use tower_prompt::{Assembly, Environment, Workspace};

pub(super) fn some_time() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_782_909_015)
}

impl Place {
    /// This configuration in TOML, on top of what stands in the files.
    pub(super) fn environment(&self, config: &str) -> Environment {
        let environment = Environment::new(self.at("work")).home(self.at("home")).variable("TZ", "UTC").clock(some_time);
        let environment = self.own_git().into_iter().fold(environment, |environment, (name, value)| environment.variable(name, value));
        if config.is_empty() { environment } else { environment.variable("BCODE_CONFIG_TOML", config) }
    }
    pub(super) fn assembly(&self, config: &str) -> Assembly {
        self.assembly_in(&Workspace::at(self.at("work")), config)
    }
    pub(super) fn assembly_in(&self, workspace: &Workspace, config: &str) -> Assembly {
        Assembly::load(&self.environment(config), workspace).unwrap()
    }
    pub(super) fn talk(&self, config: &str) -> Talk {
        Talk::new(&self.assembly(config))
    }
    /// The manifest of a first message.
    pub(super) fn start(&self, config: &str, text: &str) -> Said {
        self.talk(config).say(text)
    }
}

/// Says it anew where a program that was asked did not answer in time, which is told: on a machine that other tests keep busy that means nothing.
pub(super) fn in_time<T>(mut say: impl FnMut() -> T, was_late: impl Fn(&T) -> bool) -> T {
    (0..20).map(|_| say()).find(|said| !was_late(said)).expect("one of twenty times all are in time")
}

pub(super) fn is_late(diagnostic: &Diagnostic) -> bool {
    ["did not answer within", "is late", "in time"].iter().any(|late| diagnostic.message.contains(late))
}

/// Runs a future to its end.
pub(super) fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub(super) fn id(id: &str) -> SkillId {
    SkillId::new(id).unwrap()
}

/// One conversation with a session.
pub(super) struct Talk {
    stack: PromptStack<OpenAiChat>,
    pub(super) session: Session,
    pub(super) messages: Vec<Value>,
    sent: Vec<Value>,
}

impl Talk {
    pub(super) fn new(assembly: &Assembly) -> Self {
        Self { stack: assembly.stack(OpenAiChat), session: Session::new(), messages: Vec::new(), sent: Vec::new() }
    }
    /// The user says something, behind an answer if there was a message before.
    pub(super) fn say(&mut self, text: &str) -> Said {
        if !self.messages.is_empty() {
            self.messages.push(json!({"role": "assistant", "content": "Done."}));
        }
        self.messages.push(json!({"role": "user", "content": text}));
        self.send()
    }
    /// The model calls a tool, and has its result.
    pub(super) fn call_a_tool(&mut self) -> Said {
        let id = format!("call-{}", self.messages.len());
        let call = json!({"id": id, "type": "function", "function": {"name": "list", "arguments": "{}"}});
        self.messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": "a\nb"}));
        self.send()
    }
    /// These messages are the history now; what is sent of them extends nothing.
    pub(super) fn compact(&mut self, messages: Vec<Value>) {
        self.messages = messages;
        self.sent.clear();
    }
    pub(super) fn send(&mut self) -> Said {
        let report = Report::default();
        let context = Context::default().session(self.session.clone()).report(report.clone());
        let body = wait(self.stack.assemble(json!({"messages": self.messages}), context));
        let sent = body["messages"].as_array().unwrap().clone();
        assert!(sent.starts_with(&self.sent), "a request extends the one before:\n{:#?}\n{sent:#?}", self.sent);
        let new =
            sent[self.sent.len()..].iter().map(|message| message["content"].as_str().unwrap_or_default()).collect::<Vec<_>>().join("\n");
        let system = sent[0]["content"].as_str().unwrap().to_owned();
        self.sent = sent;
        Said { system, new, manifest: report.manifest().unwrap() }
    }
}

/// What a request said.
pub(super) struct Said {
    /// The system prompt.
    pub(super) system: String,
    /// All that the request before did not say; in the first, the system prompt too.
    pub(super) new: String,
    pub(super) manifest: Manifest,
}

impl Said {
    /// The text of a fragment; empty where there is none.
    pub(super) fn fragment(&self, id: &str) -> &str {
        let mut found = self.manifest.texts.iter().flat_map(|text| text.fragments.iter().map(move |fragment| (text, fragment)));
        found.find(|(_, fragment)| fragment.id == id).map_or("", |(text, of)| &text.text[of.offset..of.offset + of.bytes])
    }
    pub(super) fn ids(&self) -> Vec<&str> {
        self.manifest.fragments().map(|(_, fragment)| &*fragment.id).collect()
    }
    pub(super) fn ids_in(&self, prefix: &str) -> Vec<&str> {
        self.ids().into_iter().filter(|id| id.starts_with(prefix)).collect()
    }
    pub(super) fn was_late(&self) -> bool {
        self.manifest.diagnostics.iter().any(is_late)
    }
    pub(super) fn codes(&self) -> Vec<&str> {
        self.manifest.diagnostics.iter().map(|found| &*found.code).collect()
    }
}
