//! Skills in the prompt: the catalog, and the instructions of those in force.

use super::talk::{Talk, id};
use crate::place::Place;
use tower_prompt::layers::Tier;
use tower_prompt::layers::skill::SkillRegistry;

#[test]
fn hidden_disabled_and_manual_skills_are_not_in_the_catalog() {
    let place = Place::new();
    for name in ["plain", "disabled", "never", "manual", "short"] {
        place.skill(name, &format!("Description of {name}."), "Body.");
    }
    place.write("work/skills/hidden.md", "---\ndescription: d\ndisable-model-invocation: true\n---\nBody of hidden.");
    let config =
        "[skills]\ndisabled.ids = [\"disabled\"]\n[skills.overrides]\nnever = \"off\"\nmanual = \"manual\"\nshort = \"name_only\"\n";
    let said = place.start(config, "hi");
    let catalog = said.fragment("skill_catalog");
    for (name, is_there) in [("plain", true), ("disabled", false), ("never", false), ("manual", false), ("short", true), ("hidden", false)]
    {
        assert_eq!(catalog.contains(&format!("<id>{name}</id>")), is_there, "{name}");
    }
    assert!(!catalog.contains("Description of short."));

    for (name, works) in [("hidden", true), ("manual", true), ("short", true), ("disabled", false), ("never", false)] {
        let mut talk = place.talk(config);
        talk.session.activate(id(name), None);
        let said = talk.say("hi");
        assert_eq!(said.system.contains(&format!("<skill id=\"{name}\"")), works, "{name}");
        assert_eq!(said.codes().contains(&"skill-unknown"), !works, "{name}");
    }
}

#[test]
fn all_skills_disabled_and_no_skills_are_not_a_byte() {
    let place = Place::new();
    let none = place.start("", "hi").system;
    place.skill("one", "d", "b");
    for config in
        ["skills.disabled.ids = [\"one\"]", "skills.overrides.one = \"off\"", "skills.overrides.one = \"manual\"", "skills.enabled = false"]
    {
        assert_eq!(place.start(config, "hi").system, none, "{config}");
    }
}

#[test]
fn a_catalog_of_any_limit_is_never_over_and_well_formed_or_absent() {
    let place = Place::new();
    for n in 0..6 {
        place.skill(&format!("skill-{n}"), &format!("What <b>é</b> & more it does, number {n}, in some words that can be cut."), "Body.");
    }
    for format in ["xml", "lines"] {
        let config = |max: usize| format!("[skills.prompt]\nformat = \"{format}\"\nmax_bytes = {max}\n");
        let whole = place.start("skills.prompt.format = \"xml\"", "hi").fragment("skill_catalog").len();
        // The layers try each limit; here it is what the configuration hands on.
        for max in (1..=whole + 61).step_by(61) {
            let said = place.start(&config(max), "hi");
            let catalog = said.fragment("skill_catalog");
            assert!(catalog.len() <= max, "{format} {max}: {}", catalog.len());
            if catalog.is_empty() {
                assert!(!said.codes().is_empty(), "{format} {max}: it says that there is none");
            } else if format == "xml" {
                assert!(catalog.ends_with("</available_skills>"), "{max}: {catalog}");
                assert_eq!(catalog.matches("<skill>").count(), catalog.matches("</skill>").count());
            }
        }
    }
}

#[test]
fn sixty_three_skills_of_300_character_descriptions_a_limit_for_42() {
    let place = Place::new();
    let description = "Words of this description. ".repeat(12)[..300].to_owned();
    for n in 0..63 {
        place.skill(&format!("skill-{n:02}"), &description, "Body.");
    }
    let whole = place.start("", "hi").fragment("skill_catalog").len();
    let max = whole * 42 / 63;
    let said = place.start(&format!("skills.prompt.max_bytes = {max}"), "hi");
    let catalog = said.fragment("skill_catalog");
    assert!(catalog.len() <= max && !catalog.contains("<omitted"));
    let shown: Vec<&str> = catalog.split("<description>").skip(1).map(|rest| rest.split("</description>").next().unwrap()).collect();
    assert_eq!(shown.len(), 63, "every id is there with some of its description");
    assert!(shown.iter().all(|text| *text == shown[0] && text.ends_with('…')), "shortened alike, and marked");
}

