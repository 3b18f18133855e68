use super::*;
use PermissionSuggestion::{Allow, Ask, Deny, Warn};
use proptest::prelude::*;

fn hints(tools: &[&str], categories: &[&str]) -> SkillPermissionHints {
    let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
    SkillPermissionHints { tools: owned(tools), categories: owned(categories) }
}
fn tool(hints: &SkillPermissionHints, name: &str, input: &str) -> PermissionSuggestion {
    HintEvaluator::default().advise(hints, SkillAction::Tool { name, input }).suggestion
}
fn of_category(hints: &SkillPermissionHints, category: &str) -> PermissionSuggestion {
    HintEvaluator::default().advise(hints, SkillAction::Category(category)).suggestion
}

#[test]
fn commands_are_compared_word_by_word() {
    let git = hints(&["Bash(git:*)", "Bash(npm run test:*)", "Bash(make)", "Bash(go test *)"], &[]);
    for plain in [
        "git",
        "git status",
        "  git  log --oneline ",
        "git commit -m 'a; b'",
        "git commit -m \"it's\"",
        "npm run test --all",
        "make",
        "go test ./...",
    ] {
        assert_eq!(tool(&git, "Bash", plain), Allow, "{plain}");
    }
    for other in [
        "gitx",
        "git-x status",
        "/tmp/git status",
        "./git status",
        "npm run tests",
        "npm run",
        "make all",
        "X=1 git status",
        "=git",
        "",
        "'' git",
        "go",
    ] {
        assert_eq!(tool(&git, "Bash", other), Ask, "{other}");
    }
}

#[test]
fn what_a_shell_would_do_more_with_is_no_plain_command() {
    let git = hints(&["Bash(git:*)"], &[]);
    for more in [
        "git status; rm -rf /",
        "git status && rm x",
        "git status | sh",
        "git status & rm x",
        "git status\nrm x",
        "git status\rrm x",
        "git log $(rm x)",
        "git log `rm x`",
        "git log \"$(rm x)\"",
        "git log \"`rm x`\"",
        "git log > /etc/passwd",
        "git log <(rm x)",
        "git log {a,b}",
        "git log $HOME",
        "git log \\\nrm",
        "git log 'unclosed",
        "git log # rest",
        "(git log)",
    ] {
        let advice = HintEvaluator::default().advise(&git, SkillAction::Tool { name: "Bash", input: more });
        assert_eq!(advice.suggestion, Ask, "{more}");
        assert!(advice.reason.contains("more than one plain command"), "{more}: {advice}");
    }
}

#[test]
fn a_shell_without_a_command_is_a_question() {
    for broad in ["Bash", "Bash(*)", "Bash()", "bash(:*)"] {
        assert_eq!(tool(&hints(&[broad], &[]), "Bash", "git status"), Ask, "{broad}");
    }
    assert_eq!(tool(&hints(&[], &["shell.execute"]), "Bash", "git status"), Ask);
    assert_eq!(tool(&hints(&["Bash", "Bash(git:*)"], &["shell"]), "Bash", "git status"), Allow, "another hint names it");
}

#[test]
fn a_pattern_that_can_not_be_read_covers_nothing() {
    for odd in ["Bash(git:*", "Bash(git:*) x", "Bash(git * main)", "Bash(g*:*)", "Bash(git:*, npm:*)", "(git:*)", ""] {
        assert_eq!(tool(&hints(&[odd], &[]), "Bash", "git status"), Ask, "{odd}");
    }
    assert_eq!(tool(&hints(&["Read([)"], &[]), "Read", "a"), Warn);
}

#[test]
fn files_are_compared_by_glob_and_never_climb() {
    let docs = hints(&["Edit(docs/**)", "Read(*.md)"], &[]);
    assert_eq!(tool(&docs, "Edit", "docs/a/b.md"), Allow);
    assert_eq!(tool(&docs, "Read", "README.md"), Allow);
    for other in ["docs/../src/main.rs", "src/docs/x", "docs\\..\\x", "/etc/docs/x"] {
        assert_eq!(tool(&docs, "Edit", other), Ask, "{other}");
    }
    assert_eq!(tool(&docs, "Read", "docs/a.md"), Warn, "a star stays in its folder; reading is worth a warning");
}

#[test]
fn pages_are_compared_by_host() {
    let example = hints(&["WebFetch(domain:example.com)"], &[]);
    for page in ["https://example.com/a?b#c", "http://EXAMPLE.com:8080", "https://example.com?x"] {
        assert_eq!(tool(&example, "WebFetch", page), Allow, "{page}");
    }
    for other in [
        "https://example.com@evil.org/",
        "https://example.com.evil.org/",
        "https://evil.org/example.com",
        "https://evil.org\\@example.com",
        "example.com",
        "ftp://example.com",
        "https://user:p@example.com/",
    ] {
        assert_eq!(tool(&example, "WebFetch", other), Ask, "{other}");
    }
}

