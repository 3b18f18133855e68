//! async-openai behind a stack: one line more than without. The server here is a scripted one, so that it runs without a key.
//!
//!     cargo run --example async_openai --features async-openai

mod scripted;

use async_openai::types::chat::{ChatCompletionRequestUserMessage, CreateChatCompletionRequestArgs};
use async_openai::{Client, config::OpenAIConfig};
use futures_util::StreamExt;
use scripted::{Answer, Scripted};
use tower::{Layer, Service, ServiceExt};
use tower_prompt::clients::async_openai::{AsyncOpenAi, Chat, ChatStream};
use tower_prompt::{Assembly, Environment, Workspace};

const WHOLE: &str = r#"{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",
    "message":{"role":"assistant","content":"Clone it."}}]}"#;
const CHUNK: &str = r#"data: {"id":"2","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Or borrow it."}}]}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let events = vec![format!("{CHUNK}\n\n"), "data: [DONE]\n\n".to_owned()];
    let server = Scripted::start([Answer::Json(WHOLE.to_owned()), Answer::Events(events)]).await;
    let client = Client::with_config(OpenAIConfig::new().with_api_base(&server.url).with_api_key("none"));

    let workspace = Workspace::at(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/workspace"));
    let stack = Assembly::load(&Environment::of_process(), &workspace)?.stack(AsyncOpenAi);

    // Whole answers, the crate's own type.
    let mut chat = stack.layer(Chat(client.clone()));
    let request = CreateChatCompletionRequestArgs::default()
        .model("gpt-5-mini")
        .messages([ChatCompletionRequestUserMessage::from("The borrow checker refuses src/tally.rs").into()])
        .build()?;
    let answer = chat.ready().await?.call(request.clone()).await?;
    println!("{}", answer.choices[0].message.content.as_deref().unwrap_or_default());

    // Streams, the crate's own too.
    server.let_out(2);
    let mut stream = stack.layer(ChatStream(client)).oneshot(request).await?;
    while let Some(chunk) = stream.next().await {
        println!("{}", chunk?.choices[0].delta.content.as_deref().unwrap_or_default());
    }

    println!("\nWhat was sent:\n{}", server.sent()[0]);
    Ok(())
}
