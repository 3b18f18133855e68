//! Which git commands run, how often, and what they are kept from.

use super::git::{REVISION, STATUS, WORKTREE, body, commit, repository};
use super::talk::Talk;
use crate::place::Place;
use std::fs;
use tower_prompt::{Assembly, Environment, Workspace};

/// A program in the folder `bin` that runs this script. Written by a process of its own: this one may not hold it open for writing while another
/// test's thread forks.
pub(super) fn program(place: &Place, name: &str, script: &str) {
    fs::create_dir_all(place.at("bin")).unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.args([
        "-c",
        "printf '%s\\n' '#!/bin/sh' \"$2\" > \"$1\" && chmod +x \"$1\"",
        "sh",
        &place.shown("bin").replace("bin", &format!("bin/{name}")),
        script,
    ]);
    assert!(shell.status().unwrap().success());
}

/// A git that notes each of its calls before it is the real one. Beside what is in `bin`, this environment finds no other program.
pub(super) fn noting_git(place: &Place, environment: Environment, first: &str) -> Environment {
    let path = environment.get("PATH").unwrap().to_owned();
    let script = format!("echo \"$*\" >> '{}'\nPATH='{path}'\n{first}\nexec git \"$@\"", place.shown("calls"));
    program(place, "git", &script);
    environment.variable("PATH", place.shown("bin"))
}

/// The git commands that were run since this was asked last.
pub(super) fn calls(place: &Place) -> Vec<String> {
    let noted = fs::read_to_string(place.at("calls")).unwrap_or_default();
    let _ = fs::remove_file(place.at("calls"));
    let is_command = |word: &&str| ["status", "rev-parse"].contains(word);
    let mut calls: Vec<String> =
        noted.lines().map(|line| line.split(' ').skip_while(|word| !is_command(word)).collect::<Vec<_>>().join(" ")).collect();
    calls.sort();
    calls
}

#[test]
fn git_runs_once_a_turn_whoever_asks_and_never_for_a_tool_call_or_a_retry() {
    let place = repository();
    let environment = noting_git(&place, place.environment(""), "");
    let mut talk = Talk::new(&Assembly::load(&environment, &Workspace::at(place.at("work"))).unwrap());
    let said = talk.say("one");
    assert!([STATUS, REVISION, WORKTREE].iter().all(|section| !said.fragment(section).is_empty()));
    let first = calls(&place);
    assert!(first.len() == 2 && first[0].starts_with("rev-parse ") && first[1].starts_with("status "), "{first:?}");
    talk.send();
    for _ in 0..5 {
        talk.call_a_tool();
        talk.send();
    }
    assert_eq!(calls(&place), [""; 0], "in tool rounds and retries");
    talk.say("two");
    let second = calls(&place);
    assert!(second.len() == 1 && second[0].starts_with("status "), "{second:?}");
}

#[test]
fn a_section_that_is_off_asks_git_for_nothing() {
    let place = repository();
    let asked = |on: &[&str]| {
        let off: Vec<&str> = [STATUS, REVISION, WORKTREE].into_iter().filter(|section| !on.contains(section)).collect();
        let config = off.iter().map(|section| format!("system_prompt.sections.{section} = false")).collect::<Vec<_>>().join("\n");
        let environment = noting_git(&place, place.environment(&config), "");
        let mut talk = Talk::new(&Assembly::load(&environment, &Workspace::at(place.at("work"))).unwrap());
        let said = talk.say("one");
        assert!(off.iter().all(|section| said.fragment(section).is_empty()), "{on:?}");
        talk.say("two");
        calls(&place)
    };
    assert_eq!(asked(&[]), [""; 0]);
    let worktree = asked(&[WORKTREE]);
    assert!(worktree.len() == 1 && worktree[0].starts_with("rev-parse "), "once a conversation: {worktree:?}");
    let revision = asked(&[REVISION]);
    assert!(revision.len() == 2 && revision.iter().all(|call| call.contains("--untracked-files=no ")), "{revision:?}");
    let status = asked(&[STATUS]);
    assert!(status.len() == 2 && status.iter().all(|call| call.contains("--untracked-files=normal ")), "{status:?}");
}

