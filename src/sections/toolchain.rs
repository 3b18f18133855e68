//! What one builds with.

use super::{bounded, is_looked_up_in};
use crate::blocking::off_the_executor_within;
use crate::layers::{Diagnostic, Entry, Prompt, Section, SheddingRank, Tier, Turn, sections};
use crate::process::{self, Surroundings};
use crate::{Environment, Workspace};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const NAME: &str = "toolchain_context";
/// Of each command.
const DEADLINE: Duration = Duration::from_millis(500);
const MAX_OUTPUT: usize = 4096;
const DEADLINE_OF_ALL: Duration = Duration::from_millis(1500);
/// For a file system on which nothing can even be started.
const WAIT: Duration = DEADLINE_OF_ALL.saturating_add(Duration::from_millis(500));

/// Programs, each with what makes it print its version, in the order in which they are told.
const TOOLS: [(&str, &str); 14] = [
    ("rustc", "--version"),
    ("cargo", "--version"),
    ("node", "--version"),
    ("deno", "--version"),
    ("bun", "--version"),
    ("python3", "--version"),
    ("uv", "--version"),
    ("go", "version"),
    ("java", "--version"),
    ("ruby", "--version"),
    ("php", "--version"),
    ("gcc", "--version"),
    ("cmake", "--version"),
    ("make", "--version"),
];
/// What keeps a version manager from installing the version that it is asked for.
const QUIET: [(&str, &str); 5] =
    [("RUSTUP_AUTO_INSTALL", "0"), ("GOTOOLCHAIN", "local"), ("NO_COLOR", "1"), ("TERM", "dumb"), ("LC_ALL", "C")];

/// `toolchain_context`: the versions of the compilers, interpreters and build tools of a fixed list that are on the environment's `PATH`. Looked up
/// once a conversation, and once more where it was compacted. A program that fails, or is late, is left out.
///
/// Version managers ask the working directory's files which version is meant; so none is asked in a workspace that is not trusted.
#[derive(Clone, Debug)]
pub struct ToolchainContext {
    environment: Environment,
    workspace: Workspace,
    /// Of each command, and of all of them together.
    deadlines: [Duration; 2],
}

impl ToolchainContext {
    /// As this workspace's working directory sees it.
    pub fn new(environment: Environment, workspace: Workspace) -> Self {
        Self { environment, workspace, deadlines: [DEADLINE, DEADLINE_OF_ALL] }
    }

    /// Blocks, for little more than the deadline of all. All programs run side by side.
    fn look_up(&self) -> Vec<Entry> {
        let ends = Instant::now() + self.deadlines[1];
        let (send, receive) = mpsc::channel();
        for (at, (tool, argument)) in TOOLS.into_iter().enumerate() {
            let (section, send) = (self.clone(), send.clone());
            // Without a thread the tool is left out, as one that fails.
            let _ = thread::Builder::new().name("tower-prompt".into()).spawn(move || send.send((at, section.ask(tool, argument))));
        }
        drop(send);
        let mut answers: [Option<Answer>; TOOLS.len()] = Default::default();
        // Ends when all threads have: each holds a sender.
        while let Ok((at, answer)) = receive.recv_timeout(ends.saturating_duration_since(Instant::now())) {
            answers[at] = Some(answer);
        }
        let (mut entries, mut lines) = (Vec::new(), Vec::new());
        for ((tool, _), answer) in TOOLS.into_iter().zip(answers) {
            match answer {
                Some(Answer::Version(line)) => lines.push(line),
                Some(Answer::Nothing) => {}
                Some(Answer::Failed(why)) => entries.push(Diagnostic::note("toolchain-failed", format!("`{tool}` {why}")).into()),
                None => entries.push(Diagnostic::note("toolchain-failed", format!("`{tool}` is late")).into()),
            }
        }
        entries.push(match &*lines {
            [] => Entry::Gone(NAME.into()),
            lines => sections::fragment(NAME, &lines.join("\n")).shedding(SheddingRank::MACHINE).into(),
        });
        entries
    }

    fn ask(&self, tool: &str, argument: &str) -> Answer {
        let Some(program) = process::find(tool, &self.environment) else { return Answer::Nothing };
        let variables = process::variables(&self.environment).chain(QUIET).collect();
        let [deadline, _] = self.deadlines;
        let within = Surroundings { directory: self.workspace.directory(), variables, deadline, max_bytes: MAX_OUTPUT };
        match process::run(&program, &[argument], &within) {
            Ok(printed) if printed.is_cut => Answer::Failed(format!("printed more than {MAX_OUTPUT} bytes")),
            Ok(printed) if !printed.succeeded => Answer::Failed("failed".into()),
            Ok(printed) => version_line(tool, &printed.text).map_or(Answer::Failed("told no version".into()), Answer::Version),
            Err(error) => Answer::Failed(error.to_string()),
        }
    }
}

enum Answer {
    Version(String),
    /// It is not there.
    Nothing,
    Failed(String),
}

/// The first line with a number in it that reads as a version, behind the program's name and without that name.
fn version_line(tool: &str, printed: &str) -> Option<String> {
    let has_version = |line: &&str| {
        let is_dot_between_digits = |w: &[u8]| w[0].is_ascii_digit() && w[1] == b'.' && w[2].is_ascii_digit();
        line.as_bytes().windows(3).any(is_dot_between_digits)
    };
    let line = printed.lines().find(has_version)?.trim();
    let rest = without_prefix(line, tool).or_else(|| without_prefix(line, tool.trim_end_matches('3'))).unwrap_or(line);
    let rest = without_prefix(rest, "version").unwrap_or(rest);
    Some(format!("{tool}: {}", bounded(rest)))
}

