//! The program `tower-prompt`: what would be sent, and why.

use std::process::ExitCode;

fn main() -> ExitCode {
    tower_prompt::cli::main()
}
