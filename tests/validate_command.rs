//! `skills validate` and `skills new`, as a person or a program runs them.
#![cfg(feature = "cli")]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tower-prompt"));
    command.current_dir(folder).env_clear().arg("skills").args(arguments).output().unwrap()
}
/// Exit code, data, talk.
fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}
fn place(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}
const GOOD: &str = "---\nname: good\ndescription: Does what is asked.\n---\nBody.\n";

#[test]
fn a_finding_is_a_line_and_the_summary_is_talk() {
    let place =
        place(&[("s/good/SKILL.md", GOOD), ("s/bad/SKILL.md", "---\nname: Bad\nversion: 1\n---\n"), ("s/notes.md", "Just notes.\n")]);
    let (code, data, talk) = said(&run(place.path(), &["validate", "s"]));
    assert_eq!((code, talk.as_str()), (1, "2 skills, 4 findings\n"));
    let starts: Vec<&str> = data.lines().map(|line| line.split("]: ").next().unwrap()).collect();
    assert_eq!(
        starts,
        [
            "s/bad/SKILL.md:1:1: error[description-missing",
            "s/bad/SKILL.md:2:1: error[name-case",
            "s/bad/SKILL.md:2:1: error[name-folder",
            "s/bad/SKILL.md:3:1: error[field-unknown",
        ]
    );
    for path in ["s/good", "s/good/SKILL.md", "s/good/"] {
        assert_eq!(said(&run(place.path(), &["validate", path])), (0, String::new(), "1 skill, 0 findings\n".into()), "{path}");
    }
    for path in [".", "SKILL.md", "../good"] {
        assert_eq!(said(&run(&place.path().join("s/good"), &["validate", path])).0, 0, "{path}");
    }
    assert_eq!(said(&run(place.path(), &["validate", "s", "s/good", "s/bad/SKILL.md"])).2, "2 skills, 4 findings\n");
    assert_eq!(said(&run(place.path(), &["validate", "s/notes.md"])).0, 1);
}

#[test]
fn advice_is_no_failure_and_a_missing_path_is() {
    let long = format!("{GOOD}{}", "line\n".repeat(501));
    let place =
        place(&[("good/SKILL.md", &long), ("flat/good.md", GOOD), ("readme/README.md", "---\nname: readme\ndescription: d\n---\n")]);
    let (code, data, _) = said(&run(place.path(), &["validate", "good"]));
    assert!(code == 0 && data.contains("good/SKILL.md:5:1: note[body-lines]"), "{data}");
    let (code, data, _) = said(&run(place.path(), &["validate", "flat/good.md"]));
    assert!(code == 0 && data.contains("note[skill-flat]"), "{data}");
    assert!(said(&run(place.path(), &["validate", "readme"])).1.contains("error[instruction-file-name]"));
    assert_eq!(said(&run(place.path(), &["validate", "readme", "--rules", "bcode"])).0, 0);
    let (code, data, talk) = said(&run(place.path(), &["validate", "nowhere", "good"]));
    assert!(code == 1 && data.contains("body-lines") && talk.contains("error: nowhere: "), "{talk}");
    fs::create_dir(place.path().join("empty")).unwrap();
    assert!(said(&run(place.path(), &["validate", "empty"])).1.starts_with("empty: error[instruction-file-missing]"));
    assert_eq!(said(&run(place.path(), &["validate"])).0, 2);
    assert_eq!(said(&run(place.path(), &["validate", "good", "--rules", "mine"])).0, 2);
}

#[test]
fn rules_are_chosen_and_json_is_for_programs() {
    let place =
        place(&[("a/SKILL.md", "---\ndescription: Short.\nversion: 1\n---\n"), ("a/b/SKILL.md", "---\ndescription: Below.\n---\n")]);
    for (rules, code, skills, findings) in [("agent-skills", 1, 1, 2), ("bcode", 0, 1, 0), ("orcbot", 1, 1, 3), ("brute", 1, 2, 1)] {
        let output = run(place.path(), &["validate", "a", "--json", "--rules", rules]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let count = |key: &str| report[key].as_array().unwrap().len();
        assert_eq!((output.status.code(), count("skills"), count("findings")), (Some(code), skills, findings), "{rules}: {report}");
        assert_eq!(report["rules"], rules);
        assert_eq!(report["skills"][0], serde_json::json!({"path": "a/SKILL.md", "valid": code == 0}));
    }
}

#[test]
fn a_new_skill_is_valid_and_never_overwrites() {
    let place = place(&[]);
    let (code, data, talk) = said(&run(place.path(), &["new", "rust-debugging", "--dir", "."]));
    assert!(code == 0 && data.ends_with(".bcode/skills/rust-debugging/SKILL.md\n"), "{data}{talk}");
    assert!(talk.contains("skills validate"), "{talk}");
    for rules in ["agent-skills", "bcode", "orcbot", "brute"] {
        assert_eq!(said(&run(place.path(), &["validate", data.trim(), "--rules", rules])).0, 0, "{rules}");
    }
    let written = fs::read(place.path().join(".bcode/skills/rust-debugging/SKILL.md")).unwrap();
    let (code, data, talk) = said(&run(place.path(), &["new", "rust-debugging", "--dir", "."]));
    assert!(code == 1 && data.is_empty() && talk.contains("there already"), "{talk}");
    assert_eq!(fs::read(place.path().join(".bcode/skills/rust-debugging/SKILL.md")).unwrap(), written);
    let (code, data, _) = said(&run(place.path(), &["new", "a", "--to", "mine", "--description", "Use when: \"x\" # y"]));
    assert_eq!((code, data.as_str()), (0, "mine/a/SKILL.md\n"));
    for (id, reason) in [("Bad", "upper-case"), ("../up", "must not hold"), ("off", "word of the host's commands")] {
        let (code, data, talk) = said(&run(place.path(), &["new", id, "--to", "other"]));
        assert!(code == 1 && data.is_empty() && talk.contains(reason), "{talk}");
    }
    assert!(!place.path().join("other").exists());
}
