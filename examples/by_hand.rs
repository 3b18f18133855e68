//! The same stack put together by hand, where other middleware is to stand in between or a layer is to be left out.
//!
//!     cargo run --example by_hand

use serde_json::{Value, json};
use std::convert::Infallible;
use tower::{ServiceBuilder, ServiceExt, service_fn};
use tower_prompt::layers::wire::OpenAiResponses;
use tower_prompt::layers::{AddLayer, Fragment, OpenLayer, Prompt, RenderLayer, Tier, Turn};
use tower_prompt::{Assembly, Environment, Workspace, config};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = Workspace::at(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/workspace"));
    let environment = Environment::of_process();
    let loaded = config::load(&environment, &workspace)?;
    let assembly = Assembly::new(loaded.config, &environment, &workspace);
    let settings = assembly.settings().on_manifest(|manifest| eprintln!("says {:?}", manifest.said()));

    let client = ServiceBuilder::new()
        .layer(OpenLayer::new(OpenAiResponses, &settings))
        .layer(assembly.system_prompt())
        .option_layer(assembly.user_authority())
        .layer(AddLayer(|_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Turn, || Fragment::new("build", "The last build failed."))))
        .layer(assembly.sections())
        .layer(RenderLayer::new(OpenAiResponses))
        .service(service_fn(|request: Value| async move { Ok::<_, Infallible>(request) }));

    let sent = client.oneshot(json!({"model": "gpt", "input": "Why did it fail?"})).await?;
    println!("{sent:#}");
    Ok(())
}
