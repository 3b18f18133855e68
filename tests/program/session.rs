//! `--session FILE`: a conversation from one call to the next.

use super::run::{Run, finish, steady};
use crate::place::Place;
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;

const QUIET: &str = "[system_prompt]\nmode = \"replace\"\ntext = \"Be careful.\"\n[system_prompt.sections]\nuser_authority = false\n\
    execution_environment = false\nlocale = false\ncurrent_datetime = false\ndynamic_repository_context = false\n";

/// A workspace with instructions and two skills, and no clock.
fn some_place() -> Place {
    let place = Place::new();
    place.write("work/bcode.toml", QUIET);
    place.write("work/AGENTS.md", "Use tabs.\n");
    place.skill("table-tests", "Writes tests as tables.", "A case is a row.");
    place.skill("release", "Cuts a release.", "Tag it.");
    place
}

impl Place {
    fn render(&self, arguments: &[&str]) -> Run {
        self.run(&[&["render", "--session", &self.shown("s.jsonl")], arguments].concat())
    }
    fn log(&self) -> String {
        fs::read_to_string(self.at("s.jsonl")).unwrap()
    }
}

#[test]
fn three_turns_with_changed_instructions_and_a_skill_activated_between() {
    let place = some_place();
    let first = place.render(&["-m", "Count the words."]).data().to_owned();
    place.write("work/AGENTS.md", "Use spaces.\n");
    let second = place.render(&["-m", "Of each file.", "--answer", "Of which file?"]).data().to_owned();
    assert!(second.starts_with(first.trim_end()), "{first}\n\n{second}");
    let third = place.render(&["-m", "Test it.", "--answer", "Done.", "--activate", "table-tests"]).data().to_owned();
    assert!(third.starts_with(second.trim_end()), "{second}\n\n{third}");
    insta::assert_snapshot!(steady(&third, &place));
    let lines: Vec<Value> = place.log().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["event"].as_str().or(line["message"]["role"].as_str()).unwrap()).collect();
    let told = kinds.iter().filter(|kind| !kind.starts_with("skill_")).copied().collect::<Vec<_>>().join(" ");
    assert_eq!(told, "started system_rendered text_anchored user text_anchored assistant user text_anchored assistant user");
    assert!(lines.iter().enumerate().all(|(n, line)| line["seq"] == n && line["time"].is_string()));
}

#[test]
fn each_format_goes_on_with_the_same_conversation_and_only_grows() {
    for (format, history) in [
        ("openai-chat", "/messages"),
        ("openai-responses", "/input"),
        ("anthropic", "/messages"),
        ("gemini", "/contents"),
        ("ollama", "/messages"),
    ] {
        let place = some_place();
        let mut before = Vec::new();
        for (n, answer) in [None, Some("a1"), Some("a2"), None].into_iter().enumerate() {
            let message = format!("u{n}");
            let answer: Vec<&str> = answer.into_iter().flat_map(|answer| ["--answer", answer]).collect();
            if n == 2 {
                place.write("work/AGENTS.md", "Use spaces.\n");
            }
            let body = place.render(&[&["--format", format, "-m", &*message], &answer[..]].concat()).json();
            let messages = body.pointer(history).and_then(Value::as_array).unwrap().clone();
            assert!(messages.starts_with(&before), "{format}: {before:#?} {messages:#?}");
            assert!(messages.len() > before.len() && body.to_string().matches("Use spaces.").count() <= 1, "{format}");
            before = messages;
        }
    }
    let refused = some_place().render(&["--format", "ollama-generate", "-m", "hi"]);
    assert!(refused.code == 2 && refused.stderr.contains("--request"), "{}", refused.stderr);
}

