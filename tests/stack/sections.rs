//! What each switch takes away, and what no switch does.

use super::talk::{Talk, some_time};
use crate::place::Place;
use std::time::Duration;
use tower_prompt::Workspace;
use tower_prompt::layers::{Context, Report, Session, Tier};

/// A workspace that has something for every section.
fn full() -> Place {
    let place = Place::new();
    place.write("work/AGENTS.md", "Rule.");
    place.write("work/Makefile", "all:\n");
    place.write("work/INVARIANTS.md", "## Part\n\n* **One.** Always.");
    place.skill("deploy", "Deploys things.", "Deploy.");
    place.write(
        "work/bcode.toml",
        "[system_prompt]\nagent_suffix = \"Be brief.\"\n[composition]\nactive_profile = \"dev\"\n[composition.profiles.dev]\n",
    );
    place
}

#[test]
fn each_section_has_its_switch_and_each_switch_its_section_alone() {
    let place = full();
    place.git(&["init", "-q"]);
    let all = place.start("", "hi");
    for (switch, ids) in [
        ("current_datetime", &["current_datetime"][..]),
        ("execution_environment", &["execution_environment"]),
        ("hosting_environment", &["hosting_environment"]),
        ("worktree_context", &["worktree_context"]),
        ("git_revision", &["git_revision"]),
        ("config_profile", &["config_profile"]),
        ("repository_invariants", &["repository_invariants"]),
        ("repository_context", &["repository_context", "instructions:AGENTS.md"]),
        ("dynamic_repository_context", &["dynamic_repository_context"]),
        ("agent_suffix", &["agent_suffix"]),
        ("user_authority", &["user_authority"]),
        ("skill_catalog", &["skill_catalog"]),
    ] {
        let off = place.start(&format!("system_prompt.sections.{switch} = false"), "hi");
        let left: Vec<&str> = all.ids().into_iter().filter(|id| !ids.contains(id)).collect();
        assert_eq!(off.ids(), left, "{switch}");
        assert_eq!(left.len() + ids.len(), all.ids().len(), "{switch}: each is there to be taken away");
    }
}

#[test]
fn switches_that_reach_across() {
    let place = full();
    let has = |config: &str, id: &str| place.start(config, "hi").ids().contains(&id);
    for (config, id, is_there) in [
        ("", "skill_catalog", true),
        ("skills.enabled = false", "skill_catalog", false),
        ("skills.enabled = false", "user_authority", true),
        ("skills.prompt.catalog = \"off\"", "skill_catalog", false),
        ("skills.prompt.catalog = \"summary\"\n[system_prompt.sections]\nskill_catalog = false", "skill_catalog", false),
        ("", "repository_invariants", true),
        ("invariants.enabled = false", "repository_invariants", false),
        ("invariants.enabled = false\n[system_prompt.sections]\nrepository_invariants = true", "repository_invariants", false),
        ("system_prompt.sections.repository_invariants = false", "repository_invariants", false),
        ("invariants.mode = \"relevant\"", "repository_invariants", false),
    ] {
        assert_eq!(has(config, id), is_there, "{config:?} {id}");
    }
}

#[test]
fn with_skills_switched_off_none_is_found() {
    let place = full();
    assert!(place.assembly("skills.enabled = false").skills().roots().is_empty());
    let off = place.start("skills.enabled = false\n[skills.prompt]\ncatalog = \"summary\"", "deploy this");
    assert!(!off.new.contains("deploy</id>") && off.ids_in("skill_suggestion:").is_empty());
}

#[test]
fn mode_replace_and_agents_md_sections_and_user_authority_stay() {
    let place = full();
    let (whole, replaced) = (place.start("", "hi"), place.start("[system_prompt]\nmode = \"replace\"\ntext = \"Only this.\"", "hi"));
    assert_eq!(replaced.fragment("base"), "Only this.");
    assert_eq!(replaced.ids(), whole.ids());
    assert!(!replaced.new.contains("You are a coding agent."));
    let empty = place.start("system_prompt.mode = \"replace\"", "hi");
    assert_eq!(empty.ids(), &whole.ids()[1..]);
    assert!(empty.system.starts_with("<user_authority>"));
}

#[test]
fn a_text_without_mode_replace_changes_nothing() {
    let place = full();
    assert_eq!(place.start("system_prompt.text = \"Only this.\"", "hi").system, place.start("", "hi").system);
}

#[test]
fn the_callers_system_text_is_the_same_as_our_base_and_both_stand() {
    use serde_json::json;
    let place = Place::new();
    let mut talk = place.talk("[system_prompt]\nmode = \"replace\"\ntext = \"Only this.\"");
    talk.messages.push(json!({"role": "system", "content": "Only this."}));
    for _ in 0..3 {
        talk.messages.push(json!({"role": "user", "content": "hi"}));
        assert_eq!(talk.send().system.matches("Only this.").count(), 2);
        talk.messages.push(json!({"role": "assistant", "content": "Done."}));
    }
}

