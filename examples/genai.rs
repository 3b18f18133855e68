//! genai behind a stack. The server here is a scripted one, so that it runs without a key.
//!
//!     cargo run --example genai --features genai

mod scripted;

use futures_util::StreamExt;
use genai::chat::{ChatRequest, ChatStreamEvent};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget, adapter::AdapterKind};
use scripted::{Answer, Scripted};
use tower::{Layer, Service, ServiceExt};
use tower_prompt::clients::genai::{Chat, ChatStream, GenAi};
use tower_prompt::{Assembly, Environment, Workspace};

const WHOLE: &str = r#"{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",
    "message":{"role":"assistant","content":"Clone it."}}]}"#;
const CHUNK: &str = r#"data: {"id":"2","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Or borrow it."}}]}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let events = vec![format!("{CHUNK}\n\n"), "data: [DONE]\n\n".to_owned()];
    let server = Scripted::start([Answer::Json(WHOLE.to_owned()), Answer::Events(events)]).await;
    // To a provider the model's name is enough: `Chat::new(client, "gpt-5-mini")`.
    let endpoint = Endpoint::from_owned(format!("{}/v1/", server.url));
    let model = ServiceTarget { endpoint, auth: AuthData::from_single("none"), model: ModelIden::new(AdapterKind::OpenAI, "m") };
    let client = Client::new()?;

    let workspace = Workspace::at(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/workspace"));
    let stack = Assembly::load(&Environment::of_process(), &workspace)?.stack(GenAi);
    let request = ChatRequest::from_user("The borrow checker refuses src/tally.rs");

    // Whole answers, the crate's own type.
    let mut chat = stack.layer(Chat::new(client.clone(), model.clone()));
    let answer = chat.ready().await?.call(request.clone()).await?;
    println!("{}", answer.first_text().unwrap_or_default());

    // Streams, the crate's own too.
    server.let_out(2);
    let mut stream = stack.layer(ChatStream::new(client, model)).oneshot(request).await?.stream;
    while let Some(event) = stream.next().await {
        if let ChatStreamEvent::Chunk(chunk) = event? {
            println!("{}", chunk.content);
        }
    }

    println!("\nWhat was sent:\n{}", server.sent()[0]);
    Ok(())
}
