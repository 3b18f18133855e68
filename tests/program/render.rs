//! `render`: what is sent, in each format.

use super::run::{SAMPLE, finish, steady};
use crate::place::Place;
use serde_json::{Value, json};

const BASE: &str = "You are a coding agent.";

#[test]
fn the_sample_workspace_as_a_person_reads_it() {
    let place = Place::new();
    let mut command = place.command(&["render", "--dir", SAMPLE, "-m", "Count the words of this file."]);
    // There where the sources are a checkout, and not in a package.
    for section in ["GIT_REVISION", "WORKTREE_CONTEXT"] {
        command.env(format!("BCODE_SYSTEM_PROMPT__SECTIONS__{section}"), "false");
    }
    let run = finish(&mut command, b"");
    insta::assert_snapshot!(steady(run.data(), &place));
}

/// Each format: a body as `-m hello` makes it, where our system text stands in it, and where the user's message.
const FORMATS: [(&str, &[&str], &str, &str); 6] = [
    ("openai-chat", &["model", "messages"], "/messages/0/content", "/messages/1/content"),
    ("openai-responses", &["model", "input", "instructions"], "/instructions", "/input"),
    ("anthropic", &["model", "max_tokens", "messages", "system"], "/system/0/text", "/messages/0/content"),
    ("gemini", &["contents", "systemInstruction"], "/systemInstruction/parts/0/text", "/contents/0/parts"),
    ("ollama", &["model", "messages"], "/messages/0/content", "/messages/1/content"),
    ("ollama-generate", &["model", "prompt", "system"], "/system", "/prompt"),
];

#[test]
fn each_format_prints_a_body_with_what_its_api_requires() {
    let place = Place::new();
    for (format, fields, system, message) in FORMATS {
        let body = place.run(&["render", "-m", "Hello there", "--model", "some/model-1", "--format", format]).json();
        assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), fields, "{format}");
        let at = |pointer: &str| body.pointer(pointer).unwrap_or_else(|| panic!("{format} {pointer}: {body:#}")).to_string();
        assert!(at(system).contains(BASE) && at(system).contains("<user_authority>"), "{format}");
        assert!(at(message).contains("Hello there") && at(message).contains("<current_datetime>"), "{format}");
        assert!(!at(message).contains(BASE), "{format}");
        if fields.contains(&"model") {
            assert_eq!(body["model"], "model-1", "{format}");
        }
    }
    let anthropic = place.run(&["render", "-m", "x", "--format", "anthropic"]).json();
    assert_eq!((&anthropic["max_tokens"], &anthropic["model"]), (&json!(4096), &json!("model")));
    assert_eq!(anthropic["messages"][0]["role"], "user");
    let gemini = place.run(&["render", "-m", "x", "--format", "gemini"]).json();
    assert_eq!(gemini["contents"][0]["role"], "user");
}

/// A whole body in each format, with a system text of the caller's, an earlier turn and fields that nobody here knows.
fn bodies() -> [(&'static str, Value); 6] {
    let turns = json!([
        {"role": "user", "content": "Opening words", "zeta": 1, "alpha": null},
        {"role": "assistant", "content": "Reply in between"},
        {"content": "Closing words", "role": "user"},
    ]);
    let chat = |system: &str| {
        let mut messages = turns.clone();
        messages.as_array_mut().unwrap().insert(0, json!({"role": system, "content": "The caller's own."}));
        messages
    };
    let extra = json!({"z": [1, {"y": 2.50, "a": ""}], "b": "é\u{202e}"});
    [
        ("openai-chat", json!({"zeta": extra, "messages": chat("system"), "model": "m", "alpha": 0.1, "stream": true})),
        ("openai-responses", json!({"zeta": extra, "input": turns, "instructions": "The caller's own.", "model": "m", "alpha": 1e30})),
        ("anthropic", json!({"zeta": extra, "system": "The caller's own.", "messages": turns, "max_tokens": 5, "model": "m", "alpha": []})),
        (
            "gemini",
            json!({"zeta": extra, "systemInstruction": {"parts": [{"text": "The caller's own."}]}, "contents": [
                {"role": "user", "parts": [{"text": "Opening words", "zeta": 1}]}, {"role": "model", "parts": [{"text": "Reply in between"}]},
                {"parts": [{"text": "Closing words"}], "role": "user"}], "alpha": false}),
        ),
        ("ollama", json!({"zeta": extra, "messages": chat("system"), "options": {"num_ctx": 1, "a": 2}, "model": "m"})),
        (
            "ollama-generate",
            json!({"zeta": extra, "prompt": "Closing words", "system": "The caller's own.", "model": "m", "keep_alive": -1}),
        ),
    ]
}

#[test]
fn a_whole_body_keeps_its_fields_and_their_order() {
    let place = Place::new();
    for (format, body) in bodies() {
        let path = place.write("request.json", body.to_string());
        let sent = place.run(&["render", "--request", path.to_str().unwrap(), "--format", format]).json();
        let keys = |body: &Value| body.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&sent), keys(&body), "{format}");
        for (key, value) in body.as_object().unwrap() {
            if !["messages", "input", "contents", "system", "systemInstruction", "instructions", "prompt"].contains(&&**key) {
                // As text: equality of objects doesn't see their order.
                assert_eq!(sent[key].to_string(), value.to_string(), "{format} {key}");
            }
        }
        let text = sent.to_string();
        let place_of = |part: &str| text.find(part).unwrap_or_else(|| panic!("{format}: no {part} in {text}"));
        assert!(place_of(BASE) < place_of("The caller's own."), "{format}: ours stands first");
        assert!(place_of("Closing words") < place_of("<current_datetime>"), "{format}");
        if format != "ollama-generate" {
            assert!(text.contains("\"zeta\":1"), "{format}: {text}");
            assert!(
                !text[place_of("Opening words")..place_of("Reply in between")].contains("<context"),
                "{format}: only the newest message is added to"
            );
        }
        let piped = place.run_with_input(&["render", "--request", "-", "--format", format], body.to_string()).json();
        let without_clock = |body: &Value| body.to_string().replace(|c: char| c.is_ascii_digit(), "0");
        assert_eq!(without_clock(&piped), without_clock(&sent), "{format}");
    }
}