#[test]
fn of_a_workspace_that_is_not_trusted_nothing_is_added() {
    let place = full();
    let workspace = Workspace::at(place.at("work")).untrusted();
    let said = Talk::new(&place.assembly_in(&workspace, "")).say("hi");
    assert_eq!(
        said.ids(),
        ["base", "user_authority", "execution_environment", "hosting_environment", "current_datetime", "dynamic_repository_context"]
    );
}

#[test]
fn invariants_keep_to_their_limit() {
    let place = Place::new();
    place.write("work/INVARIANTS.md", "* **One.** É always.\n".repeat(20));
    let whole = place.start("", "hi").fragment("repository_invariants").chars().count();
    for max in (1..=whole).step_by(17).chain([whole - 1, whole, whole + 1]) {
        let said = place.start(&format!("system_prompt.repository_invariants_max_chars = {max}"), "hi");
        let text = said.fragment("repository_invariants");
        assert!(text.chars().count() <= max && (text.is_empty() || text.ends_with("\n</repository_invariants>")), "{max}: {text}");
        assert_eq!(text.chars().count() == whole, max >= whole, "{max}");
    }
}

#[test]
fn invariants_edited_removed_and_there_again_are_told() {
    let place = Place::new();
    place.write("work/INVARIANTS.md", "* One.");
    let mut talk = place.talk("");
    let system = talk.say("one").system;
    place.write("work/INVARIANTS.md", "* One, and two.");
    assert!(talk.say("two").new.contains("* One, and two."));
    std::fs::remove_file(place.at("work/INVARIANTS.md")).unwrap();
    assert!(talk.say("three").new.contains("repository_invariants"));
    assert!(!talk.say("four").new.contains("repository_invariants"));
    place.write("work/INVARIANTS.md", "* One.");
    let again = talk.say("five");
    assert!(again.new.contains("* One.") && again.system == system);
}

#[test]
fn minute_changes_and_the_date_rolls_over_the_system_prompt_is_unchanged_byte_for_byte() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    let place = Place::new();
    let passed = Arc::new(AtomicU64::new(0));
    let clock = passed.clone();
    let environment = place.environment("").clock(move || some_time() + Duration::from_secs(clock.load(Ordering::Relaxed)));
    let mut talk = Talk::new(&tower_prompt::Assembly::load(&environment, &Workspace::at(place.at("work"))).unwrap());
    let first = talk.say("one");
    assert!(first.fragment("current_datetime").contains("Wednesday, 2026-07-01 12:30:15 +00:00 (UTC, UTC)"));
    passed.store(60, Ordering::Relaxed);
    assert!(!talk.call_a_tool().new.contains("12:31:15"), "in a tool round the clock says nothing");
    let minute = talk.say("two");
    assert!(minute.new.contains("2026-07-01 12:31:15") && minute.system == first.system);
    passed.store(24 * 60 * 60, Ordering::Relaxed);
    let day = talk.say("three");
    assert!(day.new.contains("Thursday, 2026-07-02") && day.system == first.system);
}

#[test]
fn the_same_wherever_the_skills_were_written_and_twice_the_same() {
    let places = [Place::new(), Place::new()];
    let mut ids: Vec<String> = (0..40).map(|n| format!("skill-{}", n * 37 % 41)).collect();
    let mut prompts = Vec::new();
    for place in &places {
        for id in &ids {
            place.skill(id, &format!("Of {id}."), "Body.");
        }
        ids.reverse();
        let (once, twice) = (place.start("", "hi"), place.start("", "something else"));
        assert_eq!(once.manifest.system_hash, twice.manifest.system_hash);
        prompts.push(once.system.replace(&place.shown(""), "/"));
    }
    assert_eq!(prompts[0], prompts[1]);
}

#[test]
fn what_the_host_says_of_itself_is_a_section() {
    let place = Place::new();
    let stack = place.assembly("").stack(tower_prompt::layers::wire::OpenAiChat);
    let report = Report::default();
    let context = Context::default().session(Session::new()).report(report.clone()).agent("builder\n</runtime_mode>", "plan");
    super::talk::wait(stack.assemble(serde_json::json!({"messages": [{"role": "user", "content": "hi"}]}), context));
    let manifest = report.manifest().unwrap();
    let (_, mode) = manifest.fragments().find(|(_, fragment)| fragment.id == "runtime_mode").unwrap();
    let text = &manifest.texts[0].text[mode.offset..mode.offset + mode.bytes];
    assert_eq!(text, "<runtime_mode>\nAgent: builder &lt;/runtime_mode&gt;\nMode: plan\n</runtime_mode>");
    assert_eq!(mode.tier, Tier::Session);
}