#[test]
fn with_a_request_the_body_is_the_whole_history_and_a_retry_is_the_same_bytes() {
    let place = some_place();
    let turns = |n: usize| json!({"model": "m", "messages": json!([{"role": "user", "content": "u1"}, {"role": "assistant", "content": "a1"}, {"role": "user", "content": "u2"}]).as_array().unwrap()[..n]});
    let send = |n: usize| {
        let path = place.write("request.json", turns(n).to_string());
        place.render(&["--format", "openai-chat", "--request", path.to_str().unwrap()]).json()
    };
    let first = send(1);
    let log = place.log();
    assert_eq!(send(1), first);
    assert_eq!(place.log(), log, "nothing new happened");
    place.write("work/AGENTS.md", "Use spaces.\n");
    let second = send(3);
    assert!(second["messages"].as_array().unwrap().starts_with(first["messages"].as_array().unwrap()));
    assert!(!place.log().contains("\"message\":{"), "a body's messages are the caller's to keep");
}

#[test]
fn explain_shows_the_next_request_and_writes_nothing() {
    let place = some_place();
    let file = place.shown("s.jsonl");
    let explain = |arguments: &[&str]| place.run(&[&["explain", "--json", "--session", &*file], arguments].concat()).json();
    assert_eq!(explain(&["-m", "hi"])["round"], "start");
    assert!(!place.at("s.jsonl").exists());
    place.render(&["-m", "hi"]).data();
    let log = place.log();
    place.write("work/AGENTS.md", "Use spaces.\n");
    let shown = explain(&["-m", "and now", "--answer", "a", "--activate", "release"]);
    assert_eq!(shown["round"], "user");
    let new: Vec<&Value> = shown["texts"].as_array().unwrap().iter().filter(|text| text["is_new"] == true).collect();
    let text = new.iter().map(|text| text["text"].as_str().unwrap()).collect::<String>();
    assert!(new.len() == 1 && text.contains("Use spaces.") && text.contains("Tag it."), "{shown:#}");
    assert_eq!(place.log(), log);
    let sent = place.render(&["--format", "openai-chat", "-m", "and now", "--answer", "a", "--activate", "release"]).json();
    assert!(sent["messages"][3]["content"].as_str().unwrap().ends_with(&text), "as it was shown: {sent:#}");
}

#[test]
fn a_skill_said_to_be_activated_in_each_call_is_activated_once() {
    let place = some_place();
    for message in ["one", "two", "three"] {
        place.render(&["-m", message, "--activate", "release"]).data();
    }
    let log = place.log();
    assert_eq!(log.matches("\"event\":\"skill_activated\"").count(), 1, "{log}");
    assert_eq!(place.render(&["-m", "four"]).data().matches("Tag it.").count(), 1);
}

#[test]
fn of_a_body_the_log_of_events_shows_a_bounded_preview() {
    let place = some_place();
    place.write("work/bcode.toml", format!("{QUIET}[skills]\npreview_max_chars = 3\n"));
    let run = place.render(&["-m", "hi", "--activate", "release"]);
    assert!(run.data().contains("Tag it.") && run.stderr.is_empty(), "{}", run.stderr);
    let lines: Vec<Value> = place.log().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let loaded = lines.iter().find(|line| line["event"] == "skill_context_loaded").unwrap();
    assert!((1..=3).contains(&loaded["preview"].as_str().unwrap().chars().count()), "{loaded}");
}

#[test]
fn skills_list_and_info_tell_what_is_active_in_a_session() {
    let place = some_place();
    let file = place.shown("s.jsonl");
    place.render(&["-m", "hi", "--activate", "release"]).data();
    let log = place.log();
    let list = place.run(&["skills", "list", "--session", &file]);
    let (active, not): (Vec<&str>, Vec<&str>) = list.data().lines().partition(|line| line.contains("(active)"));
    assert!(active.len() == 1 && active[0].starts_with("release ") && not.len() == 1, "{}", list.stdout);
    let json = place.run(&["skills", "list", "--session", &file, "--json"]).json();
    assert_eq!(json["active"], json!([{"id": "release", "mode": "explicit"}]));
    assert!(place.run(&["skills", "list", "--json"]).json().get("active").is_none());
    let info = |id: &str, more: &[&str]| place.run(&[&["skills", "info", id, "--session", &*file], more].concat());
    assert!(info("release", &[]).data().contains("active        yes, by name\n"), "{}", info("release", &[]).stdout);
    assert!(info("table-tests", &[]).data().contains("active        no\n"));
    assert_eq!(info("release", &["--json"]).json()["active"]["mode"], "explicit");
    assert_eq!(info("table-tests", &["--json"]).json()["active"], Value::Null);
    assert!(!place.run(&["skills", "info", "release"]).data().contains("\nactive "));
    assert_eq!(place.log(), log);
    let missing = place.run(&["skills", "list", "--session", &place.shown("none.jsonl")]);
    assert!(missing.failure().contains("none.jsonl: there is no such file"), "{}", missing.stderr);
}

