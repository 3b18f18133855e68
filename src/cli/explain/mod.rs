//! `explain`: what a turn is made of, as a table, as JSON, or as a page to send to someone.

mod table;

use super::render::TurnOptions;
use super::terminal::{self, Terminal, printable};
use super::{Failure, Outcome};
use crate::layers::Manifest;
use crate::page;
use clap::Args;
use std::path::{Path, PathBuf};

/// Show what a turn is made of.
#[derive(Args)]
pub(super) struct Explain {
    #[command(flatten)]
    turn: TurnOptions,
    /// The manifest as JSON
    #[arg(long)]
    json: bool,
    /// Write it as one self-contained page to this file; `-` prints it
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    /// Say too what changed since an earlier request of the conversation: its manifest, as `--json` printed it
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    previous: Option<PathBuf>,
}

impl Explain {
    pub(super) fn run(&self, terminal: &mut Terminal) -> Outcome {
        // Ahead of the work: what is wrong with it stops it.
        let previous = self.previous.as_deref().map(read_manifest).transpose()?;
        let assembled = self.turn.assemble(false, terminal)?;
        let manifest = &assembled.manifest;
        if self.json {
            return Ok(terminal::print_exactly(&terminal::json(manifest)?)?);
        }
        if let Some(file) = &self.html {
            write(file, &page::html(manifest, &assembled.body, previous.as_ref()), terminal)?;
        } else {
            let mut table = table::of(manifest, terminal.width());
            if let Some(previous) = &previous {
                table.push_str(&format!("{}\n", printable(&manifest.diff(previous).to_string())));
            }
            terminal.print(&table)?;
        }
        terminal.diagnostics(&manifest.diagnostics);
        Ok(())
    }
}

fn read_manifest(file: &Path) -> Result<Manifest, Failure> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| Failure::failed(format!("--previous {name}: {error}")))?;
    let not_one = |error| Failure::failed(format!("--previous {name}: this is no manifest that `explain --json` printed: {error}"));
    serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(not_one)
}

fn write(file: &Path, page: &str, terminal: &mut Terminal) -> Outcome {
    if file == Path::new("-") {
        return Ok(terminal::print_exactly(page)?);
    }
    std::fs::write(file, page).map_err(|error| Failure::failed(format!("--html {}: {error}", file.display())))?;
    terminal.say(&format!("Wrote {}, {} KiB.", printable(&file.to_string_lossy()), page.len().div_ceil(1024)));
    Ok(())
}
