//! `config show`, `config check`, and what a wrong configuration does to the other commands.

use super::run::{SAMPLE, finish, steady};
use crate::place::Place;

const BROKEN: &str = "\
[skills.prompt]
max_bytes = 0
catalogue = \"off\"

[skils]
enabled = false

[system_prompt]
mode = \"append\"
agent_suffix = \"Be brief.\"
git_status_max_chars = \"many\"

[skills]
auto_activate = \"of\"
";

#[test]
fn what_the_sample_workspace_changes() {
    let place = Place::new();
    let run = place.run(&["config", "show", "--changed", "--dir", SAMPLE]);
    insta::assert_snapshot!(steady(run.data(), &place));
}

#[test]
fn the_findings_of_a_broken_file() {
    let place = Place::new();
    place.write("work/bcode.toml", BROKEN);
    let run = place.run(&["config", "check"]);
    assert_eq!((run.code, &*run.stderr), (1, ""));
    insta::assert_snapshot!(steady(&run.stdout, &place));
}

#[test]
fn check_finds_the_same_as_json() {
    let place = Place::new();
    place.write("work/bcode.toml", BROKEN);
    let (lines, json) = (place.run(&["config", "check"]), place.run(&["config", "check", "--json"]));
    assert_eq!(json.code, 1);
    let findings: Vec<tower_prompt::layers::Diagnostic> = serde_json::from_str(&json.stdout).unwrap();
    let printed: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(printed, lines.stdout.lines().collect::<Vec<_>>());
    assert!(findings.iter().all(|finding| finding.line.is_some() && finding.column.is_some()));
}

#[test]
fn a_good_configuration_is_exit_code_0_and_so_is_a_warning() {
    let place = Place::new();
    let good = place.run(&["config", "check"]);
    assert_eq!((good.data(), &*good.stderr), ("", "The configuration is good.\n"));
    place.write("work/bcode.toml", "[system_prompt]\nmode = \"replace\"\n");
    let warned = place.run(&["config", "check"]);
    assert!(warned.data().contains("warning[system-prompt-empty]"), "{}", warned.stdout);
}

#[test]
fn an_unknown_key_is_a_warning_that_names_the_nearest_and_check_exits_1() {
    let place = Place::new();
    place.write("work/bcode.toml", "[skills]\nenabeld = false\n[someone.elses]\ntable = 1\n");
    let said = format!(
        "{}:2:1: warning[key-unknown]: `skills.enabeld` is not a known key; the nearest is `skills.enabled`\n",
        place.shown("work/bcode.toml")
    );
    let run = place.run(&["render", "-m", "hi"]);
    assert!(!run.data().is_empty());
    assert_eq!(run.stderr, said);
    let check = place.run(&["config", "check"]);
    assert_eq!((check.code, check.stdout), (1, said));
}

#[test]
fn a_key_that_this_build_does_not_act_on_is_a_warning_and_no_finding_of_check() {
    let place = Place::new();
    place.write("work/bcode.toml", "[proxy]\nanswer_skill_tool = true\n");
    let check = place.run(&["config", "check"]);
    let said = format!(
        "{}:2:21: warning[key-without-effect]: `proxy.answer_skill_tool` has no effect in this build, which lacks the feature `proxy`\n",
        place.shown("work/bcode.toml")
    );
    assert_eq!(check.data().starts_with(&said), !cfg!(feature = "proxy"), "{}", check.stdout);
}

#[test]
fn a_broken_file_that_was_found_costs_its_broken_keys_alone() {
    let place = Place::new();
    place.write("work/bcode.toml", BROKEN);
    let path = place.shown("work/bcode.toml");
    for arguments in [&["render", "-m", "hi"][..], &["explain", "-m", "hi"], &["skills", "list"], &["config", "show"]] {
        let run = place.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        for place in
            ["2:13: error[value-out-of-range]", "3:1: warning[key-unknown]", "9:8: error[value-unknown]", "11:24: error[value-type]"]
        {
            assert!(run.stderr.contains(&format!("{path}:{place}")), "{arguments:?} {place}: {}", run.stderr);
        }
    }
    let text = place.run(&["render", "-m", "hi"]);
    assert!(text.data().contains("Be brief.") && text.data().contains("You are a coding agent."));
}

