//! Every key of the configuration does what it says: a row a key, with what it brings into a request and what it takes out.

use super::git_runs::program;
use super::talk::{id, in_time, is_late, wait};
use crate::place::Place;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tower_prompt::config::{KEYS, Loader};
use tower_prompt::layers::wire::OpenAiChat;
use tower_prompt::layers::{Context, Diagnostic, Report, Session};
use tower_prompt::{Assembly, Workspace};

/// Of a key with an id, the id.
const ID: &str = "plain";

/// A setting, its ground, the user's message, what is in the request with it alone, and what without it alone.
struct Row {
    key: &'static str,
    /// What is set in both.
    ground: &'static str,
    config: &'static str,
    message: &'static str,
    brings: &'static [&'static str],
    takes: &'static [&'static str],
}

const MESSAGE: &str = "Please frobnicate the widget, and the gadget too.";

const fn row(key: &'static str, config: &'static str, brings: &'static [&'static str], takes: &'static [&'static str]) -> Row {
    Row { key, ground: "", config, message: MESSAGE, brings, takes }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("skills.enabled", "skills.enabled = false", &[], &["<available_skills>", "Body of acting."]),
    row("skills.auto_activate", "skills.auto_activate = 'off'", &[], &["<skill_suggestion"]),
    row("skills.include_repo_skills", "skills.include_repo_skills = false", &[], &["<id>of-bcode</id>"]),
    row("skills.include_generic_repo_skills", "skills.include_generic_repo_skills = false", &[], &["<id>plain</id>"]),
    row("skills.include_user_skills", "skills.include_user_skills = false", &[], &["<id>of-user</id>"]),
    row("skills.include_compat_claude_skills", "skills.include_compat_claude_skills = false", &[], &["<id>of-claude</id>"]),
    row("skills.include_agents_skills", "skills.include_agents_skills = false", &[], &["<id>of-agents</id>"]),
    row("skills.compat", "skills.compat = ['brute']", &["<name>of-brute</name>"], &[]),
    row("skills.max_context_bytes", "skills.max_context_bytes = 400", &["bytes cut", "`active_skill:acting` was cut"], &["Line 39 of the body."]),
    row("skills.max_skill_file_bytes", "skills.max_skill_file_bytes = 3000", &[], &["<id>big</id>"]),
    row("skills.follow_symlinks", "skills.follow_symlinks = false", &[], &["<id>linked</id>"]),
    row("skills.sources.paths", "skills.sources.paths = ['extra']", &["<id>of-extra</id>"], &[]),
    row("skills.disabled.ids", "skills.disabled.ids = ['plain']", &[], &["<id>plain</id>"]),
    row("skills.overrides.ID", "skills.overrides.plain = 'manual'", &[], &["<id>plain</id>"]),
    row("skills.prompt.catalog", "skills.prompt.catalog = 'names_only'", &[], &["<description>"]),
    row("skills.prompt.max_bytes", "skills.prompt.max_bytes = 1500", &["<omitted count="], &["Plain skill for plain things."]),
    row("skills.prompt.max_description_chars", "skills.prompt.max_description_chars = 12", &["<description>Plain skill…"], &["Plain skill for plain things."]),
    row("skills.prompt.include_sources", "skills.prompt.include_sources = false", &[], &["<source>repo:skills</source>"]),
    row("skills.prompt.include_keywords", "skills.prompt.include_keywords = true", &["<keywords>frobnicate</keywords>"], &[]),
    row("skills.prompt.include_locations", "skills.prompt.include_locations = false", &[], &["<location>"]),
    row("skills.prompt.include_resources", "skills.prompt.include_resources = true", &["<scripts>run.sh</scripts>"], &[]),
    row("skills.prompt.format", "skills.prompt.format = 'lines'", &["- plain: Plain skill for plain things."], &["<id>plain</id>"]),
    row("skills.matching.patterns.ID", "skills.matching.patterns.plain = ['gad+get']", &["The skill plain"], &[]),
    row("skills.matching.max_suggestions", "skills.matching.max_suggestions = 1", &[], &["The skill gadgeteer"]),
    row("skills.tool.name", "skills.tool.name = 'load_skill'", &["load_skill"], &[]),
    row("skills.tool.advertise", "skills.tool.advertise = true", &["Skills:\n- acting: An acting one.\n"], &[]),
    Row { message: "/skill plain x", ..row("skills.commands", "skills.commands = true", &["Body of plain."], &[]) },
    row("system_prompt.mode", "system_prompt.mode = 'replace'\nsystem_prompt.text = 'OWN BASE'", &["OWN BASE"], &[BASE]),
    row("system_prompt.text", "system_prompt.mode = 'replace'\nsystem_prompt.text = 'OWN BASE'", &["OWN BASE"], &[BASE]),
    row("system_prompt.repository_instructions_max_chars", "system_prompt.repository_instructions_max_chars = 150", &["the rest is in"], &["Rule 39."]),
    row("system_prompt.repository_invariants_max_chars", "system_prompt.repository_invariants_max_chars = 150", &["`repository_invariants` was cut"], &["Invariant 39."]),
    row("system_prompt.git_status_max_chars", "system_prompt.git_status_max_chars = 5", &["`dynamic_repository_context` was cut"], &["?? new-file"]),
    row("system_prompt.agent_suffix", "system_prompt.agent_suffix = 'SUFFIX'", &["<agent_suffix>\nSUFFIX"], &[]),
    row("context.placement", "context.placement = 'front'", &["</skill>\n\n<context origin=\"host\">"], &[]),
    row("context.cache_marks", "context.cache_marks = false", &[], &["prompt_cache_key"]),
    row("context.repository_text", "context.repository_text = 'context'", &["<context origin=\"repository\">\n<repository_invariants"], &[]),
    row("budget.max_prompt_tokens", "budget.max_prompt_tokens = 900", &["what the budget leaves it"], &["Invariant 39.", "Plain skill for plain things."]),
    row("invariants.enabled", "invariants.enabled = false", &[], &["<repository_invariants"]),
    Row { message: ON_INVARIANTS, ..row("invariants.mode", "invariants.mode = 'relevant'", &["<relevant_invariants"], &["<repository_invariants"]) },
    Row { ground: RELEVANT, message: ON_INVARIANTS, ..row("invariants.max_selected", "invariants.max_selected = 1", &[], &["* Invariant 1."]) },
    Row { ground: RELEVANT, ..row("invariants.include_task_summary", "invariants.include_task_summary = false", &["selector-missing"], &[]) },
    Row { ground: RELEVANT, ..row("invariants.selector.model_profile", "invariants.selector.model_profile = 'small'", &["selector-missing"], &[]) },
    Row { ground: RELEVANT, ..row("invariants.selector.initial_timeout_ms", "invariants.selector.initial_timeout_ms = 9", &["selector-missing"], &[]) },
    Row { ground: RELEVANT, ..row("invariants.selector.background_timeout_ms", "invariants.selector.background_timeout_ms = 9", &["selector-missing"], &[]) },
    Row { ground: RELEVANT, ..row("invariants.selector.wait_for_background_on_next_prompt", "invariants.selector.wait_for_background_on_next_prompt = true", &["selector-missing"], &[]) },
    Row { ground: RELEVANT, ..row("invariants.selector.cancel_on_timeout", "invariants.selector.cancel_on_timeout = true", &["selector-missing"], &[]) },
    Row { ground: RELEVANT, ..row("invariants.selector.cancel_stale", "invariants.selector.cancel_stale = true", &["selector-missing"], &[]) },
    Row { ground: RELEVANT, ..row("invariants.selector.on_timeout", "invariants.selector.on_timeout = 'none'", &["selector-missing"], &[]) },
    row("model.tool_output.context_chars", "model.tool_output.context_chars = 100", &["characters cut]", "1 tool results were cut"], &["out 50"]),
    row("model.tool_output.fallback_argument_chars", "model.tool_output.fallback_argument_chars = 50", &["characters cut]"], &["malformed 50"]),
    row("prompt_profile.default.system_prompt", "prompt_profile.default.system_prompt = 'TEXT'", &["TEXT"], &[]),
    row("prompt_profile.default.system_prompt_mode", "[prompt_profile.default]\nsystem_prompt = 'TEXT'\nsystem_prompt_mode = 'replace'", &["TEXT"], &[BASE]),
    row("prompt_profile.default.tool_description.NAME.text", "prompt_profile.default.tool_description.bash.text = 'TEXT'", &["Runs.\n\nTEXT"], &[]),
    row("prompt_profile.default.tool_description.NAME.mode", "prompt_profile.default.tool_description.bash = { mode = 'prepend', text = 'TEXT' }", &["TEXT\n\nRuns."], &[]),
    row("prompt_profile.bundled.disabled", "prompt_profile.bundled.disabled = ['openai']", &[], &["a plan alone is no end"]),
    row("composition.active_profile", "[composition]\nactive_profile = 'p'\n[composition.profiles.p]", &["<config_profile>\np\n"], &[]),
    row("composition.profiles.ID.patch", "[composition]\nactive_profile = 'p'\n[composition.profiles.p.patch.system_prompt]\nagent_suffix = 'PATCHED'", &["PATCHED"], &[]),
    row("composition.profiles.ID.extends", "[composition]\nactive_profile = 'q'\n[composition.profiles.p.patch.system_prompt]\nagent_suffix = 'PATCHED'\n[composition.profiles.q]\nextends = ['p']", &["PATCHED"], &[]),
    row("composition.layer_order", "[composition]\nactive_profile = 'p'\nlayer_order = ['defaults', 'config', 'profile:active']\n[composition.profiles.p.patch.system_prompt]\nagent_suffix = 'PATCHED'\n[system_prompt]\nagent_suffix = 'PLAIN'", &["PATCHED"], &[]),
    row("system_prompt.sections.current_datetime", "system_prompt.sections.current_datetime = false", &[], &["<current_datetime>"]),
    row("system_prompt.sections.execution_environment", "system_prompt.sections.execution_environment = false", &[], &["<execution_environment>"]),
    row("system_prompt.sections.hosting_environment", "system_prompt.sections.hosting_environment = false", &[], &["<hosting_environment>"]),
    row("system_prompt.sections.locale", "system_prompt.sections.locale = false", &[], &["<locale>"]),
    row("system_prompt.sections.git_revision", "system_prompt.sections.git_revision = false", &[], &["<git_revision>"]),
    row("system_prompt.sections.runtime_mode", "system_prompt.sections.runtime_mode = false", &[], &["<runtime_mode>"]),
    row("system_prompt.sections.toolchain_context", "system_prompt.sections.toolchain_context = true", &["<toolchain_context>"], &[]),
    row("system_prompt.sections.worktree_context", "system_prompt.sections.worktree_context = false", &[], &["<worktree_context>"]),
    row("system_prompt.sections.config_profile", "[composition]\nactive_profile = 'p'\n[composition.profiles.p]\n[system_prompt.sections]\nconfig_profile = false", &[], &[]),
    row("system_prompt.sections.repository_invariants", "system_prompt.sections.repository_invariants = false", &[], &["<repository_invariants"]),
    row("system_prompt.sections.repository_context", "system_prompt.sections.repository_context = false", &[], &["<instructions", "Rule 1."]),
    row("system_prompt.sections.dynamic_repository_context", "system_prompt.sections.dynamic_repository_context = false", &[], &["<dynamic_repository_context>"]),
    row("system_prompt.sections.agent_suffix", "[system_prompt]\nagent_suffix = 'SUFFIX'\n[system_prompt.sections]\nagent_suffix = false", &[], &[]),
    row("system_prompt.sections.user_authority", "system_prompt.sections.user_authority = false", &[], &["<user_authority>"]),
    row("system_prompt.sections.model_profile", "system_prompt.sections.model_profile = false", &[], &["a plan alone is no end"]),
    row("system_prompt.sections.skill_catalog", "system_prompt.sections.skill_catalog = false", &[], &["<available_skills>"]),
];

