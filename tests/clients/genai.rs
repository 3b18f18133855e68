//! genai, as it speaks to OpenAI and to Anthropic.

use crate::clients::grown::{self, Said};
use crate::clients::said::{goes_on, stack};
use crate::scripted::{Answer, Scripted};
use futures_util::StreamExt;
use genai::chat::{
    Binary, ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, ContentPart, MessageContent, Tool, ToolCall, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget, adapter::AdapterKind};
use proptest::prelude::*;
use serde_json::{Value, json};
use tower::{Layer, Service, ServiceExt};
use tower_prompt::clients::genai::{Chat, ChatStream, GenAi};
use tower_prompt::layers::Context;
use tower_prompt::layers::wire::{Role, Spot, Wire};

fn target(server: &Scripted, adapter: AdapterKind) -> ServiceTarget {
    let endpoint = Endpoint::from_owned(format!("{}/v1/", server.url));
    ServiceTarget { endpoint, auth: AuthData::from_single("none"), model: ModelIden::new(adapter, "m") }
}
fn client() -> Client {
    Client::builder().build().unwrap()
}
fn in_openai(message: &Value) -> Answer {
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    Answer::Json(json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}).to_string())
}
fn in_anthropic(content: &Value) -> Answer {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    Answer::Json(json!({"id": "c", "type": "message", "role": "assistant", "model": "m", "content": [content], "usage": usage}).to_string())
}

/// Three requests: the user's, what a tool said, the user's again.
async fn talks(server: &Scripted, adapter: AdapterKind) -> Vec<String> {
    let service = Chat::new(client(), target(server, adapter)).options(ChatOptions::default().with_max_tokens(9));
    let mut service = stack(GenAi).layer(service);
    let tool = Tool::new("look").with_description("Looks.").with_schema(json!({"type": "object"}));
    let mut request = ChatRequest::from_user("hi").with_system("HOST").with_tools([tool]);
    let answer = service.ready().await.unwrap().call(request.clone()).await.unwrap();

    let calls: Vec<ToolCall> = answer.into_tool_calls();
    let result = ToolResponse::from_tool_call(&calls[0], "grey ".repeat(20));
    request = request.append_message(calls).append_message(result);
    let answer = service.ready().await.unwrap().call(request.clone()).await.unwrap();
    assert_eq!(answer.first_text(), Some("Grey."));

    request = request.append_message(ChatMessage::assistant("Grey.")).append_message(ChatMessage::user("is there sun?"));
    service.ready().await.unwrap().call(request).await.unwrap();
    server.sent()
}

#[tokio::test]
async fn to_openai_a_conversation_only_grows_at_its_end() {
    let call = json!({"id": "1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":\"sky\"}"}});
    let said = |text: &str| in_openai(&json!({"role": "assistant", "content": text}));
    let called = in_openai(&json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    let server = Scripted::start([called, said("Grey."), said("Blue.")]).await;
    let sent = talks(&server, AdapterKind::OpenAI).await;

    let last: Value = serde_json::from_str(&sent[2]).unwrap();
    let messages = last["messages"].as_array().unwrap();
    for body in &sent[..2] {
        let body: Value = serde_json::from_str(body).unwrap();
        let earlier = body["messages"].as_array().unwrap();
        assert_eq!(messages[..earlier.len()], earlier[..]);
    }
    goes_on(&sent[0], &sent[1], "],\"max_tokens\"");
    goes_on(&sent[1], &sent[2], "],\"max_tokens\"");
    assert_eq!(messages[0], json!({"role": "system", "content": "You are careful.\n\nHOST"}));
    assert_eq!(messages[1]["content"], "hi\n\n<context origin=\"host\">\nIt rains.\nNo tool ran.\n</context>");
    assert!(messages[3]["content"].as_str().unwrap().contains("characters cut"));
    assert_eq!(messages[4], json!({"role": "user", "content": "<context origin=\"host\">\nA tool ran.\n</context>"}));
    assert_eq!(messages[6]["content"], "is there sun?\n\n<context origin=\"host\">\nIt shines.\nNo tool ran.\n</context>");
    assert_eq!(last["tools"][0]["function"]["description"], "Looks.\n\nLook twice.");
}

#[tokio::test]
async fn to_anthropic_too() {
    let said = |text: &str| in_anthropic(&json!({"type": "text", "text": text}));
    let called = in_anthropic(&json!({"type": "tool_use", "id": "1", "name": "look", "input": {"at": "sky"}}));
    let server = Scripted::start([called, said("Grey."), said("Blue.")]).await;
    let sent = talks(&server, AdapterKind::Anthropic).await;

    let bodies: Vec<Value> = sent.iter().map(|body| serde_json::from_str(body).unwrap()).collect();
    let messages = bodies[2]["messages"].as_array().unwrap();
    for body in &bodies[..2] {
        let earlier = body["messages"].as_array().unwrap();
        assert_eq!(messages[..earlier.len()], earlier[..]);
        assert_eq!((&body["system"], &body["tools"]), (&bodies[2]["system"], &bodies[2]["tools"]));
    }
    assert_eq!(bodies[0]["system"], "You are careful.\n\nHOST");
    assert!(messages[2]["content"][0]["content"].as_str().unwrap().contains("characters cut"));
}

