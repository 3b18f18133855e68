//! The rows of the table of keys, in the order in which they are shown. Values that are text are quoted: a default is TOML.

use super::keys::{Key, KeyKind, TextForm};
use KeyKind::{Array, Bool, Form as In, NonZero, OneOf, OptionalNonZero, Patch, ProfileId, RoutingRule, SkillId, Text};

const fn key(path: &'static str, kind: KeyKind, default: Option<&'static str>, doc: &'static str) -> Key {
    Key { path, kind, default, doc }
}

const NONE: Option<&str> = None;
const YES: Option<&str> = Some("true");
const NO: Option<&str> = Some("false");
const EMPTY: Option<&str> = Some("[]");
const NO_TEXT: Option<&str> = Some("''");
const APPEND: Option<&str> = Some("'append'");
const TEXTS: KeyKind = Array(&Text);
const TEXT_MODE: KeyKind = OneOf(&["append", "prepend", "replace"]);

/// All keys.
#[rustfmt::skip]
pub static KEYS: &[Key] = &[
    key("skills.enabled", Bool, YES, "Skills are found and offered."),
    key("skills.auto_activate", OneOf(&["off", "suggest", "on"]), Some("'suggest'"), "What a match with the user's words brings about."),
    key("skills.include_repo_skills", Bool, YES, "Reads `.bcode/skills` of the workspace."),
    key("skills.include_generic_repo_skills", Bool, YES, "Reads `skills` of the workspace."),
    key("skills.include_user_skills", Bool, YES, "Reads the user's own folders of skills."),
    key("skills.include_compat_claude_skills", Bool, YES, "Reads `.claude/skills` of the workspace and of the home folder."),
    key("skills.include_agents_skills", Bool, YES, "Reads `.agents/skills` of the workspace and of the home folder."),
    key("skills.compat", Array(&OneOf(&["batbox", "brute", "orcbot"])), EMPTY, "Adds the roots and rules of these systems."),
    key("skills.max_context_bytes", OptionalNonZero, NONE, "Bytes of the instructions of all skills in force. What a skill that was switched off left standing takes no room."),
    key("skills.max_skill_file_bytes", NonZero, Some("262144"), "Bytes of a skill's instruction file."),
    key("skills.max_resource_bytes", NonZero, Some("262144"), "Bytes of a bundled file that is read."),
    key("skills.preview_max_chars", NonZero, Some("2000"), "Characters of a preview."),
    key("skills.follow_symlinks", Bool, YES, "Symbolic links are followed while skills are looked for."),
    key("skills.sources.paths", Array(&KeyKind::Path), EMPTY, "Further folders of skills; `~` is allowed, relative ones hang from the file that sets them."),
    key("skills.disabled.ids", Array(&SkillId), EMPTY, "Skills that are listed and invocable by no one."),
    key("skills.overrides.ID", OneOf(&["auto", "name_only", "manual", "off"]), Some("'auto'"), "How a skill is shown."),
    key("skills.prompt.catalog", OneOf(&["off", "names_only", "summary"]), Some("'summary'"), "What the catalog says of a skill."),
    key("skills.prompt.max_bytes", OptionalNonZero, NONE, "Bytes of the catalog."),
    key("skills.prompt.max_description_chars", OptionalNonZero, NONE, "Characters of a description in the catalog."),
    key("skills.prompt.include_sources", Bool, YES, "The catalog says where a skill came from."),
    key("skills.prompt.include_keywords", Bool, NO, "The catalog has the skills' keywords."),
    key("skills.prompt.include_locations", Bool, YES, "The catalog has the paths of the instruction files."),
    key("skills.prompt.include_resources", Bool, NO, "The catalog has the names of bundled scripts and references."),
    key("skills.prompt.format", OneOf(&["xml", "lines"]), Some("'xml'"), "The catalog's form; `lines` is one line a skill."),
    key("skills.matching.max_suggestions", NonZero, Some("3"), "Skills suggested in one turn."),
    key("skills.matching.patterns.ID", Array(&KeyKind::Pattern), EMPTY, "Regular expressions that activate or suggest the skill."),
    key("skills.tool.name", In(TextForm::NotBlank), Some("'skill'"), "The skill tool's name."),
    key("skills.tool.advertise", Bool, NO, "The tool's definition has names and descriptions, frozen with the session."),
    key("skills.code.allow", TEXTS, EMPTY, "Code-backed skills that may run; empty: all."),
    key("skills.code.deny", TEXTS, EMPTY, "Code-backed skills that may not run; wins over `allow`."),
    key("skills.code.safe_mode", Bool, NO, "No code-backed skill but the host's own."),
    key("skills.code.routing", Array(&RoutingRule), EMPTY, "Which code-backed skills an intent prefers and avoids."),
    key("skills.commands", Bool, NO, "Host text `/skill ID ARGS` is handled by the stack."),
    key("system_prompt.mode", OneOf(&["default", "replace"]), Some("'default'"), "`replace` puts `text` in the place of the base prompt, and of nothing else."),
    key("system_prompt.text", Text, NO_TEXT, "The base prompt in mode `replace`."),
    key("system_prompt.repository_instructions_max_chars", OptionalNonZero, NONE, "Characters of all instruction files of the repository."),
    key("system_prompt.repository_invariants_max_chars", OptionalNonZero, NONE, "Characters of the repository's invariants."),
    key("system_prompt.git_status_max_chars", NonZero, Some("4000"), "Characters of `git status`."),
    key("system_prompt.agent_suffix", Text, NO_TEXT, "Text of the section `agent_suffix`."),
    key("system_prompt.sections.current_datetime", Bool, YES, "Local time and zone."),
    key("system_prompt.sections.execution_environment", Bool, YES, "Operating system, architecture and shell."),
    key("system_prompt.sections.hosting_environment", Bool, YES, "Whether ssh, a container, WSL or CI."),
    key("system_prompt.sections.locale", Bool, YES, "The locale's variables."),
    key("system_prompt.sections.git_revision", Bool, YES, "HEAD and its upstream."),
    key("system_prompt.sections.runtime_mode", Bool, YES, "The host's agent id and operating mode."),
    key("system_prompt.sections.toolchain_context", Bool, NO, "Versions of installed toolchains."),
    key("system_prompt.sections.worktree_context", Bool, YES, "Linked or primary worktree, and its root."),
    key("system_prompt.sections.config_profile", Bool, YES, "The active profile of the configuration."),
    key("system_prompt.sections.repository_invariants", Bool, YES, "`INVARIANTS.md`, in mode `full`."),
    key("system_prompt.sections.repository_context", Bool, YES, "Project files and instruction files."),
    key("system_prompt.sections.dynamic_repository_context", Bool, YES, "Working directory, branch and `git status`."),
    key("system_prompt.sections.agent_suffix", Bool, YES, "`system_prompt.agent_suffix`, or the host's text."),
    key("system_prompt.sections.user_authority", Bool, YES, "The policy on the user's authority."),
    key("system_prompt.sections.model_profile", Bool, YES, "The profiles of `prompt_profile`."),
    key("system_prompt.sections.skill_catalog", Bool, YES, "The catalog of skills."),
    key("context.placement", OneOf(&["append", "latest", "front"]), Some("'append'"), "Where text of the tiers Turn and Step stands."),
    key("context.repository_text", OneOf(&["system", "context"]), Some("'system'"), "Where the repository's own text stands."),
    key("context.cache_marks", Bool, YES, "Sets the provider's cache marks."),
    key("context.unnamed_sessions", NonZero, Some("1024"), "Conversations known without an id."),
    key("budget.max_prompt_tokens", OptionalNonZero, NONE, "Tokens of all that is added at the start; a target."),
    key("budget.max_anchored_tokens", OptionalNonZero, NONE, "Tokens that a session keeps in the conversation; a target."),
    key("invariants.enabled", Bool, YES, "Invariants are loaded at all."),
    key("invariants.mode", OneOf(&["full", "relevant"]), Some("'full'"), "All invariants, or those that a selector chose."),
    key("invariants.max_selected", NonZero, Some("6"), "Invariants that a selector may choose."),
    key("invariants.include_task_summary", Bool, YES, "The selector's summary of the task is sent too."),
    key("invariants.selector.model_profile", Text, NONE, "The selector's model; left out: the active one."),
    key("invariants.selector.initial_timeout_ms", OptionalNonZero, NONE, "Milliseconds for a selection that the request waits for."),
    key("invariants.selector.background_timeout_ms", OptionalNonZero, NONE, "Milliseconds for a selection in the background."),
    key("invariants.selector.wait_for_background_on_next_prompt", Bool, NO, "The next prompt waits for a selection in the background."),
    key("invariants.selector.cancel_on_timeout", Bool, NO, "A selection that is late is cancelled."),
    key("invariants.selector.cancel_stale", Bool, NO, "A selection for an older prompt is cancelled."),
    key("invariants.selector.on_timeout", OneOf(&["full", "previous", "deterministic", "none"]), Some("'full'"), "What stands where a selection is late."),
    key("model.tool_output.fallback_argument_chars", NonZero, Some("6000"), "Characters of a past tool call that has to be written as text."),
    key("model.tool_output.context_chars", OptionalNonZero, NONE, "Characters of a tool result on the wire."),
    key("prompt_profile.default.system_prompt_mode", TEXT_MODE, APPEND, "How the text joins the base prompt."),
    key("prompt_profile.default.system_prompt", Text, NONE, "Text for every model."),
    key("prompt_profile.default.tool_description.NAME.mode", TEXT_MODE, APPEND, "How the text joins the tool's description."),
    key("prompt_profile.default.tool_description.NAME.text", Text, NO_TEXT, "Text for the description of the caller's tool."),
    key("prompt_profile.provider.ID.system_prompt_mode", TEXT_MODE, APPEND, "How the text joins the base prompt."),
    key("prompt_profile.provider.ID.system_prompt", Text, NONE, "Text for a provider's models."),
    key("prompt_profile.provider.ID.tool_description.NAME.mode", TEXT_MODE, APPEND, "How the text joins the tool's description."),
    key("prompt_profile.provider.ID.tool_description.NAME.text", Text, NO_TEXT, "Text for the description of the caller's tool."),
    key("prompt_profile.family.ID.system_prompt_mode", TEXT_MODE, APPEND, "How the text joins the base prompt."),
    key("prompt_profile.family.ID.system_prompt", Text, NONE, "Text for a family of models."),
    key("prompt_profile.family.ID.tool_description.NAME.mode", TEXT_MODE, APPEND, "How the text joins the tool's description."),
    key("prompt_profile.family.ID.tool_description.NAME.text", Text, NO_TEXT, "Text for the description of the caller's tool."),
    key("prompt_profile.catalog_entry.ID.system_prompt_mode", TEXT_MODE, APPEND, "How the text joins the base prompt."),
    key("prompt_profile.catalog_entry.ID.system_prompt", Text, NONE, "Text for an entry of the host's model catalog."),
    key("prompt_profile.catalog_entry.ID.tool_description.NAME.mode", TEXT_MODE, APPEND, "How the text joins the tool's description."),
    key("prompt_profile.catalog_entry.ID.tool_description.NAME.text", Text, NO_TEXT, "Text for the description of the caller's tool."),
    key("prompt_profile.model.ID.system_prompt_mode", TEXT_MODE, APPEND, "How the text joins the base prompt."),
    key("prompt_profile.model.ID.system_prompt", Text, NONE, "Text for one model."),
    key("prompt_profile.model.ID.tool_description.NAME.mode", TEXT_MODE, APPEND, "How the text joins the tool's description."),
    key("prompt_profile.model.ID.tool_description.NAME.text", Text, NO_TEXT, "Text for the description of the caller's tool."),
    key("prompt_profile.bundled.disabled", TEXTS, EMPTY, "Bundled profiles that add nothing."),
    key("composition.active_profile", ProfileId, NONE, "The profile that is applied."),
    key("composition.layer_order", Array(&KeyKind::Layer), Some("['defaults', 'profile:active', 'config']"), "The layers of configuration; later wins."),
    key("composition.profiles.ID.extends", Array(&ProfileId), EMPTY, "Profiles applied before this one, left to right."),
    key("composition.profiles.ID.patch", Patch, Some("{}"), "What the profile sets."),
    key("proxy.listen", In(TextForm::Address), Some("'127.0.0.1:8484'"), "Where the proxy listens."),
    key("proxy.upstream", In(TextForm::Url), NONE, "The API that the proxy stands before."),
    key("proxy.max_body_bytes", NonZero, Some("33554432"), "Bytes of a request's body."),
    key("proxy.max_concurrent_requests", NonZero, Some("1024"), "Requests at the same time."),
    key("proxy.session_header", In(TextForm::HeaderName), Some("'x-session-id'"), "The header that names a conversation."),
    key("proxy.store", In(TextForm::Store), NONE, "Where conversations that a header names are kept; without it, in memory."),
    key("proxy.answer_skill_tool", Bool, NO, "The proxy answers calls of the skill tool itself."),
    key("proxy.show_last", Bool, NO, "The proxy shows its last request."),
];

