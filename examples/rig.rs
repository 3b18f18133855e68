//! An agent of rig's over a model whose requests go through a stack. The server here is a scripted one, so that it runs without a key.
//!
//!     cargo run --example rig --features rig

mod scripted;

use rig_agent::{AgentBuilder, prelude::Chat};
use rig_core::client::completion::CompletionClient;
use rig_core::providers::openai;
use scripted::{Answer, Scripted};
use tower_prompt::clients::rig::{Prompted, Rig};
use tower_prompt::{Assembly, Environment, Workspace};

const ANSWER: &str = r#"{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",
    "message":{"role":"assistant","content":"Clone it."}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Scripted::start([Answer::Json(ANSWER.to_owned()), Answer::Json(ANSWER.to_owned())]).await;
    let client = openai::Client::builder().api_key("none").base_url(&server.url).build()?;
    let model = client.completions_api().completion_model("gpt-5-mini");

    let workspace = Workspace::at(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/workspace"));
    let stack = Assembly::load(&Environment::of_process(), &workspace)?.stack(Rig);

    // All that changes: the agent gets the model behind the stack.
    let agent = AgentBuilder::new(Prompted::new(&stack, model)).preamble("You are the tally's maintainer.").build();

    let mut history = Vec::new();
    println!("{}", agent.chat("The borrow checker refuses src/tally.rs", &mut history).await?);
    println!("{}", agent.chat("go on", &mut history).await?);

    println!("\nWhat was sent:\n{}", server.sent()[1]);
    Ok(())
}
