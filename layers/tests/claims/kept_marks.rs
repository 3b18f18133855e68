//! Marks of ours that a host keeps on its own words, and marks of the host's own.

use crate::common::*;
use serde_json::{Value, json};
use tower_prompt_layers::wire::{Anthropic, ModelFacts, ModelTable};
use tower_prompt_layers::{Context, PromptStack, Session, SessionEvent, Settings};

/// A base, and nothing to say behind messages; a model that keeps prefixes from the first token on.
fn stack() -> PromptStack<Anthropic> {
    PromptStack::new(Anthropic, Settings::default().models(ModelTable::default().with("m", ModelFacts::default().with_cache_minimum(1))))
        .with(base())
}
async fn send(session: &Session, body: &Value) -> Value {
    let context = || Context::default().session(session.clone());
    let sent = stack().assemble(body.clone(), context()).await;
    assert_eq!(stack().assemble(sent.clone(), context()).await, sent, "assembled again");
    sent
}
/// The blocks that carry a mark: their text, or the id of their call.
fn marked(request: &Value) -> Vec<&str> {
    let messages = request["messages"].as_array().unwrap().iter().map(|message| &message["content"]);
    let blocks = [&request["system"]].into_iter().chain(messages).flat_map(|content| content.as_array().into_iter().flatten());
    let marked = blocks.filter(|block| block.get("cache_control").is_some());
    marked.map(|block| block["text"].as_str().or(block["tool_use_id"].as_str()).unwrap()).collect()
}
fn mark() -> Value {
    json!({"type": "ephemeral"})
}
fn with_system(messages: &[Value]) -> Value {
    json!({"model": "m", "system": "HOST", "messages": messages})
}
/// A tool round, in blocks.
fn tool_round(id: &str) -> [Value; 2] {
    let call = json!({"type": "tool_use", "id": id, "name": "ls", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": id, "content": "files"});
    [json!({"role": "assistant", "content": [call]}), user(vec![result])]
}

#[tokio::test]
async fn a_host_that_keeps_what_was_sent_is_none_that_marks_itself() {
    let session = Session::new();
    let mut kept = send(&session, &with_system(&[user("one")])).await;
    assert_eq!(marked(&kept), ["BASE", "HOST", "one"], "two of them are the host's own words");
    for (next, last) in [(vec![says("a"), user("two")], "two"), (tool_round("c").to_vec(), "c"), (vec![says("b"), user("three")], "three")]
    {
        kept["messages"].as_array_mut().unwrap().extend(next);
        kept = send(&session, &kept).await;
        assert_eq!(marked(&kept), ["BASE", "HOST", last], "the mark moves on");
    }
    session.rebase();
    assert_eq!(marked(&send(&session, &kept).await), ["BASE", "HOST", "three"]);
}

#[tokio::test]
async fn so_it_is_where_a_program_began_anew_in_between_and_where_it_speaks_beside_results() {
    let events: std::sync::Arc<std::sync::Mutex<Vec<SessionEvent>>> = std::sync::Arc::default();
    let told = events.clone();
    let session = Session::new().on_event(move |event: &SessionEvent| told.lock().unwrap().push(event.clone()));
    let mut history = vec![user("one")];
    history.extend(tool_round("c"));
    let mut kept = send(&session, &with_system(&history)).await;
    assert_eq!(marked(&kept), ["BASE", "HOST", "c"]);
    let lines: Vec<String> = events.lock().unwrap().iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    let session = Session::replay(lines.iter().map(|line| serde_json::from_str(line).unwrap())).unwrap();
    kept["messages"][2]["content"].as_array_mut().unwrap().push(block("stop"));
    assert_eq!(marked(&send(&session, &kept).await), ["BASE", "HOST", "stop"]);
}

#[tokio::test]
async fn a_host_that_marks_itself_decides_alone_from_there_on() {
    let marked_block = |text: &str, mark: Value| json!({"type": "text", "text": text, "cache_control": mark});
    let session = Session::new();
    send(&session, &with_system(&[user("one")])).await;
    // At a place that no request ended at before, and one of another kind where one did.
    let own = user(vec![marked_block("two", mark())]);
    assert_eq!(marked(&send(&session, &with_system(&[user("one"), says("a"), own.clone()])).await), ["two"]);
    assert_eq!(marked(&send(&session, &with_system(&[user("one"), says("a"), own, says("b"), user("three")])).await), ["two"]);
    let hour = user(vec![marked_block("one", json!({"type": "ephemeral", "ttl": "1h"}))]);
    assert_eq!(marked(&send(&session, &with_system(&[hour, says("a"), user("other")])).await), ["one"]);
    // From the start on, in the system text and in a message.
    for body in [
        json!({"model": "m", "system": [marked_block("HOST", mark())], "messages": [user("one")]}),
        with_system(&[user(vec![marked_block("one", mark())])]),
    ] {
        let session = Session::new();
        assert_eq!(marked(&send(&session, &body).await).len(), 1);
        assert_eq!(marked(&send(&session, &body).await).len(), 1, "sent again");
    }
}

#[tokio::test]
async fn a_mark_on_the_whole_request_or_within_a_result_counts_too() {
    let [call, mut results] = tool_round("c");
    results["content"][0]["content"] = json!([{"type": "text", "text": "files", "cache_control": mark()}]);
    for body in [
        json!({"model": "m", "cache_control": mark(), "messages": [user("one")]}),
        json!({"model": "m", "messages": [user("one"), call, results]}),
    ] {
        let sent = send(&Session::new(), &body).await;
        assert_eq!(sent.to_string().matches("cache_control").count(), 1, "{sent}");
    }
}

#[tokio::test]
async fn the_provider_looks_at_twenty_blocks_the_marked_one_among_them() {
    for (calls, marks) in [(9, &["BASE", "HOST", "8"][..]), (10, &["BASE", "HOST", "one", "9"])] {
        let session = Session::new();
        send(&session, &with_system(&[user("one")])).await;
        let ids = (0..calls).map(|n| n.to_string());
        let [call, results] =
            ids.map(|id| tool_round(&id)).fold([says(""), user("")], |[mut all_calls, mut all_results], [call, results]| {
                for (all, one) in [(&mut all_calls, call), (&mut all_results, results)] {
                    let mut blocks = all["content"].as_array().cloned().unwrap_or_default();
                    blocks.push(one["content"][0].clone());
                    all["content"] = blocks.into();
                }
                [all_calls, all_results]
            });
        assert_eq!(marked(&send(&session, &with_system(&[user("one"), call, results])).await), marks);
    }
}