const RELEVANT: &str = "invariants.mode = 'relevant'";
const ON_INVARIANTS: &str = "Is this against invariant 1 or invariant 17?";

/// Its effect is none on one request: which conversations are known is tested where the table is.
/// Of bundled files it bounds what is read, which the host asks for. Previews stand in a session's log. What stands at anchors is held to its budget
/// where a session is compacted. Code-backed skills are the host's.
const ELSEWHERE: [&str; 8] = [
    "context.unnamed_sessions",
    "skills.max_resource_bytes",
    "skills.preview_max_chars",
    "budget.max_anchored_tokens",
    "skills.code.allow",
    "skills.code.deny",
    "skills.code.safe_mode",
    "skills.code.routing",
];

/// Tested where the proxy is, in a build that has it.
const OF_THE_PROXY: [&str; 8] = [
    "proxy.listen",
    "proxy.upstream",
    "proxy.max_body_bytes",
    "proxy.max_concurrent_requests",
    "proxy.session_header",
    "proxy.store",
    "proxy.answer_skill_tool",
    "proxy.show_last",
];

/// How the built-in base prompt begins.
const BASE: &str = "You are";

/// Something for every key.
fn place() -> Place {
    let place = Place::new();
    let lines = |what: &str| {
        (0..40).fold(String::new(), |all, n| format!("{all}{} {n}{}\n", what, if what == "Line" { " of the body." } else { "." }))
    };
    place.write("work/AGENTS.md", lines("Rule"));
    place.write("work/INVARIANTS.md", format!("## Part\n\n{}", lines("* Invariant")));
    place.skill("plain", "Plain skill for plain things.", "Body of plain.");
    place.skill("acting", "An acting one.", &format!("Body of acting.\n{}", lines("Line")));
    place.skill("big", "A big one.", &"Much. ".repeat(800));
    let skill = |path: &str, front_matter: &str| {
        let name = path.rsplit('/').next().unwrap();
        place.write(&format!("{path}/SKILL.md"), format!("---\nname: {name}\ndescription: About {name}.\n{front_matter}---\nText.\n"))
    };
    skill("work/.bcode/skills/of-bcode", "");
    skill("work/.agents/skills/of-agents", "");
    skill("work/.claude/skills/of-claude", "");
    skill("work/.brute/skills/of-brute", "");
    skill("work/extra/of-extra", "");
    skill("home/.config/bcode/skills/of-user", "");
    skill("work/skills/frobnicator", "keywords: [frobnicate]\n");
    skill("work/skills/gadgeteer", "keywords: [gadget]\n");
    place.write("work/skills/frobnicator/scripts/run.sh", "");
    let target = skill("work/elsewhere/linked", "");
    std::os::unix::fs::symlink(target.parent().unwrap(), place.at("work/skills/linked")).unwrap();
    place.git(&["init", "-q"]);
    place.write("work/new-file", "");
    // The machine's own compilers are not asked: there may be none, or one that takes its time.
    program(&place, "rustc", "echo rustc 1.99.0");
    let path = std::env::var_os("PATH").expect("these tests need git");
    let git = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file()).expect("these tests need git");
    std::os::unix::fs::symlink(git, place.at("bin/git")).unwrap();
    place
}

