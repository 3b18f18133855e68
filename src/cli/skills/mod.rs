//! `skills list`, `info`, `show`, and what goes on with skills in files of its own.

mod advice;
mod install;
mod matching;
mod new;
mod validate;

use super::session::{Activity, active_in};
use super::terminal::{self, BOLD, DIM, Terminal, YELLOW, at_most, printable, within_columns};
use super::workspace::{LOOKING, WorkspaceOptions, skill_id, wait};
use super::{Failure, Outcome};
use crate::Assembly;
use crate::layers::Diagnostic;
use crate::layers::skill::{ActiveSkill, SkillArguments, SkillManifest, SkillRegistry, SkillSourceKind, SkillSummary, skill_block};
use crate::layers::text::escape::one_line;
use crate::skills::{DiscoveryOptions, FolderSkills, Root, resolved};
use advice::Advised;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::path::PathBuf;
use unicode_width::UnicodeWidthStr;

#[derive(Subcommand)]
pub(super) enum Skills {
    /// List the skills, with what was found while they were read
    List(List),
    /// Tell all that is known of a skill, but for its instructions
    Info(Info),
    /// Print a skill as it stands in a prompt, with the arguments in place
    #[command(alias = "run")]
    Show(Show),
    /// Tell which skills a text speaks of, how surely, and why
    Match(matching::Match),
    /// Look for breaches of the Agent Skills specification, or of another system's rules; exit code 1 if there is one
    Validate(validate::Validate),
    /// Put skills from a folder, an archive, a git repository or an npm package into your folder of skills
    Install(install::Install),
    /// Take a skill out of your folder of skills
    Remove(install::Remove),
    /// Write the beginnings of a skill
    New(new::New),
}

