//! Cache marks: where they stand, how many, and whose word counts.

use crate::common::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tower_prompt_layers::text::{TextChange, TextMode};
use tower_prompt_layers::wire::{Anthropic, Format, ModelFacts, ModelTable, OpenAiChat, OpenAiResponses, Wire};
use tower_prompt_layers::{Context, Fragment, Prompt, PromptStack, Session, Settings, Tier, Turn};

/// A base, a fact of the session, a clock; a model that keeps prefixes from the first token on.
fn stack<W: Wire<Value>>(wire: W, minimum: usize) -> PromptStack<W> {
    let fact = |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Session, || Fragment::new("fact", "FACT"));
    let settings = Settings::default().models(ModelTable::default().with("m", ModelFacts::default().with_cache_minimum(minimum)));
    PromptStack::new(wire, settings).with(base()).with(fact).with(clock("1"))
}

fn context(session: &Session) -> Context {
    Context::default().session(session.clone())
}

/// A request's blocks in the order in which the provider hashes them, each with whether it is marked.
fn blocks(request: &Value) -> Vec<(String, bool)> {
    let block = |block: &Value| {
        let text = block["text"].as_str().map_or_else(|| block["tool_use_id"].to_string() + &block["id"].to_string(), str::to_owned);
        (text, block.get("cache_control").is_some())
    };
    let of = |content: &Value| match content {
        Value::String(text) => vec![(text.clone(), false)],
        content => content.as_array().into_iter().flatten().map(block).collect(),
    };
    let messages = request["messages"].as_array().unwrap().iter().flat_map(|message| of(&message["content"]));
    of(&request["system"]).into_iter().chain(messages).collect()
}
fn marked(request: &Value) -> Vec<String> {
    blocks(request).into_iter().filter(|(_, marked)| *marked).map(|(text, _)| text).collect()
}
fn texts_of(request: &Value) -> Vec<String> {
    blocks(request).into_iter().map(|(text, _)| text).collect()
}

#[tokio::test]
async fn stable_system_and_the_last_block_are_marked_and_the_blocks_only_grow() {
    let (stack, session) = (stack(Anthropic, 1), Session::new());
    let mut history = vec![user("one")];
    let first = stack.assemble(json!({"model": "m", "system": "HOST", "messages": history}), context(&session)).await;
    assert_eq!(marked(&first), ["BASE", "HOST", &ours("1")]);
    assert_eq!(texts_of(&first), ["BASE", "FACT", "HOST", "one", &ours("1")]);
    history.extend([says("a"), user("two")]);
    let second = stack.assemble(json!({"model": "m", "system": "HOST", "messages": history}), context(&session)).await;
    assert_eq!(marked(&second), ["BASE", "HOST", "two"], "the mark moves on, to words of the user's where we say nothing");
    assert!(texts_of(&second).starts_with(&texts_of(&first)));
    assert_eq!(stack.assemble(second.clone(), context(&session)).await, second, "assembled again");
}

#[tokio::test]
async fn a_turn_of_many_blocks_marks_the_end_of_the_request_before_too() {
    let (stack, session) = (stack(Anthropic, 1), Session::new());
    let mut history = vec![user("one")];
    stack.assemble(body(&history), context(&session)).await;
    let results: Vec<Value> = (0..25).map(|n| json!({"type": "tool_result", "tool_use_id": n.to_string(), "content": "x"})).collect();
    let calls: Vec<Value> = (0..25).map(|n| json!({"type": "tool_use", "id": n.to_string(), "name": "ls", "input": {}})).collect();
    history.extend([json!({"role": "assistant", "content": calls}), json!({"role": "user", "content": results})]);
    let sent = stack.assemble(body(&history), context(&session)).await;
    assert_eq!(marked(&sent), ["BASE", "FACT", &ours("1"), "\"24\"null"]);
    assert_eq!(marked(&sent).len(), 4);
}

#[tokio::test]
async fn a_prefill_a_thought_and_an_empty_text_take_no_mark() {
    let (stack, session) = (stack(Anthropic, 1), Session::new());
    let last = json!({"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": ""}]});
    let history = [user("zero"), says("a"), last, says("prefill")];
    stack.assemble(body(&history[..1]), context(&session)).await;
    let sent = stack.assemble(body(&history), context(&session)).await;
    assert_eq!(marked(&sent), ["BASE", "FACT", "one"]);
}

