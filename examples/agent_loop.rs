//! An agent's loop that answers the skill tool: the model finds a skill, loads it, and reads a file that it brings.
//!
//!     cargo run --example agent_loop

use serde_json::{Value, json};
use tower_prompt::layers::wire::{Anthropic, Format, ToolAnswer, ToolCalls};
use tower_prompt::layers::{Context, Session};
use tower_prompt::{Assembly, Environment, Workspace};

/// A model would be asked here, with the request; this one has its lines by heart.
fn ask(request: &Value, turn: usize) -> Value {
    let call = |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "skill", "input": input});
    let said = match turn {
        0 => vec![call("1", json!({"name": "rust-debug"}))],
        1 => vec![call("2", json!({"name": "rust-debugging"}))],
        2 => vec![
            call("3", json!({"operation": "read_resource", "name": "rust-debugging", "path": "references/borrow-errors.md"})),
            json!({"type": "tool_use", "id": "4", "name": "shell", "input": {"command": "cargo check"}}),
        ],
        _ => vec![json!({"type": "text", "text": "The borrow ends too late: clone the key before the insert."})],
    };
    println!("-- {} messages were sent", request["messages"].as_array().map_or(0, Vec::len));
    json!({"role": "assistant", "content": said})
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = Workspace::at(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/workspace"));
    // Who says that he answers the skill tool has it offered to the model.
    let assembly = Assembly::load(&Environment::of_process(), &workspace)?.answer_skill_tool();
    let (stack, tool, session) = (assembly.stack(Anthropic), assembly.skill_tool(), Session::new());

    // The loop keeps its own messages; what the stack adds stands on the wire alone.
    let mut request =
        json!({"model": "m", "max_tokens": 1024, "messages": [{"role": "user", "content": "Why does the borrow checker complain?"}]});
    for turn in 0.. {
        let sent = stack.assemble(request.clone(), Context::default().session(session.clone())).await;
        let response = ask(&sent, turn);
        let calls = ToolCalls::in_response(Format::Anthropic, &response);
        let ours = tool.answer(&calls, Some(&session)).await;
        let answers: Vec<ToolAnswer> = calls
            .iter()
            .zip(ours)
            .map(|(call, ours)| match ours {
                Some(result) => result.into(),
                // The host's own tools.
                None => format!("`{}` ran: {}", call.name, call.arguments).into(),
            })
            .collect();
        answers.iter().for_each(|answer| println!("{}\n", answer.text));
        calls.append(&mut request, &answers)?;
        if calls.is_empty() {
            println!("{}", response["content"][0]["text"].as_str().unwrap_or_default());
            break;
        }
    }
    let active: Vec<String> = session.active().iter().map(|skill| skill.id.to_string()).collect();
    println!("In force: {}", active.join(", "));
    assert_eq!(active, ["rust-debugging"]);
    Ok(())
}