#[derive(Args)]
pub(super) struct List {
    #[command(flatten)]
    workspace: WorkspaceOptions,
    /// List just this folder of skills; may be given more than once, the first has precedence
    #[arg(long, value_name = "PATH")]
    root: Vec<PathBuf>,
    /// Mark the skills that are active in the conversation in this file, as `render --session` keeps it
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,
    /// As JSON, diagnostics included
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Info {
    #[command(flatten)]
    workspace: WorkspaceOptions,
    /// The skill's id, or a name that it alone bears
    id: String,
    /// Say whether it is active in the conversation in this file, as `render --session` keeps it
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Show {
    #[command(flatten)]
    workspace: WorkspaceOptions,
    /// The skill's id, or a name that it alone bears
    id: String,
    /// What it is invoked with; behind `--` where it begins with a hyphen
    #[arg(value_name = "ARGS")]
    arguments: Vec<String>,
}

impl Skills {
    pub(super) fn run(&self, terminal: &mut Terminal) -> Outcome {
        match self {
            Self::List(list) => list.run(terminal),
            Self::Info(info) => info.run(terminal),
            Self::Show(show) => show.run(terminal),
            Self::Match(matching) => matching.run(terminal),
            Self::Validate(validate) => validate.run(terminal),
            Self::Install(install) => install.run(terminal),
            Self::Remove(remove) => remove.run(terminal),
            Self::New(new) => new.run(terminal),
        }
    }
}

impl List {
    fn run(&self, terminal: &mut Terminal) -> Outcome {
        let skills = if self.root.is_empty() { self.workspace.assembly(terminal)?.skills().clone() } else { self.of_roots(terminal)? };
        let active = active_in(self.session.as_deref(), terminal)?;
        let snapshot = skills.snapshot();
        let listed = Listed { skills: snapshot.iter().map(|skill| &*skill.summary).collect(), active, diagnostics: skills.findings() };
        if self.json {
            return Ok(terminal::print_exactly(&terminal::json(&listed)?)?);
        }
        if listed.skills.is_empty() {
            if skills.roots().is_empty() {
                terminal.say("There are no skills: with these options and this configuration they are looked for in no folder.");
            } else {
                terminal.say("There are no skills. They are looked for in:");
            }
            skills.roots().iter().for_each(|root| terminal.say(&format!("  {}", printable(&root.path.to_string_lossy()))));
        } else {
            let table = table(&listed.skills, listed.active.as_deref().unwrap_or_default(), terminal.width());
            terminal.print(&table)?;
        }
        terminal.diagnostics(&listed.diagnostics);
        Ok(())
    }

    /// The named folders and no others, read as the configuration says.
    fn of_roots(&self, terminal: &mut Terminal) -> Result<FolderSkills, Failure> {
        let (environment, workspace) = self.workspace.open(terminal)?;
        let loaded = self.workspace.load(&environment, &workspace)?;
        terminal.diagnostics(&loaded.findings);
        let top = resolved(&environment.working_directory().join(workspace.root()));
        let mut roots = Vec::new();
        for (n, path) in self.root.iter().enumerate() {
            if !path.is_dir() {
                return Err(Failure::failed(format!("--root {}: there is no such folder", path.display())));
            }
            if !workspace.is_trusted() && resolved(&environment.working_directory().join(path)).starts_with(&top) {
                return Err(Failure::failed(format!("--root {}: lies in the workspace, which is not trusted", path.display())));
            }
            roots.push(Root::new(path, SkillSourceKind::Configured, format!("configured:{n}")));
        }
        let options = DiscoveryOptions::from(&loaded.config.skills);
        Ok(terminal.during(LOOKING, || FolderSkills::in_roots(roots, &options)))
    }
}

/// A [`SkillList`](crate::layers::skill::SkillList) that borrows its skills.
#[derive(Serialize)]
struct Listed<'a> {
    skills: Vec<&'a SkillSummary>,
    /// Where a session was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    active: Option<Vec<ActiveSkill>>,
    diagnostics: Vec<Diagnostic>,
}

/// A line a skill: id, source, marks, description, and what else is worth knowing at a glance.
fn table(skills: &[&SkillSummary], active: &[ActiveSkill], width: usize) -> String {
    let widest = |text: fn(&SkillSummary) -> &str, most: usize| {
        skills.iter().map(|skill| text(skill).width()).max().unwrap_or(0).min(at_most(most, width))
    };
    let ids = widest(|skill| skill.id.as_str(), 32);
    let sources = widest(|skill| &skill.source.label, 24);
    let mut out = String::new();
    for skill in skills {
        let id = printable(&within_columns(skill.id.as_str(), at_most(32, width)));
        let mut marks = marks(skill);
        if active.iter().any(|active| active.id == skill.id) {
            marks.insert(0, "active");
        }
        let marks = if marks.is_empty() { String::new() } else { format!("{YELLOW}({}){YELLOW:#} ", marks.join(", ")) };
        let glance = glance(skill, at_most(40, width));
        let taken = ids + sources + 4 + glance.width() + if marks.is_empty() { 0 } else { marks.width() };
        let description = within_columns(&one_line(&skill.description), width.saturating_sub(taken).max(20)).into_owned();
        let pad = |text: &str, columns: usize| " ".repeat(columns.saturating_sub(text.width()));
        let label = printable(&skill.source.label);
        out.push_str(&format!(
            "{BOLD}{id}{BOLD:#}{}  {DIM}{label}{DIM:#}{}  {marks}{description}{DIM}{glance}{DIM:#}\n",
            pad(&id, ids),
            pad(&label, sources)
        ));
    }
    out
}

/// Version, license and what it needs, in brackets; nothing where it says none of them.
fn glance(skill: &SkillSummary, columns: usize) -> String {
    let needs: Vec<&str> = skill.requirements.packages.iter().chain(&skill.requirements.settings).map(String::as_str).collect();
    let needs = (!needs.is_empty()).then(|| format!("needs {}", needs.join(", ")));
    let told: Vec<String> =
        [skill.version.clone(), skill.license.clone(), needs].into_iter().flatten().map(|text| one_line(&text).into_owned()).collect();
    if told.is_empty() { String::new() } else { format!(" [{}]", within_columns(&told.join("; "), columns)) }
}

fn marks(skill: &SkillSummary) -> Vec<&'static str> {
    let marks = [(skill.disabled, "disabled"), (skill.hidden, "hidden from the model"), (!skill.user_invocable, "not for users")];
    marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark).collect()
}

fn manifest(assembly: &Assembly, name: &str) -> Result<SkillManifest, Failure> {
    let skills = assembly.skills().snapshot();
    // A disabled skill can be looked at.
    let id = match skills.find(name).or_else(|| skills.get(name)) {
        Some(skill) => skill.summary.id.clone(),
        None => skill_id(assembly, name)?,
    };
    assembly.skills().manifest(id.as_str()).ok_or_else(|| Failure::failed(format!("the skill `{id}` went away")))
}