/// All that a request says, the descriptions of its tools, and what was noticed.
fn seen(place: &Place, config: &str, message: &str) -> String {
    let (mut texts, diagnostics) = in_time(|| said(place, config, message), |(_, diagnostics)| diagnostics.iter().any(is_late));
    texts.extend(diagnostics.iter().map(ToString::to_string));
    texts.join("\n---\n")
}

fn said(place: &Place, config: &str, message: &str) -> (Vec<String>, Vec<Diagnostic>) {
    let environment = place.environment(config).variable("LANG", "de_DE.UTF-8").variable("PATH", place.shown("bin"));
    let assembly = Assembly::load(&environment, &Workspace::at(place.at("work"))).unwrap().answer_skill_tool();
    let (session, report) = (Session::new(), Report::default());
    session.activate(id("acting"), None);
    let context = Context::default().session(session).report(report.clone()).agent("coder", "build");
    let context = context.model("openai", ID).model_family(ID).catalog_entry(ID);
    let many = |what: &str| (0..100).map(|n| format!("{what} {n}\n")).collect::<Vec<_>>().concat();
    let request = json!({
        "tools": [{"type": "function", "function": {"name": "bash", "description": "Runs."}}],
        "messages": [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "bash", "arguments": format!("{{{}", many("malformed"))}}]},
            {"role": "tool", "tool_call_id": "1", "content": many("out")},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": message},
        ],
    });
    let sent = wait(assembly.stack(OpenAiChat).assemble(request, context));
    let mut texts = Vec::new();
    collect(&sent, &mut texts);
    (texts, report.manifest().unwrap().diagnostics.clone())
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            texts.push(name.clone());
            collect(value, texts);
        }),
        _ => {}
    }
}