#[test]
fn a_file_that_is_no_toml_costs_itself_alone() {
    let place = Place::new();
    for text in [&b"[skills"[..], b"\xff\xfe[\0", b"a = 1\na = 2", b"\0", b"= = =", &b"[".repeat(100_000)] {
        place.write("work/bcode.toml", text);
        place.write("work/.bcode/bcode.toml", "[system_prompt]\nagent_suffix = \"Of the other file.\"\n");
        let run = place.run(&["render", "-m", "hi"]);
        assert!(run.data().contains("Of the other file."), "{}", run.stderr);
        assert!(
            run.stderr.contains(&format!("{}:1", place.shown("work/bcode.toml"))) || run.stderr.contains(":2:1: error["),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_broken_file_that_was_named_stops_with_all_findings() {
    let place = Place::new();
    let path = place.write("named.toml", BROKEN);
    for command in [&["render", "-m", "hi"][..], &["explain", "-m", "hi"], &["skills", "list"], &["config", "show"]] {
        let run = place.run(&[command, &["--config", path.to_str().unwrap()]].concat());
        for at in [
            "2:13: error[value-out-of-range]",
            "3:1: warning[key-unknown]",
            "9:8: error[value-unknown]",
            "11:24: error[value-type]",
            "14:17: error[",
        ] {
            assert!(run.failure().contains(&format!("{}:{at}", path.display())), "{command:?} {at}: {}", run.stderr);
        }
    }
    let by_variable = finish(place.command(&["render", "-m", "hi"]).env("BCODE_CONFIG", &path), b"");
    assert!(by_variable.failure().contains("2:13: error[value-out-of-range]"));
    let in_variable = finish(place.command(&["render", "-m", "hi"]).env("BCODE_CONFIG_TOML", "[skills]\nenabled = 3"), b"");
    assert!(in_variable.failure().contains("BCODE_CONFIG_TOML:2:11: error[value-type]"), "{}", in_variable.stderr);
    let key = finish(place.command(&["render", "-m", "hi"]).env("BCODE_SKILLS__PROMPT__MAX_BYTES", "0"), b"");
    assert!(key.failure().contains("BCODE_SKILLS__PROMPT__MAX_BYTES"), "{}", key.stderr);
}

#[test]
fn show_marks_what_is_not_the_default_with_its_file_and_line() {
    let place = Place::new();
    let user = place.write("home/.config/bcode/bcode.toml", "[skills]\npreview_max_chars = 7\ncommands = true\n");
    let root = place.write("work/bcode.toml", "\n[skills]\ncommands = false\n[skills.prompt]\nmax_bytes = 900\n");
    let named = place.write("named.toml", "system_prompt.agent_suffix = \"Named.\"\n");
    let mut command = place.command(&["config", "show", "--config", named.to_str().unwrap()]);
    let run = finish(command.env("BCODE_SKILLS__MAX_CONTEXT_BYTES", "5000"), b"");
    let line = |key: &str| run.data().lines().find(|line| line.contains(key)).unwrap_or_else(|| panic!("{key}"));
    for (key, value, origin) in [
        ("skills.preview_max_chars", "= 7", format!("# {}:2:21", user.display())),
        ("skills.commands", "= false", format!("# {}:3:12", root.display())),
        ("skills.prompt.max_bytes", "= 900", format!("# {}:5:13", root.display())),
        ("system_prompt.agent_suffix", "= \"Named.\"", format!("# {}:1:30", named.display())),
        ("skills.max_context_bytes", "= 5000", "# BCODE_SKILLS__MAX_CONTEXT_BYTES".to_owned()),
        ("skills.enabled", "= true", "# built-in default".to_owned()),
    ] {
        assert!(line(key).contains(value) && line(key).trim_end().ends_with(&origin), "{}", line(key));
    }
    assert!(line("budget.max_prompt_tokens").starts_with("# budget.max_prompt_tokens is not set"));
    let changed = finish(place.command(&["config", "show", "--changed"]).env("BCODE_SKILLS__MAX_CONTEXT_BYTES", "5000"), b"");
    assert_eq!(changed.data().lines().count(), 3, "{}", changed.stdout);
    let json = place.run(&["config", "show", "--json", "--changed"]).json();
    assert!(json.as_array().is_some_and(|rows| rows.len() == 2), "{json:#}");
}

#[test]
fn what_a_repository_switches_off_is_shown() {
    let place = Place::new();
    place.write(
        "work/bcode.toml",
        "[system_prompt]\nmode = \"replace\"\ntext = \"Mine.\"\n[system_prompt.sections]\nuser_authority = false\n",
    );
    let shown = place.run(&["config", "show", "--changed"]);
    for key in ["system_prompt.mode", "system_prompt.text", "system_prompt.sections.user_authority = false"] {
        assert!(shown.data().contains(key), "{}", shown.stdout);
    }
    let text = place.run(&["render", "-m", "hi"]);
    assert!(text.data().starts_with("--- system ---\nMine.\n") && !text.data().contains("<user_authority>"));
    let table = place.run(&["explain", "-m", "hi"]);
    assert!(table.data().lines().any(|line| line.starts_with("base ") && line.ends_with("configuration")), "{}", table.stdout);
    assert!(!table.data().contains("user_authority"));
    let untrusted = place.run(&["render", "-m", "hi", "--untrusted"]);
    assert!(untrusted.data().contains("<user_authority>") && !untrusted.data().contains("Mine."));
}

#[cfg(unix)]
#[test]
fn files_that_nobody_could_read_are_not_waited_for() {
    let place = Place::new();
    for path in ["bcode.toml", "AGENTS.md", "INVARIANTS.md", "skills/a/SKILL.md", "skills/b.md"] {
        let path = place.write(&format!("work/{path}"), "");
        std::fs::remove_file(&path).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR, 0)
            .unwrap();
    }
    std::os::unix::fs::symlink("/dev/zero", place.at("work/skills/c.md")).unwrap();
    std::os::unix::fs::symlink("loop", place.at("work/loop")).unwrap();
    std::os::unix::fs::symlink("..", place.at("work/skills/up")).unwrap();
    let run = place.run(&["render", "-m", "hi"]);
    assert!(run.data().contains("You are a coding agent."));
    for file in ["bcode.toml", "AGENTS.md", "INVARIANTS.md"] {
        assert!(run.stderr.contains(&place.shown(&format!("work/{file}"))), "{file}: {}", run.stderr);
    }
    assert!(place.run(&["skills", "list"]).stderr.contains("skills/a/SKILL.md"));
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_no_utf_8_is_an_error_that_names_it() {
    use std::os::unix::ffi::OsStringExt;
    let place = Place::new();
    for name in ["BCODE_CONFIG", "BCODE_CONFIG_TOML", "BCODE_SKILLS__ENABLED"] {
        let value = std::ffi::OsString::from_vec(b"/tmp/\xff.toml".to_vec());
        let check = finish(place.command(&["config", "check"]).env(name, &value), b"");
        assert_eq!(
            (check.code, &*check.stdout),
            (1, &*format!("{name}: error[variable-not-utf8]: is set to something that is no UTF-8\n"))
        );
        let render = finish(place.command(&["render", "-m", "hi"]).env(name, &value), b"");
        assert!(render.failure().contains(name), "{}", render.stderr);
    }
}

#[test]
fn a_user_file_that_lies_in_an_untrusted_workspace_is_not_read() {
    let place = Place::new();
    let file = place.write("work/.config/bcode/bcode.toml", "system_prompt.agent_suffix = \"Of the repository.\"");
    place.write("work/elsewhere/bcode/bcode.toml", "system_prompt.agent_suffix = \"Of the repository.\"");
    let at_home = |arguments: &[&str]| finish(place.command(arguments).env("HOME", place.at("work")), b"");
    let show = ["config", "show", "--changed", "--untrusted"];
    let untrusted = at_home(&show);
    assert_eq!(untrusted.data(), "All values are the defaults.\n");
    assert!(untrusted.stderr.starts_with(&format!("{} is not trusted", place.shown("work"))), "{}", untrusted.stderr);
    let check = at_home(&["config", "check", "--untrusted"]);
    let note = format!("{}: note[file-not-trusted]: lies in the workspace, which is not trusted, and is not read\n", file.display());
    assert!(check.data().contains(&note), "{}", check.stdout);
    assert!(check.stderr.contains("is not trusted"), "{}", check.stderr);
    assert!(at_home(&["config", "show", "--changed"]).data().contains("Of the repository."), "trusted, it is the user's");
    let by_variable = finish(place.command(&show).env("XDG_CONFIG_HOME", place.at("work/elsewhere")), b"");
    assert_eq!(by_variable.data(), "All values are the defaults.\n");
    #[cfg(unix)]
    {
        std::fs::create_dir_all(place.at("home/.config")).unwrap();
        std::os::unix::fs::symlink(place.at("work/elsewhere/bcode"), place.at("home/.config/bcode")).unwrap();
        assert_eq!(place.run(&show).data(), "All values are the defaults.\n", "a link into the workspace leads into it");
    }
}
