//! The configuration from real files: sources and their order, findings and their places, values and their origins.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use tempfile::TempDir;
use tower_prompt::config::{ConfigError, Loaded, Loader, OriginKind, SystemPromptMode, load};
use tower_prompt::layers::AutoActivate;
use tower_prompt::layers::Severity;
use tower_prompt::layers::skill::CatalogMode;
use tower_prompt::{Environment, Workspace};

/// A home, a workspace in it, and nothing of the machine.
struct World {
    folder: TempDir,
    environment: Environment,
}

impl World {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let work = folder.path().join("work");
        fs::create_dir_all(&work).unwrap();
        let environment = Environment::new(work).home(folder.path().join("home"));
        Self { folder, environment }
    }
    fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join(path)
    }
    fn write(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        let file = self.path(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        self
    }
    fn variable(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment = self.environment.variable(name, value);
        self
    }
    fn workspace(&self) -> Workspace {
        Workspace::at(self.path("work"))
    }
    fn load(&self) -> Result<Loaded, ConfigError> {
        load(&self.environment, &self.workspace())
    }
    /// With the test's own folder left out.
    /// But for keys that nothing acts on yet: which those are changes from version to version.
    fn findings(&self, loaded: &Loaded) -> Vec<String> {
        loaded.findings.iter().filter(|finding| finding.code != "key-without-effect").map(|finding| self.shown(finding)).collect()
    }
    fn shown(&self, of: &impl ToString) -> String {
        of.to_string().replace(&format!("{}/", self.folder.path().display()), "")
    }
}

fn limit(number: usize) -> Option<NonZeroUsize> {
    NonZeroUsize::new(number)
}

#[test]
fn of_all_sources_the_later_wins() {
    let text = |number: usize| format!("skills.max_context_bytes = {number}\n");
    // A value that only this source and the ones below set tells how far the sources got.
    let mut world = World::new();
    let check = |world: &World, loader: &dyn Fn(Loader<'_>) -> Result<Loaded, ConfigError>, expected: Option<usize>, origin: &str| {
        let workspace = world.workspace();
        let loaded = loader(Loader::new(&world.environment, &workspace)).unwrap();
        assert_eq!(loaded.config.skills.max_context_bytes, expected.and_then(limit), "{origin}");
        let row = loaded.values.get("skills.max_context_bytes").unwrap();
        assert_eq!(world.shown(&row.origin), origin);
        assert_eq!(row.value, expected.map(|number| number.to_string()));
        assert_eq!(loaded.findings, []);
    };
    let plain = |loader: Loader<'_>| loader.load();
    check(&world, &plain, None, "built-in default");
    world = world.write("home/.config/bcode/bcode.toml", text(2));
    check(&world, &plain, Some(2), "home/.config/bcode/bcode.toml:1:28");
    world = world.write("work/bcode.toml", text(3));
    check(&world, &plain, Some(3), "work/bcode.toml:1:28");
    world = world.write("work/.bcode/bcode.toml", text(4));
    check(&world, &plain, Some(4), "work/.bcode/bcode.toml:1:28");
    let named = world.path("named.toml").display().to_string();
    world = world.write("named.toml", text(5)).variable("BCODE_CONFIG", named);
    check(&world, &plain, Some(5), "named.toml:1:28");
    world = world.variable("BCODE_CONFIG_TOML", format!("\n{}", text(6)));
    check(&world, &plain, Some(6), "BCODE_CONFIG_TOML:2:28");
    world = world.variable("BCODE_SKILLS__MAX_CONTEXT_BYTES", "7");
    check(&world, &plain, Some(7), "BCODE_SKILLS__MAX_CONTEXT_BYTES");
    world = world.write("work/a.toml", text(80)).write("work/b.toml", text(81));
    check(&world, &|loader| loader.file("a.toml").file("b.toml").load(), Some(81), "work/b.toml:1:28");
    let set = |loader: Loader<'_>| loader.set("skills.max_context_bytes", 90).set("skills.max_context_bytes", 91).file("a.toml").load();
    check(&world, &set, Some(91), "set in code");
}

