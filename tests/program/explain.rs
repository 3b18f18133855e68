//! `explain`: what a turn is made of.

use super::run::SAMPLE;
use crate::place::Place;
use serde_json::{Value, json};
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
        let skill = manifest.fragments().find(|(_, fragment)| fragment.id == "active_skill:table-tests").unwrap().1.source.to_string();
        assert!(skill.ends_with("/table-tests/SKILL.md:5-11"), "the lines of the body: {skill}");
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

/// The text of a page, without what differs from run to run: of its style sheet and of the prompt's own text nothing.
fn outline(html: &str, place: &Place) -> String {
    let (_, body) = html.split_once("<body>").unwrap();
    let mut out = String::new();
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap();
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).unwrap();
        if name == "pre" && !tag.starts_with('/') {
            out.push_str("[text]");
        } else {
            out.push_str(text);
        }
        if tag.starts_with('/') && ["h1", "h2", "h3", "li", "p", "summary", "div", "details"].contains(&name) {
            out.push('\n');
        }
    }
    let lines: Vec<&str> = out.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "[text]").collect();
    let without_hashes =
        |line: &str| line.rsplit_once(" · ").filter(|(_, hash)| hash.len() >= 12).map_or(line, |(line, _)| line).to_owned();
    let lines: Vec<String> = lines.into_iter().map(without_hashes).collect();
    super::run::steady(&lines.join("\n"), place)
}

#[test]
fn a_turn_as_a_page() {
    let place = Place::new();
    place.write("work/bcode.toml", STEADY);
    for n in 0..3 {
        place.skill(&format!("skill-{n}"), "What it does, and when it should be used.", "Body");
    }
    let run = place.run(&["explain", "-m", "hi", "--html", "-"]);
    insta::assert_snapshot!(outline(run.data(), &place));
}

#[test]
fn a_page_of_a_second_turn_says_what_changed() {
    let place = Place::new();
    place.write("work/bcode.toml", STEADY);
    let messages = |texts: &[&str]| -> Value {
        texts.iter().enumerate().map(|(n, text)| json!({"role": if n % 2 == 0 { "user" } else { "assistant" }, "content": text})).collect()
    };
    let explain = |texts: &[&str], more: &[&str]| {
        place.write("work/request.json", json!({"model": "m", "messages": messages(texts)}).to_string());
        place.run(&[&["explain", "--request", "request.json", "--format", "openai-chat"], more].concat())
    };
    place.write("work/first.json", explain(&["one"], &["--json"]).data());
    let page = place.at("work/page.html");
    let panel = |texts: &[&str]| {
        let run = explain(texts, &["--html", "page.html", "--previous", "first.json"]);
        assert_eq!((run.data(), run.stderr.starts_with("Wrote page.html, ")), ("", true), "{}", run.stderr);
        let html = std::fs::read_to_string(&page).unwrap();
        html.split_once("Since the request before</h2>").unwrap().1.split_once("</section>").unwrap().0.to_owned()
    };
    assert!(panel(&["one", "ok", "two"]).contains("Nothing that was sent before changed."));
    assert!(panel(&["ONE", "ok", "two"]).contains("the caller changed its messages from message 1 on"));
    let table = explain(&["one", "ok", "two"], &["--previous", "first.json"]);
    assert!(table.data().contains("\nNothing that was sent changed. Fragments: "), "{}", table.stdout);

    place.write("work/bcode.toml", STEADY.replace("brief", "short"));
    assert!(panel(&["one", "ok", "two"]).contains("in <code>agent_suffix</code>"));
}

#[test]
fn what_can_not_be_read_or_written_is_said() {
    let place = Place::new();
    place.write("work/no.json", "{\"round\": \"start\"}");
    for (arguments, said) in [
        (["--previous", "missing.json"], "--previous missing.json: "),
        (["--previous", "no.json"], "this is no manifest that `explain --json` printed: missing field"),
        (["--html", "no/such/folder.html"], "--html no/such/folder.html: "),
    ] {
        let run = place.run(&[&["explain", "-m", "hi"], &arguments[..]].concat());
        assert!(run.failure().contains(said), "{}", run.stderr);
    }
    assert_eq!(place.run(&["explain", "-m", "hi", "--json", "--html", "page.html"]).code, 2);
    assert!(!place.at("work/page.html").exists());
}
