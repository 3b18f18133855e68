//! A client of one's own: how its request type is read and written, in about thirty lines, and the stack around it.
//!
//!     cargo run --example own_client

use std::convert::Infallible;
use tower::{Layer, Service, ServiceExt, service_fn};
use tower_prompt::layers::wire::{Conversation, Edits, GAP, Message, Removal, Role, Wire};
use tower_prompt::layers::{Fragment, Prompt, PromptStack, Settings, SystemPromptLayer, Tier, Turn};

/// The client's request: who said what.
#[derive(Clone, Default, Debug)]
struct Ask {
    system: String,
    lines: Vec<(Role, String)>,
}

/// Says how it is read and written.
#[derive(Clone)]
struct AskWire;

impl Wire<Ask> for AskWire {
    fn read(&self, ask: &Ask) -> Conversation {
        let message = |(at, (role, line)): (usize, &(Role, String))| Message::of_string(at, *role, line.as_str());
        Conversation::new(ask.lines.iter().enumerate().map(message))
    }

    fn write(&self, mut ask: Ask, edits: &Edits) -> Ask {
        if let Some(system) = &edits.system {
            ask.system = system.in_front_of(&ask.system);
        }
        for removal in &edits.removals {
            // A text of ours that the caller kept: the bytes before it are the caller's.
            if let Removal::Cut { at, keep, .. } = *removal {
                ask.lines[at].1.truncate(keep);
            }
        }
        for append in &edits.appends {
            ask.lines[append.at].1.extend([GAP, &append.text]);
        }
        ask
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Infallible> {
    let stack = PromptStack::new(AskWire, Settings::default())
        .with(SystemPromptLayer::replaced("You are a careful engineer."))
        .with(|_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Turn, || Fragment::new("weather", "It rains.")));
    let mut client = stack.layer(service_fn(|ask: Ask| async move { Ok::<_, Infallible>(ask) }));

    let mut ask = Ask::default();
    for line in ["Shall we go out?", "And now?"] {
        ask.lines.push((Role::User, line.to_owned()));
        let sent = client.ready().await?.call(ask.clone()).await?;
        println!("{sent:#?}");
        ask.lines.push((Role::Assistant, "No.".to_owned()));
    }
    Ok(())
}