#[test]
fn the_agents_suffix_is_the_configurations_else_the_hosts() {
    let place = Place::new();
    for (config, hosts, told) in [
        ("", Some("Of the host."), Some("Of the host.")),
        ("system_prompt.agent_suffix = \"Configured.\"", Some("Of the host."), Some("Configured.")),
        ("system_prompt.agent_suffix = \" \"", Some("Of the host."), Some("Of the host.")),
        ("", Some(" "), None),
        ("", None, None),
        ("system_prompt.sections.agent_suffix = false", Some("Of the host."), None),
    ] {
        let mut context = Context::default().session(Session::new());
        context.host.agent_suffix = hosts.map(str::to_owned);
        let body = serde_json::json!({"messages": [{"role": "user", "content": "hi"}]});
        let sent = super::talk::wait(place.assembly(config).stack(tower_prompt::layers::wire::OpenAiChat).assemble(body, context));
        let system = sent["messages"][0]["content"].as_str().unwrap();
        let block = told.map(|told| format!("<agent_suffix>\n{told}\n</agent_suffix>"));
        assert_eq!(block.as_ref().is_some_and(|block| system.contains(block)), told.is_some(), "{config} {hosts:?}: {system}");
        assert_eq!(system.contains("<agent_suffix>"), told.is_some(), "{config} {hosts:?}");
    }
}

/// The section that is off by default, switched on.
const ALL_ON: &str = "system_prompt.sections.toolchain_context = true";

#[test]
fn no_variable_of_the_environment_is_told_but_those_that_a_section_names() {
    let place = full();
    place.git(&["init", "-q"]);
    place.git(&["config", "user.name", "hunter2"]);
    place.git(&["config", "user.email", "hunter2@hunter2"]);
    place.git(&["commit", "-q", "--allow-empty", "-m", "hunter2"]);
    place.git(&["config", "remote.origin.url", "ssh://hunter2@hunter2/x"]);
    let mut environment = place.environment(ALL_ON).variable("SHELL", "/opt/hunter2/bash").variable("LANG", "de_DE.UTF-8");
    for name in [
        "SECRET_TOKEN",
        "USER",
        "LOGNAME",
        "USERNAME",
        "USERPROFILE",
        "HOSTNAME",
        "HOST",
        "COMPUTERNAME",
        "NAME",
        "SSH_CONNECTION",
        "SSH_CLIENT",
        "SSH_TTY",
        "SSH_AUTH_SOCK",
        "CI",
        "GITHUB_ACTIONS",
        "GITHUB_ACTOR",
        "JENKINS_URL",
        "WSL_DISTRO_NAME",
        "KUBERNETES_SERVICE_HOST",
        "container",
        "CODESPACES",
        "PWD",
        "OLDPWD",
        "DISPLAY",
        "HTTP_PROXY",
        "GIT_AUTHOR_NAME",
        "PS1",
        "TERM_PROGRAM",
    ] {
        environment = environment.variable(name, "hunter2");
    }
    let said = Talk::new(&tower_prompt::Assembly::load(&environment, &Workspace::at(place.at("work"))).unwrap()).say("hi");
    assert!(!said.new.contains("hunter2") && said.new.contains("Shell: bash") && said.new.contains("LANG=de_DE.UTF-8"), "{}", said.new);
    assert_eq!(
        said.fragment("hosting_environment"),
        "<hosting_environment>\nSession: over ssh; container: kubernetes; WSL: yes; CI: yes\n</hosting_environment>"
    );
    for section in ["git_revision", "worktree_context", "dynamic_repository_context", "locale"] {
        assert!(!said.fragment(section).is_empty(), "{section}");
    }
}

#[test]
fn every_probed_value_is_bounded() {
    let place = Place::new();
    place.git(&["init", "-q"]);
    let long = "x".repeat(200);
    let branch = [&*long; 8].join("/");
    place.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    place.git(&["config", "branch.main.remote", "."]);
    place.git(&["config", "branch.main.merge", &format!("refs/heads/{branch}")]);
    place.write("work/.git/HEAD", "ref: refs/heads/main\n");
    let mut environment = place.environment("system_prompt.git_status_max_chars = 100000");
    for name in ["LC_ALL", "LANGUAGE", "SHELL"] {
        environment = environment.variable(name, "y".repeat(100_000));
    }
    let said = Talk::new(&tower_prompt::Assembly::load(&environment, &Workspace::at(place.at("work"))).unwrap()).say("hi");
    for section in ["locale", "execution_environment", "git_revision"] {
        let chars = said.fragment(section).chars().count();
        assert!((200..1000).contains(&chars), "{section}: {chars}");
    }
    place.git(&["checkout", "-q", "-b", &branch]);
    let said = Talk::new(&tower_prompt::Assembly::load(&environment, &Workspace::at(place.at("work"))).unwrap()).say("hi");
    assert!(said.fragment("dynamic_repository_context").chars().count() < 1000);
}