#[test]
fn a_body_that_was_assembled_keeps_the_callers_words_whole() {
    let place = Place::new();
    for (format, body) in bodies() {
        let sent = place.run_with_input(&["render", "--request", "-", "--format", format], body.to_string());
        let again = place.run_with_input(&["render", "--request", "-", "--format", format], sent.data());
        for words in ["The caller's own.", "Closing words"] {
            assert_eq!(again.data().matches(words).count(), 1, "{format}");
        }
    }
}

#[test]
fn a_message_passes_byte_for_byte() {
    let place = Place::new();
    let message = "DEL \u{7f}, C1 \u{9b}31m, ESC \u{1b}[31mred\u{1b}[0m, BEL \u{7}, bidi \u{202e}, NUL \0, CRLF\r\nFF \u{c}, tags <context> </context>";
    let sent = place.run_with_input(&["render", "-m", "-", "--format", "openai-chat"], message).json();
    assert!(sent["messages"][1]["content"].as_str().unwrap().starts_with(message));
    let read = place.run_with_input(&["render", "-m", "-"], message);
    assert!(read.data().contains(message));
}

#[test]
fn a_message_is_read_from_standard_input() {
    let place = Place::new();
    let long = "many words ".repeat(200_000);
    for message in ["one\n", &long] {
        let sent = place.run_with_input(&["render", "-m", "-", "--format", "ollama-generate"], message).json();
        assert!(sent["prompt"].as_str().unwrap().starts_with(message));
    }
    let nothing = place.run_with_input(&["render", "-m", "-", "--format", "ollama-generate"], "");
    assert!(nothing.failure().contains("would pass untouched"), "an empty prompt loads the model: {}", nothing.stderr);
    let refused = place.run_with_input(&["render", "-m", "-"], b"caf\xe9");
    assert!(refused.failure().starts_with("error: standard input: "), "{}", refused.stderr);
}

#[test]
fn skills_are_activated_first_in_their_order_and_once_each() {
    let place = Place::new();
    let arguments = ["--activate", "table-tests", "--activate", "rust-debugging", "--activate", "table-tests", "--activate", "cut-release"];
    let run = place.run(&[&["render", "--dir", SAMPLE, "-m", "hi"], &arguments[..]].concat());
    let system = run.data().split("--- user ---").next().unwrap();
    let places: Vec<usize> =
        ["table-tests", "rust-debugging", "cut-release"].iter().map(|id| system.find(&format!("<skill id=\"{id}\"")).expect(id)).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(system.matches("<skill id=\"table-tests\"").count(), 1);
    assert!(!system.contains("<id>cut-release</id>"), "hidden from the model: not in the catalog, and yet the user may invoke it");
}