#[test]
fn categories_cover_what_is_within_them() {
    let files = hints(&[], &["filesystem.read", "network"]);
    assert_eq!(tool(&files, "Read", "/any"), Allow);
    assert_eq!(of_category(&files, "file.read"), Allow);
    assert_eq!(of_category(&files, "network.fetch"), Allow);
    assert_eq!(tool(&files, "Write", "/any"), Ask);
    assert_eq!(of_category(&files, "file"), Ask, "reading is only a part of it");
    assert_eq!(of_category(&files, "file.readonly"), Warn.max(Ask));
    assert_eq!(of_category(&hints(&[], &["payments"]), "payments"), Ask, "listed, and known to nobody");
    assert_eq!(of_category(&hints(&["WebSearch"], &[]), "network"), Ask, "one tool is not all of the network");
}

#[test]
fn of_a_script_of_a_skill_one_is_always_asked() {
    for hints in [hints(&[], &[]), hints(&["Bash(scripts/x:*)", "Bash"], &["skill.script.execute", "skill", "shell.execute"])] {
        for category in ["skill.script.execute", " Skill.Script.Execute ", "skill.script.execute.python"] {
            assert_eq!(of_category(&hints, category), Ask, "{category}");
        }
    }
}

#[test]
fn what_is_not_listed_is_a_question_and_reading_a_warning() {
    for hints in [hints(&[], &[]), hints(&["Task"], &["payments"])] {
        assert_eq!(tool(&hints, "Read", "a"), Warn);
        for (name, input) in [("Write", "a"), ("Bash", "ls"), ("WebFetch", "https://a.b"), ("mcp__pay", "")] {
            assert_eq!(tool(&hints, name, input), Ask, "{name}");
        }
    }
    assert_eq!(tool(&hints(&["mcp__pay"], &[]), "mcp__pay", "x"), Allow, "a tool that it lists");
    assert_eq!(tool(&hints(&["mcp__pay(y)"], &[]), "mcp__pay", "x"), Ask);
}

#[test]
fn the_host_has_the_last_word_and_its_own_names() {
    let listed = hints(&["WebFetch", "Bash(git:*)", "Read"], &["file"]);
    let host = HintEvaluator::default().never("net").never("file.write").tool_names([("Bash", "run_command")]);
    let advise = |name, input| host.advise(&listed, SkillAction::Tool { name, input }).suggestion;
    assert_eq!(advise("WebFetch", "https://a.b"), Deny);
    assert_eq!(advise("Write", "a"), Deny);
    assert_eq!(advise("Read", "a"), Allow);
    assert_eq!(advise("run_command", "git status"), Allow);
    assert_eq!(host.advise(&listed, SkillAction::Category("file")).suggestion, Deny, "writing would be a part of it");
}

#[test]
fn what_no_one_sees_is_denied() {
    let git = hints(&["Bash(git:*)"], &[]);
    assert_eq!(tool(&git, "Bash", "git log \u{202e}x"), Deny);
    assert_eq!(tool(&git, "Bash", "g\u{200b}it log"), Deny);
}

#[test]
fn an_overview_says_what_each_hint_comes_to() {
    let listed = hints(&["Bash(git log:*)", "Bash", "Edit(docs/**)", "Bash(x", "WebFetch(domain:a.b)", "Read"], &["payments"]);
    let told: Vec<String> =
        HintEvaluator::default().overview(&listed).into_iter().map(|(hint, advice)| format!("{hint} {}", advice.suggestion)).collect();
    assert_eq!(
        told,
        [
            "Bash(git log:*) allow",
            "Bash ask",
            "Edit(docs/**) allow",
            "Bash(x ask",
            "WebFetch(domain:a.b) allow",
            "Read allow",
            "payments ask",
            "skill.script.execute ask"
        ]
    );
    let never = HintEvaluator::default().never("shell").overview(&listed);
    assert!(never.iter().filter(|(_, advice)| advice.suggestion == Deny).count() == 2);
}

proptest! {
    #[test]
    fn a_command_that_is_suggested_has_the_words_and_nothing_that_a_shell_obeys(command in "(git|gitx|g'i't)?[ a-z;&|<>$`(){}'\"\\\\\n#=-]{0,24}") {
        if tool(&hints(&["Bash(git:*)"], &[]), "Bash", &command) == Allow {
            let first = command.trim_start_matches(' ').split(' ').next().unwrap().replace(['\'', '"'], "");
            prop_assert_eq!(first, "git");
            let outside: String = command.split(['\'', '"']).step_by(2).collect();
            let is_obeyed = |c: char| ";&|<>$`(){}\\\n#".contains(c);
            // Quotes of the other kind within quotes hide where one is; then nothing is obeyed at all, or the command was refused.
            let mixed = command.contains('\'') && command.contains('"');
            prop_assert!(mixed || !outside.contains(is_obeyed), "{:?}", command);
        }
    }

    #[test]
    fn any_hints_and_any_action_get_advice(tools in prop::collection::vec(any::<String>(), 0..4), categories in prop::collection::vec(any::<String>(), 0..4), name in any::<String>(), input in any::<String>()) {
        let hints = SkillPermissionHints { tools, categories };
        let host = HintEvaluator::default();
        for action in [SkillAction::Tool { name: &name, input: &input }, SkillAction::Category(&name)] {
            prop_assert!(!host.advise(&hints, action).reason.is_empty());
        }
        prop_assert_eq!(host.overview(&hints).len(), hints.tools.len() + hints.categories.len() + 1);
    }
}
