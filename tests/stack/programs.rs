//! Programs that sections start, and those that they don't: toolchains, sections that are off, a workspace that is not trusted.

use super::git_runs::{calls, noting_git, program};
use super::talk::{Talk, in_time};
use crate::place::Place;
use std::fs;
use tower_prompt::layers::skill::SkillRegistry;
use tower_prompt::{Assembly, Workspace};

/// The section that is off by default, switched on.
const ALL_ON: &str = "system_prompt.sections.toolchain_context = true";

fn noted(place: &Place) -> usize {
    let noted = fs::read_to_string(place.at("tools")).unwrap_or_default().lines().count();
    let _ = fs::remove_file(place.at("tools"));
    noted
}

#[test]
fn toolchains_are_asked_once_a_conversation_and_never_for_a_tool_call_or_a_retry() {
    let place = Place::new();
    for (tool, says) in [("rustc", "rustc 1.99.0"), ("node", "v22.1.0")] {
        program(&place, tool, &format!("echo x >> '{}'; echo {says}", place.shown("tools")));
    }
    let environment = place.environment(ALL_ON).variable("PATH", place.shown("bin"));
    let begin = || {
        noted(&place);
        let mut talk = Talk::new(&Assembly::load(&environment, &Workspace::at(place.at("work"))).unwrap());
        let said = talk.say("one");
        (talk, said)
    };
    let (mut talk, said) = in_time(begin, |(_, said)| said.was_late());
    assert_eq!(said.fragment("toolchain_context"), "<toolchain_context>\nrustc: 1.99.0\nnode: v22.1.0\n</toolchain_context>");
    assert_eq!(noted(&place), 2);
    talk.call_a_tool();
    talk.send();
    let later = talk.say("two");
    assert!(!later.new.contains("toolchain_context") && noted(&place) == 0, "{}", later.new);
}

#[test]
fn off_by_default_no_toolchain_is_asked() {
    let place = Place::new();
    program(&place, "rustc", &format!("echo x >> '{}'", place.shown("tools")));
    let environment = place.environment("").variable("PATH", place.shown("bin"));
    let said = Talk::new(&Assembly::load(&environment, &Workspace::at(place.at("work"))).unwrap()).say("hi");
    assert_eq!((said.fragment("toolchain_context"), noted(&place)), ("", 0));
}

/// Where something is looked at that is not to be looked at, this says so.
fn booby_trapped(place: &Place) {
    place.git(&["init", "-q"]);
    place.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    for file in ["AGENTS.md", "INVARIANTS.md", "bcode.toml", ".bcode/bcode.toml", "skills/a/SKILL.md"] {
        fs::create_dir_all(place.at("work").join(file)).unwrap();
    }
    program(place, "rustc", &format!("echo x >> '{}'; echo rustc 1.2.3", place.shown("tools")));
}

#[test]
fn of_a_workspace_that_is_not_trusted_nothing_is_read_and_no_program_is_run() {
    let place = Place::new();
    booby_trapped(&place);
    let environment = noting_git(&place, place.environment(ALL_ON), "");
    let workspace = Workspace::at(place.at("work"));
    let said = |workspace: &Workspace| {
        let loaded = tower_prompt::config::load(&environment, workspace).unwrap();
        let assembly = Assembly::new(loaded.config, &environment, workspace);
        let mut codes: Vec<String> = loaded.findings.iter().map(|found| found.code.to_string()).collect();
        codes.extend(assembly.skills().snapshot().diagnostics().iter().map(|found| found.code.to_string()));
        let said = Talk::new(&assembly).say("hi");
        codes.extend(said.codes().into_iter().map(str::to_owned));
        (codes, said)
    };
    let (codes, untrusted) = said(&workspace.clone().untrusted());
    assert_eq!((codes, calls(&place), noted(&place)), (Vec::new(), Vec::new(), 0));
    assert!(!untrusted.new.contains("Branch") && untrusted.new.contains(&format!("Working directory: {}", place.shown("work"))));
    let trusted = || {
        calls(&place);
        noted(&place);
        said(&workspace)
    };
    let (codes, _) = in_time(trusted, |(_, said)| said.was_late());
    assert_eq!(codes, ["file-not-regular"; 5], "each of them is noticed where it is looked at");
    assert_eq!((calls(&place).len(), noted(&place)), (2, 1));
}

#[test]
fn a_section_that_is_off_reads_no_file_and_starts_no_program() {
    let place = Place::new();
    booby_trapped(&place);
    for file in ["bcode.toml", ".bcode/bcode.toml", "skills/a/SKILL.md"] {
        fs::remove_dir(place.at("work").join(file)).unwrap();
    }
    let off = "[system_prompt.sections]\nrepository_context = false\nrepository_invariants = false\ndynamic_repository_context = false\n\
               git_revision = false\nworktree_context = false\ntoolchain_context = false\n";
    let environment = noting_git(&place, place.environment(off), "");
    let said = Talk::new(&Assembly::load(&environment, &Workspace::at(place.at("work"))).unwrap()).say("hi");
    assert_eq!((said.codes(), calls(&place), noted(&place)), (vec![], Vec::new(), 0));
}
