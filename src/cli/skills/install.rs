//! `skills install` and `skills remove`.

use super::super::terminal::{self, BOLD, DIM, Terminal, printable};
use super::super::{Failure, Outcome};
use crate::Environment;
use crate::layers::Severity;
use crate::skills::install::{Install as Installation, InstallError, InstallReport, InstalledSkill, RemoveError, Source, remove};
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(in super::super) struct Install {
    /// A folder, a .skill or .zip file, a git URL, or an npm package; `#branch` behind a URL and `@version` behind a package
    #[arg(value_name = "SOURCE")]
    source: String,
    /// The folder of skills to put it in [default: your own, ~/.config/bcode/skills]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Of several skills in the source just this one; may be given more than once
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// Replace skills that are there already
    #[arg(long)]
    force: bool,
    /// As JSON: what was installed, all that the source holds, and the findings
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(in super::super) struct Remove {
    /// The skill's id
    id: String,
    /// The folder of skills that it is in [default: your own, ~/.config/bcode/skills]
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

impl Install {
    pub(super) fn run(&self, terminal: &mut Terminal) -> Outcome {
        let environment = Environment::of_process();
        let folder = folder(self.to.as_deref(), "--to", &environment)?;
        let source = Source::new(&self.source, &environment).map_err(Failure::failed)?;
        let mut installation = self.only.iter().fold(Installation::into(folder), Installation::only);
        if self.force {
            installation = installation.replacing();
        }
        let report = terminal.during(doing(&source), || installation.run(&source, &environment));
        let report = report.map_err(|error| {
            let hint = match &error {
                InstallError::NoSkill { findings } | InstallError::Unknown { findings, .. } => {
                    terminal.diagnostics(findings);
                    ""
                }
                InstallError::Exists(_) => "; --force replaces",
                _ => "",
            };
            Failure::failed(format!("{error}{hint}"))
        })?;
        if self.json {
            terminal::print_exactly(&terminal::json(&report)?)?;
        } else {
            let paths: Vec<String> = report.installed.iter().map(|skill| printable(&skill.path.to_string_lossy())).collect();
            terminal.print(&paths.join("\n"))?;
        }
        tell(&report, terminal);
        // A skill that is wanted and can't be installed is a finding.
        let is_broken = report.diagnostics.iter().any(|found| found.severity == Severity::Error);
        if is_broken { Err(Failure::Findings) } else { Ok(()) }
    }
}

impl Remove {
    pub(super) fn run(&self, terminal: &mut Terminal) -> Outcome {
        let environment = Environment::of_process();
        let folder = folder(self.from.as_deref(), "--from", &environment)?;
        let removed = remove(&self.id, &folder).map_err(|error| match error {
            RemoveError::Unknown { .. } if self.from.is_none() => Failure::failed(format!("{error} (--from names another folder)")),
            other => Failure::failed(other),
        })?;
        terminal.print(&printable(&removed.to_string_lossy()))?;
        terminal.say(&format!("Removed the skill `{}`.", printable(&self.id)));
        Ok(())
    }
}

/// The folder of skills that is meant.
fn folder(given: Option<&Path>, option: &str, environment: &Environment) -> Result<PathBuf, Failure> {
    let own = || environment.config_home().map(|home| home.join("bcode/skills"));
    let no_home = || Failure::failed(format!("there is no home folder to look for your skills in; {option} names a folder"));
    let folder = given.map(Path::to_owned).or_else(own).ok_or_else(no_home)?;
    Ok(environment.working_directory().join(folder))
}

fn doing(source: &Source) -> &'static str {
    match source {
        Source::Git { .. } => "Fetching with git",
        Source::Npm { .. } => "Fetching with npm",
        _ => "Installing",
    }
}

fn tell(report: &InstallReport, terminal: &mut Terminal) {
    terminal.diagnostics(&report.diagnostics);
    let left: Vec<String> = report
        .found
        .iter()
        .filter(|found| report.installed.iter().all(|skill| skill.id != found.id))
        .map(|found| format!("  {}", printable(found.id.as_str())))
        .collect();
    if !left.is_empty() {
        terminal.say(&format!("{DIM}Also in the source, and not installed:\n{}{DIM:#}", left.join("\n")));
    }
    report.installed.iter().for_each(|skill| terminal.say(&line(skill)));
    let these = if report.installed.len() == 1 { "It is" } else { "They are" };
    terminal.say(&format!(
        "{these} text that a model will follow, from someone else: read it before you use it. Nothing in it was run, and its scripts are not either, \
         unless you or a model's tools run them."
    ));
}

fn line(skill: &InstalledSkill) -> String {
    let done = if skill.replaced { "Replaced" } else { "Installed" };
    let files = if skill.files == 1 { "1 file".to_owned() } else { format!("{} files", skill.files) };
    format!("{done} {BOLD}{}{BOLD:#} {DIM}({files}, {}){DIM:#}", printable(skill.id.as_str()), bytes(skill.bytes))
}

fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KiB", bytes.div_ceil(1_024)),
        _ => format!("{} MiB", bytes.div_ceil(1_048_576)),
    }
}