#[test]
fn a_name_that_one_skill_alone_bears_names_it_as_well() {
    let place = Place::new();
    place.write("work/skills/a/SKILL.md", "---\nname: Its Name\ndescription: d\n---\nBody of a.");
    assert!(place.run(&["render", "-m", "hi", "--activate", "Its Name"]).data().contains("<skill id=\"a\" name=\"Its Name\""));
    place.write("work/skills/b/SKILL.md", "---\nname: Its Name\ndescription: d\n---\nBody of b.");
    assert!(place.run(&["render", "-m", "hi", "--activate", "Its Name"]).failure().contains("`Its Name`"));
}

#[test]
fn a_skill_that_is_not_there_stops_with_the_nearest() {
    let place = Place::new();
    let run = place.run(&["render", "--dir", SAMPLE, "-m", "hi", "--activate", "rust-debuging"]);
    assert!(run.failure().contains("`rust-debuging`") && run.stderr.contains("did you mean `rust-debugging`?"), "{}", run.stderr);
    let run = place.run(&["render", "-m", "hi", "--activate", "rust"]);
    assert!(run.failure().contains("there is no skill `rust`") && !run.stderr.contains("did you mean"), "{}", run.stderr);
}

#[test]
fn a_disabled_skill_cannot_be_activated() {
    let place = Place::new();
    place.skill("deploy", "Deploys.", "Deploy.");
    place.write("work/bcode.toml", "[skills.disabled]\nids = [\"deploy\"]\n");
    let run = place.run(&["render", "-m", "hi", "--activate", "deploy"]);
    assert!(run.failure().contains("`deploy` is disabled"), "{}", run.stderr);
    assert!(!place.run(&["render", "-m", "deploy"]).data().contains("deploy</id>"));
}

