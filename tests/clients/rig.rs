//! rig: an agent of its own, over a prompted model.

use crate::clients::grown::{self, Said};
use crate::clients::said::{goes_on, stack};
use crate::scripted::{Answer, Scripted};
use futures_util::StreamExt;
use proptest::prelude::*;
use rig_agent::AgentBuilder;
use rig_agent::prelude::Chat;
use rig_agent::tool::{Tool, ToolContext};
use rig_core::client::completion::CompletionClient;
use rig_core::completion::message::{AssistantContent, Image, ToolResultContent, UserContent};
use rig_core::completion::{CompletionModel, CompletionRequest, Message};
use rig_core::providers::openai;
use rig_core::streaming::StreamedAssistantContent;
use serde_json::{Value, json};
use std::convert::Infallible;
use tower_prompt::clients::rig::{Prompted, Rig};
use tower_prompt::layers::wire::{Role, Spot, Wire};
use tower_prompt::layers::{Context, Session};

fn prompted(server: &Scripted) -> Prompted<impl CompletionModel + Clone + use<>> {
    let client = openai::Client::builder().api_key("none").base_url(&server.url).build().unwrap();
    Prompted::new(&stack(Rig), client.completions_api().completion_model("m"))
}
fn completion(message: &Value) -> Answer {
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    Answer::Json(
        json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}).to_string(),
    )
}

struct Look;

impl Tool for Look {
    const NAME: &'static str = "look";
    type Args = Value;
    type Output = String;
    type Error = Infallible;
    fn description(&self) -> String {
        "Looks.".to_owned()
    }
    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {}})
    }
    async fn call(&self, _: &mut ToolContext, _: Value) -> Result<String, Infallible> {
        Ok("grey ".repeat(20))
    }
}

#[tokio::test]
async fn an_agent_with_a_tool_loop_only_grows_at_its_end() {
    let call = json!({"id": "1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":\"sky\"}"}});
    let server = Scripted::start([
        completion(&json!({"role": "assistant", "content": null, "tool_calls": [call]})),
        completion(&json!({"role": "assistant", "content": "Grey."})),
        completion(&json!({"role": "assistant", "content": "Blue."})),
    ])
    .await;
    let agent = AgentBuilder::new(prompted(&server)).preamble("HOST").tool(Look).default_max_turns(3).build();
    let mut history = Vec::new();
    assert_eq!(agent.chat("hi", &mut history).await.unwrap(), "Grey.");
    assert_eq!(agent.chat("is there sun?", &mut history).await.unwrap(), "Blue.");
    // Nothing of ours is in the history that the caller keeps.
    assert!(!serde_json::to_string(&history).unwrap().contains("context origin"));

    let sent = server.sent();
    let bodies: Vec<Value> = sent.iter().map(|body| serde_json::from_str(body).unwrap()).collect();
    let messages = bodies[2]["messages"].as_array().unwrap();
    for body in &bodies[..2] {
        let earlier = body["messages"].as_array().unwrap();
        assert_eq!(messages[..earlier.len()], earlier[..]);
        assert_eq!(body["tools"], bodies[2]["tools"]);
    }
    goes_on(&sent[0], &sent[1], "],\"tools\"");
    goes_on(&sent[1], &sent[2], "],\"tools\"");
    assert_eq!(messages[0]["role"], "system");
    assert!(messages[0].to_string().contains(r"You are careful.\n\nHOST"), "{}", messages[0]);
    assert!(messages[1].to_string().contains(r"It rains.\nNo tool ran."), "{}", messages[1]);
    assert!(messages[3].to_string().contains("characters cut"), "{}", messages[3]);
    assert!(messages[4]["role"] == "user" && messages[4].to_string().contains("A tool ran."), "{}", messages[4]);
    assert!(messages[6].to_string().contains(r"It shines.\nNo tool ran."), "{}", messages[6]);
    assert_eq!(bodies[2]["tools"][0]["function"]["description"], "Looks.\n\nLook twice.");
}

#[tokio::test]
async fn streams_pass_as_they_come() {
    let chunk = |text: &str| {
        let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": null});
        format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}))
    };
    let server = Scripted::start([Answer::Events(vec![chunk("Gr"), chunk("ey."), "data: [DONE]\n\n".into()])]).await;
    let mut stream = prompted(&server).completion_request("hi").stream().await.unwrap();
    for text in ["Gr", "ey."] {
        server.let_out(1);
        let said = loop {
            if let StreamedAssistantContent::Text(said) = stream.next().await.unwrap().unwrap() {
                break said.text;
            }
        };
        assert_eq!(said, text);
    }
    let sent: Value = serde_json::from_str(&server.sent()[0]).unwrap();
    assert!(sent["stream"] == true && sent["messages"][0].to_string().contains("You are careful."), "{sent}");
}

