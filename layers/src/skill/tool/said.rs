//! What the skill tool says: bodies, lists, files, and what to do where a call came to nothing.

use super::{InvokedSkill, SkillToolOptions, SkillToolResult, shown};
use crate::prompt::{Session, Text};
use crate::skill::context::{new_arguments, preamble};
use crate::skill::{ActiveSkill, Skill, SkillArguments, SkillFiles, SkillId, SkillSummary, Skills, skill_block};
use crate::text::{Block, Edge, Limit, Room, escape, fit_around, shorten};

/// Characters of a description in a line.
const SHORT: usize = 160;
/// Names that an unknown one is answered with.
const NEAR: usize = 20;
/// A name longer than this is no slip of the pen, and likening it to every id would cost time.
const LONGEST_NAME: usize = 255;

/// A skill in one line.
pub(super) fn line(skill: &SkillSummary) -> String {
    format!("- {}: {}", escape::text(skill.id.as_str()), escape::text(&shorten(&escape::one_line(&skill.description), SHORT)))
}

fn visible(skills: &Skills) -> impl Iterator<Item = &SkillSummary> {
    skills.iter().map(|skill| &*skill.summary).filter(|summary| summary.is_in_the_catalog())
}

pub(super) fn list(skills: &Skills) -> String {
    let lines: Vec<String> = visible(skills)
        .map(|skill| {
            let name = if skill.name == skill.id.as_str() { String::new() } else { format!("\"{}\", ", escape::text(&skill.name)) };
            format!("{} ({name}from {})", line(skill), escape::text(&skill.source.label))
        })
        .collect();
    if lines.is_empty() {
        return "There are no skills. Go on without one.".to_owned();
    }
    format!("{} skills. Load one with its id as `name`.\n{}", lines.len(), lines.join("\n"))
}

pub(super) fn how_to_call(skills: &Skills) -> String {
    let example = visible(skills).next().map_or("an-id", |skill| skill.id.as_str());
    let call = serde_json::json!({"name": example});
    format!("Call again with an object such as {}, or with {{\"operation\":\"list\"}} to see all skills.", escape::text(&call.to_string()))
}

/// The nearest names first.
pub(super) fn unknown(name: &str, skills: &Skills) -> String {
    let mut names: Vec<(f64, &str)> = visible(skills).map(|skill| (likeness(name, skill), skill.id.as_str())).collect();
    if names.is_empty() {
        return format!("There is no skill {}, and no other. Go on without one.", shown(name));
    }
    // Stable: of names that are equally near, the order is that of the ids.
    names.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let near: Vec<String> = names.iter().take(NEAR).map(|(_, id)| escape::text(id)).collect();
    let more = match names.len().saturating_sub(NEAR) {
        0 => String::new(),
        more => format!(" and {more} more, which the operation `list` names"),
    };
    format!(
        "There is no skill {}. There are, the nearest first: {}{more}. Call again with one of these as `name`.",
        shown(name),
        near.join(", ")
    )
}

fn likeness(name: &str, skill: &SkillSummary) -> f64 {
    if name.len() > LONGEST_NAME {
        return 0.0;
    }
    let name = name.to_lowercase();
    let of = |known: &str| strsim::jaro_winkler(&known.to_lowercase(), &name);
    of(skill.id.as_str()).max(of(&skill.name))
}

pub(super) async fn invoked(skill: &Skill, input: Option<&str>, session: Option<&Session>, options: &SkillToolOptions) -> SkillToolResult {
    let summary = &*skill.summary;
    let id = escape::text(summary.id.as_str());
    let SkillFiles { names: files, more: more_files } = skill.content.files().await;
    let bundled = bundled(summary, &files, more_files);
    let invoked = InvokedSkill {
        id: summary.id.clone(),
        allowed_tools: summary.permissions.tools.clone(),
        model: summary.execution.model.clone(),
        files,
        more_files,
    };
    if session.is_some_and(|session| session.has_told_body(&summary.id)) {
        let mut text = format!("The skill {id} is in force already: its instructions stand earlier in this conversation.");
        if let Some(again) = new_arguments(&ActiveSkill::by_tool(summary.id.clone(), input)) {
            text.push_str(&format!("\n{}", again.value()));
        }
        return SkillToolResult { invoked: Some(invoked), ..SkillToolResult::said(text) };
    }
    let body = match skill.content.load().await {
        Ok(text) => text.body,
        Err(error) => {
            let why = escape::text(&error.message);
            return SkillToolResult::error(format!(
                "The instructions of the skill {id} could not be read: {why}. Go on without it, and tell the user."
            ));
        }
    };
    let block = skill_block(summary, &body, input.map_or(SkillArguments::None, SkillArguments::Now));
    let fit = |limit: Limit| block.fit(&Room::UNLIMITED.with(limit)).text.into_owned();
    let max_bytes = options.context.max_bytes;
    let block = match session {
        Some(session) => session.give_body(max_bytes, fit),
        None => fit(max_bytes.map_or(Limit::None, |max| Limit::Bytes(max.get()))),
    };
    if block.is_empty() {
        return SkillToolResult::error(format!(
            "There is no room left for the instructions of the skill {id}: those of other skills fill it. Go on without it, or ask the user to \
             switch another skill off."
        ));
    }
    let text = [preamble(&options.context), "\n\n".to_owned(), block, bundled].concat();
    SkillToolResult { invoked: Some(invoked), ..SkillToolResult::said(text) }
}

