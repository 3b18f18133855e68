//! What this library brings along: licences that anyone can live with, from one registry, and not much of it.

use std::collections::BTreeSet;
use std::process::Command;

/// Any of these, or a choice that has one of them.
const LICENCES: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// What no build of ours may need: a system's library for TLS, an async runtime beside tokio, crates that nobody keeps any more.
const BANNED: [&str; 6] = ["openssl-sys", "native-tls", "async-std", "serde_yaml", "atty", "dotenv"];

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The packages of a build, without what only tests need.
fn built(features: &str) -> BTreeSet<String> {
    let tree = cargo(&["tree", "--package", "tower-prompt", "-e", "normal", "--prefix", "none", "--format", "{p}", "--features", features]);
    let names = tree.lines().map(|line| line.split(" (").next().unwrap_or(line).to_owned());
    names.filter(|name| !name.starts_with("tower-prompt")).collect()
}

#[test]
fn each_licence_is_permissive_and_each_source_the_registry() {
    let metadata: serde_json::Value = serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--all-features"])).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100);
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or_default());
        assert!(package["source"].as_str().unwrap().starts_with("registry+https://github.com/rust-lang/crates.io-index"), "{name}");
        let is_allowed = |one: &str| LICENCES.contains(&one.trim().trim_matches(['(', ')']));
        let choices = |all: &str| all.split(" OR ").flat_map(|one| one.split('/')).any(is_allowed);
        assert!(licence.split(" AND ").all(choices), "{name}: {licence}");
    }
}

#[test]
fn no_build_needs_what_is_banned() {
    let all = built("cli,watch,page,store-sqlite,store-postgres,install,tokens,tools,proxy,async-openai,genai,rig");
    let banned: Vec<&String> = all.iter().filter(|package| BANNED.iter().any(|name| package.starts_with(&format!("{name} ")))).collect();
    assert!(banned.is_empty(), "{banned:?}");
}

/// What README says of it. More than this must be earned, and said there.
#[test]
fn the_default_build_is_small() {
    let count = |features: &str| built(features).len();
    for (features, most) in
        [("", 60), ("tools", 60), ("page", 60), ("watch", 70), ("install", 70), ("tokens", 70), ("cli", 85), ("proxy", 130)]
    {
        let found = count(features);
        assert!(found <= most, "{features}: {found} packages, and at most {most} were agreed on");
    }
}
