//! The defaults, held against a list of what the documentation promises.

use tower_prompt::config::{Config, KEYS};
use tower_prompt::layers::profile::ModelProfile;
use tower_prompt::{Environment, Workspace, config};

/// Every key without an id, as `config show` tells its default; `none` where there is none.
const PROMISED: &str = r#"
skills.enabled = true
skills.auto_activate = "suggest"
skills.include_repo_skills = true
skills.include_generic_repo_skills = true
skills.include_user_skills = true
skills.include_compat_claude_skills = true
skills.include_agents_skills = true
skills.compat = []
skills.max_context_bytes none
skills.max_skill_file_bytes = 262144
skills.max_resource_bytes = 262144
skills.preview_max_chars = 2000
skills.follow_symlinks = true
skills.sources.paths = []
skills.disabled.ids = []
skills.prompt.catalog = "summary"
skills.prompt.max_bytes none
skills.prompt.max_description_chars none
skills.prompt.include_sources = true
skills.prompt.include_keywords = false
skills.prompt.include_locations = true
skills.prompt.include_resources = false
skills.prompt.format = "xml"
skills.matching.max_suggestions = 3
skills.tool.name = "skill"
skills.tool.advertise = false
skills.code.allow = []
skills.code.deny = []
skills.code.safe_mode = false
skills.code.routing = []
skills.commands = false
system_prompt.mode = "default"
system_prompt.text = ""
system_prompt.repository_instructions_max_chars none
system_prompt.repository_invariants_max_chars none
system_prompt.git_status_max_chars = 4000
system_prompt.agent_suffix = ""
system_prompt.sections.current_datetime = true
system_prompt.sections.execution_environment = true
system_prompt.sections.hosting_environment = true
system_prompt.sections.locale = true
system_prompt.sections.git_revision = true
system_prompt.sections.runtime_mode = true
system_prompt.sections.toolchain_context = false
system_prompt.sections.worktree_context = true
system_prompt.sections.config_profile = true
system_prompt.sections.repository_invariants = true
system_prompt.sections.repository_context = true
system_prompt.sections.dynamic_repository_context = true
system_prompt.sections.agent_suffix = true
system_prompt.sections.user_authority = true
system_prompt.sections.model_profile = true
system_prompt.sections.skill_catalog = true
context.placement = "append"
context.repository_text = "system"
context.cache_marks = true
context.unnamed_sessions = 1024
budget.max_prompt_tokens none
budget.max_anchored_tokens none
invariants.enabled = true
invariants.mode = "full"
invariants.max_selected = 6
invariants.include_task_summary = true
invariants.selector.model_profile none
invariants.selector.initial_timeout_ms none
invariants.selector.background_timeout_ms none
invariants.selector.wait_for_background_on_next_prompt = false
invariants.selector.cancel_on_timeout = false
invariants.selector.cancel_stale = false
invariants.selector.on_timeout = "full"
model.tool_output.fallback_argument_chars = 6000
model.tool_output.context_chars none
prompt_profile.default.system_prompt_mode = "append"
prompt_profile.default.system_prompt none
prompt_profile.bundled.disabled = []
composition.active_profile none
composition.layer_order = ["defaults", "profile:active", "config"]
proxy.listen = "127.0.0.1:8484"
proxy.upstream none
proxy.max_body_bytes = 33554432
proxy.max_concurrent_requests = 1024
proxy.session_header = "x-session-id"
proxy.store none
proxy.answer_skill_tool = false
proxy.show_last = false
"#;

#[test]
fn the_defaults_are_what_is_promised() {
    let loaded = config::load(&Environment::new("/nowhere"), &Workspace::at("/nowhere")).unwrap();
    let shown = loaded.values.rows().iter().map(|row| match &row.value {
        Some(value) => format!("{} = {value}", row.key),
        None => format!("{} none", row.key),
    });
    assert_eq!(shown.collect::<Vec<_>>(), PROMISED.trim().lines().collect::<Vec<_>>());
    assert_eq!(loaded.config, Config::default());
}

#[test]
fn keys_with_an_id_have_the_defaults_of_their_types() {
    let keys: Vec<(&str, Option<&str>)> =
        KEYS.iter().filter(|key| key.has_an_id() && !key.path.contains("prompt_profile")).map(|key| (key.path, key.default)).collect();
    let promised = [
        ("skills.overrides.ID", Some("'auto'")),
        ("skills.matching.patterns.ID", Some("[]")),
        ("composition.profiles.ID.extends", Some("[]")),
        ("composition.profiles.ID.patch", Some("{}")),
    ];
    assert_eq!(keys, promised);
    assert_eq!(Config::default().prompt_profile.default, ModelProfile::default());
    for key in KEYS.iter().filter(|key| key.path.starts_with("prompt_profile.") && key.path.ends_with("mode")) {
        assert_eq!(key.default, Some("'append'"), "{}", key.path);
    }
}