/// A key of a profile's table acts like that of `default`.
fn of_default(key: &str) -> Option<String> {
    let tables = ["provider", "family", "catalog_entry", "model"];
    let table = tables.into_iter().find(|table| key.starts_with(&format!("prompt_profile.{table}.ID.")))?;
    Some(key.replacen(&format!("{table}.ID"), "default", 1))
}

#[test]
fn each_key_has_its_effect() {
    let place = place();
    for Row { key, ground, config, message, brings, takes } in ROWS {
        let (without, with) = (seen(&place, ground, message), seen(&place, &format!("{ground}\n{config}"), message));
        for text in *brings {
            assert!(!without.contains(text) && with.contains(text), "{key} brings {text:?}:\n{with}");
        }
        for text in *takes {
            assert!(without.contains(text) && !with.contains(text), "{key} takes {text:?}:\n{without}");
        }
    }
    // What they take was set to be taken.
    let set = "[composition]\nactive_profile = 'p'\n[composition.profiles.p]\n[system_prompt]\nagent_suffix = 'SUFFIX'";
    for (section, text) in [("config_profile", "<config_profile>"), ("agent_suffix", "<agent_suffix>")] {
        let off = format!("{set}\n[system_prompt.sections]\n{section} = false");
        assert!(seen(&place, set, MESSAGE).contains(text) && !seen(&place, &off, MESSAGE).contains(text), "{section}");
    }
}

