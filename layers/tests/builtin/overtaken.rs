//! What the host says, and what the caller changes, while requests are under way or a conversation goes on.

use super::stage::{id, skill, skills};
use serde_json::{Value, json};
use tower_prompt_layers::skill::SkillContextOptions;
use tower_prompt_layers::wire::{Anthropic, OpenAiChat};
use tower_prompt_layers::{
    ActiveSkillsLayer, AutoActivate, Context, PromptStack, Session, Settings, SkillActivationLayer, SystemPromptLayer,
};

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}
fn stack() -> PromptStack<OpenAiChat> {
    let all = skills([skill("rust", &["borrow checker"], "Review $ARGUMENTS.")]);
    PromptStack::new(OpenAiChat, Settings::default().skills(all))
        .with(ActiveSkillsLayer::new(SkillContextOptions::default()))
        .with(SkillActivationLayer::new(AutoActivate::On))
}
fn tail(sent: &Value) -> String {
    sent["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_skill_that_is_switched_off_while_a_request_is_under_way_does_not_come_into_force() {
    let (stack, session) = (stack(), Session::new());
    let context = || Context::default().session(session.clone());
    let mut messages = vec![user("the borrow checker")];
    let under_way = stack.begin(json!({"messages": messages}), context());
    session.deactivate(&id("rust"));
    assert_eq!(tail(&stack.finish(under_way).await), "the borrow checker");
    messages.extend([json!({"role": "assistant", "content": "ok"}), user("go on")]);
    assert_eq!(tail(&stack.assemble(json!({"messages": messages}), context()).await), "go on");
}

#[tokio::test]
async fn arguments_that_are_given_while_a_request_is_under_way_are_told_in_the_next() {
    let (stack, session) = (stack(), Session::new());
    let context = || Context::default().session(session.clone());
    session.activate(id("rust"), Some("one"));
    let mut messages = vec![user("hi")];
    let under_way = stack.begin(json!({"messages": messages}), context());
    session.activate(id("rust"), Some("two"));
    let first = stack.finish(under_way).await;
    assert!(first["messages"][0]["content"].as_str().unwrap().contains("Review one."));
    messages.extend([json!({"role": "assistant", "content": "ok"}), user("go on")]);
    assert!(tail(&stack.assemble(json!({"messages": messages}), context()).await).contains("now with these arguments:\ntwo\n"));
}

#[tokio::test]
async fn the_role_of_the_system_prompt_stays_when_the_caller_begins_to_speak_as_developer() {
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(SystemPromptLayer::replaced("BASE"));
    let context = Context::default().session(Session::new());
    let mut messages = vec![user("one")];
    let first = stack.assemble(json!({"messages": messages}), context.clone()).await;
    messages.extend([json!({"role": "assistant", "content": "ok"}), json!({"role": "developer", "content": "be brief"}), user("two")]);
    let second = stack.assemble(json!({"messages": messages}), context).await;
    assert_eq!(first["messages"][0], json!({"role": "system", "content": "BASE"}));
    assert_eq!(second["messages"][0], first["messages"][0]);
}

#[tokio::test]
async fn a_mark_that_the_caller_put_on_our_block_stays() {
    let stack = PromptStack::new(Anthropic, Settings::default()).with(SystemPromptLayer::replaced("BASE"));
    let context = Context::default().session(Session::new());
    let mut request = stack.assemble(json!({"messages": [user("one")]}), context.clone()).await;
    request["system"][0]["cache_control"] = json!({"type": "ephemeral"});
    assert_eq!(stack.assemble(request.clone(), context).await, request);
}

#[tokio::test]
async fn a_body_that_was_told_while_a_request_was_under_way_takes_none_of_the_room_of_the_others() {
    let mut options = SkillContextOptions::default();
    options.max_bytes = std::num::NonZeroUsize::new(600);
    let all = skills([skill("rust", &[], &"Find the first error. ".repeat(4)), skill("sql", &[], "Explain first.")]);
    let stack = PromptStack::new(OpenAiChat, Settings::default().skills(all)).with(ActiveSkillsLayer::new(options));
    let session = Session::new();
    let context = || Context::default().session(session.clone());
    let history = |text: &str| json!({"messages": [user("one"), {"role": "assistant", "content": "ok"}, user(text)]});
    stack.assemble(json!({"messages": [user("one")]}), context()).await;
    session.activate(id("rust"), None);
    let first = stack.begin(history("two"), context());
    session.activate(id("sql"), None);
    let mut longer = history("two");
    longer["messages"].as_array_mut().unwrap().extend([json!({"role": "assistant", "content": "ok"}), user("three")]);
    let second = stack.begin(longer, context());
    assert!(tail(&stack.finish(first).await).contains("Find the first error."));
    let sent = tail(&stack.finish(second).await);
    assert!(sent.contains("Explain first.\n</skill>") && !sent.contains("omitted"), "{sent}");
}
