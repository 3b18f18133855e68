//! What the tests share: short bodies, a world of one fact, and one conversation.
#![allow(dead_code, reason = "each test program uses its part")]

use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tower_prompt_layers::skill::{ActiveSkill, SkillId};
use tower_prompt_layers::wire::{Conversation, Edits, OpenAiChat, Wire};
use tower_prompt_layers::{
    Context, Contribute, Fragment, Prompt, PromptRequest, PromptStack, Session, Settings, SystemPromptLayer, Tier, Turn,
};

pub(crate) async fn echo(request: Value) -> Result<Value, Infallible> {
    Ok(request)
}
pub(crate) fn system(text: &str) -> Value {
    json!({"role": "system", "content": text})
}
pub(crate) fn user(text: impl Into<Value>) -> Value {
    json!({"role": "user", "content": text.into()})
}
pub(crate) fn says(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}
pub(crate) fn calls(id: &str) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "function": {"name": "ls", "arguments": "{}"}}]})
}
pub(crate) fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "files"})
}
pub(crate) fn block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
pub(crate) fn body(messages: &[Value]) -> Value {
    json!({"model": "m", "messages": messages})
}
pub(crate) fn messages(request: &Value) -> Vec<Value> {
    request["messages"].as_array().unwrap().clone()
}
/// The texts of an assembled request, in their order.
pub(crate) fn texts(request: &Value) -> Vec<&str> {
    let messages = request["messages"].as_array().unwrap().iter().map(|message| &message["content"]);
    let texts = messages.flat_map(|content| content.as_array().into_iter().flatten().map(|part| &part["text"]).chain([content]));
    texts.filter_map(Value::as_str).collect()
}
/// What stands in a request last.
pub(crate) fn last(request: &Value) -> &str {
    texts(request).last().unwrap()
}
/// A text of the host's.
pub(crate) fn ours(lines: &str) -> String {
    format!("<context origin=\"host\">\n{lines}\n</context>")
}
/// The same behind words of the user's, in one string.
pub(crate) fn behind(words: &str, lines: &str) -> String {
    format!("{words}\n\n{}", ours(lines))
}
pub(crate) fn base() -> SystemPromptLayer {
    SystemPromptLayer::replaced("BASE")
}
pub(crate) fn id(skill: &str) -> SkillId {
    SkillId::new(skill).unwrap()
}
pub(crate) fn clock(time: &'static str) -> impl Contribute + Clone {
    move |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Turn, || Fragment::new("clock", time))
}

/// A fact of the world, by id, if there is one; without a value it is gone.
type Fact = Option<(&'static str, Option<&'static str>)>;

#[derive(Clone, Default)]
pub(crate) struct World(Arc<Mutex<Fact>>);

impl World {
    pub(crate) fn is(&self, id: &'static str, value: &'static str) {
        *self.0.lock().unwrap() = Some((id, Some(value)));
    }
    pub(crate) fn lacks(&self, id: &'static str) {
        *self.0.lock().unwrap() = Some((id, None));
    }
}

impl Contribute for World {
    fn contribute(&self, _: &Turn, prompt: &mut Prompt) {
        match *self.0.lock().unwrap() {
            Some((id, Some(value))) => prompt.add(Tier::Turn, || Fragment::new(id, value)),
            Some((id, None)) => prompt.gone(id),
            None => {}
        }
    }
}

pub(crate) fn active_skills(turn: &Turn, prompt: &mut Prompt) {
    for skill in &turn.active {
        prompt.add(Tier::Step, || Fragment::new(format!("active_skill:{}", skill.id), format!("BODY OF {}", skill.id)));
    }
    prompt.only("active_skill:", turn.active.iter().map(|skill| format!("active_skill:{}", skill.id)));
}

pub(crate) fn matched_skill(turn: &Turn, prompt: &mut Prompt) {
    if turn.user_text().is_some_and(|text| text.contains("borrow")) {
        let body = || Fragment::new("active_skill:rust", "BODY OF rust").activating(ActiveSkill::automatic(id("rust")));
        prompt.add(Tier::Step, body);
    }
}

/// One conversation.
pub(crate) struct Chat<W> {
    pub(crate) stack: PromptStack<W>,
    pub(crate) session: Session,
    pub(crate) world: World,
}

pub(crate) fn chat<W>(wire: W) -> Chat<W> {
    let world = World::default();
    let stack = PromptStack::new(wire, Settings::default()).with(active_skills).with(matched_skill).with(world.clone());
    Chat { stack, session: Session::new(), world }
}

impl<W: Wire<Value>> Chat<W> {
    pub(crate) fn context(&self) -> Context {
        Context::default().session(self.session.clone())
    }
    pub(crate) fn begin(&self, messages: &[Value]) -> PromptRequest<Value> {
        self.stack.begin(body(messages), self.context())
    }
    pub(crate) async fn send(&self, messages: &[Value]) -> Value {
        self.send_body(body(messages)).await
    }
    pub(crate) async fn send_body(&self, body: Value) -> Value {
        self.stack.assemble(body, self.context()).await
    }
}

/// In this format no text stands behind results.
pub(crate) struct StrictResults;
impl Wire<Value> for StrictResults {
    fn read(&self, request: &Value) -> Conversation {
        let mut conversation = OpenAiChat.read(request);
        conversation.results_stand_alone = true;
        conversation
    }
    fn write(&self, request: Value, edits: &Edits) -> Value {
        OpenAiChat.write(request, edits)
    }
}
