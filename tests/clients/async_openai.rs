//! async-openai: Chat Completions and Responses.

use crate::clients::said::{goes_on, stack};
use crate::scripted::{Answer, Scripted};
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage, ChatCompletionRequestToolMessage,
    ChatCompletionRequestUserMessage, CreateChatCompletionRequest,
};
use async_openai::types::responses::{CreateResponse, InputItem, InputParam, Item, OutputItem, ResponseStreamEvent};
use async_openai::{Client, types::responses::EasyInputMessage};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tower::{Layer, Service, ServiceExt};
use tower_prompt::clients::async_openai::{AsyncOpenAi, Chat, ChatStream, Responses, ResponsesStream};
use tower_prompt::layers::Context;
use tower_prompt::layers::wire::{OpenAiChat, OpenAiResponses};

fn client(server: &Scripted) -> Client<OpenAIConfig> {
    Client::with_config(OpenAIConfig::new().with_api_base(&server.url).with_api_key("none"))
}

fn completion(message: &Value) -> Answer {
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    Answer::Json(json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}).to_string())
}

/// A request with a tool, and nothing said yet.
fn chat() -> CreateChatCompletionRequest {
    let tool = json!({"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}});
    serde_json::from_value(json!({"model": "m", "messages": [], "tools": [tool], "temperature": 0.1})).unwrap()
}
fn user(text: &str) -> ChatCompletionRequestMessage {
    ChatCompletionRequestUserMessage::from(text).into()
}

#[tokio::test]
async fn a_chat_with_a_tool_loop_only_grows_at_its_end() {
    let call = json!({"id": "1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":\"sky\"}"}});
    let server = Scripted::start([
        completion(&json!({"role": "assistant", "content": null, "tool_calls": [call]})),
        completion(&json!({"role": "assistant", "content": "Grey."})),
        completion(&json!({"role": "assistant", "content": "Blue."})),
    ])
    .await;
    let mut service = stack(AsyncOpenAi).layer(Chat(client(&server)));

    let mut request = chat();
    request.messages.push(user("hi"));
    let answer = service.ready().await.unwrap().call(request.clone()).await.unwrap();

    let calls = answer.choices[0].message.tool_calls.clone().expect("the server calls a tool");
    assert!(matches!(&calls[0], ChatCompletionMessageToolCalls::Function(call) if call.function.name == "look"));
    request.messages.push(ChatCompletionRequestAssistantMessage { tool_calls: Some(calls), ..Default::default() }.into());
    let result = ChatCompletionRequestToolMessage { content: "grey ".repeat(20).as_str().into(), tool_call_id: "1".into() };
    request.messages.push(result.into());
    let answer = service.ready().await.unwrap().call(request.clone()).await.unwrap();
    assert_eq!(answer.choices[0].message.content.as_deref(), Some("Grey."));

    request.messages.push(ChatCompletionRequestAssistantMessage::from("Grey.").into());
    request.messages.push(user("is there sun?"));
    service.ready().await.unwrap().call(request).await.unwrap();

    let sent = server.sent();
    goes_on(&sent[0], &sent[1], r#"],"model":"m""#);
    goes_on(&sent[1], &sent[2], r#"],"model":"m""#);
    let last: Value = serde_json::from_str(&sent[2]).unwrap();
    assert_eq!(last["tools"][0]["function"]["description"], "Looks.\n\nLook twice.");
    let messages = last["messages"].as_array().unwrap();
    assert_eq!(messages[0], json!({"content": "You are careful.", "role": "system"}));
    assert_eq!(messages[1]["content"], "hi\n\n<context origin=\"host\">\nIt rains.\nNo tool ran.\n</context>");
    let result = messages[3]["content"].as_str().unwrap();
    assert!(result.len() <= 40 && result.contains("characters cut"), "{result}");
    assert_eq!(messages[4], json!({"role": "user", "content": "<context origin=\"host\">\nA tool ran.\n</context>"}));
    assert_eq!(messages[6]["content"], "is there sun?\n\n<context origin=\"host\">\nIt shines.\nNo tool ran.\n</context>");
}

#[tokio::test]
async fn a_chat_streams_as_the_client_does() {
    let chunk = |text: &str| {
        let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": null});
        format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}))
    };
    let server = Scripted::start([Answer::Events(vec![chunk("Gr"), chunk("ey."), "data: [DONE]\n\n".into()])]).await;
    let mut request = chat();
    request.messages.push(user("hi"));
    let mut stream = stack(AsyncOpenAi).layer(ChatStream(client(&server))).oneshot(request).await.unwrap();

    // One is there before the server lets the next one out.
    for text in ["Gr", "ey."] {
        server.let_out(1);
        let chunk = stream.next().await.unwrap().unwrap();
        assert_eq!(chunk.choices[0].delta.content.as_deref(), Some(text));
    }
    server.let_out(1);
    assert!(stream.next().await.is_none());
    let sent: Value = serde_json::from_str(&server.sent()[0]).unwrap();
    assert_eq!((&sent["stream"], &sent["messages"][0]["role"]), (&json!(true), &json!("system")));
}

