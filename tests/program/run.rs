//! Runs the binary, and says what came of it.

use crate::place::Place;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a run came to.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Run {
    /// Its data; nothing was wrong.
    #[track_caller]
    pub(super) fn data(&self) -> &str {
        assert_eq!(self.code, 0, "{}", self.stderr);
        &self.stdout
    }
    /// Its data as JSON: stdout holds nothing else.
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(self.data()).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
    /// What it said; it found or failed, and printed no data.
    #[track_caller]
    pub(super) fn failure(&self) -> &str {
        assert_eq!((self.code, &*self.stdout), (1, ""), "{}", self.stderr);
        &self.stderr
    }
}

impl Place {
    /// The program with these arguments, in the workspace.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tower-prompt"));
        command.args(arguments).current_dir(self.at("work")).env_clear().stdin(Stdio::null());
        command.env("HOME", self.at("home")).env("TZ", "UTC").env("LANG", "C.UTF-8").env("COLUMNS", "100");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for name in ["PATH", "SystemRoot"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command
    }
    pub(super) fn run(&self, arguments: &[&str]) -> Run {
        finish(&mut self.command(arguments), b"")
    }
    pub(super) fn run_with_input(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Run {
        finish(&mut self.command(arguments), input.as_ref())
    }
}

/// Runs a command to its end.
pub(super) fn finish(command: &mut Command, input: &[u8]) -> Run {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A program that reads nothing closes the pipe: then there is nothing to write to.
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    });
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints text");
    let code = output.status.code().expect("it ends by itself");
    let run = Run { code, stdout: text(output.stdout), stderr: text(output.stderr) };
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    run
}

/// The sample workspace.
pub(super) const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/workspace");

/// A text of the sample workspace without what differs from run to run and from machine to machine.
pub(super) fn steady(text: &str, place: &Place) -> String {
    let sample = Path::new(SAMPLE).canonicalize().unwrap();
    let text = text.replace(&*sample.to_string_lossy(), "[workspace]").replace(&place.shown("home"), "[home]");
    let text = text.replace(&place.shown("work"), "[workspace]");
    let text = text.replace(std::env::consts::OS, "[system]").replace(std::env::consts::ARCH, "[architecture]");
    ["hosting_environment", "current_datetime", "dynamic_repository_context"]
        .into_iter()
        .fold(text, |text, block| without_body(&text, block))
}

fn without_body(text: &str, block: &str) -> String {
    let (open, close) = (format!("<{block}>\n"), format!("\n</{block}>"));
    match text.split_once(&open).and_then(|(before, rest)| Some((before, rest.split_once(&close)?.1))) {
        Some((before, after)) => format!("{before}{open}[as it is now]{close}{after}"),
        None => text.to_owned(),
    }
}