/// Begins the result by which the next request puts the skill down.
fn off(id: &SkillId, told: &str) -> String {
    Block::new("skill_off", told).attribute("id", id.as_str()).to_string()
}

pub(super) fn deactivated(id: &SkillId, session: Option<&Session>) -> SkillToolResult {
    let shown = escape::text(id.as_str());
    let Some(session) = session else {
        let told =
            format!("If you loaded the skill {shown} with this tool, it no longer applies. What the user switched on stays in force.");
        return SkillToolResult::said(off(id, &told));
    };
    if session.put_down(id) {
        return SkillToolResult::said(off(id, &format!("The skill {shown} no longer applies: leave its instructions aside.")));
    }
    SkillToolResult::error(format!(
        "The skill {shown} is in force by the user's or the host's word, and stays so. Go on with it, or ask the user to switch it off."
    ))
}

pub(super) fn will_be_in_force(id: &SkillId) -> String {
    format!("The skill {} is in force from the next request on.", escape::text(id.as_str()))
}

pub(super) fn will_be_off(id: &SkillId) -> String {
    format!("The skill {} is off; the next request says so.", escape::text(id.as_str()))
}

pub(super) fn not_in_force(name: &str, active: &[ActiveSkill]) -> String {
    let ids: Vec<String> = active.iter().map(|skill| escape::text(skill.id.as_str())).collect();
    let others = if ids.is_empty() { "No skill is.".to_owned() } else { format!("These are: {}.", ids.join(", ")) };
    format!("The skill {} is not in force. {others}", shown(name))
}

/// The files that a skill brings, behind its body; empty where it brings none.
fn bundled(skill: &SkillSummary, files: &[String], more: usize) -> String {
    if files.is_empty() {
        return String::new();
    }
    let names: Vec<_> = files.iter().map(|name| escape::path(name)).collect();
    let more = if more > 0 { format!("\n[{more} more]") } else { String::new() };
    let head = "Files that the skill brings; the operation `read_resource` reads one by its path.\n";
    let block = Block::new("skill_files", &(names.join("\n") + &more)).attribute("skill", skill.id.as_str()).head(head);
    format!("\n{block}")
}

/// What to do where a file can't be read: which there are.
async fn instead(skill: &Skill) -> String {
    let files = skill.content.files().await;
    let names: Vec<String> = files.names.iter().map(|name| shown(name)).collect();
    match (names.is_empty(), files.more) {
        (true, _) => "The skill brings no files; go on with its instructions.".to_owned(),
        (false, 0) => format!("It brings these files: {}.", names.join(", ")),
        (false, more) => format!("It brings these files, and {more} more: {}.", names.join(", ")),
    }
}

pub(super) async fn without_path(skill: &Skill) -> SkillToolResult {
    SkillToolResult::error(format!("`path` is missing: a file's path in the skill's folder. {}", instead(skill).await))
}

pub(super) async fn resource(skill: &Skill, path: &str, options: &SkillToolOptions) -> SkillToolResult {
    let max = options.max_resource_bytes;
    let found = match skill.content.resource(path, max).await {
        Ok(found) => found,
        Err(error) => {
            let why = escape::text(&error.message);
            return SkillToolResult::error(format!("{} was not read: {why}. {}", shown(path), instead(skill).await));
        }
    };
    let location = escape::path(&found.location);
    let Some(text) = &found.text else {
        return SkillToolResult::said(format!(
            "{} is no text: {} bytes, in {location}. Use a tool that opens such files, or go on without it.",
            shown(path),
            found.bytes
        ));
    };
    let unread = found.bytes.saturating_sub(text.len() as u64);
    let body = escape::prose(text, &[]);
    let open = format!("<skill_resource skill=\"{}\" path=\"{}\">\n", escape::attribute(skill.summary.id.as_str()), escape::path(path));
    let around = |kept: &str, marker: &str| {
        let line_end = if kept.is_empty() || kept.ends_with('\n') { "" } else { "\n" };
        [&open, kept, line_end, marker, "</skill_resource>"].concat()
    };
    let room = Room::UNLIMITED.with(Limit::Bytes(max.get()));
    let whole = around(&body, "");
    if unread == 0 && room.holds(&whole) {
        return SkillToolResult::said(whole);
    }
    let cut = fit_around(&body, Edge::Line, &room, |kept| {
        let missing = unread.saturating_add((body.len() - kept.len()) as u64);
        around(kept, &format!("[{missing} bytes cut; the rest is in {location}]\n"))
    });
    cut.map_or_else(
        || {
            SkillToolResult::error(format!(
                "{} has {} bytes, in {location}, and no room is left for any of it. Use another tool.",
                shown(path),
                found.bytes
            ))
        },
        SkillToolResult::said,
    )
}