fn response(output: &Value) -> String {
    json!({"id": "r", "object": "response", "created_at": 1, "status": "completed", "model": "m", "output": [output]}).to_string()
}
fn said(text: &str) -> Value {
    let content = json!({"type": "output_text", "text": text, "annotations": []});
    json!({"type": "message", "id": "m1", "status": "completed", "role": "assistant", "content": [content]})
}
fn responses() -> CreateResponse {
    let tool = json!({"type": "function", "name": "look", "description": "Looks.", "parameters": {"type": "object"}, "strict": true});
    serde_json::from_value(json!({"model": "m", "input": [], "instructions": "HOST", "tools": [tool]})).unwrap()
}

#[tokio::test]
async fn responses_with_a_tool_loop_only_grow_at_their_end() {
    let call = json!({"type": "function_call", "id": "f1", "call_id": "1", "name": "look", "arguments": "{}", "status": "completed"});
    let server =
        Scripted::start([Answer::Json(response(&call)), Answer::Json(response(&said("Grey."))), Answer::Json(response(&said("Blue.")))])
            .await;
    let mut service = stack(AsyncOpenAi).layer(Responses(client(&server)));

    let mut items = vec![InputItem::EasyMessage(EasyInputMessage::from("hi"))];
    let request = |items: &[InputItem]| CreateResponse { input: InputParam::Items(items.to_vec()), ..responses() };
    let answer = service.ready().await.unwrap().call(request(&items)).await.unwrap();

    let OutputItem::FunctionCall(call) = answer.output[0].clone() else { panic!("the server calls a tool") };
    items.push(InputItem::Item(Item::FunctionCall(call)));
    let result = json!({"type": "function_call_output", "call_id": "1", "output": "grey ".repeat(20)});
    items.push(serde_json::from_value(result).unwrap());
    let answer = service.ready().await.unwrap().call(request(&items)).await.unwrap();

    let OutputItem::Message(message) = answer.output[0].clone() else { panic!("the server says something") };
    items.push(serde_json::from_value(serde_json::to_value(OutputItem::Message(message)).unwrap()).unwrap());
    items.push(InputItem::EasyMessage(EasyInputMessage::from("is there sun?")));
    service.ready().await.unwrap().call(request(&items)).await.unwrap();

    let sent = server.sent();
    goes_on(&sent[0], &sent[1], r#"],"instructions":"#);
    goes_on(&sent[1], &sent[2], r#"],"instructions":"#);
    let last: Value = serde_json::from_str(&sent[2]).unwrap();
    assert_eq!(last["instructions"], "You are careful.\n\nHOST");
    assert_eq!(last["tools"][0]["description"], "Looks.\n\nLook twice.");
    let input = last["input"].as_array().unwrap();
    assert_eq!(input[0]["content"][1]["text"], "<context origin=\"host\">\nIt rains.\nNo tool ran.\n</context>");
    assert!(input[2]["output"].as_str().unwrap().contains("characters cut"));
    assert_eq!(input[3]["content"][0]["text"], "<context origin=\"host\">\nA tool ran.\n</context>");
    // What the model said is sent as it came.
    assert_eq!((&input[1]["id"], &input[4]["content"][0]["annotations"]), (&json!("f1"), &json!([])));
}

#[tokio::test]
async fn responses_stream_as_the_client_does() {
    let delta = |n: u64, text: &str| {
        let event = json!({"type": "response.output_text.delta", "sequence_number": n, "item_id": "m1", "output_index": 0, "content_index": 0,
            "delta": text});
        format!("event: response.output_text.delta\ndata: {event}\n\n")
    };
    let server = Scripted::start([Answer::Events(vec![delta(1, "Gr"), delta(2, "ey.")])]).await;
    let request = CreateResponse { input: "hi".into(), ..responses() };
    let mut stream = stack(AsyncOpenAi).layer(ResponsesStream(client(&server))).oneshot(request).await.unwrap();
    for text in ["Gr", "ey."] {
        server.let_out(1);
        let event = stream.next().await.unwrap().unwrap();
        assert!(matches!(&event, ResponseStreamEvent::ResponseOutputTextDelta(delta) if delta.delta == text), "{event:?}");
    }
    let sent: Value = serde_json::from_str(&server.sent()[0]).unwrap();
    assert_eq!(sent["input"][0]["content"][0], json!({"type": "input_text", "text": "hi"}));
}

#[tokio::test]
async fn without_tower_the_same_request_comes_out_as_from_json() {
    let mut request = chat();
    request.messages.push(user("hi"));
    let json = serde_json::to_value(&request).unwrap();
    let typed = stack(AsyncOpenAi).assemble(request, Context::default()).await;
    assert_eq!(serde_json::to_value(typed).unwrap(), stack(OpenAiChat).assemble(json, Context::default()).await);

    let request = CreateResponse { input: "hi".into(), ..responses() };
    let json = serde_json::to_value(&request).unwrap();
    let typed = stack(AsyncOpenAi).assemble(request, Context::default()).await;
    assert_eq!(serde_json::to_value(typed).unwrap(), stack(OpenAiResponses).assemble(json, Context::default()).await);
}
