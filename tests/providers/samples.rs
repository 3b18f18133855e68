//! The sample providers under `examples/`.

use super::script::{LONG, of};
use std::path::{Path, PathBuf};
use std::process::Command;
use tower_prompt::Environment;
use tower_prompt::layers::skill::SkillId;
use tower_prompt::layers::skill::provider::{InvokeSkillRequest, SharedProvider, SkillErrorCode};
use tower_prompt::providers::{ProcessProvider, ProviderProgram};

fn sample(program: &Path, arguments: &[PathBuf]) -> SharedProvider {
    let environment = Environment::new(env!("CARGO_MANIFEST_DIR")).variable("PATH", std::env::var("PATH").unwrap_or_default());
    SharedProvider::new(ProcessProvider::new(
        ProviderProgram::new("plugin:sample", program, &environment).arguments(arguments).deadline(LONG),
    ))
}

/// Lists, describes, gives a body, invokes, and refuses what it does not have.
async fn does_all_that_is_asked(provider: &SharedProvider, skill: &str, input: &str, output: &str) {
    let list = provider.list().await.unwrap();
    assert_eq!(list.diagnostics, []);
    let listed = list.skills.iter().find(|listed| listed.id.as_str() == skill).unwrap();
    let id = SkillId::new(skill).unwrap();
    assert_eq!(provider.describe(id.clone()).await.unwrap().summary, *listed);
    assert!(provider.context(of(skill)).await.unwrap().body.starts_with("# "));
    assert_eq!(provider.invoke(InvokeSkillRequest::new(id.clone()).input(input)).await.unwrap().text, output);
    assert!(provider.invoke(InvokeSkillRequest::new(id)).await.unwrap().is_error);
    assert_eq!(provider.context(of("no-such-skill")).await.unwrap_err().code, SkillErrorCode::UnknownSkill);
}

#[tokio::test]
async fn the_one_in_python_works() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|run| run.status.success()) {
        println!("left out: there is no python3 here");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/skill_provider.py");
    let provider = sample(Path::new("python3"), &[script]);
    does_all_that_is_asked(&provider, "week-number", "2026-07-01", "week 27 of 2026").await;
    assert_eq!(provider.list().await.unwrap().skills.len(), 2);
}

#[tokio::test]
async fn the_one_in_rust_works() {
    // Examples are built beside the tests, where all targets are.
    let own = std::env::current_exe().unwrap();
    let built = own.ancestors().nth(2).unwrap().join("examples").join(format!("skill_provider{}", std::env::consts::EXE_SUFFIX));
    if !built.exists() {
        println!("left out: the example is not built");
        return;
    }
    does_all_that_is_asked(&sample(&built, &[]), "units", "10", "3.05 m").await;
}