#[test]
fn profiles_of_each_table_act() {
    let place = place();
    for table in ["provider.openai", "family.plain", "catalog_entry.plain", "model.plain"] {
        for (config, brings, takes) in [
            ("system_prompt = 'TEXT'", "TEXT", ""),
            ("system_prompt = 'TEXT'\nsystem_prompt_mode = 'replace'", "TEXT", BASE),
            ("tool_description.bash.text = 'TEXT'", "Runs.\n\nTEXT", ""),
            ("tool_description.bash = { mode = 'replace', text = 'TEXT' }", "TEXT", "Runs."),
        ] {
            let with = seen(&place, &format!("[prompt_profile.{table}]\n{config}"), MESSAGE);
            assert!(with.contains(brings) && (takes.is_empty() || !with.contains(takes)), "{table} {config}\n{with}");
        }
    }
}

#[test]
fn no_key_is_left_out() {
    let rows: BTreeSet<&str> = ROWS.iter().map(|row| row.key).collect();
    let place = Place::new();
    for key in KEYS {
        let is_of_the_proxy = cfg!(feature = "proxy") && OF_THE_PROXY.contains(&key.path);
        if is_of_the_proxy || ELSEWHERE.contains(&key.path) || rows.contains(&*of_default(key.path).unwrap_or_else(|| key.path.to_owned()))
        {
            continue;
        }
        // Whoever sets what nothing acts on is told.
        let value =
            ["true", "7", "'x'", "['x']", "'latest'", "false", "[{intent='x'}]", "'http://a.b'", "'127.0.0.1:1'", "'relevant'", "'none'"];
        let is_told = value.iter().any(|value| {
            let text = format!("{} = {value}", key.path.replace("ID", ID));
            let loaded = Loader::new(&place.environment(&text), &Workspace::at(place.at("work"))).load();
            loaded.is_ok_and(|loaded| loaded.findings.iter().any(|found| found.code == "key-without-effect"))
        });
        assert!(is_told, "{} has no row, and nobody is told that it does nothing", key.path);
    }
}