#[cfg(unix)]
#[test]
fn of_a_workspace_that_is_not_trusted_nothing_but_its_path_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    for (path, text) in [
        ("work/AGENTS.md", "SECRET of AGENTS.md"),
        ("work/CLAUDE.md", "SECRET of CLAUDE.md"),
        ("work/INVARIANTS.md", "* SECRET invariant"),
        ("work/bcode.toml", "[system_prompt]\nagent_suffix = \"SECRET suffix\"\nmode = \"replace\"\n[skills.sources]\npaths = [\"x\"]\n"),
        ("work/.bcode/bcode.toml", "[system_prompt.sections]\nuser_authority = false\n"),
        ("work/Makefile", "all:\n"),
        ("work/.git/HEAD", "ref: refs/heads/secret\n"),
        ("work/.claude/skills/b/SKILL.md", "---\ndescription: SECRET b\n---\n"),
        ("work/.agents/skills/c.md", "---\ndescription: SECRET c\n---\n"),
        ("work/.bcode/skills/d/SKILL.md", "---\ndescription: SECRET d\n---\n"),
        ("work/x/e/SKILL.md", "---\ndescription: SECRET e\n---\n"),
    ] {
        place.write(path, text);
    }
    place.skill("a", "SECRET a", "body");
    let git = place.write("bin/git", format!("#!/bin/sh\necho run >> {}\nexit 1\n", place.shown("marker")));
    std::fs::set_permissions(git, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", place.shown("bin"), std::env::var("PATH").unwrap_or_default());
    let run = |arguments: &[&str]| finish(place.command(arguments).env("PATH", &path), b"");

    let untrusted = run(&["render", "--untrusted", "-m", "hi, is this a SECR"]);
    assert!(!untrusted.data().contains("SECRET") && !untrusted.data().contains("Makefile"), "{}", untrusted.stdout);
    assert!(untrusted.data().contains(BASE) && untrusted.data().contains("<user_authority>"));
    let expected = format!("<dynamic_repository_context>\nWorking directory: {}\n</dynamic_repository_context>", place.shown("work"));
    assert!(untrusted.data().contains(&expected), "{}", untrusted.stdout);
    let said = format!("{} is not trusted: nothing in it is read, and no program runs in it\n", place.shown("work"));
    assert_eq!(untrusted.stderr, said);
    assert_eq!(run(&["skills", "list", "--untrusted", "--json"]).json()["skills"], json!([]));
    assert!(run(&["config", "show", "--untrusted", "--changed"]).data().contains("All values are the defaults."));
    assert!(run(&["skills", "show", "--untrusted", "a"]).failure().contains("no skill `a`"));
    assert!(!place.at("marker").exists(), "no git command runs");

    let trusted = run(&["render", "-m", "hi"]);
    assert!(trusted.data().contains("SECRET a") && trusted.data().contains("SECRET of AGENTS.md"));
    assert!(trusted.stderr.contains("git-failed"), "{}", trusted.stderr);
    assert!(place.at("marker").exists(), "else the marker would say nothing");
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let place = Place::new();
    place.write("work/body.json", "{}");
    for arguments in [
        &[][..],
        &["rendr"],
        &["render"],
        &["render", "-m"],
        &["render", "-m", "a", "--request", "body.json", "--format", "anthropic"],
        &["render", "--request", "body.json"],
        &["render", "--request", "body.json", "--format", "text"],
        &["render", "-m", "a", "--format", "claude"],
        &["render", "-m", "a", "--model", "gpt"],
        &["render", "-m", "a", "--model", "/gpt"],
        &["render", "-m", "a", "--model", "openai/"],
        &["explain", "--request", "body.json"],
        &["skills"],
        &["skills", "info"],
        &["skills", "list", "x"],
        &["config", "show", "--no-such-option"],
    ] {
        let run = place.run(arguments);
        assert_eq!((run.code, &*run.stdout), (2, ""), "{arguments:?}: {}", run.stderr);
        assert!(!run.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn help_and_version_are_data() {
    let place = Place::new();
    for arguments in [&["--help"][..], &["--version"], &["render", "--help"], &["skills", "list", "-h"], &["config", "check", "--help"]] {
        let run = place.run(arguments);
        assert!(!run.data().is_empty() && run.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn what_could_not_be_done_is_exit_code_1_and_says_what() {
    let place = Place::new();
    place.write("work/file", "no JSON");
    place.write("work/list.json", "[]");
    place.write("work/deep.json", "[".repeat(100_000));
    place.write("work/chat.json", r#"{"messages": "none"}"#);
    place.write("work/bytes.json", b"\"\xff\"");
    for (arguments, said) in [
        (&["render", "-m", "a", "--dir", "nowhere"][..], "nowhere"),
        (&["render", "-m", "a", "--dir", "file"], "file"),
        (&["render", "-m", "a", "--config", "nowhere.toml"], "nowhere.toml: error[file-missing]"),
        (&["config", "show", "--config", "nowhere.toml"], "nowhere.toml: error[file-missing]"),
        (&["config", "show", "--config", "."], "error["),
        (&["skills", "list", "--dir", "nowhere"], "nowhere"),
        (&["skills", "list", "--root", "nowhere"], "nowhere"),
        (&["skills", "list", "--root", "file"], "file"),
        (&["skills", "info", "nothing"], "`nothing`"),
        (&["skills", "show", "nothing"], "`nothing`"),
        (&["render", "--request", "nowhere.json", "--format", "gemini"], "nowhere.json"),
        (&["render", "--request", "file", "--format", "gemini"], "no JSON"),
        (&["render", "--request", "deep.json", "--format", "gemini"], "no JSON"),
        (&["render", "--request", "bytes.json", "--format", "gemini"], "bytes.json"),
        (&["render", "--request", "list.json", "--format", "anthropic"], "no conversation"),
        (&["explain", "--request", "chat.json", "--format", "openai-chat"], "no conversation"),
    ] {
        let run = place.run(arguments);
        assert!(run.failure().starts_with("error: ") && run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn a_message_that_names_a_skill_may_be_answered_by_a_suggestion() {
    let place = Place::new();
    let run = place.run(&["render", "--dir", SAMPLE, "-m", "cargo says panic"]);
    let user = run.data().split("--- user ---").nth(1).unwrap();
    assert!(user.contains("<skill_suggestion>") && user.contains("rust-debugging"), "{user}");
}

#[test]
fn the_workspace_is_found_by_walking_up() {
    let place = Place::new();
    place.git(&["init", "-q"]);
    place.write("work/AGENTS.md", "Of the root.");
    place.write("work/a/b/AGENTS.md", "Of the folder.");
    let deep = finish(place.command(&["render", "-m", "hi"]).current_dir(place.at("work/a/b")), b"");
    let text = deep.data();
    assert!(text.find("Of the root.").unwrap() < text.find("Of the folder.").unwrap(), "nearest last");
    assert!(text.contains("Branch: main (no commits yet)"), "{text}");
    let here = place.run(&["render", "-m", "hi", "--dir", "a/b"]);
    assert!(!here.data().contains("Of the root."), "--dir is root and working directory alike");
}

#[test]
fn a_host_in_a_hook_does_not_point_git_elsewhere() {
    let place = Place::new();
    place.git(&["init", "-q"]);
    place.write("work/new.txt", "");
    let mut command = place.command(&["render", "-m", "hi"]);
    command.env("GIT_DIR", place.at("home/none")).env("GIT_WORK_TREE", place.at("home")).env("GIT_INDEX_FILE", place.at("home/index"));
    assert!(finish(&mut command, b"").data().contains("?? new.txt"));
}
