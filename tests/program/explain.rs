//! `explain`: what a turn is made of.

use super::run::SAMPLE;
use crate::place::Place;
use tower_prompt::layers::text::Limit;
use tower_prompt::layers::{Manifest, Placement, Round};

/// Nothing in it names a path, the machine or the time: the figures are the same everywhere.
const STEADY: &str = "\
[skills]
include_user_skills = false
[skills.prompt]
include_locations = false
max_bytes = 700
[system_prompt]
agent_suffix = \"Be brief.\"
[system_prompt.sections]
repository_context = false
repository_invariants = false
execution_environment = false
hosting_environment = false
current_datetime = false
dynamic_repository_context = false
";

#[test]
fn a_turn_as_a_table() {
    let place = Place::new();
    place.write("work/bcode.toml", STEADY);
    for n in 0..9 {
        place.skill(&format!("skill-{n}"), "What it does, and when it should be used, in a sentence of some length.", "Body");
    }
    let run = place.run(&["explain", "-m", "hi"]);
    insta::assert_snapshot!(run.data());
}

#[test]
fn a_turn_as_json_is_a_manifest_that_adds_up() {
    let place = Place::new();
    for format in ["openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "ollama-generate"] {
        let arguments = ["explain", "--json", "--dir", SAMPLE, "-m", "cargo says panic", "--activate", "table-tests", "--format", format];
        let manifest: Manifest = serde_json::from_str(place.run(&arguments).data()).unwrap();
        assert_eq!((manifest.round, manifest.settled), (Round::Start, true), "{format}");
        assert_eq!(manifest.texts.iter().map(|text| text.placement).collect::<Vec<_>>(), [Placement::System, Placement::BehindMessage(0)]);
        for text in &manifest.texts {
            let mut end = 0;
            for fragment in &*text.fragments {
                let between = &text.text[end..fragment.offset];
                end = fragment.offset + fragment.bytes;
                let own = &text.text[fragment.offset..end];
                assert!(!own.trim().is_empty() && own.chars().count() == fragment.chars, "{format} {}", fragment.id);
                let is_punctuation = between.lines().all(|line| line.is_empty() || line.starts_with("<context") || line == "</context>");
                assert!(is_punctuation, "{format} {}: {between:?}", fragment.id);
            }
            let behind = &text.text[end..];
            assert!(behind.is_empty() || behind == "\n</context>", "{format}: {behind:?}");
        }
        let ids: Vec<&str> = manifest.fragments().map(|(_, fragment)| &*fragment.id).collect();
        for id in [
            "base",
            "user_authority",
            "instructions:AGENTS.md",
            "skill_catalog",
            "active_skill:table-tests",
            "skill_suggestion:rust-debugging",
        ] {
            assert!(ids.contains(&id), "{format} {id}: {ids:?}");
        }
        let tokens: usize = manifest.fragments().map(|(_, fragment)| fragment.tokens).sum();
        assert_eq!(manifest.tokens_by_tier().values().sum::<usize>(), tokens);
        assert!(manifest.system_hash.is_some());
    }
}

#[test]
fn what_is_explained_is_what_is_rendered() {
    let place = Place::new();
    let manifest: Manifest = serde_json::from_str(place.run(&["explain", "--json", "--dir", SAMPLE, "-m", "hi"]).data()).unwrap();
    let body = place.run(&["render", "--dir", SAMPLE, "-m", "hi", "--format", "openai-chat"]).json();
    assert_eq!(body["messages"][0]["content"], *manifest.texts[0].text);
}

#[test]
fn two_runs_over_one_tree_give_one_hash() {
    let place = Place::new();
    let hash = |message: &str| {
        let manifest: Manifest = serde_json::from_str(place.run(&["explain", "--json", "--dir", SAMPLE, "-m", message]).data()).unwrap();
        manifest.system_hash.unwrap()
    };
    assert_eq!(hash("one"), hash("two"));
}

#[test]
fn a_limit_that_bit_stands_in_the_table_and_in_the_manifest() {
    let place = Place::new();
    place.write("work/AGENTS.md", "Line of the instructions.\n".repeat(100));
    place.write("work/bcode.toml", "[system_prompt]\nrepository_instructions_max_chars = 300\n");
    let table = place.run(&["explain", "-m", "hi"]);
    assert!(table.data().lines().any(|line| line.starts_with("instructions:AGENTS.md") && line.contains("cut -")), "{}", table.stdout);
    let manifest: Manifest = serde_json::from_str(place.run(&["explain", "-m", "hi", "--json"]).data()).unwrap();
    let (_, cut) = manifest.fragments().find(|(_, fragment)| fragment.id == "instructions:AGENTS.md").unwrap();
    let limit = cut.limit.unwrap();
    assert!(
        limit.cut && limit.limit == Limit::Chars(300) && limit.after == cut.chars && cut.chars <= 300 && limit.before > 2_600,
        "{limit:?}"
    );
}

#[test]
fn explain_writes_nothing() {
    let place = Place::new();
    let before = std::fs::read_dir(place.at("home")).unwrap().count();
    place.run(&["explain", "-m", "hi"]);
    assert_eq!((before, std::fs::read_dir(place.at("home")).unwrap().count()), (0, 0));
    assert_eq!(std::fs::read_dir(place.at("work")).unwrap().count(), 0);
}
