//! Without tower: a request in, the assembled request out, and the manifest beside it.
//!
//!     cargo run --example assemble

use serde_json::json;
use tower_prompt::layers::skill::SkillId;
use tower_prompt::layers::wire::Gemini;
use tower_prompt::layers::{Context, Report, Session};
use tower_prompt::{Assembly, Environment, Workspace};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = Workspace::at(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/workspace"));
    let stack = Assembly::load(&Environment::of_process(), &workspace)?.stack(Gemini);

    let (session, report) = (Session::new(), Report::default());
    session.activate(SkillId::new("table-tests")?, None);
    let request = json!({"contents": [{"role": "user", "parts": [{"text": "Test that tabs count as one character"}]}]});
    let assembled = stack.assemble(request, Context::default().session(session).report(report.clone())).await;

    println!("{assembled:#}");
    let manifest = report.manifest().ok_or("a conversation has a manifest")?;
    for (placement, fragment) in manifest.fragments() {
        println!("{:<28} {:>5} tokens  {:?}", fragment.id, fragment.tokens, placement);
    }
    Ok(())
}