#[test]
fn tables_merge_key_by_key_and_arrays_replace() {
    let world = World::new()
        .write(
            "home/.config/bcode/bcode.toml",
            "[skills]\ncommands = true\ncompat = ['brute', 'orcbot']\n[skills.overrides]\na = 'off'\nb = 'off'\n",
        )
        .write("work/bcode.toml", "skills = { compat = ['batbox'], overrides = { b = 'manual' } }\n");
    let loaded = world.load().unwrap();
    let skills = &loaded.config.skills;
    assert!(skills.commands);
    assert_eq!(serde_json::to_value(&skills.compat).unwrap(), serde_json::json!(["batbox"]));
    assert_eq!(serde_json::to_value(&skills.overrides).unwrap(), serde_json::json!({"a": "off", "b": "manual"}));
    let rows = loaded.values.rows().iter().filter(|row| row.key.starts_with("skills.overrides."));
    let rows: Vec<_> = rows.map(|row| (row.key.as_str(), row.value.as_deref().unwrap(), world.shown(&row.origin))).collect();
    let expected = [
        ("skills.overrides.a", "\"off\"", "home/.config/bcode/bcode.toml:5:5".to_owned()),
        ("skills.overrides.b", "\"manual\"", "work/bcode.toml:1:51".to_owned()),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_table_in_which_nothing_is_set_says_nothing_but_that_a_profile_is_there() {
    let mistyped = "[prompt_profile.model.'gpt 5']\nsystem_max = 'x'\n[prompt_profile.provider.openai]\n[budget]\n";
    let patch = "[composition]\nactive_profile = 'b'\nlayer_order = ['defaults', 'profile:active']\n[composition.profiles.a]\n\
        [composition.profiles.b.patch.prompt_profile.model.'gpt 5']\nsystem_max = 'x'\n";
    for (text, profiles) in [(mistyped, &[][..]), (patch, &["a", "b"])] {
        let loaded = World::new().write("work/bcode.toml", text).load().unwrap();
        assert!(loaded.config.prompt_profile.model.is_empty() && loaded.config.prompt_profile.provider.is_empty(), "{text}");
        assert!(loaded.config.composition.profiles.keys().eq(profiles), "{text}");
        assert_eq!(loaded.findings.iter().filter(|found| found.code == "key-unknown").count(), 1, "{text}");
    }
}

#[test]
fn a_relative_workspace_hangs_from_the_environment_s_directory() {
    let world = World::new().write("work/sub/bcode.toml", "skills.sources.paths = ['x']");
    let loaded = load(&world.environment, &Workspace::at("sub")).unwrap();
    assert_eq!(loaded.config.skills.sources.paths, [world.path("work/sub/x")]);
}

#[test]
fn xdg_config_home_goes_before_the_home_folder() {
    let world = World::new().write("home/.config/bcode/bcode.toml", "skills.commands = true").write("xdg/bcode/bcode.toml", "");
    let xdg = world.path("xdg").display().to_string();
    assert!(world.load().unwrap().config.skills.commands);
    assert!(!world.variable("XDG_CONFIG_HOME", xdg).load().unwrap().config.skills.commands);
}

#[test]
fn the_root_is_where_git_is() {
    let world =
        World::new().write("work/bcode.toml", "skills.commands = true").write("work/.git/HEAD", "").write("work/a/b/bcode.toml", "no TOML");
    let loaded = load(&world.environment, &Workspace::around(world.path("work/a/b"))).unwrap();
    assert!(loaded.config.skills.commands);
    assert_eq!(loaded.findings.iter().map(|found| &*found.code).collect::<Vec<_>>(), ["file-not-read"]);
}

#[test]
fn a_workspace_that_is_not_trusted_adds_nothing() {
    let world = World::new().write("work/bcode.toml", "skills.enabled = 5").write("work/.bcode/bcode.toml", "skills.commands = true");
    let loaded = load(&world.environment, &world.workspace().untrusted()).unwrap();
    assert!(!loaded.config.skills.commands);
    assert_eq!(loaded.findings, []);
}

#[test]
fn a_fault_in_a_discovered_file_costs_that_key_alone() {
    let world = World::new()
        .write("home/.config/bcode/bcode.toml", "[skills]\nauto_activate = 'on'\nmax_context_bytes = 5\n")
        .write("work/bcode.toml", "[skills]\nauto_activate = 'always'\nmax_context_bytes = 0\ncommands = true\n");
    let loaded = world.load().unwrap();
    assert_eq!(loaded.config.skills.auto_activate, AutoActivate::On);
    assert_eq!(loaded.config.skills.max_context_bytes, limit(5));
    assert!(loaded.config.skills.commands);
    let expected = [
        "work/bcode.toml:2:17: error[value-unknown]: `skills.auto_activate` has the text \"always\"; allowed: \"off\", \"suggest\" or \"on\"",
        "work/bcode.toml:3:21: error[value-out-of-range]: `skills.max_context_bytes` has the number 0; allowed: a whole number from 1; left out, there is no limit",
    ];
    assert_eq!(world.findings(&loaded), expected);
}

#[test]
fn faults_in_named_sources_stop_with_all_findings() {
    let world = World::new()
        .write("work/bcode.toml", "skills.enabled = 1")
        .variable("BCODE_CONFIG", "none.toml")
        .variable("BCODE_CONFIG_TOML", "[skills]\nenabled = 'yes'")
        .variable("BCODE_SKILLS__PROMPT__MAX_BYTES", "many")
        .variable("BCODE_SKILLS__COMMAND", "true")
        .write("work/c.toml", "skills.tool.name = ' '\nmodel.tool_output = 3\n");
    let workspace = world.workspace();
    let loader = Loader::new(&world.environment, &workspace).file("c.toml").set("proxy.listen", "here").set("nothing.of.ours", 1);
    let error = loader.set("skills..x", true).load().unwrap_err();
    let expected = "\
work/bcode.toml:1:18: error[value-type]: `skills.enabled` has the number 1; allowed: `true` or `false`
work/none.toml: error[file-missing]: there is no such file
BCODE_CONFIG_TOML:2:11: error[value-type]: `skills.enabled` has the text \"yes\"; allowed: `true` or `false`
BCODE_SKILLS__COMMAND: warning[key-unknown]: `skills.command` is not a known key; the nearest is `BCODE_SKILLS__COMMANDS`
BCODE_SKILLS__PROMPT__MAX_BYTES: error[value-type]: `skills.prompt.max_bytes` has the text \"many\"; \
allowed: a whole number from 1; left out, there is no limit
work/c.toml:1:20: error[value-invalid]: `skills.tool.name` has the text \" \"; allowed: text that is not blank
work/c.toml:2:21: error[value-type]: `model.tool_output` has the number 3; allowed: a table
set in code: error[value-invalid]: `proxy.listen` has the text \"here\"; allowed: an address as in \"127.0.0.1:8484\"
set in code: warning[key-unknown]: `nothing.of.ours` is in no table that is read
set in code: error[key-invalid]: \"skills..x\" is no dotted key";
    assert_eq!(world.shown(&error), expected);
    assert_eq!(error.findings().len(), 10);
}

/// A file, and what it costs.
fn broken_file(content: Option<&[u8]>, expected: &str) {
    let mut world = World::new().write("home/.config/bcode/bcode.toml", "skills.commands = true");
    world = match content {
        Some(content) => world.write("work/bcode.toml", content),
        None => world.write("work/bcode.toml/inside", ""),
    };
    let loaded = world.load().unwrap();
    assert!(loaded.config.skills.commands, "the lower source stands");
    assert_eq!(world.findings(&loaded), [format!("work/bcode.toml{expected}")]);
    let workspace = world.workspace().untrusted();
    let error = Loader::new(&world.environment, &workspace).file("bcode.toml").load().unwrap_err();
    assert_eq!(world.shown(&error), format!("work/bcode.toml{expected}"));
}

#[test]
fn a_file_that_cannot_be_read_is_a_finding() {
    broken_file(None, ": error[file-not-regular]: is a folder or a special file; allowed: a regular file");
    broken_file(Some(b"a = 1\n\xc3\xa4 \xff"), ":2:3: error[file-not-utf8]: is no UTF-8 from here on");
    broken_file(
        Some(b"\xef\xbb\xbfa = \n"),
        ":1:5: error[file-not-toml]: is no TOML: string values must be quoted, expected literal string",
    );
    let huge = "# ".repeat(600_000);
    broken_file(Some(huge.as_bytes()), ": error[file-too-large]: has more than 1048576 bytes, the most that a configuration file may have");
}

#[cfg(unix)]
#[test]
fn special_files_and_loose_links_are_findings() {
    let world = World::new();
    let _socket = std::os::unix::net::UnixListener::bind(world.path("work/bcode.toml")).unwrap();
    fs::create_dir(world.path("work/.bcode")).unwrap();
    std::os::unix::fs::symlink("nowhere", world.path("work/.bcode/bcode.toml")).unwrap();
    let expected = [
        "work/bcode.toml: error[file-not-regular]: is a folder or a special file; allowed: a regular file",
        "work/.bcode/bcode.toml: error[file-unreadable]: is a symbolic link to nothing",
    ];
    assert_eq!(world.findings(&world.load().unwrap()), expected);
}

#[cfg(unix)]
#[test]
fn a_pipe_that_nobody_writes_to_is_not_waited_for() {
    let world = World::new();
    let made = std::process::Command::new("mkfifo").arg(world.path("work/bcode.toml")).status();
    // Not every machine has the program.
    if made.is_ok_and(|status| status.success()) {
        assert_eq!(world.load().unwrap().findings[0].code, "file-not-regular");
    }
}

#[test]
fn files_of_a_folder_below_the_root_are_told_of_and_not_read() {
    let world =
        World::new().write("work/.git/HEAD", "").write("work/a/bcode.toml", "skills.enabled = false").write("work/a/.bcode/bcode.toml", "");
    let loaded = |workspace: &Workspace| load(&world.environment, workspace).unwrap();
    let below = loaded(&Workspace::around(world.path("work/a")));
    assert!(below.config.skills.enabled);
    let not_read = |file: &str| {
        format!(
            "{file}: note[file-not-read]: this file is not read: the root of the workspace is work; name this folder (`--dir`) to make it the root"
        )
    };
    let found: Vec<String> = below.findings.iter().map(|found| world.shown(found)).collect();
    assert_eq!(found, [not_read("work/a/bcode.toml"), not_read("work/a/.bcode/bcode.toml")]);
    for workspace in [Workspace::at(world.path("work/a")), Workspace::around(world.path("work"))] {
        assert_eq!(loaded(&workspace).findings, []);
    }
    assert_eq!(loaded(&Workspace::around(world.path("work/a")).untrusted()).findings, []);
}

#[test]
fn foreign_tables_and_other_variables_are_left_alone() {
    let world = World::new()
        .write("work/bcode.toml", "theme = 'dark'\n[model]\nname = 'x'\n[tui]\nenabled = 5\n[model.tool_output]\ncontext_chars = 9\n")
        .variable("BCODE_STATE_DIR", "/state")
        .variable("BCODE_MODEL__NAME", "x")
        .variable("BCODE_THEME__COLOUR", "red")
        .variable("BCODE_SKILLS", "x")
        .variable("BCODE_SKILLS__ENABLED", "");
    let loaded = world.load().unwrap();
    assert_eq!(world.findings(&loaded), [""; 0]);
    assert_eq!(loaded.config.model.tool_output.context_chars, limit(9));
    assert!(loaded.config.skills.enabled);
}

#[test]
fn variables_are_typed_by_the_table() {
    let world = World::new()
        .variable("BCODE_SYSTEM_PROMPT__TEXT", "1.10")
        .variable("BCODE_SYSTEM_PROMPT__MODE", "replace")
        .variable("BCODE_SYSTEM_PROMPT__SECTIONS__LOCALE", "false")
        .variable("BCODE_MODEL__TOOL_OUTPUT__CONTEXT_CHARS", " 8_192 ")
        .variable("BCODE_SKILLS__CODE__ALLOW", "['a', \"b\"]")
        .variable("BCODE_PROMPT_PROFILE__DEFAULT__SYSTEM_PROMPT", "[1]")
        .variable("BCODE_SKILLS__OVERRIDES__RUST", "off");
    let loaded = world.load().unwrap();
    assert_eq!(loaded.config.system_prompt.text, "1.10");
    assert_eq!(loaded.config.system_prompt.mode, SystemPromptMode::Replace);
    assert!(!loaded.config.system_prompt.sections.locale);
    assert_eq!(loaded.config.model.tool_output.context_chars, limit(8192));
    assert_eq!(loaded.config.skills.code.allow, ["a", "b"]);
    assert_eq!(loaded.config.prompt_profile.default.system_prompt.as_deref(), Some("[1]"));
    let finding = "BCODE_SKILLS__OVERRIDES__RUST: warning[key-unknown]: `skills.overrides.rust` has an id in it, \
                   which no variable's name can spell: set it through `BCODE_CONFIG_TOML`";
    assert_eq!(world.findings(&loaded), [finding]);
    for text in ["a, b", "['a'", "['a']\nx = 1", "[1]"] {
        let error = World::new().variable("BCODE_SKILLS__CODE__ALLOW", text).load().unwrap_err();
        assert_eq!(error.findings()[0].code, "value-type", "{text}");
    }
}

#[test]
fn paths_hang_from_the_file_that_sets_them() {
    let paths = "skills.sources.paths = ['./own', '../up', '~/at-home', '~', '/abs', '~other']";
    let expect = |world: &World, loaded: &Loaded, base: &str| {
        let shown: Vec<String> = loaded.config.skills.sources.paths.iter().map(|path| world.shown(&path.display())).collect();
        assert_eq!(shown, [&format!("{base}/own"), &format!("{base}/../up"), "home/at-home", "home", "/abs", &format!("{base}/~other")]);
        assert!(loaded.config.skills.sources.paths.iter().all(|path| path.is_absolute()));
    };
    let world = World::new().write("work/.bcode/bcode.toml", paths);
    expect(&world, &world.load().unwrap(), "work/.bcode");
    let world = World::new().variable("BCODE_CONFIG", "~/sub/x.toml").write("home/sub/x.toml", paths);
    expect(&world, &world.load().unwrap(), "home/sub");
    let world = World::new().variable("BCODE_CONFIG_TOML", paths);
    expect(&world, &world.load().unwrap(), "work");
}

#[test]
fn a_replaced_prompt_without_text_is_warned_about() {
    let world = World::new().write("work/bcode.toml", "[system_prompt]\ntext = \" \"\nmode = \"replace\"");
    let finding = "work/bcode.toml:3:8: warning[system-prompt-empty]: \
                   `system_prompt.mode` is \"replace\" and `system_prompt.text` is empty: there is no base prompt";
    assert_eq!(world.findings(&world.load().unwrap()), [finding]);
}

#[test]
fn every_key_has_its_row_in_the_order_of_the_table() {
    let world = World::new()
        .write("work/bcode.toml", "[prompt_profile.model.'m.1']\nsystem_prompt = \"a\\nb\"\n[proxy]\nlisten = '127.0.0.1:8484'\n");
    let loaded = world.load().unwrap();
    let rows = loaded.values.rows();
    assert_eq!(rows[0].key, "skills.enabled");
    assert_eq!(rows.last().unwrap().key, "proxy.show_last");
    let row = loaded.values.get("prompt_profile.model.\"m.1\".system_prompt").unwrap();
    assert_eq!((row.value.as_deref(), row.is_default, row.origin.kind), (Some("\"a\\nb\""), false, OriginKind::File));
    let row = loaded.values.get("proxy.listen").unwrap();
    assert_eq!((row.is_default, row.origin.line), (true, Some(4)), "set, and to what would stand anyway");
    let row = loaded.values.get("proxy.upstream").unwrap();
    assert_eq!((row.value.as_deref(), row.is_default, row.origin.kind), (None, true, OriginKind::Default));
}

#[test]
fn a_hostile_file_costs_bounded_time_and_findings() {
    let unknown: Vec<String> = (0..10_000).map(|number| format!("unknown_key_{number} = 1")).collect();
    let text = format!("skills = {{ {}, z = 1, commands = 1 }}", unknown.join(", "));
    let loaded = World::new().write("work/bcode.toml", &text).load().unwrap();
    assert_eq!(loaded.findings.len(), 102);
    assert_eq!(loaded.findings.iter().filter(|finding| finding.severity == Severity::Error).count(), 1);
    assert_eq!(loaded.findings.last().unwrap().message, "9901 more of severity warning are not told");
    // A name may be as long as the file.
    let loaded = World::new().write("work/bcode.toml", format!("skills.{} = 1", "x".repeat(1_000_000))).load().unwrap();
    assert!(loaded.findings[0].to_string().len() < 500);
}

#[test]
fn nothing_of_the_machine_is_read() {
    let loaded = load(&Environment::new("/nowhere"), &Workspace::at(Path::new("/nowhere"))).unwrap();
    assert_eq!(loaded.config, tower_prompt::config::Config::default());
    assert_eq!(loaded.config.skills.prompt.catalog, CatalogMode::Summary);
    assert_eq!(loaded.findings, []);
    assert!(loaded.values.rows().iter().all(|row| row.is_default && row.origin.kind == OriginKind::Default));
}
