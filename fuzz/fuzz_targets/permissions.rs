//! Permission hints of any text against any action: there is always advice with a reason, a command that a shell would take for more than one is never
//! waved through, and neither is what the host never does.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tower_prompt::layers::skill::{HintEvaluator, PermissionSuggestion, SKILL_SCRIPT_EXECUTE, SkillAction, SkillPermissionHints};
use tower_prompt::layers::text::escape;

// The tool's name, its input, then hints, a line each.
fuzz_target!(|text: &str| {
    let mut lines = text.splitn(12, '\n');
    let (name, input) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default().replace('\u{1}', "\n"));
    let (categories, tools): (Vec<String>, Vec<String>) =
        lines.map(str::to_owned).partition(|line| line.starts_with("file.") || line.starts_with("shell."));
    let mut hints = SkillPermissionHints::default();
    (hints.tools, hints.categories) = (tools, categories);
    let evaluator = HintEvaluator::default();
    let action = SkillAction::Tool { name, input: &input };
    let advice = evaluator.advise(&hints, action);
    assert!(!advice.reason.is_empty());
    assert_eq!(evaluator.advise(&hints, action), advice, "the same again");
    if escape::has_invisible(&input) {
        assert_eq!(advice.suggestion, PermissionSuggestion::Deny);
    }
    let is_shell = matches!(name, "Bash" | "Shell");
    if is_shell && input.contains([';', '|', '&', '`', '\n', '>', '<', '$']) && !input.contains(['\'', '"', '\\']) {
        assert!(advice.suggestion >= PermissionSuggestion::Ask, "{input:?}: {advice}");
    }
    if name == "Read"
        && input.split('/').any(|part| part == "..")
        && hints.categories.is_empty()
        && hints.tools.iter().all(|tool| tool.starts_with("Read("))
    {
        assert!(advice.suggestion >= PermissionSuggestion::Warn, "{input:?}: {advice}");
    }
    let script = evaluator.advise(&hints, SkillAction::Category(SKILL_SCRIPT_EXECUTE)).suggestion;
    assert_eq!(script, PermissionSuggestion::Ask);
    let never = HintEvaluator::default().never("shell.execute").never("file").never("network");
    for name in ["Bash", "Read", "Write", "WebFetch"] {
        assert_eq!(never.advise(&hints, SkillAction::Tool { name, input: "x" }).suggestion, PermissionSuggestion::Deny);
    }
    assert!(evaluator.overview(&hints).iter().all(|(_, advice)| !advice.reason.is_empty()));
});
