//! History that the provider holds: only what is new is sent, and nothing is put back.

use crate::common::*;
use serde_json::{Value, json};
use tower_prompt_layers::wire::{Gemini, OllamaGenerate, OpenAiResponses};
use tower_prompt_layers::{Fragment, Prompt, Report, Round, Tier, Turn};

fn item(text: &str) -> Value {
    json!({"role": "user", "content": text})
}
fn behind_item(text: &str, lines: &str) -> Value {
    json!([{"role": "user", "content": [{"type": "input_text", "text": text}, {"type": "input_text", "text": ours(lines)}]}])
}
fn next(previous: &str, text: &str) -> Value {
    json!({"previous_response_id": previous, "input": [item(text)]})
}
fn talk() -> Chat<OpenAiResponses> {
    let chat = chat(OpenAiResponses);
    Chat { stack: chat.stack.with(base()), ..chat }
}

#[tokio::test]
async fn what_was_said_follows_the_response_id() {
    let chat = talk();
    chat.world.is("clock", "1");
    let report = Report::default();
    let context = chat.context().report(report.clone());
    let first = chat.stack.assemble(json!({"input": [item("one")]}), context).await;
    assert_eq!(first, json!({"input": behind_item("one", "1"), "instructions": "BASE"}));
    report.record_response_id("r1");
    // another branch goes on in between
    chat.world.is("clock", "2");
    chat.send_body(json!({"input": [item("other")]})).await;
    for _ in 0..2 {
        let second = chat.send_body(next("r1", "two")).await;
        assert_eq!(second["input"], behind_item("two", "2"));
        assert_eq!(second["instructions"], "BASE");
    }
    chat.world.is("clock", "1");
    assert_eq!(chat.send_body(next("r1", "three")).await["input"], json!([item("three")]), "this branch was told 1");
}

#[tokio::test]
async fn an_unknown_response_id_goes_on_at_the_place_settled_last() {
    let chat = talk();
    chat.world.is("clock", "1");
    chat.send_body(json!({"input": [item("one")]})).await;
    let second = chat.stack.begin(next("r1", "two"), chat.context());
    assert_eq!(second.turn.round, Round::User);
    assert_eq!(chat.stack.finish(second).await["input"], json!([item("two")]));
    chat.world.is("clock", "2");
    let third = chat.send_body(next("r2", "three")).await;
    assert_eq!(third["input"], behind_item("three", "2"));
    assert_eq!(third, chat.send_body(next("r2", "three")).await);
}

#[tokio::test]
async fn in_a_tool_round_the_outputs_come_alone_and_an_activation_stands_behind_them() {
    let chat = talk();
    chat.world.is("clock", "1");
    chat.send_body(json!({"input": "one"})).await;
    chat.world.is("clock", "2");
    chat.session.activate(id("rust"), None);
    let output = json!({"type": "function_call_output", "call_id": "c", "output": "files"});
    let request = chat.stack.begin(json!({"previous_response_id": "r1", "input": [output]}), chat.context());
    assert_eq!(request.turn.round, Round::Tool);
    let sent = chat.stack.finish(request).await;
    assert_eq!(sent["input"][0], output);
    assert_eq!(sent["input"][1]["content"], json!([{"type": "input_text", "text": ours("BODY OF rust")}]));
    assert_eq!(sent["input"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_conversation_that_the_provider_keeps_is_one_that_goes_on() {
    let chat = talk();
    chat.world.is("clock", "1");
    for conversation in [json!("c1"), json!({"id": "c1"})] {
        let first = chat.send_body(json!({"conversation": conversation, "input": [item("one")]})).await;
        assert_eq!(
            first,
            json!({"conversation": conversation, "input": behind_item("one", "1"), "instructions": "BASE"}),
            "the same again"
        );
    }
    let second = chat.send_body(json!({"conversation": "c1", "input": "two"})).await;
    assert_eq!(second["input"], "two", "it was told");
    chat.world.is("clock", "2");
    for _ in 0..2 {
        let third = chat.send_body(json!({"conversation": "c1", "input": [item("three")]})).await;
        assert_eq!(third["input"], behind_item("three", "2"));
    }
    let output = json!({"type": "function_call_output", "call_id": "c", "output": "files"});
    let request = chat.stack.begin(json!({"conversation": "c1", "input": [output]}), chat.context());
    assert_eq!(request.turn.round, Round::Tool);
}

#[tokio::test]
async fn with_cached_content_no_system_text_is_added() {
    let plain = chat(Gemini);
    let locale = |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Session, || Fragment::new("locale", "LOCALE"));
    let chat = Chat { stack: plain.stack.with(base()).with(locale), ..plain };
    chat.world.is("clock", "1");
    let part = |text: &str| json!({"text": text});
    let body = json!({"cachedContent": "cachedContents/1", "contents": [{"role": "user", "parts": [part("hi")]}]});
    let sent = chat.send_body(body.clone()).await;
    assert_eq!(sent, json!({"cachedContent": "cachedContents/1", "contents": [{"role": "user", "parts": [part("hi"), part(&ours("1"))]}]}));
    assert_eq!(sent, chat.send_body(body).await);
    assert_eq!(sent, chat.send_body(sent.clone()).await);
    let later = json!({"cachedContent": "cachedContents/1", "contents": [
        {"role": "user", "parts": [part("hi")]}, {"role": "model", "parts": [part("ok")]}, {"role": "user", "parts": [part("two")]}]});
    let later = chat.send_body(later).await;
    assert_eq!(later["contents"][0], sent["contents"][0], "what stands in this request is put back in it");
    assert!(later.get("systemInstruction").is_none());
}

#[tokio::test]
async fn ollamas_context_is_a_history_that_the_provider_holds() {
    let plain = chat(OllamaGenerate);
    let chat = Chat { stack: plain.stack.with(base()), ..plain };
    chat.world.is("clock", "1");
    let first = chat.send_body(json!({"model": "m", "prompt": "one"})).await;
    assert_eq!(first, json!({"model": "m", "prompt": behind("one", "1"), "system": "BASE"}));
    let second = chat.send_body(json!({"model": "m", "prompt": "two", "context": [1, 2]})).await;
    assert_eq!(second, json!({"model": "m", "prompt": "two", "context": [1, 2], "system": "BASE"}));
}

#[tokio::test]
async fn each_of_two_conversations_that_the_provider_keeps_goes_on_behind_its_own_last_place() {
    let chat = talk();
    let say = |conversation: &str, text: &str| json!({"conversation": conversation, "input": [item(text)]});
    for (conversation, time) in [("a", "1"), ("b", "2")] {
        chat.world.is("clock", time);
        for text in ["one", "two"] {
            chat.send_body(say(conversation, text)).await;
        }
    }
    for (conversation, time) in [("a", "1"), ("b", "2")] {
        chat.world.is("clock", time);
        let sent = chat.send_body(say(conversation, "three")).await;
        assert_eq!(sent["input"], json!([item("three")]), "{conversation} was told {time}");
        assert_eq!(chat.send_body(say(conversation, "three")).await, sent, "a retry");
    }
}