fn request(chat_history: &[Message]) -> CompletionRequest {
    serde_json::from_value(json!({"chat_history": chat_history, "documents": [], "tools": []})).unwrap()
}

#[tokio::test]
async fn what_came_is_read_by_its_kind_and_assembled_twice_it_is_the_same() {
    let result: UserContent = serde_json::from_value(json!({"type": "toolresult", "call": "1", "name": "look",
        "content": [{"type": "text", "text": "grey ".repeat(20)}, {"type": "json", "value": {"at": 1}}]}))
    .unwrap();
    let call: AssistantContent =
        serde_json::from_value(json!({"type": "toolcall", "id": "1", "function": {"name": "look", "arguments": {"b": 1, "a": 2}}}))
            .unwrap();
    let request = request(&[
        Message::System { content: "HOST".into() },
        Message::User { content: vec![UserContent::text("see"), UserContent::Image(Image::default())] },
        Message::Assistant { id: Some("a".into()), content: vec![AssistantContent::reasoning("hm"), call] },
        Message::User { content: vec![result] },
        Message::user("hi"),
    ]);
    let read = Rig.read(&request);
    let roles: Vec<_> = read.messages.iter().map(|message| (message.at, message.role, message.spot, message.is_string)).collect();
    assert_eq!(
        roles,
        [
            (1, Role::User, Spot::Content, false),
            (2, Role::Assistant, Spot::Content, false),
            (3, Role::Tool, Spot::NewMessage, false),
            (4, Role::User, Spot::Content, true),
        ]
    );
    assert_eq!((read.system.as_deref(), &*read.messages[1].calls[0].arguments), (Some("HOST"), "{\"a\":2,\"b\":1}"));
    assert_eq!((&read.messages[2].answers[..], &read.messages[2].result_chars[..]), (&[Some(0)][..], &[(3, 100)][..]));

    let (stack, session) = (stack(Rig), Session::new());
    let context = || Context::default().session(session.clone());
    let json = |request: &CompletionRequest| serde_json::to_value(request).unwrap();
    let once = stack.assemble(request.clone(), context()).await;
    assert_eq!(once.chat_history[0], Message::System { content: "You are careful.\n\nHOST".into() });
    let Message::User { content } = &once.chat_history[3] else { panic!("the results are there") };
    let UserContent::ToolResult(result) = &content[0] else { panic!("and nothing else") };
    // Its texts are cut; a value stays whole.
    assert!(result.content[0].as_text().is_some_and(|text| text.len() <= 40 && text.contains("characters cut")));
    assert!(matches!(&result.content[1], ToolResultContent::Json { value } if *value == json!({"at": 1})));
    let twice = stack.assemble(once.clone(), context()).await;
    assert_eq!(json(&twice), json(&once));
}

#[tokio::test]
async fn the_system_prompt_stands_ahead_of_what_the_caller_says_first() {
    let stack = stack(Rig);
    let bare = stack.assemble(request(&[Message::user("hi")]), Context::default()).await;
    assert_eq!((bare.preamble, &bare.chat_history[0]), (None, &Message::System { content: "You are careful.".into() }));

    let with_preamble = CompletionRequest { preamble: Some("HOST".into()), ..request(&[Message::user("hi")]) };
    let sent = stack.assemble(with_preamble, Context::default()).await;
    assert_eq!((sent.preamble.as_deref(), sent.chat_history.len()), (Some("You are careful.\n\nHOST"), 1));
}

fn of(said: &[Said]) -> CompletionRequest {
    let mut history = vec![json!({"role": "system", "content": "HOST"})];
    for (n, said) in said.iter().enumerate() {
        let text = |text: &String| json!({"type": "text", "text": text});
        let call =
            |at: usize| json!({"type": "toolcall", "id": format!("{n}.{at}"), "function": {"name": "look", "arguments": {"at": at}}});
        let result = |(at, result): (usize, &String)| json!({"type": "toolresult", "call": format!("{n}.{at}"), "name": "look", "content": [text(result)]});
        match said {
            Said::User(texts) => history.push(json!({"role": "user", "content": texts.iter().map(text).collect::<Vec<_>>()})),
            Said::Model(said) => history.push(json!({"role": "assistant", "id": null, "content": [text(said)]})),
            Said::Calls(results) => {
                history.push(json!({"role": "assistant", "id": null, "content": (0..results.len()).map(call).collect::<Vec<_>>()}));
                history.push(json!({"role": "user", "content": results.iter().enumerate().map(result).collect::<Vec<_>>()}));
            }
        }
    }
    request(&history.into_iter().map(|message| serde_json::from_value(message).unwrap()).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_conversation_only_grows(said in grown::said()) {
        let messages = |request: &CompletionRequest| request.chat_history.iter().map(|message| serde_json::to_value(message).unwrap()).collect();
        grown::only_grows(Rig, &said, of, messages)?;
    }
}