/// What the tables are, for an editor. A table of a kind that stands several times is told once, with placeholders.
#[rustfmt::skip]
const TABLES: &[(&str, &str)] = &[
    ("skills", "Finding, showing and activating skills."),
    ("skills.sources", "Where else skills are looked for."),
    ("skills.disabled", "Skills that nobody invokes."),
    ("skills.overrides", "How single skills are shown, by id."),
    ("skills.prompt", "The catalog of skills in the prompt."),
    ("skills.matching", "How a skill is found by the user's words."),
    ("skills.matching.patterns", "Regular expressions, by the id of the skill that they activate or suggest."),
    ("skills.tool", "The tool by which a model loads a skill."),
    ("skills.code", "Skills that are programs."),
    ("system_prompt", "The base prompt and the sections."),
    ("system_prompt.sections", "Which sections stand in the prompt."),
    ("context", "Where texts stand in a conversation."),
    ("budget", "Targets in tokens."),
    ("invariants", "The repository's invariants, `INVARIANTS.md`."),
    ("invariants.selector", "How a model chooses the invariants that count for a task."),
    ("model", "The model. Other programs keep keys of their own here."),
    ("model.tool_output", "Bounds on tool calls and results."),
    ("prompt_profile", "Text for single providers and models, by exact ids that the host gives."),
    ("prompt_profile.default", "Text for every model."),
    ("prompt_profile.provider", "Text for a provider's models, by the provider's id."),
    ("prompt_profile.family", "Text for a family of models, by the family's id."),
    ("prompt_profile.catalog_entry", "Text for an entry of the host's model catalog, by its id."),
    ("prompt_profile.model", "Text for one model, by its id."),
    ("prompt_profile.bundled", "The profiles that come with the program."),
    ("composition", "Profiles of configuration, and the order in which layers of configuration stand."),
    ("composition.profiles", "Profiles of configuration, by id."),
    ("composition.profiles.ID", "A profile of configuration."),
    ("proxy", "The proxy before an API."),
];

/// What a table is, by its dotted path with placeholders; `None` for the whole file.
pub(super) fn table_doc(path: &str) -> Option<&'static str> {
    if let Some((_, doc)) = TABLES.iter().find(|(table, _)| *table == path) {
        return Some(doc);
    }
    // These are alike in all of `prompt_profile`.
    match path.strip_prefix("prompt_profile.")?.rsplit('.').next()? {
        "ID" => Some("What is added to the prompt for it."),
        "tool_description" => Some("Text for the descriptions of the caller's tools, by a tool's exact name."),
        "NAME" => Some("What a tool's description becomes."),
        _ => None,
    }
}