#[tokio::test]
async fn streams_pass_as_they_come() {
    let chunk = |text: &str| {
        let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": null});
        format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}))
    };
    let server = Scripted::start([Answer::Events(vec![chunk("Gr"), chunk("ey."), "data: [DONE]\n\n".into()])]).await;
    let service = stack(GenAi).layer(ChatStream::new(client(), target(&server, AdapterKind::OpenAI)));
    let mut stream = service.oneshot(ChatRequest::from_user("hi")).await.unwrap().stream;
    assert!(matches!(stream.next().await.unwrap().unwrap(), ChatStreamEvent::Start));
    for text in ["Gr", "ey."] {
        server.let_out(1);
        let event = stream.next().await.unwrap().unwrap();
        assert!(matches!(&event, ChatStreamEvent::Chunk(chunk) if chunk.content == text), "{event:?}");
    }
    let sent: Value = serde_json::from_str(&server.sent()[0]).unwrap();
    assert_eq!((&sent["stream"], &sent["messages"][0]["content"]), (&json!(true), &json!("You are careful.")));
}

#[tokio::test]
async fn what_came_is_read_by_its_kind_and_assembled_twice_it_is_the_same() {
    let image = ContentPart::Binary(Binary::from_base64("image/png", "AA==", None));
    let call = ToolCall { call_id: "1".into(), fn_name: "look".into(), fn_arguments: json!({"b": 1, "a": 2}), thought_signatures: None };
    let results = vec![ToolResponse::new("1", "grey").into(), ContentPart::from_text("and now?")];
    let request = ChatRequest::new(vec![
        ChatMessage::system("HOST"),
        ChatMessage::user(vec![ContentPart::from_text("see"), image]),
        ChatMessage::assistant(vec![ContentPart::ReasoningContent("hm".into()), call.into()]),
        ChatMessage::user(MessageContent::from_parts(results)),
        ChatMessage::user("hi"),
    ]);
    let read = GenAi.read(&request);
    let roles: Vec<_> = read.messages.iter().map(|message| (message.at, message.role, message.spot, message.is_string)).collect();
    assert_eq!(
        roles,
        [
            (1, Role::User, Spot::Content, false),
            (2, Role::Assistant, Spot::Content, false),
            (3, Role::Tool, Spot::BehindPart(0), false),
            (3, Role::User, Spot::Content, false),
            (4, Role::User, Spot::Content, true),
        ]
    );
    assert_eq!((read.messages[0].media.len(), &*read.messages[1].calls[0].arguments), (1, "{\"a\":2,\"b\":1}"));
    assert_eq!((&read.messages[1].texts[..], &read.messages[2].answers[..]), (&[][..], &[Some(0)][..]));

    let stack = stack(GenAi);
    let session = tower_prompt::layers::Session::new();
    let context = || Context::default().session(session.clone());
    let json = |request: &ChatRequest| serde_json::to_value(request).unwrap();
    let once = stack.assemble(request.clone(), context()).await;
    assert_ne!(json(&once), json(&request));
    let twice = stack.assemble(once.clone(), context()).await;
    assert_eq!(json(&twice), json(&once));
}

fn of(said: &[Said]) -> ChatRequest {
    let mut request = ChatRequest::default().with_system("HOST");
    for (n, said) in said.iter().enumerate() {
        let id = |at: usize| format!("{n}.{at}");
        let call = |at| ToolCall { call_id: id(at), fn_name: "look".into(), fn_arguments: json!({"at": at}), thought_signatures: None };
        request = match said {
            Said::User(texts) => request.append_message(ChatMessage::user(texts.iter().map(ContentPart::from).collect::<Vec<_>>())),
            Said::Model(text) => request.append_message(ChatMessage::assistant(text)),
            Said::Calls(results) => request
                .append_message((0..results.len()).map(call).collect::<Vec<_>>())
                .append_messages(results.iter().enumerate().map(|(at, result)| ToolResponse::new(id(at), result))),
        };
    }
    request
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_conversation_only_grows(said in grown::said()) {
        let messages = |request: &ChatRequest| request.messages.iter().map(|message| serde_json::to_value(message).unwrap()).collect();
        grown::only_grows(GenAi, &said, of, messages)?;
    }
}
