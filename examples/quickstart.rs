//! The usual way: a stack from the configuration, around a client. The client here answers with what the model would get.
//!
//!     cargo run --example quickstart

use serde_json::{Value, json};
use std::convert::Infallible;
use tower::{Layer, Service, ServiceExt, service_fn};
use tower_prompt::layers::wire::Anthropic;
use tower_prompt::{Assembly, Environment, Workspace};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = Workspace::at(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/workspace"));
    let stack = Assembly::load(&Environment::of_process(), &workspace)?.stack(Anthropic);

    // Any `tower::Service` that takes the provider's request. This one echoes it.
    let client = service_fn(|request: Value| async move { Ok::<_, Infallible>(request) });
    let mut client = stack.layer(client);

    let mut messages = vec![json!({"role": "user", "content": "The borrow checker refuses src/tally.rs"})];
    for answer in ["I will look at it.", "It is mended."] {
        let request = json!({"model": "claude", "max_tokens": 1024, "messages": messages});
        let sent = client.ready().await?.call(request).await?;
        println!("{}\n", serde_json::to_string_pretty(&sent)?);

        // The history stays the caller's own: what the stack adds is put back by itself, byte for byte.
        messages.push(json!({"role": "assistant", "content": answer}));
        messages.push(json!({"role": "user", "content": "go on"}));
    }
    Ok(())
}
