//! The command-line program. stdout is data; diagnostics and talk go to stderr. Exit code 0 for good, 1 for a finding or a failure, 2 for wrong
//! usage.

mod bodies;
mod configuration;
mod explain;
mod findings;
#[cfg(not(feature = "proxy"))]
mod no_serve;
mod progress;
mod render;
#[cfg(feature = "proxy")]
mod serve;
mod session;
mod skills;
#[cfg(feature = "proxy")]
mod store;
mod terminal;
mod workspace;

use clap::{Parser, Subcommand};
use std::fmt;
use std::process::ExitCode;
use terminal::Terminal;

/// Looks at what would be sent to a model, and why.
#[derive(Parser)]
#[command(name = "tower-prompt", version, about, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Show every diagnostic, notes included, instead of a summary where there are many
    #[arg(short, long, global = true)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Assemble one turn and print it.
    Render(render::Render),
    /// Show what a turn is made of: each fragment with its tier, size and origin. Takes what `render` takes, and changes nothing.
    Explain(explain::Explain),
    /// List, show and check skills.
    #[command(subcommand)]
    Skills(skills::Skills),
    /// Show and check the configuration.
    #[command(subcommand)]
    Config(configuration::Configuration),
    /// Stand before an LLM's API as a proxy that assembles the conversations on their way there.
    #[cfg(feature = "proxy")]
    Serve(serve::Serve),
    /// Needs the feature `proxy`, which this build is without.
    #[cfg(not(feature = "proxy"))]
    #[command(hide = true)]
    Serve(no_serve::Serve),
}

/// Why a command stops. Each is an exit code.
#[derive(Debug)]
enum Failure {
    /// Something the user gave is wrong, or could not be done: said on stderr, exit code 1.
    Failed(String),
    /// The command did its work and has findings, which it has shown: exit code 1.
    Findings,
    /// Wrong usage: said on stderr, exit code 2.
    Usage(String),
}

impl Failure {
    fn failed(message: impl fmt::Display) -> Self {
        Self::Failed(message.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::failed(format!("writing failed: {error}"))
    }
}

type Outcome = Result<(), Failure>;

/// Runs the program with this process's arguments, environment and streams.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are what was asked for; anything else is wrong usage. Where it can't be printed there is no one to tell.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let mut terminal = Terminal::of_process(arguments.verbose);
    let outcome = match arguments.command {
        Command::Render(command) => command.run(&mut terminal),
        Command::Explain(command) => command.run(&mut terminal),
        Command::Skills(command) => command.run(&mut terminal),
        Command::Config(command) => command.run(&mut terminal),
        #[cfg(feature = "proxy")]
        Command::Serve(command) => command.run(&mut terminal),
        #[cfg(not(feature = "proxy"))]
        Command::Serve(command) => command.run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Findings) => ExitCode::FAILURE,
        Err(Failure::Failed(message)) => {
            terminal.error(&message);
            ExitCode::FAILURE
        }
        Err(Failure::Usage(message)) => {
            terminal.error(&message);
            terminal.say("Try `tower-prompt --help`.");
            ExitCode::from(2)
        }
    }
}
