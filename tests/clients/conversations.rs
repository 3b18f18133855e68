//! Random conversations, typed and as JSON: async-openai's wire reads and writes what the JSON wires do.

use crate::clients::said::stack_of;
use async_openai::types::chat::CreateChatCompletionRequest;
use async_openai::types::responses::CreateResponse;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tower_prompt::clients::async_openai::AsyncOpenAi;
use tower_prompt::layers::wire::{OpenAiChat, OpenAiResponses, Wire};
use tower_prompt::layers::{Context, Session};

/// What is said, in no format yet.
#[derive(Clone, Debug)]
enum Said {
    User(Vec<String>, bool),
    Image(String),
    Developer(String),
    Model(String),
    Calls(Vec<String>, String),
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z é]{0,9}", Just("is there sun?".to_owned()), Just("You are careful.\n\nHOST".to_owned()), Just("long ".repeat(20))]
}
fn said() -> impl Strategy<Value = Said> {
    let arguments = prop_oneof![Just("{\"at\": 1}".to_owned()), Just("{\"at".to_owned()), Just(String::new())];
    prop_oneof![
        4 => (prop::collection::vec(text(), 1..3), any::<bool>()).prop_map(|(texts, is_string)| Said::User(texts, is_string)),
        1 => text().prop_map(Said::Image),
        1 => text().prop_map(Said::Developer),
        2 => text().prop_map(Said::Model),
        3 => (prop::collection::vec(text(), 1..3), arguments).prop_map(|(results, arguments)| Said::Calls(results, arguments)),
    ]
}

fn in_chat(said: &[Said]) -> Vec<Value> {
    let part = |text: &String| json!({"type": "text", "text": text});
    let mut messages = Vec::new();
    for (n, said) in said.iter().enumerate() {
        match said {
            Said::User(texts, true) if texts.len() == 1 => messages.push(json!({"role": "user", "content": texts[0]})),
            Said::User(texts, _) => messages.push(json!({"role": "user", "content": texts.iter().map(part).collect::<Vec<_>>()})),
            Said::Image(text) => {
                let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}});
                messages.push(json!({"role": "user", "name": "Ada", "content": [part(text), image]}));
            }
            Said::Developer(text) => messages.push(json!({"role": "developer", "content": text})),
            Said::Model(text) => messages.push(json!({"role": "assistant", "content": text})),
            Said::Calls(results, arguments) => {
                let call = |at: usize| json!({"id": format!("{n}.{at}"), "type": "function", "function": {"name": "look", "arguments": arguments}});
                messages.push(json!({"role": "assistant", "tool_calls": (0..results.len()).map(call).collect::<Vec<_>>()}));
                for (at, result) in results.iter().enumerate() {
                    let content = if at % 2 == 0 { json!(result) } else { json!([part(result), part(result)]) };
                    messages.push(json!({"role": "tool", "tool_call_id": format!("{n}.{at}"), "content": content}));
                }
            }
        }
    }
    messages
}

fn in_responses(said: &[Said]) -> Vec<Value> {
    let part = |text: &String| json!({"type": "input_text", "text": text});
    let mut items = Vec::new();
    for (n, said) in said.iter().enumerate() {
        match said {
            Said::User(texts, true) if texts.len() == 1 => items.push(json!({"type": "message", "role": "user", "content": texts[0]})),
            Said::User(texts, _) => {
                items.push(json!({"type": "message", "role": "user", "content": texts.iter().map(part).collect::<Vec<_>>()}));
            }
            Said::Image(text) => {
                let image = json!({"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AA=="});
                items.push(json!({"type": "message", "role": "user", "content": [part(text), image], "status": "completed"}));
            }
            Said::Developer(text) => items.push(json!({"type": "message", "role": "developer", "content": text})),
            Said::Model(text) => items.push(json!({"type": "message", "role": "assistant", "content": text})),
            Said::Calls(results, arguments) => {
                for (at, result) in results.iter().enumerate() {
                    let id = format!("{n}.{at}");
                    items.push(json!({"type": "function_call", "call_id": id, "name": "look", "arguments": arguments}));
                    items.push(json!({"type": "function_call_output", "call_id": id, "output": result}));
                }
            }
        }
    }
    items
}

/// Sends a conversation as it grows, both ways, each with a memory of its own.
fn same<R>(grown: &[Vec<Value>], field: &str, wire: impl Wire<Value> + Clone) -> Result<(), TestCaseError>
where
    R: Serialize + DeserializeOwned + Clone,
    AsyncOpenAi: Wire<R>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (typed_session, json_session) = (Session::new(), Session::new());
    let (typed, as_json) = (stack_of(AsyncOpenAi, &typed_session), stack_of(wire.clone(), &json_session));
    for messages in grown {
        let tool = match field {
            "messages" => json!({"type": "function", "function": {"name": "look"}}),
            _ => json!({"type": "function", "name": "look"}),
        };
        let request: R = serde_json::from_value(json!({"model": "m", field: messages, "tools": [tool]})).unwrap();
        let body = serde_json::to_value(&request).unwrap();
        prop_assert_eq!(&body[field], &json!(messages), "the generator says only what the types can");
        prop_assert_eq!(Wire::<R>::read(&AsyncOpenAi, &request), wire.read(&body));

        let context = |session: &Session| Context::default().session(session.clone());
        let written = runtime.block_on(typed.assemble(request, context(&typed_session)));
        let expected = runtime.block_on(as_json.assemble(body, context(&json_session)));
        prop_assert_eq!(serde_json::to_value(&written).unwrap(), expected.clone());
        // An assembled request, as a caller may keep it.
        let again = runtime.block_on(typed.assemble(written, context(&typed_session)));
        prop_assert_eq!(serde_json::to_value(&again).unwrap(), expected);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chats_are_those_of_the_json_wire(said in prop::collection::vec(said(), 1..8)) {
        let grown: Vec<_> = (1..=said.len()).map(|n| in_chat(&said[..n])).collect();
        same::<CreateChatCompletionRequest>(&grown, "messages", OpenAiChat)?;
    }

    #[test]
    fn responses_are_those_of_the_json_wire(said in prop::collection::vec(said(), 1..8)) {
        let grown: Vec<_> = (1..=said.len()).map(|n| in_responses(&said[..n])).collect();
        same::<CreateResponse>(&grown, "input", OpenAiResponses)?;
    }
}
