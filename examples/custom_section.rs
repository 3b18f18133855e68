//! A section of one's own, among those that the configuration switches: a name, a tier, a text.
//!
//!     cargo run --example custom_section

use serde_json::json;
use tower_prompt::layers::wire::OpenAiChat;
use tower_prompt::layers::{Context, Prompt, PromptStack, Section, Session, Tier, Turn, sections};
use tower_prompt::{Assembly, Environment, Workspace};

/// Tells the model, at each message of the user, who may be asked. It is told again only when it changes.
struct OnCall;

impl Section for OnCall {
    fn name(&self) -> &'static str {
        "on_call"
    }
    fn add(&self, turn: &Turn, prompt: &mut Prompt) {
        let agent = turn.context.host.agent.as_deref().unwrap_or("nobody");
        prompt.add(Tier::Turn, || sections::fragment("on_call", &format!("On call for {agent}: Ada")));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tower_prompt::config::ConfigError> {
    let workspace = Workspace::at(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/workspace"));
    let assembly = Assembly::load(&Environment::of_process(), &workspace)?;

    // Behind the sections of the configuration, and without one of them: what is off starts no process and reads no file.
    let sections = assembly.sections().with(OnCall).without("dynamic_repository_context");
    let stack = PromptStack::new(OpenAiChat, assembly.settings()).with(assembly.system_prompt()).with(sections);

    let context = Context::default().session(Session::new()).agent("builder", "plan");
    let request = json!({"messages": [{"role": "user", "content": "Whom do I ask?"}]});
    let sent = stack.assemble(request, context).await;
    for message in sent["messages"].as_array().into_iter().flatten() {
        println!("{}\n", message["content"].as_str().unwrap_or_default());
    }
    Ok(())
}
