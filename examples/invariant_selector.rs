//! Of the repository's invariants those that count for the task, chosen by a service of the host's: a model, most likely.
//!
//!     cargo run --example invariant_selector

use serde_json::json;
use tower::service_fn;
use tower_prompt::layers::invariant::{InvariantSelector, SelectionRequest, SelectionResponse};
use tower_prompt::layers::wire::OpenAiChat;
use tower_prompt::layers::{Context, Session};
use tower_prompt::{Assembly, Environment, Workspace};

/// A small model would be asked here, with the task and the numbered list, and its answer read as JSON.
async fn ask(request: SelectionRequest) -> Result<SelectionResponse, serde_json::Error> {
    println!("Asked for {:?}, from:\n{}", request.task, request.catalog.numbered());
    serde_json::from_str(r#"{"numbers": [1], "summary": "Count words in every locale alike"}"#)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = Workspace::at(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/workspace"));
    let environment = Environment::of_process().variable("BCODE_INVARIANTS__MODE", "relevant");
    let assembly = Assembly::load(&environment, &workspace)?.invariant_selector(InvariantSelector::new(service_fn(ask)));
    let stack = assembly.stack(OpenAiChat);

    let session = Session::new();
    let request = json!({"messages": [{"role": "user", "content": "Why do the counts differ on my machine?"}]});
    let sent = stack.assemble(request, Context::default().session(session.clone())).await;
    println!("{}", sent["messages"][1]["content"].as_str().unwrap_or_default());

    // Once the answer stands, the choice for the next message is made in the background.
    if let Some(invariants) = assembly.relevant_invariants() {
        invariants.answer_committed(&session, "The counts differed because of the locale; it is fixed now.");
        invariants.idle(&session).await;
    }
    Ok(())
}
