//! `config show` and `config check`.

use super::terminal::{self, BOLD, DIM, Terminal, YELLOW, printable};
use super::workspace::WorkspaceOptions;
use super::{Failure, Outcome, findings};
use crate::config::{self, ConfigValue};
use crate::layers::{Diagnostic, Severity};
use clap::{Args, Subcommand};
use unicode_width::UnicodeWidthStr;

#[derive(Subcommand)]
pub(super) enum Configuration {
    /// Print each value, and the file and line that set it
    Show(Show),
    /// Look for wrong values and unknown keys; exit code 1 if there is one
    Check(Check),
    /// Print the JSON Schema of bcode.toml, for editors
    Schema(Schema),
}

#[derive(Args)]
pub(super) struct Show {
    #[command(flatten)]
    workspace: WorkspaceOptions,
    /// Only what is not the default
    #[arg(long)]
    changed: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Check {
    #[command(flatten)]
    workspace: WorkspaceOptions,
    /// The findings as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Schema {
    /// The same as a page for people, every key with its default
    #[arg(long)]
    markdown: bool,
}

impl Configuration {
    pub(super) fn run(&self, terminal: &mut Terminal) -> Outcome {
        match self {
            Self::Show(show) => show.run(terminal),
            Self::Check(check) => check.run(terminal),
            Self::Schema(Schema { markdown: true }) => Ok(terminal::print_exactly(&config::reference())?),
            Self::Schema(Schema { markdown: false }) => Ok(terminal::print_exactly(&terminal::json(&config::schema())?)?),
        }
    }
}

impl Show {
    fn run(&self, terminal: &mut Terminal) -> Outcome {
        let (environment, workspace) = self.workspace.open(terminal)?;
        let loaded = self.workspace.load(&environment, &workspace)?;
        let rows: Vec<&ConfigValue> = loaded.values.rows().iter().filter(|row| !self.changed || !row.is_default).collect();
        if self.json {
            return Ok(terminal::print_exactly(&terminal::json(&rows)?)?);
        }
        terminal.print(&listing(&rows))?;
        terminal.diagnostics(&loaded.findings);
        Ok(())
    }
}

/// A line a key: what is not the default stands out and says what set it.
fn listing(rows: &[&ConfigValue]) -> String {
    if rows.is_empty() {
        return "All values are the defaults.".to_owned();
    }
    let pair = |row: &ConfigValue| match &row.value {
        Some(value) => format!("{} = {}", row.key, printable(value)),
        None => format!("# {} is not set", row.key),
    };
    let origin = |row: &ConfigValue| printable(&row.origin.to_string());
    let widest = rows.iter().map(|row| pair(row).width()).filter(|width| *width <= 60).max().unwrap_or_default();
    let mut out = String::new();
    for row in rows {
        let pair = pair(row);
        let gap = " ".repeat(widest.saturating_sub(pair.width()) + 2);
        let line = match (row.is_default, row.value.is_some()) {
            (true, false) => format!("{DIM}{pair}{DIM:#}"),
            (true, true) => format!("{pair}{gap}{DIM}# {}{DIM:#}", origin(row)),
            (false, _) => format!("{BOLD}{pair}{BOLD:#}{gap}{YELLOW}# {}{YELLOW:#}", origin(row)),
        };
        out.push_str(&line);
        out.push('\n');
    }
    out
}

impl Check {
    fn run(&self, terminal: &mut Terminal) -> Outcome {
        let (environment, workspace) = self.workspace.open(terminal)?;
        let findings = self.workspace.findings(&environment, &workspace);
        if self.json {
            terminal::print_exactly(&terminal::json(&findings)?)?;
        } else {
            for finding in &findings {
                terminal.print(&findings::finding(finding))?;
            }
        }
        let counts = |finding: &Diagnostic| finding.severity == Severity::Error || finding.code == "key-unknown";
        match findings.iter().filter(|finding| counts(finding)).count() {
            0 => {
                terminal.say("The configuration is good.");
                Ok(())
            }
            _ => Err(Failure::Findings),
        }
    }
}
