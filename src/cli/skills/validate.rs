//! `skills validate`.

use super::super::terminal::{self, Terminal, printable};
use super::super::{Failure, Outcome};
use crate::layers::Diagnostic;
use crate::skills::validation::{RuleSet, Validation};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

#[derive(Args)]
pub(in super::super) struct Validate {
    /// Skills' folders, SKILL.md files, flat files, or folders of skills
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Whose rules
    #[arg(long, default_value_t, value_parser = PossibleValuesParser::new(RuleSet::ALL.map(RuleSet::as_str)).try_map(|name| name.parse::<RuleSet>()))]
    rules: RuleSet,
    /// As JSON: the rules, each skill with whether it is valid, and the findings
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    rules: &'static str,
    skills: Vec<Validated<'a>>,
    findings: &'a [Diagnostic],
}

#[derive(Serialize)]
struct Validated<'a> {
    path: std::borrow::Cow<'a, str>,
    valid: bool,
}

impl Validate {
    pub(super) fn run(&self, terminal: &mut Terminal) -> Outcome {
        let mut validation = Validation::new(self.rules);
        let read = |path: &PathBuf| validation.path(path).err().map(|reason| format!("{}: {reason}", path.display()));
        let failed: Vec<String> = terminal.during("Reading skills", || self.paths.iter().filter_map(read).collect());
        failed.iter().for_each(|reason| terminal.error(reason));
        if self.json {
            terminal.print(&terminal::json(&report(self.rules, &validation))?)?;
        } else {
            let lines: String = validation.findings().iter().map(line).collect();
            if !lines.is_empty() {
                terminal.print(&lines)?;
            }
        }
        let (skills, findings) = (validation.files().len(), validation.findings().len());
        terminal.say(&format!("{}, {}", counted(skills, "skill"), counted(findings, "finding")));
        if !failed.is_empty() || !validation.is_valid() { Err(Failure::Findings) } else { Ok(()) }
    }
}

fn report(rules: RuleSet, validation: &Validation) -> Report<'_> {
    use crate::layers::Severity;
    let broken = validation.findings().iter().filter(|found| found.severity != Severity::Note);
    let broken: BTreeSet<&str> = broken.filter_map(|found| found.path.as_deref()).collect();
    let skills = validation.files().iter().map(|path| {
        let path = path.to_string_lossy();
        Validated { valid: !broken.contains(&*path), path }
    });
    Report { rules: rules.as_str(), skills: skills.collect(), findings: validation.findings() }
}

/// A finding is one line, whatever stands in the file.
fn line(finding: &Diagnostic) -> String {
    printable(&finding.to_string()).replace('\n', " ") + "\n"
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
