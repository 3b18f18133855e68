//! **Nothing silent.** Unknown keys, shadowed skills, skills left out of a catalog, limits that bit, repairs made to YAML: each is a diagnostic that a
//! test can read and the program shows.

use super::conversation::Conversation;
use crate::place::Place;
use proptest::prelude::*;
use tower_prompt::config::{KEYS, Loader};
use tower_prompt::layers::Diagnostic;
use tower_prompt::layers::skill::SkillRegistry;
use tower_prompt::layers::wire::Format;

fn skill_diagnostics(place: &Place) -> Vec<Diagnostic> {
    place.assembly("").skills().snapshot().diagnostics().to_vec()
}

/// Tables of ours: what they hold and nobody knows is told.
const TABLES: [&str; 8] =
    ["skills", "skills.prompt", "system_prompt", "system_prompt.sections", "context", "budget", "invariants.selector", "model.tool_output"];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn each_unknown_key_is_told_with_its_line(table in prop::sample::select(&TABLES[..]), key in "[a-z_]{1,24}", lines in 0..5_usize) {
        let path = format!("{table}.{key}");
        let is_known = KEYS.iter().any(|known| known.path == path || known.path.starts_with(&format!("{path}.")));
        let place = Place::new();
        place.write("work/bcode.toml", format!("{}[{table}]\n{key} = true\n", "# a comment\n".repeat(lines)));
        let loaded = Loader::new(&place.environment(""), &place.workspace()).load().unwrap();
        let told: Vec<_> = loaded.findings.iter().filter(|found| found.code == "key-unknown").collect();
        prop_assert_eq!(told.len(), usize::from(!is_known));
        for found in told {
            prop_assert_eq!(found.line, Some(u32::try_from(lines + 2).unwrap()));
            prop_assert!(found.message.contains(&path) && found.path.as_deref() == Some(&*place.shown("work/bcode.toml")));
        }
    }

    #[test]
    fn each_shadowed_skill_is_told_with_both_files(present in prop::collection::vec(any::<bool>(), 6)) {
        let roots = ["work/.bcode/skills", "work/skills", "work/.agents/skills", "work/.claude/skills", "home/.config/bcode/skills", "home/.claude/skills"];
        let place = Place::new();
        let files: Vec<String> = roots.iter().zip(present).filter(|(_, is_there)| *is_there).map(|(root, _)| format!("{root}/same/SKILL.md")).collect();
        files.iter().for_each(|file| drop(place.write(file, "---\nname: same\ndescription: d\n---\nBody.")));
        let told = skill_diagnostics(&place);
        prop_assert_eq!(told.len(), files.len().saturating_sub(1), "{:?}", told);
        for loser in files.iter().skip(1) {
            let about = told.iter().find(|found| found.path.as_deref() == Some(&*place.shown(loser)));
            prop_assert!(about.is_some_and(|found| found.code == "skill-shadowed" && found.message.contains(&place.shown(&files[0]))), "{:?}", told);
        }
    }

    #[test]
    fn what_a_catalog_leaves_out_is_counted_and_told(count in 1..30_usize, max in 1..3000_usize) {
        let place = Place::new();
        (0..count).for_each(|n| drop(place.skill(&format!("skill-{n}"), "Some words that say what it does.", "Body.")));
        let assembly = place.assembly(&format!("skills.prompt.max_bytes = {max}"));
        for format in Format::ALL {
            let said = Conversation::new(&assembly, format).say("hi");
            let shown: usize = said.of("skill_catalog").iter().map(|text| text.matches("<id>").count()).sum();
            let cut = said.fragments().find(|(fragment, _)| fragment.id == "skill_catalog").and_then(|(fragment, _)| fragment.limit);
            prop_assert!(shown == 0 || cut.map(|cut| cut.items_left_out) == Some(count - shown));
            prop_assert!(shown == count || said.told("limit").iter().any(|message| message.contains("`skill_catalog`")));
        }
    }

    #[test]
    fn each_repair_is_told_and_nothing_that_was_well(description in "[a-z]{1,9}( [a-z]{1,9}){0,5}", with in prop::sample::select(vec![": ", " #", "\t"]), well in any::<bool>()) {
        let place = Place::new();
        let line = if well { format!("description: \"{description}\"") } else { format!("description: Use when{with}{description} : x") };
        place.write("work/skills/a/SKILL.md", format!("---\nname: a\n{line}\n---\nBody."));
        let told = skill_diagnostics(&place);
        let repairs: Vec<_> = told.iter().filter(|found| found.code == "front-matter-repaired").collect();
        prop_assert_eq!(repairs.is_empty(), well, "{:?}", told);
        prop_assert!(repairs.iter().all(|found| found.line == Some(3) && found.path.is_some()));
    }
}

