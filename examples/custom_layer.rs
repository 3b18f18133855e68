//! A layer of one's own: it sees the turn and adds to the prompt, without knowing the other layers.
//!
//!     cargo run --example custom_layer

use serde_json::json;
use std::time::Duration;
use tower_prompt::layers::text::Block;
use tower_prompt::layers::wire::OpenAiChat;
use tower_prompt::layers::{Context, Contribute, Fragment, Prompt, PromptStack, Session, Settings, SystemPromptLayer, Tier, Turn};

/// Tells the model what the on-call rota says, at each message of the user.
struct OnCall;

impl Contribute for OnCall {
    fn contribute(&self, _: &Turn, prompt: &mut Prompt) {
        // What must be looked up is a future with its own deadline; all of them wait side by side. Late or failed, it says nothing.
        prompt.add_later(Tier::Turn, || async {
            let name = tokio::time::timeout(Duration::from_millis(200), rota()).await.ok()?;
            Some(Fragment::new("on_call", Block::new("on_call", &format!("On call today: {name}"))))
        });
    }
}

async fn rota() -> String {
    // A database or a web service would be asked here.
    tokio::task::yield_now().await;
    "Ada".to_owned()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let stack = PromptStack::new(OpenAiChat, Settings::default())
        .with(SystemPromptLayer::default())
        .with(OnCall)
        // A closure is a layer too. What is Stable is told once, in the system prompt.
        .with(|_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Stable, || Fragment::new("tone", "Answer in one sentence.")));

    let context = Context::default().session(Session::new());
    let first = json!({"role": "user", "content": "Whom do I call?"});
    println!("{:#}", stack.assemble(json!({"messages": [first]}), context.clone()).await);

    // The rota did not change, so the second message says nothing of it; behind the first it stands as before.
    let answer = json!({"role": "assistant", "content": "Ada."});
    let second = json!({"role": "user", "content": "And tomorrow?"});
    println!("{:#}", stack.assemble(json!({"messages": [first, answer, second]}), context).await);
}