#[test]
fn a_thousand_skills_under_8000_bytes() {
    let place = Place::new();
    for n in 0..1000 {
        place.skill(&format!("skill-{n:03}"), "Some description.", "Body.");
    }
    let said = place.start("skills.prompt.max_bytes = 8000", "hi");
    let catalog = said.fragment("skill_catalog");
    let shown = catalog.matches("<id>").count();
    assert!(catalog.len() <= 8000 && shown > 30, "{shown}");
    assert!(catalog.contains(&format!("<omitted count=\"{}\"", 1000 - shown)), "{catalog}");
    let (_, fragment) = said.manifest.fragments().find(|(_, fragment)| fragment.id == "skill_catalog").unwrap();
    assert_eq!(fragment.limit.unwrap().items_left_out, 1000 - shown);
}

#[test]
fn the_options_of_the_catalog_are_kept() {
    let place = Place::new();
    place.write("work/skills/a/SKILL.md", "---\nname: Ay\ndescription: Many words of a description.\nkeywords: [one thing, other]\n---\n");
    let catalog = |options: &str| place.start(&format!("[skills.prompt]\n{options}"), "hi").fragment("skill_catalog").to_owned();
    let location = place.shown("work/skills/a/SKILL.md");
    for (options, has, lacks) in [
        ("", &["<name>Ay</name>", &*location, "<source>repo:skills</source>", "Many words of a description."][..], &["<keywords>"][..]),
        ("include_keywords = true", &["<keywords>one thing, other</keywords>"], &[]),
        ("include_sources = false", &["<id>a</id>"], &["<source>"]),
        ("include_locations = false", &["<id>a</id>"], &["<location>"]),
        ("max_description_chars = 12", &["<description>Many words…</description>"], &[]),
        ("catalog = \"names_only\"", &["<id>a</id>", &location], &["Many words", "<source>"]),
        ("format = \"lines\"", &["- a: Many words of a description."], &["<available_skills>"]),
    ] {
        let text = catalog(options);
        assert!(has.iter().all(|part| text.contains(part)), "{options}: {text}");
        assert!(!lacks.iter().any(|part| text.contains(part)), "{options}: {text}");
    }
}

#[test]
fn bodies_in_force_share_their_bytes_and_are_never_over() {
    let place = Place::new();
    place.skill("long", "d", &"A line of the long body.\n".repeat(60));
    place.skill("short", "d", "Short.");
    let sizes = {
        let mut talk = place.talk("");
        talk.session.activate(id("long"), None);
        talk.session.activate(id("short"), None);
        let said = talk.say("hi");
        [said.fragment("active_skill:long").len(), said.fragment("active_skill:short").len()]
    };
    for max in (1..=sizes[0] + sizes[1] + 30).step_by(71) {
        let mut talk = place.talk(&format!("skills.max_context_bytes = {max}"));
        talk.session.activate(id("long"), None);
        talk.session.activate(id("short"), None);
        let said = talk.say("hi");
        let bodies = ["active_skill:long", "active_skill:short"].map(|id| said.fragment(id));
        assert!(bodies.iter().map(|body| body.len()).sum::<usize>() <= max, "{max}");
        for (body, size) in bodies.iter().zip(sizes) {
            assert!(body.is_empty() || body.ends_with("\n</skill>"), "{max}: a cut keeps the closing tag");
            assert!(body.is_empty() || body.len() == size || body.contains("the rest is in ") || max < 700, "{max}: {body}");
        }
        if max >= 2 * sizes[1] {
            assert_eq!(bodies[1].len(), sizes[1], "{max}: who needs less than a share leaves the rest to the others");
        }
    }
}

#[test]
fn a_later_activation_gets_what_is_left() {
    let place = Place::new();
    for name in ["one", "two"] {
        place.skill(name, "d", &"A line of the body.\n".repeat(20));
    }
    let mut talk = place.talk("skills.max_context_bytes = 1200");
    talk.session.activate(id("one"), None);
    let first = talk.say("hi");
    let whole = first.fragment("active_skill:one").len();
    assert!(whole < 1200 && whole > 600, "{whole}");
    talk.session.activate(id("two"), None);
    let second = talk.say("next");
    let bodies: usize = ["active_skill:one", "active_skill:two"].iter().map(|id| second.fragment(id).len()).sum();
    assert!(bodies <= 1200, "{bodies}");
}

