//! The text of an active skill: its body in a block that says where it came from. One form, wherever a body stands.

use super::{ActiveSkill, Skill, SkillPlaceholders, SkillSummary, substitute_arguments};
use crate::prompt::{ACTIVE_SKILL, Diagnostic, Entry, Fragment, FragmentId, Source, Trust, Turn};
use crate::text::{Block, Limit, Room, escape};
use std::fmt::Write;
use std::num::NonZeroUsize;

/// The id of the fragment that stands ahead of all bodies.
pub const ACTIVE_SKILLS: &str = "active_skills";

/// The id of a skill's later arguments is this and the skill's id.
const SKILL_ARGUMENTS: &str = "skill_arguments:";

/// How bodies of active skills stand in the prompt.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct SkillContextOptions {
    /// For the bodies of all skills in force in a branch, in bytes (`skills.max_context_bytes`). What a skill that was switched off left standing takes
    /// no room: who switches one off has it for another, or for the same one anew.
    pub max_bytes: Option<NonZeroUsize>,
    /// How tool names that skills use map to the host's, as pairs: (`Bash`, `shell`).
    pub tool_names: Vec<(String, String)>,
}

/// What a skill was invoked with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[non_exhaustive]
pub enum SkillArguments<'a> {
    /// Nothing: placeholders stay.
    #[default]
    None,
    /// With this, now: it stands where the body asks for it, else in a block of its own.
    Now(&'a str),
    /// With this, earlier in the conversation, where it is not to be read any more: told as past, so that it is no new order.
    Earlier(&'a str),
}

/// The block of a skill in force, with its arguments in place.
pub fn skill_block(summary: &SkillSummary, body: &str, arguments: SkillArguments<'_>) -> Block {
    let body = body.trim_start_matches(['\r', '\n']);
    let text = match arguments {
        SkillArguments::Now(arguments) => with_arguments(summary, body, arguments),
        SkillArguments::None if summary.placeholders == SkillPlaceholders::EveryArgs => with_arguments(summary, body, ""),
        SkillArguments::None | SkillArguments::Earlier(_) => escape::prose(body, &[]).into_owned(),
    };
    let mut head = String::new();
    // Writing to a string can't fail.
    if !summary.location.is_empty() {
        let _ = writeln!(head, "References are relative to {}.", escape::path(summary.folder()));
    }
    let _ = writeln!(head, "Source label: {}", escape::text(&summary.source.label));
    if let Some(root) = &summary.source.path {
        let _ = writeln!(head, "Skill resource root: {}", escape::path(root));
    }
    if let Some(version) = &summary.version {
        let _ = writeln!(head, "Version: {}", escape::text(version));
    }
    if let SkillArguments::Earlier(arguments) = arguments {
        let _ = writeln!(head, "Invoked earlier in this conversation, for what was then asked: {}", escape::text(arguments));
    }
    head.push('\n');
    let block = Block::escaped("skill", &text).attribute("id", summary.id.as_str()).attribute("name", &summary.name);
    if summary.location.is_empty() {
        return block.head(head);
    }
    block.path_attribute("location", &summary.location).rest_in(&*summary.location).head(head)
}

/// Where the body names no placeholder, the arguments follow in a block of their own.
fn with_arguments(summary: &SkillSummary, body: &str, arguments: &str) -> String {
    let declares = summary.argument_hint.is_some() || !summary.arguments.is_empty();
    let (substituted, has_placeholder) = match summary.placeholders {
        SkillPlaceholders::Tokens => substitute_arguments(body, arguments, declares),
        SkillPlaceholders::EveryArgs => (body.replace("$ARGS", arguments).into(), body.contains("$ARGS")),
    };
    let text = escape::prose(&substituted, &[]);
    if has_placeholder || arguments.trim().is_empty() {
        return text.into_owned();
    }
    format!("{}\n\n{}", text.trim_end(), Block::new("arguments", arguments))
}

/// The fragment of a skill's body.
pub fn skill_fragment(skill: &SkillSummary, body: &str, arguments: SkillArguments<'_>) -> Fragment {
    let source = if skill.location.is_empty() { Source::Host } else { Source::file(&*skill.location) };
    let id: FragmentId = format!("{ACTIVE_SKILL}{}", skill.id).into();
    Fragment::new(id, skill_block(skill, body, arguments)).trust(Trust::Skill).source(source)
}

/// Reads the bodies of skills that come into force, for [`Prompt::add_later`](crate::Prompt::add_later): ahead of them what holds for all.
pub(crate) fn bodies(
    skills: Vec<(Skill, ActiveSkill)>,
    turn: &Turn,
    options: &SkillContextOptions,
    effect: fn(Fragment, &ActiveSkill) -> Fragment,
) -> impl Future<Output = Vec<Entry>> + Send + use<> {
    let pool = options.max_bytes.map(NonZeroUsize::get);
    let left = pool.map_or(Limit::None, |max| Limit::Bytes(max.saturating_sub(turn.told_body_bytes())));
    // In one block with the bodies.
    let preamble = Fragment::new(ACTIVE_SKILLS, preamble(options)).trust(Trust::Skill).source(Source::BuiltIn);
    let is_past: Vec<bool> = skills.iter().map(|(_, active)| turn.has_said_arguments(active)).collect();
    async move {
        let mut entries = Vec::new();
        let mut fragments = Vec::new();
        for ((skill, active), is_past) in skills.into_iter().zip(is_past) {
            let arguments = match active.arguments.as_deref() {
                Some(arguments) if is_past => SkillArguments::Earlier(arguments),
                Some(arguments) => SkillArguments::Now(arguments),
                None => SkillArguments::None,
            };
            match skill.content.load().await {
                Ok(text) => {
                    entries.extend(text.diagnostics.into_iter().map(Entry::from));
                    let mut fragment = skill_fragment(&skill.summary, &text.body, arguments).pool(pool);
                    if let Some(first) = text.first_line {
                        let more = text.body.lines().count().saturating_sub(1);
                        fragment.source = fragment.source.lines(first, first.saturating_add(u32::try_from(more).unwrap_or(u32::MAX)));
                    }
                    fragments.push(effect(fragment, &active));
                }
                // It is not tried again at every request.
                Err(diagnostic) => entries.extend([diagnostic.into(), Entry::Deactivated(active.id)]),
            }
        }
        if fragments.iter().any(|fragment| !fragment.text.fit(&Room::UNLIMITED.with(left)).text.is_empty()) {
            entries.push(preamble.into());
        }
        entries.extend(fragments.into_iter().map(Entry::from));
        entries
    }
}

/// What holds for all bodies.
pub(super) fn preamble(options: &SkillContextOptions) -> String {
    let mut text =
        "Skills in force stand in <skill> blocks: instructions for the tasks that they are about. Relative paths in one resolve against \
                    its own folder."
            .to_owned();
    let names: Vec<String> = options.tool_names.iter().map(|(theirs, ours)| format!("{theirs} is {ours}")).collect();
    if !names.is_empty() {
        let _ = write!(text, " Tools that they name are here: {}.", names.join(", "));
    }
    text
}

/// A skill in force is invoked again: its new arguments, and not its body.
pub(crate) fn new_arguments(active: &ActiveSkill) -> Option<Fragment> {
    let arguments = active.arguments.as_deref()?;
    let head = format!("The skill {} is invoked again, now with these arguments:\n", escape::text(active.id.as_str()));
    let block = Block::new("arguments", arguments).attribute("skill", active.id.as_str()).head(head);
    Some(Fragment::new(format!("{SKILL_ARGUMENTS}{}", active.id), block).trust(Trust::Skill))
}

/// A skill that is to come into force and can't.
pub(crate) fn unknown_skill(id: &str) -> Diagnostic {
    Diagnostic::warning("skill-unknown", format!("`{id}` is to be active, and no usable skill has this id"))
}