impl Info {
    fn run(&self, terminal: &mut Terminal) -> Outcome {
        let assembly = self.workspace.assembly(terminal)?;
        let manifest = manifest(&assembly, &self.id)?;
        let active = active_in(self.session.as_deref(), terminal)?;
        let active = active.map(|active| Activity(active.into_iter().find(|skill| skill.id == manifest.summary.id)));
        if self.json {
            let advice = advice::of(&manifest.summary.permissions);
            return Ok(terminal::print_exactly(&terminal::json(&Told { manifest: &manifest, advice, active })?)?);
        }
        terminal.print(&card(&manifest, active.as_ref()))?;
        terminal.diagnostics(&manifest.diagnostics);
        Ok(())
    }
}

/// A [`SkillManifest`], advice on its hints, and where a session was named, how the skill is active there: `null` where it is not.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    manifest: &'a SkillManifest,
    /// What a host may make of its hints.
    advice: Vec<Advised>,
    #[serde(skip_serializing_if = "Option::is_none")]
    active: Option<Activity>,
}

/// All that is known of a skill, a line a field. `active`: of a session, how it is active there.
fn card(manifest: &SkillManifest, active: Option<&Activity>) -> String {
    let skill = &manifest.summary;
    let mut out = format!("{BOLD}{}{BOLD:#}", printable(skill.id.as_str()));
    if skill.name != skill.id.as_str() {
        out.push_str(&format!(" ({})", one_line(&skill.name)));
    }
    out.push_str(&format!("\n{}\n\n", printable(&skill.description)));
    let list = |values: &[String]| (!values.is_empty()).then(|| values.join(", "));
    let marks: Vec<String> = marks(skill).into_iter().map(str::to_owned).collect();
    let files =
        manifest.files.join(", ") + &if manifest.more_files > 0 { format!(" and {} more", manifest.more_files) } else { String::new() };
    let source = match &skill.source.path {
        Some(path) => format!("{} ({path})", skill.source.label),
        None => skill.source.label.clone(),
    };
    let field = |(key, value): (&str, &str)| format!("{key}: {value}");
    let metadata: Vec<String> = skill.metadata.iter().map(field).collect();
    let other_fields: Vec<String> = manifest.other_fields.iter().map(|(key, value)| field((key, value))).collect();
    for (name, value) in [
        ("location", Some(skill.location.clone())),
        ("source", Some(source)),
        ("marks", list(&marks)),
        ("active", active.map(ToString::to_string)),
        ("version", skill.version.clone()),
        ("license", skill.license.clone()),
        ("compatibility", skill.compatibility.clone()),
        ("keywords", list(&skill.activation.keywords)),
        ("triggers", list(&skill.activation.trigger_patterns)),
        ("files for it", list(&skill.activation.file_patterns)),
        ("tools", list(&skill.permissions.tools)),
        ("permissions", list(&skill.permissions.categories)),
        ("advice", advice::in_a_line(&skill.permissions)),
        ("packages", list(&skill.requirements.packages)),
        ("settings", list(&skill.requirements.settings)),
        ("model", skill.execution.model.clone()),
        ("thinking", skill.execution.thinking_effort.clone()),
        ("arguments", skill.argument_hint.clone().or_else(|| list(&skill.arguments))),
        ("metadata", list(&metadata)),
        ("other fields", list(&other_fields)),
        ("files", (!files.is_empty()).then_some(files)),
    ] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            // A path is told as it is, blanks and all.
            let value = if matches!(name, "location" | "files") {
                printable(&value).replace('\n', "\u{fffd}")
            } else {
                one_line(&value).into_owned()
            };
            out.push_str(&format!("{DIM}{name:<14}{DIM:#}{value}\n"));
        }
    }
    out
}

impl Show {
    fn run(&self, terminal: &mut Terminal) -> Outcome {
        let assembly = self.workspace.assembly(terminal)?;
        let id = skill_id(&assembly, &self.id)?;
        let skills = assembly.skills().snapshot();
        let Some(skill) = skills.get(id.as_str()) else { return Err(Failure::failed(format!("the skill `{id}` went away"))) };
        let text = wait(skill.content.load())?.map_err(Failure::failed)?;
        terminal.diagnostics(&text.diagnostics);
        let arguments = self.arguments.join(" ");
        let arguments = if arguments.is_empty() { SkillArguments::None } else { SkillArguments::Now(&arguments) };
        Ok(terminal::print_exactly(&skill_block(&skill.summary, &text.body, arguments).to_string())?)
    }
}