/// Each file is wrong in its way, and each is told of by its code.
#[test]
fn whatever_else_is_wrong_is_told_once() {
    let ok = |front: &str| format!("---\n{front}\n---\nBody.");
    for (code, file, text) in [
        ("field-unknown", "a/SKILL.md", ok("name: a\ndescription: d\nsurprise: 1")),
        ("field-type", "a/SKILL.md", ok("name: a\ndescription: d\nmetadata: [1]")),
        ("name-differs", "a/SKILL.md", ok("name: b\ndescription: d")),
        ("description-missing", "a/SKILL.md", ok("name: a")),
        ("front-matter-missing", "a/SKILL.md", "# A\n\nBody.".to_owned()),
        ("front-matter-unclosed", "a/SKILL.md", "---\nname: a\ndescription: d\n".to_owned()),
        ("front-matter-toml", "a/SKILL.md", ok("name = 'a'\ndescription = 'd'")),
        ("text-missing", "a/SKILL.md", "---\nname: a\n---\n".to_owned()),
        ("instruction-file-name", "a/skill.md", ok("name: a\ndescription: d")),
        ("file-not-text", "a/SKILL.md", "---\nname: a\0\n---\n".to_owned()),
        ("file-too-large", "a/SKILL.md", format!("---\nname: a\ndescription: {}\n---\n", "d".repeat(300_000))),
    ] {
        let place = Place::new();
        place.write(&format!("work/skills/{file}"), text);
        let told = skill_diagnostics(&place);
        let codes: Vec<&str> = told.iter().map(|found| &*found.code).collect();
        assert_eq!(codes.iter().filter(|found| **found == code).count(), 1, "{code}: {told:?}");
        assert!(told.iter().all(|found| found.path.is_some()), "{told:?}");
    }
}

/// The program shows what the library tells: by its own reading of the same files.
#[cfg(feature = "cli")]
#[test]
fn the_program_shows_each_of_them() {
    use std::process::{Command, Output};
    let place = Place::new();
    let skill =
        super::world::SkillText { id: "a".into(), name: "b".into(), description: "d".into(), keyword: "k".into(), body: "Body.".into() };
    place.write(&skill.path(), skill.file());
    place.write("work/.claude/skills/a/SKILL.md", "---\ndescription: Use when: x\n---\n");
    place.write("work/bcode.toml", "[skills]\nenable = true\n[skills.prompt]\nmax_bytes = 40\n");
    let run = |arguments: &[&str]| -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tower-prompt"));
        command.args(arguments).current_dir(place.at("work")).env_clear().env("HOME", place.at("home")).env("TZ", "UTC");
        command.output().unwrap()
    };
    let text = |output: &Output| [&*output.stdout, &*output.stderr].map(String::from_utf8_lossy).concat();
    let check = run(&["config", "check"]);
    assert!(
        text(&check).contains("bcode.toml:2:1") && text(&check).contains("key-unknown") && check.status.code() == Some(1),
        "{}",
        text(&check)
    );
    let listed = text(&run(&["skills", "list", "--verbose"]));
    for code in ["skill-shadowed", "name-differs", "front-matter-repaired"] {
        assert!(listed.contains(code), "{code}: {listed}");
    }
    let rendered = text(&run(&["render", "-m", "hi", "--verbose"]));
    assert!(rendered.contains("warning[limit]") && rendered.contains("`skill_catalog` was left out"), "{rendered}");
}