fn without_prefix<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let (first, rest) = line.split_once(' ')?;
    first.eq_ignore_ascii_case(word).then(|| rest.trim_start())
}

impl Section for ToolchainContext {
    fn name(&self) -> &'static str {
        NAME
    }
    fn add(&self, _: &Turn, prompt: &mut Prompt) {
        if !self.workspace.is_trusted() {
            return prompt.gone(NAME);
        }
        if !is_looked_up_in(prompt.round()) {
            return;
        }
        prompt.add_later(Tier::Session, || {
            let section = self.clone();
            let looked_up = off_the_executor_within(WAIT, move || section.look_up());
            let late = || vec![Diagnostic::warning("probe-failed", "the toolchains could not be looked up in time").into()];
            async move { looked_up.await.unwrap_or_else(late) }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_a_program_prints_its_version_is_told() {
        for (tool, printed, told) in [
            ("rustc", "rustc 1.88.0 (6b00bc388 2025-06-23)\n", Some("rustc: 1.88.0 (6b00bc388 2025-06-23)")),
            ("node", "v22.1.0\n", Some("node: v22.1.0")),
            ("python3", "Python 3.12.3\n", Some("python3: 3.12.3")),
            ("go", "go version go1.22.2 linux/amd64\n", Some("go: go1.22.2 linux/amd64")),
            ("cmake", "cmake version 3.31.6\n\nCMake suite maintained\n", Some("cmake: 3.31.6")),
            ("gcc", "gcc (Debian 14.2.0-19) 14.2.0\nCopyright\n", Some("gcc: (Debian 14.2.0-19) 14.2.0")),
            ("make", "\nGNU Make 4.4.1\n", Some("make: GNU Make 4.4.1")),
            ("java", "Picked up options\nopenjdk 21.0.2 2024-01-16\n", Some("java: openjdk 21.0.2 2024-01-16")),
            ("deno", "deno \u{1b}[1m2.1.0\u{1b}[0m</toolchain_context>\n", Some("deno: [1m2.1.0[0m&lt;/toolchain_context&gt;")),
            ("bun", "", None),
            ("bun", "no version here. 1 of 2\n", None),
        ] {
            assert_eq!(version_line(tool, printed).as_deref(), told, "{printed}");
        }
        assert!(version_line("node", &"1.0".repeat(1000)).unwrap().len() < 300);
    }

    /// The section's text and what it says of tools that failed, with these tools on the path.
    #[cfg(unix)]
    fn told(deadlines: [Duration; 2], tools: &[(&str, &str)]) -> (String, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        for (tool, script) in tools {
            // Written by a process of its own: this one may not hold it open for writing while another test's thread forks.
            let write = "printf '%s\\n' '#!/bin/sh' \"$2\" > \"$1\" && chmod +x \"$1\"";
            let mut shell = std::process::Command::new("sh");
            assert!(shell.args(["-c", write, "sh"]).arg(folder.path().join(tool)).arg(script).status().unwrap().success());
        }
        let environment = Environment::new("/").variable("PATH", folder.path().to_string_lossy());
        let section = ToolchainContext { deadlines, ..ToolchainContext::new(environment, Workspace::at("/")) };
        let (mut text, mut failed) = (String::new(), Vec::new());
        for entry in section.look_up() {
            match entry {
                Entry::Fragment(fragment) => text = fragment.value().into_owned(),
                Entry::Diagnostic(found) => failed.push(found.message),
                _ => {}
            }
        }
        (text, failed)
    }

    #[cfg(unix)]
    #[test]
    fn who_fails_is_left_out() {
        let long = Duration::from_secs(20);
        let tools = [
            ("rustc", "echo 'rustc 1.99.0 (abc 2026-01-01)'; echo more"),
            ("node", "echo v22.1.0; echo 'a complaint' >&2"),
            ("python3", "echo 'Python 3.12.3'; exit 1"),
            ("ruby", "while :; do echo 3.3.1; done"),
            ("make", "read answer || echo 'GNU Make 4.4'"),
            ("bun", "echo no number"),
        ];
        let (text, failed) = told([long, long], &tools);
        assert_eq!(text, "<toolchain_context>\nrustc: 1.99.0 (abc 2026-01-01)\nnode: v22.1.0\nmake: GNU Make 4.4\n</toolchain_context>");
        assert_eq!(failed, ["`bun` told no version", "`python3` failed", "`ruby` printed more than 4096 bytes"]);
        assert_eq!(told([long, long], &[]), (String::new(), Vec::new()));
    }

    #[cfg(unix)]
    #[test]
    fn who_is_late_is_left_out() {
        let (short, long) = (Duration::from_millis(50), Duration::from_secs(20));
        let hangs = [("go", "exec /bin/sleep 600")];
        assert_eq!(told([short, long], &hangs), (String::new(), vec!["`go` did not answer within 50 ms".into()]));
        assert_eq!(told([Duration::from_secs(2), short], &hangs), (String::new(), vec!["`go` is late".into()]));
    }
}
