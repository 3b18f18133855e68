//! What programs print: git of a status and of a worktree, a compiler of its version. Any bytes become texts that keep their limits and their blocks, on
//! as many lines as they may have, or a diagnostic.
//!
//! An input is a byte, which says how many characters of a status are shown and whether `.git` is a file that holds the second text too; then what `git status` prints, and behind lines `===` what `git rev-parse` and `rustc` print.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::cell::OnceCell;
use std::time::{Duration, Instant};
use tower_prompt::layers::wire::Format;
use tower_prompt::{Assembly, Workspace};

#[allow(dead_code, reason = "what the promises are tried with")]
#[path = "../../tests/promises/bodies.rs"]
mod bodies;
#[allow(dead_code, reason = "what the promises are tried with")]
#[path = "../../tests/promises/conversation.rs"]
mod conversation;
#[allow(dead_code, reason = "no git runs here")]
#[path = "../../tests/place/mod.rs"]
mod place;
#[allow(dead_code, reason = "what the promises are tried with")]
#[path = "../../tests/promises/seen.rs"]
mod seen;
#[allow(dead_code, reason = "what the promises are tried with")]
#[path = "../../tests/promises/world.rs"]
mod world;

use conversation::Conversation;
use place::Place;
use seen::skeleton;

const BREAK: &[u8] = b"\n===\n";

thread_local! {
    static PLACE: OnceCell<Place> = const { OnceCell::new() };
}

/// A repository, and programs that print what stands in files.
#[cfg(unix)]
fn made() -> Place {
    use std::os::unix::fs::PermissionsExt;
    if std::path::Path::new("/dev/shm").is_dir() {
        let _ = tempfile::env::override_temp_dir(std::path::Path::new("/dev/shm"));
    }
    let place = Place::new();
    place.write("work/.git/HEAD", "ref: refs/heads/main\n");
    place.write("work/.git/worktrees/x/commondir", "../..\n");
    place.write("linked/.git", "");
    let at = place.shown("");
    let git = format!("#!/bin/sh\ncase \"$*\" in *rev-parse*) exec /bin/cat {at}1 ;; *) exec /bin/cat {at}0 ;; esac\n");
    for (name, script) in [("git", git), ("rustc", format!("#!/bin/sh\nexec /bin/cat {at}2\n"))] {
        let program = place.write(&format!("bin/{name}"), script);
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    place
}

fn split(bytes: &[u8]) -> [&[u8]; 3] {
    let mut parts: [&[u8]; 3] = [bytes, b"", b""];
    for n in 0..2 {
        let rest = parts[n];
        if let Some(at) = rest.windows(BREAK.len()).position(|window| window == BREAK) {
            (parts[n], parts[n + 1]) = (&rest[..at], &rest[at + BREAK.len()..]);
        }
    }
    parts
}

fuzz_target!(|bytes: &[u8]| {
    let Some((max, bytes)) = bytes.split_first() else { return };
    PLACE.with(|place| run(place.get_or_init(made), usize::from(*max), bytes));
});

/// Characters of the lines around the files, which the limit does not count.
fn frame(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let (head, last) = (lines.iter().take(4), lines.last());
    head.chain(last).map(|line| line.chars().count() + 1).sum()
}

fn run(place: &Place, max: usize, bytes: &[u8]) {
    for (n, printed) in split(bytes).iter().enumerate() {
        place.write(&n.to_string(), printed);
    }
    let folder = if max % 2 == 1 { "linked" } else { "work" };
    place.write("linked/.git", split(bytes)[1]);
    let max = (max * 4).max(1);
    let config = format!("system_prompt.git_status_max_chars = {max}\nsystem_prompt.sections.toolchain_context = true\n");
    let environment = place.environment(&config).variable("PATH", place.shown("bin"));
    let assembly = Assembly::load(&environment, &Workspace::at(place.at(folder))).expect("the configuration is right");
    let format = Format::ALL[bytes.len() % Format::ALL.len()];
    let mut talk = Conversation::new(&assembly, format);
    let begun = Instant::now();
    let said = talk.say("hi");
    // Deadlines are 2 seconds and half of one.
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    for (fragment, text) in said.fragments() {
        let name = &*fragment.id;
        assert_eq!(fragment.chars, text.chars().count());
        let most = match name {
            "dynamic_repository_context" => max + frame(text),
            "git_revision" => 2 * (256 * 6 + 100),
            "toolchain_context" => 256 * 6 + 100,
            "worktree_context" => 4096,
            _ => continue,
        };
        assert!(fragment.chars <= most, "{} of {name} over {most}: {text}", fragment.chars);
        assert_eq!(skeleton(text), [name.to_owned(), format!("/{name}")], "{text:?}");
        let lines = text.lines().count() - 2;
        assert!(name == "dynamic_repository_context" || lines <= 2, "{text}");
    }
    let told: Vec<&str> = said.manifest.diagnostics.iter().map(|found| &*found.code).collect();
    assert!(said.of("git_revision").len() == 1 || told.contains(&"git-failed"), "{told:?}");
    assert_eq!(talk.send().body, said.body, "a retry");
}