#[tokio::test]
async fn who_marks_decides_alone() {
    for came in [
        json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}}]}]}),
        json!({"model": "m", "system": [{"type": "text", "text": "HOST", "cache_control": {"type": "ephemeral", "ttl": "1h"}}], "messages": [user("one")]}),
        json!({"model": "m", "tools": [{"name": "ls", "cache_control": {"type": "ephemeral"}}], "messages": [user("one")]}),
    ] {
        let (stack, session) = (stack(Anthropic, 1), Session::new());
        let sent = stack.assemble(came.clone(), context(&session)).await;
        assert_eq!(sent.to_string().matches("cache_control").count(), 1, "{sent}");
        assert_eq!(stack.assemble(sent.clone(), context(&session)).await, sent, "assembled again");
    }
}

#[tokio::test]
async fn a_host_that_keeps_what_was_sent_has_its_marks_moved_on() {
    let (stack, session) = (stack(Anthropic, 1), Session::new());
    let mut kept = stack.assemble(body(&[user("one")]), context(&session)).await;
    kept["messages"].as_array_mut().unwrap().extend([says("a"), user("two")]);
    let second = stack.assemble(kept.clone(), context(&session)).await;
    assert_eq!(marked(&second), ["BASE", "FACT", "two"]);
    // Behind a rebase the two blocks of the former system prompt are taken off.
    session.rebase();
    let third = stack.assemble(kept, context(&session)).await;
    assert_eq!(texts_of(&third)[..3], ["BASE".to_owned(), "FACT".to_owned(), "one".to_owned()]);
}

#[tokio::test]
async fn short_prefixes_are_not_marked_and_nothing_is_where_marks_are_off() {
    let session = Session::new();
    let request = json!({"model": "m", "messages": [user("one")]});
    assert!(marked(&stack(Anthropic, 1000).assemble(request.clone(), context(&session)).await).is_empty());
    let long = "word ".repeat(1000);
    let sent = stack(Anthropic, 1000).assemble(json!({"model": "m", "messages": [user(&*long)]}), context(&Session::new())).await;
    assert_eq!(marked(&sent), [ours("1")], "the system prompt alone is too short");
    let off = PromptStack::new(Anthropic, Settings::default().cache_marks(false)).with(base()).with(clock("1"));
    assert!(marked(&off.assemble(json!({"model": "m", "messages": [user(&*long)]}), context(&Session::new())).await).is_empty());
}

#[tokio::test]
async fn openai_gets_a_key_for_the_conversation_where_the_host_says_that_it_is_openai() {
    let session = Session::new();
    let openai = || context(&session).model("openai", "gpt");
    let request = json!({"messages": [user("one")]});
    let sent = stack(OpenAiChat, 1).assemble(request.clone(), openai()).await;
    let key = sent["prompt_cache_key"].as_str().unwrap();
    assert_eq!(key.len(), 32);
    let responses = stack(OpenAiResponses, 1).assemble(json!({"input": "two"}), openai()).await;
    assert_eq!(responses["prompt_cache_key"], key, "of one session always the same");
    let given = json!({"messages": [user("one")], "prompt_cache_key": "mine"});
    assert_eq!(stack(OpenAiChat, 1).assemble(given, openai()).await["prompt_cache_key"], "mine");
    // Others that speak the format may refuse what they don't know.
    for other in [context(&session), context(&session).model("mistral", "m")] {
        assert_eq!(stack(Format::OpenAiChat, 1).assemble(request.clone(), other).await.get("prompt_cache_key"), None);
    }
}

#[tokio::test]
async fn a_prefix_about_as_long_as_is_kept_is_parted_alike_when_it_is_assembled_again() {
    let described = |_: &Turn, prompt: &mut Prompt| prompt.describe_tool("ls", TextChange::default().then(TextMode::Append, "Ours too."));
    let mut kinds = BTreeSet::new();
    for chars in 0..200 {
        let (stack, session) = (stack(Anthropic, 50).with(described), Session::new());
        let tool = json!({"name": "ls", "description": "x".repeat(chars), "input_schema": {"type": "object"}});
        let sent = stack.assemble(json!({"model": "m", "tools": [tool], "messages": [user("one")]}), context(&session)).await;
        assert_eq!(stack.assemble(sent.clone(), context(&session)).await, sent, "{chars} characters");
        kinds.insert(marked(&sent));
    }
    let system_as_one = ["BASE\n\nFACT".to_owned(), ours("1")].to_vec();
    assert_eq!(kinds, BTreeSet::from([vec![], vec![ours("1")], system_as_one, vec!["BASE".into(), "FACT".into(), ours("1")]]));
}