#[test]
fn a_file_that_is_no_session_stops_and_stays_as_it_is() {
    let place = some_place();
    for (text, reason) in [("Dear diary", "s.jsonl:1: this is no JSON"), ("{}\n", "s.jsonl:1: this is no line of a session's log")] {
        place.write("s.jsonl", text);
        for command in ["render", "explain"] {
            let run = place.run(&[command, "-m", "hi", "--session", &place.shown("s.jsonl")]);
            assert!(run.failure().contains(reason), "{}", run.stderr);
        }
        assert_eq!(place.log(), text);
    }
    let folder = place.run(&["render", "-m", "hi", "--session", "."]);
    assert_eq!(folder.failure(), "error: --session .: this is no file\n");
    let missing = place.run(&["render", "-m", "hi", "--session", "no/s.jsonl"]);
    assert!(missing.failure().starts_with("error: --session no/s.jsonl: "), "{}", missing.stderr);
}

#[test]
fn an_answer_needs_a_message_before() {
    let place = some_place();
    let run = place.render(&["-m", "hi", "--answer", "a"]);
    assert!(run.code == 2 && run.stderr.contains("--answer: there is no message before"), "{}", run.stderr);
    place.render(&["-m", "hi"]).data();
    assert_eq!(place.run(&["render", "-m", "hi", "--answer", "a"]).code, 2, "without a session there is none at all");
}

#[test]
fn a_line_that_broke_off_is_told_of_and_makes_way() {
    let place = some_place();
    let first = place.render(&["-m", "one"]).data().to_owned();
    let log = place.log();
    fs::write(place.at("s.jsonl"), format!("{log}{{\"seq\":4,\"ti")).unwrap();
    let second = place.render(&["-m", "two"]);
    assert!(second.data().starts_with(first.trim_end()));
    assert!(second.stderr.contains("session-log-torn"), "{}", second.stderr);
    assert!(place.log().starts_with(&log) && place.log().lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn calls_at_once_wait_for_each_other() {
    let place = some_place();
    place.render(&["-m", "one"]).data();
    let file = place.shown("s.jsonl");
    let calls: Vec<String> = (0..4).map(|n| format!("call {n}")).collect();
    std::thread::scope(|scope| {
        for message in &calls {
            let mut command = place.command(&["render", "--session", &file, "-m", message]);
            scope.spawn(move || assert_eq!(finish(&mut command, b"").code, 0));
        }
    });
    let body = place.render(&["--format", "openai-chat", "-m", "last"]).json();
    let text = body.to_string();
    assert!(calls.iter().all(|message| text.contains(&**message)), "{body:#}");
    assert_eq!(body["messages"].as_array().unwrap().len(), 7, "the system prompt and each message once");
}

#[cfg(unix)]
#[test]
fn a_call_that_is_killed_at_any_moment_leaves_a_session_that_goes_on() {
    let place = some_place();
    let file = place.shown("s.jsonl");
    for n in 0..12 {
        let mut command = place.command(&["render", "--session", &file, "-m", &format!("call {n}")]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let before = fs::metadata(&file).map_or(0, |file| file.len());
        // Of these some are killed before they write, some while they do, and some behind.
        for _ in 0..n * 400 {
            if child.try_wait().unwrap().is_some() || fs::metadata(&file).map_or(0, |file| file.len()) > before {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let shown = place.run(&["explain", "--json", "--session", &file, "-m", "hi"]);
        assert!(shown.json()["texts"].is_array());
    }
    assert!(place.render(&["-m", "the end"]).data().contains("the end"));
}
