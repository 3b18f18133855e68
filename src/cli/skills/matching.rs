//! `skills match`: which skills a text speaks of, and why.

use super::super::Outcome;
use super::super::terminal::{self, BOLD, CYAN, DIM, Terminal, at_most, printable, within_columns};
use super::super::workspace::WorkspaceOptions;
use crate::layers::skill::{SkillEvidence, SkillEvidenceKind, SkillMatch, SkillRegistry, Skills};
use crate::layers::{AutoActivate, MatchEffect};
use clap::Args;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

#[derive(Args)]
pub(in super::super) struct Match {
    #[command(flatten)]
    workspace: WorkspaceOptions,
    /// What a user types
    text: String,
    /// A file that the message is about, for the skills' file patterns; may be given more than once
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
    /// As JSON: each match with its score, all that matched, and what it brings about
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    auto_activate: AutoActivate,
    matches: Vec<Explained>,
}

#[derive(Serialize)]
struct Explained {
    #[serde(flatten)]
    found: SkillMatch,
    effect: MatchEffect,
    /// In mode `on`.
    effect_if_on: MatchEffect,
}

/// Matches that a person sees; the others are weaker than any that matters.
const MOST_ROWS: usize = 12;
/// Evidence of a match that a person sees.
const MOST_EVIDENCE: usize = 5;

impl Match {
    pub(super) fn run(&self, terminal: &mut Terminal) -> Outcome {
        let assembly = self.workspace.assembly(terminal)?;
        let skills = assembly.skills().snapshot();
        let configured = &assembly.config().skills;
        let report = report(&skills, &self.text, &self.file, configured.auto_activate, configured.matching.max_suggestions.get());
        if self.json {
            return Ok(terminal::print_exactly(&terminal::json(&report)?)?);
        }
        if report.matches.is_empty() {
            terminal.say(&format!("The text speaks of none of the {} skills.", skills.len()));
        } else {
            let table = table(&report.matches, terminal.width());
            terminal.print(&table)?;
            terminal.say(&format!("{DIM}{}{DIM:#}", footer(&report)));
        }
        terminal.diagnostics(skills.matcher().diagnostics());
        Ok(())
    }
}

fn report(skills: &Skills, text: &str, files: &[String], mode: AutoActivate, max_suggestions: usize) -> Report {
    let mut room = max_suggestions;
    let explained = |found: SkillMatch| {
        let skill = skills.get(found.id.as_str())?;
        let mut effect = mode.effect(&found, &skill.summary);
        if effect == MatchEffect::Suggests {
            match room.checked_sub(1) {
                Some(left) => room = left,
                None => effect = MatchEffect::Nothing,
            }
        }
        let effect_if_on = AutoActivate::On.effect(&found, &skill.summary);
        Some(Explained { found, effect, effect_if_on })
    };
    Report { auto_activate: mode, matches: skills.matcher().find_with_files(text, files).into_iter().filter_map(explained).collect() }
}

/// A line a skill: id, score, what it brings about, and why.
fn table(matches: &[Explained], width: usize) -> String {
    let shown = &matches[..matches.len().min(MOST_ROWS)];
    let ids = shown.iter().map(|row| row.found.id.as_str().width()).max().unwrap_or(0).min(at_most(32, width));
    let mut out = String::new();
    for Explained { found, effect, .. } in shown {
        let id = printable(&within_columns(found.id.as_str(), at_most(32, width)));
        let pad = " ".repeat(ids.saturating_sub(id.width()));
        let effect = match effect {
            MatchEffect::Activates => format!("{CYAN}activated{CYAN:#}"),
            MatchEffect::Suggests => format!("{CYAN}suggested{CYAN:#}"),
            MatchEffect::Nothing => format!("{DIM}-{DIM:#}        "),
        };
        let why: Vec<String> = found.evidence.iter().take(MOST_EVIDENCE).map(piece).collect();
        let more = found.evidence.len().saturating_sub(MOST_EVIDENCE);
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        let taken = ids + 2 + 4 + 2 + 9 + 2;
        let why = within_columns(&(why.join(", ") + &more), width.saturating_sub(taken).max(20)).into_owned();
        out.push_str(&format!("{BOLD}{id}{BOLD:#}{pad}  {:>4.2}  {effect}  {}\n", found.score, printable(&why)));
    }
    if matches.len() > MOST_ROWS {
        out.push_str(&format!("{DIM}and {} weaker; --json has them all{DIM:#}\n", matches.len() - MOST_ROWS));
    }
    out
}

fn piece(evidence: &SkillEvidence) -> String {
    let kind = match evidence.kind {
        // What most matches are made of.
        SkillEvidenceKind::Word => "",
        SkillEvidenceKind::Pattern => "pattern ",
        SkillEvidenceKind::Keyword => "keyword ",
        SkillEvidenceKind::Id => "id ",
        SkillEvidenceKind::Name => "name ",
        SkillEvidenceKind::File => "file ",
        _ => "",
    };
    let quoted = if evidence.quoted { " (quoted)" } else { "" };
    let what = evidence.what.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{kind}{what}{quoted} {:+.2}", evidence.weight)
}

fn footer(report: &Report) -> String {
    let threshold = crate::layers::skill::SUGGESTION_THRESHOLD;
    let mode = match report.auto_activate {
        AutoActivate::Off => "skills.auto_activate is off: nothing comes of a match".to_owned(),
        AutoActivate::Suggest => format!("skills.auto_activate is suggest: from {threshold:.2} on a skill is suggested"),
        AutoActivate::On => {
            format!("skills.auto_activate is on: strong evidence activates, and from {threshold:.2} on a skill is suggested")
        }
        other => format!("skills.auto_activate is {other:?}").to_lowercase(),
    };
    let would: Vec<String> = report
        .matches
        .iter()
        .filter(|row| row.effect_if_on == MatchEffect::Activates && row.effect != MatchEffect::Activates)
        .map(|row| printable(row.found.id.as_str()))
        .collect();
    if would.is_empty() { mode } else { format!("{mode}; on would activate {}", would.join(", ")) }
}
