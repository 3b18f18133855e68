//! **No broken file stops anything.** A malformed, huge or hostile skill, configuration or instruction file costs a diagnostic with its place, and never
//! a start-up, a request or another skill. What the user names himself must be right.

use super::bodies::all_text;
use super::conversation::{Conversation, id};
use super::random::{any_world, bad_text};
use super::world::World;
use crate::place::Place;
use proptest::prelude::*;
use proptest::sample::Index;
use std::fs;
use tower_prompt::Assembly;
use tower_prompt::config::Loader;
use tower_prompt::layers::skill::SkillRegistry;
use tower_prompt::layers::wire::Format;
use tower_prompt::layers::{Diagnostic, Severity};

/// What becomes of a file.
#[derive(Clone, Debug)]
enum Damage {
    /// These bytes stand in the place of that many.
    Splice(Index, usize, Vec<u8>),
    /// All of it.
    Bytes(Vec<u8>),
    Truncated(Index),
    Folder,
    Gone,
}

fn any_damage() -> impl Strategy<Value = Damage> {
    let text = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        bad_text().prop_map(String::into_bytes),
        prop::sample::select(vec!["[", "&a [*a,*a]", "\t", "\0", ": : :", "\u{feff}", "---\n", "*x", "{{", "\r", "!!python/object"])
            .prop_map(|text| text.repeat(60).into_bytes()),
    ];
    prop_oneof![
        4 => (any::<Index>(), 0..80_usize, text.clone()).prop_map(|(at, length, bytes)| Damage::Splice(at, length, bytes)),
        2 => text.prop_map(Damage::Bytes),
        2 => any::<Index>().prop_map(Damage::Truncated),
        1 => Just(Damage::Folder),
        1 => Just(Damage::Gone),
    ]
}

const FILES: [&str; 6] = [
    "work/skills/skill-0/SKILL.md",
    "work/AGENTS.md",
    "work/INVARIANTS.md",
    "work/bcode.toml",
    "work/.bcode/bcode.toml",
    "work/deep/AGENTS.md",
];

fn damage(place: &Place, file: &str, damage: &Damage) {
    let path = place.at(file);
    let mut bytes = fs::read(&path).unwrap();
    match damage {
        Damage::Splice(at, length, new) => {
            let from = at.index(bytes.len() + 1);
            let to = (from + length).min(bytes.len());
            bytes.splice(from..to, new.iter().copied());
        }
        Damage::Bytes(new) => bytes.clone_from(new),
        Damage::Truncated(at) => bytes.truncate(at.index(bytes.len() + 1)),
        Damage::Folder | Damage::Gone => fs::remove_file(&path).unwrap(),
    }
    match damage {
        Damage::Folder => fs::create_dir(&path).unwrap(),
        Damage::Gone => {}
        _ => fs::write(&path, bytes).unwrap(),
    }
}

/// Where something went wrong.
fn has_a_place(found: &Diagnostic) -> bool {
    found.path.as_deref().is_some_and(|path| !path.is_empty())
}

fn put(world: &World, place: &Place) {
    world.put(place, false);
    place.write("work/bcode.toml", "[skills]\nauto_activate = 'off'\n[skills.prompt]\nmax_bytes = 100000\n");
    place.write("work/.bcode/bcode.toml", "[system_prompt]\nagent_suffix = 'SUFFIX'\n");
    place.skill("good", "Stays whole.", "Body of the good one.");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn whatever_becomes_of_files_the_rest_is_there_and_each_fault_has_a_place(
        world in any_world(), damages in prop::collection::vec((0..FILES.len(), any_damage()), 1..4),
    ) {
        let place = Place::new();
        put(&world, &place);
        for (file, what) in &damages {
            if place.at(FILES[*file]).is_file() {
                damage(&place, FILES[*file], what);
            }
        }
        let (environment, workspace) = (place.environment(""), place.workspace());
        let loaded = Loader::new(&environment, &workspace).load();
        let loaded = loaded.map_err(|error| TestCaseError::fail(format!("a discovered file stopped: {error}")))?;
        for found in &loaded.findings {
            prop_assert!(has_a_place(found) && (found.severity < Severity::Error || found.line.is_some() || !place.at(FILES[3]).is_file() || !place.at(FILES[4]).is_file()), "{}", found);
        }
        // A number that was cut off may be a number still.
        let has_room = loaded.config.skills.prompt.max_bytes.is_none_or(|most| most.get() >= 100_000);
        let assembly = Assembly::new(loaded.config, &environment, &workspace);
        let skills = assembly.skills().snapshot();
        prop_assert!(skills.diagnostics().iter().all(has_a_place), "{:?}", skills.diagnostics());
        if skills.get("skill-0").is_none() {
            // Nothing there is nothing wrong; all else that loads no more is told.
            let shown = place.shown(FILES[0]);
            let about = skills.diagnostics().iter().any(|found| found.path.as_deref().is_some_and(|path| shown.starts_with(path)));
            prop_assert!(about || !place.at(FILES[0]).is_file(), "silent: {:?}", skills.diagnostics());
        }
        for skill in &world.skills[1..] {
            prop_assert!(skills.get(&skill.id).is_some(), "{} fell too", skill.id);
        }
        for format in Format::ALL {
            let mut talk = Conversation::new(&assembly, format);
            talk.session.activate(id("good"), None);
            talk.session.activate(id("skill-0"), None);
            let said = talk.say("the user's own words");
            prop_assert!(said.system().contains("Body of the good one."));
            prop_assert!(!has_room || said.system().contains("<description>Stays whole.</description>"));
            prop_assert!(said.system().contains("<user_authority>"));
            prop_assert!(all_text(&said.body).contains("the user's own words"));
        }
    }
}

#[test]
fn a_file_that_the_user_names_stops_with_its_place() {
    let place = Place::new();
    let (environment, workspace) = (place.environment(""), place.workspace());
    let broken = place.write("work/own.toml", "[skills]\nenabled = 3\n");
    let error = Loader::new(&environment, &workspace).file(&broken).load().unwrap_err();
    let found = &error.findings()[0];
    assert_eq!((found.path.as_deref(), found.line, found.column), (broken.to_str(), Some(2), Some(11)), "{error}");
    assert!(Loader::new(&environment, &workspace).file(place.at("work/nowhere.toml")).load().is_err());
    assert!(Assembly::load(&environment.variable("BCODE_SKILLS__ENABLED", "maybe"), &workspace).is_err());
}
