//! Skills from a program beside those in folders. Names a provider, or takes the sample that stands beside this one:
//!
//!     cargo build --example skill_provider && cargo run --example provided_skills
//!     cargo run --example provided_skills -- python3 examples/skill_provider.py

use serde_json::json;
use std::error::Error;
use std::path::{Path, PathBuf};
use tower_prompt::layers::Context;
use tower_prompt::layers::skill::provider::SharedProvider;
use tower_prompt::layers::skill::{HintEvaluator, SkillRegistry};
use tower_prompt::layers::wire::OpenAiChat;
use tower_prompt::providers::{FolderProvider, ProcessProvider, ProvidedSkills, ProviderProgram};
use tower_prompt::skills::DiscoveryOptions;
use tower_prompt::{Assembly, Environment, Workspace};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let beside = || std::env::current_exe().map(|own| own.with_file_name(format!("skill_provider{}", std::env::consts::EXE_SUFFIX)));
    let program = arguments.next().map_or_else(beside, |named| Ok(PathBuf::from(named)))?;
    if program.is_absolute() && !Path::new(&program).exists() {
        return Err(format!("{} is not there: `cargo build --example skill_provider` makes it", program.display()).into());
    }

    let workspace = Workspace::at(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/workspace"));
    let environment = Environment::of_process();
    let assembly = Assembly::load(&environment, &workspace)?;
    let program = ProviderProgram::new("plugin:sample", program, &environment).arguments(arguments);
    let providers = [
        ("folders", SharedProvider::new(FolderProvider::new(assembly.skills().clone()))),
        ("plugin:sample", SharedProvider::new(ProcessProvider::new(program))),
    ];
    let skills = ProvidedSkills::load(providers, &DiscoveryOptions::from(&assembly.config().skills)).await;

    for skill in skills.snapshot().iter() {
        println!("{} ({})", skill.summary.id, skill.summary.source.label);
        for (hint, advice) in HintEvaluator::default().overview(&skill.summary.permissions) {
            println!("    {hint}: {advice}");
        }
    }
    skills.snapshot().diagnostics().iter().for_each(|found| eprintln!("{found}"));

    let stack = assembly.provided_skills(skills).stack(OpenAiChat);
    let request = json!({"messages": [{"role": "user", "content": "How many metres are 12 feet?"}]});
    let sent = stack.assemble(request, Context::default()).await;
    println!("\n{}", sent["messages"][1]["content"].as_str().unwrap_or_default());
    Ok(())
}