#[test]
fn an_owner_whom_git_does_not_trust_costs_one_diagnostic_and_the_files_tell_what_they_can() {
    let place = repository();
    let environment = noting_git(&place, place.environment(""), "export GIT_TEST_ASSUME_DIFFERENT_OWNER=1");
    let mut talk = Talk::new(&Assembly::load(&environment, &Workspace::at(place.at("work"))).unwrap());
    let said = talk.say("one");
    assert_eq!(said.codes(), ["git-failed"]);
    let found = &said.manifest.diagnostics[0];
    assert!(found.message.contains("dubious ownership") && found.path == Some(place.shown("work")), "{found}");
    assert_eq!(body(&said, STATUS), format!("Working directory: {}", place.shown("work")));
    assert_eq!(body(&said, WORKTREE), format!("Primary git worktree, root: {}", place.shown("work")));
    assert_eq!(talk.say("two").codes(), [""; 0]);
    // Who says in the environment that it is safe is heeded.
    let safe =
        environment.variable("GIT_CONFIG_COUNT", "1").variable("GIT_CONFIG_KEY_0", "safe.directory").variable("GIT_CONFIG_VALUE_0", "*");
    let said = Talk::new(&Assembly::load(&safe, &Workspace::at(place.at("work"))).unwrap()).say("hi");
    assert_eq!((body(&said, STATUS).contains("Status: clean"), said.codes()), (true, vec![]));
}

#[test]
fn of_the_programs_that_a_repository_names_none_is_run() {
    let place = repository();
    place.write("work/a.txt", "a");
    place.write("work/.gitattributes", "*.txt diff=mine\n");
    place.git(&["add", "."]);
    commit(&place, "two");
    let touch = |name: &str| format!("touch '{}'", place.shown(&format!("ran-{name}")));
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.askPass",
        "core.sshCommand",
        "diff.external",
        "diff.mine.textconv",
        "pager.status",
    ] {
        place.git(&["config", key, &touch(key)]);
    }
    place.git(&["config", "alias.status", &format!("!{}", touch("alias"))]);
    for hook in ["post-index-change", "reference-transaction", "fsmonitor-watchman"] {
        let path = place.write(&format!("work/.git/hooks/{hook}"), format!("#!/bin/sh\n{}\n", touch(hook)));
        assert!(std::process::Command::new("chmod").arg("+x").arg(path).status().unwrap().success());
    }
    // Written anew, the same text: git would note its stamp in the index, and run a hook for that.
    place.write("work/a.txt", "a");
    place.write("work/b.txt", "b");
    let said = place.start("", "hi");
    assert!(said.fragment(STATUS).contains("?? b.txt"), "{}", said.new);
    let ran = || {
        let names = fs::read_dir(place.at("")).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let mut ran: Vec<String> = names.filter(|name| name.starts_with("ran-")).collect();
        ran.sort();
        ran
    };
    assert_eq!(ran(), [""; 0]);
    place.git(&["status"]);
    assert_eq!(ran(), ["ran-core.fsmonitor", "ran-post-index-change"], "git by itself does run them");
}

#[test]
fn what_a_repository_lacks_is_not_fetched() {
    let place = repository();
    place.write("work/old.txt", "a line\n".repeat(100));
    place.git(&["add", "."]);
    commit(&place, "two");
    place.git(&["config", "uploadpack.allowFilter", "true"]);
    let from = format!("file://{}", place.shown("work"));
    place.git(&["clone", "-q", "--no-checkout", "--filter=blob:none", &from, "../partial"]);
    // Whether this is the old file under another name only the old one's text tells.
    place.write("partial/new.txt", format!("{}more\n", "a line\n".repeat(99)));
    place.git_in("partial", &["add", "new.txt"]);
    let marker = place.shown("fetched");
    place.git_in("partial", &["config", "remote.origin.uploadpack", &format!("touch '{marker}';git-upload-pack")]);
    place.git_in("partial", &["config", "protocol.file.allow", "always"]);
    Talk::new(&place.assembly_in(&Workspace::at(place.at("partial")), "")).say("hi");
    assert!(!place.at("fetched").exists());
    place.git_in("partial", &["status"]);
    assert!(place.at("fetched").exists(), "git by itself does fetch");
}