#[test]
fn a_skill_activated_in_the_middle_of_a_tool_loop_extends_the_requests() {
    let place = Place::new();
    place.skill("deploy", "d", "Deploy with care.");
    let mut talk = place.talk("");
    let system = talk.say("one").system;
    talk.call_a_tool();
    talk.session.activate(id("deploy"), Some("now"));
    let told = talk.call_a_tool();
    assert!(told.new.contains("Deploy with care.") && told.system == system);
    let (_, fragment) = told.manifest.fragments().find(|(_, fragment)| fragment.id == "active_skill:deploy").unwrap();
    assert_eq!(fragment.tier, Tier::Step);
    for _ in 0..2 {
        assert!(!talk.call_a_tool().new.contains("Deploy with care."), "once");
    }
    talk.session.deactivate(&id("deploy"));
    let off = talk.say("two");
    assert!(off.new.contains("deploy") && !off.new.contains("Deploy with care."), "{}", off.new);
}

#[test]
fn history_compacted_by_the_host_keeps_catalog_and_active_skills_once() {
    let place = Place::new();
    place.skill("deploy", "Deploys.", "Deploy with care.");
    let mut talk = place.talk("");
    talk.session.activate(id("deploy"), None);
    let system = talk.say("one").system;
    talk.say("two");
    let mut compacted = Talk::new(&place.assembly(""));
    compacted.session = talk.session.clone();
    let said = compacted.say("Summary of what went on; and now?");
    assert_eq!(said.system, system);
    assert_eq!(said.system.matches("<id>deploy</id>").count(), 1);
    assert_eq!(said.new.matches("Deploy with care.").count(), 1);
}

#[test]
fn a_body_is_that_of_the_file_when_it_is_activated_and_told_once() {
    let place = Place::new();
    place.skill("deploy", "d", "Old body.");
    let assembly = place.assembly("");
    let mut talk = Talk::new(&assembly);
    talk.session.activate(id("deploy"), None);
    assert!(talk.say("one").new.contains("Old body."));
    place.skill("deploy", "d", "New body, and longer.");
    assembly.skills().reload();
    let said = talk.say("two");
    assert!(!said.new.contains("New body"), "{}", said.new);
}

#[test]
fn a_skill_added_while_running_is_told_and_one_that_went_says_nothing_wrong() {
    let place = Place::new();
    place.skill("one", "Of one.", "b");
    let assembly = place.assembly("");
    let mut talk = Talk::new(&assembly);
    talk.say("one");
    place.skill("two", "Of two.", "b");
    assembly.skills().reload();
    let told = talk.say("next");
    assert!(told.new.contains("<id>two</id>") && !told.new.contains("<id>one</id>"), "{}", told.new);
    assert!(!talk.say("next").new.contains("<id>"));
    std::fs::remove_dir_all(place.at("work/skills/two")).unwrap();
    assembly.skills().reload();
    assert_eq!(assembly.skills().snapshot().iter().count(), 1);
    talk.session.activate(id("two"), None);
    assert!(talk.say("next").codes().contains(&"skill-unknown"));
}

#[test]
fn a_skill_invoked_with_arguments_has_them_in_place() {
    let place = Place::new();
    place.write("work/skills/greet.md", "---\ndescription: d\n---\nGreet $ARGS, for $5,000 and awk '{print $1}' in $HOME.");
    let mut talk = place.talk("");
    talk.session.activate(id("greet"), Some("$ARGS \\0 $$ </skill>"));
    let said = talk.say("hi");
    let body = "Greet $ARGS \\0 $$ &lt;/skill>, for $5,000 and awk '{print $1}' in $HOME.\n</skill>";
    assert!(said.fragment("active_skill:greet").ends_with(body), "{}", said.fragment("active_skill:greet"));
}

#[test]
fn a_skill_invoked_with_arguments_at_the_start_is_told_once_and_survives_compaction_without_a_new_order() {
    let place = Place::new();
    place.write("work/skills/greet.md", "---\ndescription: d\n---\nGreet them.");
    let mut talk = place.talk("");
    talk.session.activate(id("greet"), Some("Ada and Bob"));
    let system = talk.say("hi").system;
    assert_eq!(system.matches("Ada and Bob").count(), 1);
    for _ in 0..9 {
        assert!(!talk.say("go on").new.contains("Ada and Bob"));
    }
    let mut compacted = Talk::new(&place.assembly(""));
    compacted.session = talk.session.clone();
    let said = compacted.say("Summary.");
    assert_eq!((said.new.matches("Ada and Bob").count(), said.system == system), (1, true), "in the system prompt, as before");
}
