//! A disk that is full for the session's log: a small file system of its own where the system lets anyone have one, and a bound on the size of files, which
//! a program meets in the same way, everywhere.

use crate::place::Place;
use std::process::{Command, Output};

/// Says one thing after the other in one session, until the log holds no more. The shell does `before` first.
fn until_it_is_full(place: &Place, shell: &[&str], before: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_tower-prompt");
    let render = format!("'{program}' render -m \"message $n $(printf %6000s)\" --session disk/log.jsonl >/dev/null 2>err");
    let script = format!("{before}\nfor n in 1 2 3 4 5 6 7 8 9; do {render} || break; done; echo $n; cat err");
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).args(["-c", &script]).current_dir(place.at("work")).env("HOME", place.at("home")).env("TZ", "UTC");
    command.output().unwrap()
}

/// It failed at one of the messages, and said at which file.
fn is_told(output: &Output) {
    let text = [&*output.stdout, &*output.stderr].map(String::from_utf8_lossy).concat();
    assert!(text.contains("error: ") && text.contains("log.jsonl") && !text.contains("panicked"), "{text}");
}

fn place() -> Place {
    let place = Place::new();
    place.write("work/AGENTS.md", "Rules.\n".repeat(1_000));
    place.write("work/disk/keep", "");
    place
}

#[test]
fn a_log_that_may_not_grow_is_told_of_and_goes_on_where_it_was() {
    let place = place();
    // In blocks of 512 bytes.
    is_told(&until_it_is_full(&place, &["sh"], "trap '' XFSZ; ulimit -f 100"));
    // With room again: what was acknowledged is there, and what was not is dropped.
    let mut render = Command::new(env!("CARGO_BIN_EXE_tower-prompt"));
    render.args(["render", "-m", "and now?", "--session", "disk/log.jsonl"]).current_dir(place.at("work")).env("HOME", place.at("home"));
    let output = render.output().unwrap();
    let text = [&*output.stdout, &*output.stderr].map(String::from_utf8_lossy).concat();
    assert!(output.status.success() && text.contains("message 1") && text.contains("and now?"), "{text}");
}

#[cfg(target_os = "linux")]
const MOUNT: &str = "mount -t tmpfs -o size=48k none disk";

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_of() {
    let place = place();
    let mut trial = Command::new("unshare");
    // Where nobody may mount one, the other test stands for it.
    if trial.args(["-rm", "sh", "-c", MOUNT]).current_dir(place.at("work")).output().is_ok_and(|output| output.status.success()) {
        is_told(&until_it_is_full(&place, &["unshare", "-rm", "sh"], MOUNT));
    }
}
