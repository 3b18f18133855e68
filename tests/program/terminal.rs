//! What stands on which stream, and who reads it.

use super::run::{SAMPLE, finish};
use crate::place::Place;
use std::process::Stdio;

const COMMANDS: [&[&str]; 8] = [
    &["render", "-m", "hi"],
    &["render", "-m", "hi", "--format", "gemini"],
    &["explain", "-m", "hi"],
    &["explain", "-m", "hi", "--json"],
    &["skills", "list"],
    &["skills", "list", "--json"],
    &["skills", "show", "rust-debugging"],
    &["config", "show"],
];

#[test]
fn who_stops_reading_has_read_enough() {
    let place = Place::new();
    for arguments in COMMANDS {
        let mut command = place.command(&[arguments, &["--dir", SAMPLE]].concat());
        // The options of `show` end where the arguments begin.
        if arguments[1] == "show" && arguments[0] == "skills" {
            command = place.command(&["skills", "show", "--dir", SAMPLE, "rust-debugging"]);
        }
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command.stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && !said.contains("panicked"), "{arguments:?}: {said}");
    }
}

#[test]
fn talk_that_no_one_hears_stops_nothing() {
    let place = Place::new();
    place.write("work/bcode.toml", "[skills]\nenabeld = 1\n");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = place.command(&["render", "-m", "hi"]).stderr(writer).output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"--- system ---"));
}

#[test]
fn there_is_no_colour_in_a_pipe_unless_it_is_asked_for() {
    let place = Place::new();
    for arguments in [&["explain", "-m", "hi", "--dir", SAMPLE][..], &["skills", "list", "--dir", SAMPLE], &["config", "show"]] {
        assert!(!place.run(arguments).data().contains('\u{1b}'), "{arguments:?}");
        assert!(finish(place.command(arguments).env("CLICOLOR_FORCE", "1"), b"").data().contains('\u{1b}'), "{arguments:?}");
        let plain = finish(place.command(arguments).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"), b"");
        assert!(!plain.data().contains("\u{1b}[3"), "{arguments:?}");
    }
}

/// Takes the colours of ours out; what is left would reach the terminal.
fn steers(text: &str) -> bool {
    let mut rest = text.to_owned();
    for style in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[33m", "\u{1b}[36m"] {
        rest = rest.replace(style, "");
    }
    rest.contains(|c: char| c.is_control() && c != '\n') || rest.contains(['\u{202e}', '\u{e0041}'])
}

#[test]
fn nothing_that_came_from_outside_steers_the_terminal() {
    let place = Place::new();
    let tricks = "a\\e]0;title\\a\\e[2Jb\\x9bc\\u202Ed\\U000E0041";
    let raw = "a\u{1b}]0;title\u{7}\u{1b}[2Jb\u{9b}c\u{202e}d\u{e0041}";
    place.write(
        "work/skills/odd/SKILL.md",
        format!(
            "---\nname: \"{tricks}\"\ndescription: \"{tricks}\"\nversion: \"{tricks}\"\nkeywords: [\"{tricks}\", \"\"]\nlicense: \"{tricks}\"\n\
             metadata: {{k: \"{tricks}\"}}\nother: \"{tricks}\"\n\"{tricks}\": 1\n---\nBody\n"
        ),
    );
    place.write("work/skills/bidi\u{202e}id/SKILL.md", format!("---\ndescription: {raw}\n---\nBody\n"));
    let quoted = "a\\u001b]0;t\\u0007\\u202e";
    place.write(
        "work/bcode.toml",
        format!("[skills]\n\"{quoted}\" = 1\nenabled = \"{quoted}\"\n[system_prompt]\nagent_suffix = \"{quoted}\"\n[skills.overrides]\n\"{quoted}\" = \"off\"\n"),
    );
    for arguments in [
        &["skills", "list"][..],
        &["skills", "info", "odd"],
        &["skills", "info", "bidi\u{202e}id"],
        &["skills", "info", raw],
        &["skills", "info", "\u{1b}[2J"],
        &["explain", "-m", "hi", "--activate", "odd"],
        &["render", "-m", "hi", "--activate", raw, "--activate", "\u{1b}[2J"],
        &["config", "show", "--changed"],
        &["config", "check"],
        &["config", "show", "--config", "bcode.toml"],
        &["config", "show", "--config", "\u{1b}[2J.toml"],
        &["skills", "list", "--root", "\u{1b}[2J"],
        &["render", "-m", "hi", "--dir", "\u{1b}[2J"],
    ] {
        let run = finish(place.command(arguments).env("CLICOLOR_FORCE", "1"), b"");
        for text in [&run.stdout, &run.stderr] {
            assert!(!steers(text), "{arguments:?}: {text:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_folder_s_name_makes_no_second_finding() {
    let place = Place::new();
    place.write("work/skills/x\n/etc/passwd:1:1: error[forged]: y/SKILL.md", "");
    place.write("work/skills/x\nforged/SKILL.md", "---\ndescription: y\n---\n");
    let run = place.run(&["skills", "list"]);
    assert!(run.stderr.contains("id-invalid") && run.stderr.lines().all(|line| !line.starts_with("forged")), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn folders_that_are_no_unicode_can_be_worked_in() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let folder = place.at("work").join(std::ffi::OsStr::from_bytes(b"d\xff"));
    // Not every file system takes such a name.
    if std::fs::create_dir(&folder).is_err() {
        return;
    }
    std::fs::write(folder.join("AGENTS.md"), "Of the folder.").unwrap();
    let mut command = place.command(&["render", "-m", "hi", "--dir"]);
    command.arg(&folder);
    assert!(finish(&mut command, b"").data().contains("Of the folder."));
}
