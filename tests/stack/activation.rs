//! Suggestion, activation by words, and commands.

use super::talk::Said;
use crate::place::Place;

fn place() -> Place {
    let place = Place::new();
    place.write(
        "work/skills/rusty/SKILL.md",
        "---\ndescription: d\nactivation:\n  keywords: [rust, cargo, code review]\n  trigger_patterns: ['error\\[E\\d{4}\\]', '(']\n---\nBody of rusty, $ARGS.\n",
    );
    place.write(
        "work/skills/secret.md",
        "---\ndescription: d\nkeywords: [rust, cargo]\ndisable-model-invocation: true\n---\nBody of secret.",
    );
    place.write("work/skills/tool.md", "---\ndescription: d\nuser-invocable: false\n---\nBody of tool.");
    place
}
fn suggests(said: &Said) -> bool {
    said.new.contains("<skill_suggestion>")
}
fn activates(said: &Said) -> bool {
    said.new.contains("Body of")
}

#[test]
fn a_mode_decides_what_words_bring_about() {
    let place = place();
    for (mode, text, suggested, activated) in [
        ("off", "rust and cargo", false, false),
        ("suggest", "rust and cargo", true, false),
        ("suggest", "see error[E0502]", true, false),
        ("suggest", "I trust you", false, false),
        ("on", "some rust", true, false),
        ("on", "rust and cargo", false, true),
        ("on", "see error[E0502]", false, true),
        ("on", "a code_review please", false, true),
        ("on", "he said `rust and cargo`", true, false),
    ] {
        let said = place.start(&format!("skills.auto_activate = \"{mode}\""), text);
        assert_eq!((suggests(&said), activates(&said)), (suggested, activated), "{mode} {text:?}: {}", said.new);
        assert!(!said.new.contains("secret.md") && !said.new.contains("Body of secret"), "hidden from the model");
    }
}

#[test]
fn the_same_keyword_in_five_turns_is_one_suggestion_and_the_body_stands_once() {
    let place = place();
    let mut talk = place.talk("");
    let suggestions = (0..5).filter(|_| suggests(&talk.say("more rust"))).count();
    assert_eq!(suggestions, 1);
    let mut talk = place.talk("skills.auto_activate = \"on\"");
    let bodies = (0..5).filter(|_| activates(&talk.say("rust and cargo"))).count();
    assert_eq!(bodies, 1);
}

#[test]
fn so_many_suggestions_at_a_message_and_no_more() {
    let place = Place::new();
    for n in 0..9 {
        place.write(&format!("work/skills/s{n}.md"), "---\ndescription: d\nkeywords: [deploy, release notes]\n---\n");
    }
    for (config, count) in [("", 3), ("skills.matching.max_suggestions = 1", 1), ("skills.matching.max_suggestions = 20", 9)] {
        let said = place.start(config, "deploy the release notes");
        assert_eq!(said.ids_in("skill_suggestion:").len(), count, "{config}");
    }
}

#[test]
fn a_command_acts_only_where_the_host_lets_it() {
    let place = place();
    let on = "skills.commands = true";
    for (config, text, activated) in [
        ("", "/skill rusty", false),
        (on, "/skill rusty", true),
        (on, "  /skill rusty some arguments", true),
        (on, "/skill secret", true),
        (on, "/skill tool", false),
        (on, "/skill nothing", false),
        (on, "/skills rusty", false),
        (on, "say /skill rusty", false),
        (on, "/skill", false),
        ("[skills]\ncommands = true\nauto_activate = \"off\"", "/skill rusty", true),
        ("[skills]\ncommands = true\nenabled = false", "/skill rusty", false),
        ("[skills]\ncommands = true\ndisabled.ids = [\"rusty\"]", "/skill rusty", false),
        ("[skills]\ncommands = true\nprompt.catalog = \"off\"", "/skill rusty", true),
    ] {
        let said = place.start(config, text);
        assert_eq!(activates(&said), activated, "{config} {text:?}: {}", said.new);
    }
    assert!(place.start(on, "/skill rusty the </skill> $1").new.contains("Body of rusty, the &lt;/skill> $1."));
    assert!(place.start(on, "/skill nothing").codes().contains(&"skill-unknown"));
}

#[test]
fn a_command_in_the_middle_of_a_conversation_extends_it() {
    let place = place();
    let mut talk = place.talk("skills.commands = true");
    let system = talk.say("one").system;
    let said = talk.say("/skill rusty now");
    assert!(said.new.contains("Body of rusty, now.") && said.system == system);
    assert!(!activates(&talk.call_a_tool()) && !activates(&talk.say("next")), "in force, and told once");
}

#[test]
fn patterns_of_the_configuration_activate_or_suggest_as_a_skills_own() {
    let place = place();
    let patterns =
        "matching.patterns.rusty = ['(', 'borrow\\s+check']\nmatching.patterns.tool = ['made by hand']\nmatching.patterns.absent = ['x']";
    for (mode, text, suggested, activated) in [
        ("suggest", "the BORROW  checker", true, false),
        ("on", "the borrow checker", false, true),
        ("on", "made by hand", false, true),
        ("off", "the borrow checker", false, false),
        ("on", "an x", false, false),
    ] {
        let said = place.start(&format!("[skills]\nauto_activate = \"{mode}\"\n{patterns}"), text);
        assert_eq!((suggests(&said), activates(&said)), (suggested, activated), "{mode} {text:?}: {}", said.new);
    }
}

#[test]
fn a_faulty_pattern_of_the_configuration_is_told_with_its_place() {
    let place = place();
    let path = place.write("work/bcode.toml", "[skills.matching.patterns]\nrusty = ['ok', '(']\n");
    let environment = place.environment("");
    let loaded = tower_prompt::config::load(&environment, &tower_prompt::Workspace::at(place.at("work"))).unwrap();
    let found: Vec<_> = loaded.findings.iter().map(|found| (&*found.code, found.path.as_deref(), found.line, found.column)).collect();
    assert_eq!(found, [("pattern-ignored", path.to_str(), Some(2), Some(16))]);
    assert_eq!(loaded.config.skills.matching.patterns.values().next().unwrap(), &["ok", "("]);
}

#[test]
fn words_of_a_description_suggest_a_skill_that_declares_nothing() {
    let place = Place::new();
    place.skill("meal-planner", "Plan weekly meals and recipes around allergies, and write the grocery list.", "Body of meals.");
    place.skill("git-surgery", "Rewrite, split and squash commits; rescue lost work. Not for reviews.", "Body of git.");
    for (text, suggested) in [
        ("what can we cook? weekly meals for four, no nuts because of allergies", vec!["skill_suggestion:meal-planner"]),
        ("squash my last commits", vec!["skill_suggestion:git-surgery"]),
        ("rename the variable", vec![]),
    ] {
        let said = place.start("skills.auto_activate = \"on\"", text);
        assert_eq!(said.ids_in("skill_suggestion:"), suggested, "{text:?}");
        assert!(!activates(&said));
    }
}
