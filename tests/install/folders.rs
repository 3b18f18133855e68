//! Folders as sources, and what stands where skills are to go.

use crate::place::Place;
use std::fs;

const SKILL: &str = "---\nname: one\ndescription: Does one.\n---\nBody\n";

#[test]
fn a_folder_is_copied_without_what_is_not_of_the_skill() {
    let place = Place::new();
    for id in ["one", "two"] {
        place.write(&format!("src/pack/{id}/SKILL.md"), SKILL.replace("one", id));
    }
    place.write("src/pack/one/references/a.md", "text");
    place.write("src/pack/one/.git/config", "x");
    place.write("src/README.md", "---\ndescription: of the collection\n---\n");
    place.write("src/flat.md", "---\ndescription: flat\n---\n");
    let run = place.run(&["skills", "install", "../src", "--to", "skills", "--verbose"]);
    assert_eq!(run.data(), format!("{0}/one\n{0}/two\n", place.shown("work/skills")));
    assert!(run.stderr.contains("flat.md: note[skill-flat]"), "{}", run.stderr);
    let mut names: Vec<_> = fs::read_dir(place.at("work/skills/one")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["SKILL.md", "references"]);
    fs::remove_dir_all(place.at("src")).unwrap();
    assert!(place.run(&["skills", "show", "one"]).data().contains("Body"), "a copy, not a link");
}

#[test]
fn a_folder_that_is_itself_a_skill_keeps_its_name() {
    let place = Place::new();
    place.write("work/one/SKILL.md", SKILL);
    place.write("work/one/nested/SKILL.md", "of the skill's own");
    for (source, to) in [("one", "a"), ("one/", "b"), ("./one", "c")] {
        assert_eq!(place.run(&["skills", "install", source, "--to", to]).data(), place.shown(&format!("work/{to}/one\n")));
        assert!(place.at(format!("work/{to}/one/nested/SKILL.md")).exists());
    }
}

#[cfg(unix)]
#[test]
fn links_and_pipes_cost_the_skill_that_they_are_in_and_no_other() {
    let place = Place::new();
    for id in ["linked", "piped", "good"] {
        place.write(&format!("src/{id}/SKILL.md"), SKILL.replace("one", id));
    }
    std::os::unix::fs::symlink("/etc/passwd", place.at("src/linked/passwd")).unwrap();
    std::os::unix::fs::symlink("good", place.at("src/alias")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(place.at("src/piped/pipe")).status().unwrap().success());
    let run = place.run(&["skills", "install", "../src", "--to", "skills", "--verbose"]);
    assert_eq!((run.code, run.stdout), (1, place.shown("work/skills/good\n")));
    for said in
        ["`linked/passwd` in it is refused: it is a link", "`piped/pipe` in it is refused", "alias: note[entry-passed-over]: it is a link"]
    {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    let wanted = place.run(&["skills", "install", "../src", "--to", "other", "--only", "linked"]);
    assert!(wanted.failure().contains("it is a link") && !place.at("work/other").exists());
}

#[test]
fn a_source_and_a_destination_in_one_another_are_refused() {
    let place = Place::new();
    place.write("work/skills/one/SKILL.md", SKILL);
    for (source, to) in
        [(".", "skills"), ("skills", "skills"), ("skills/one", "skills"), ("skills/one", "skills/one/deep"), ("skills", ".")]
    {
        let run = place.run(&["skills", "install", source, "--to", to, "--force"]);
        assert!(run.failure().contains("lie in one another"), "{source} {to}: {}", run.stderr);
    }
    assert_eq!(fs::read_to_string(place.at("work/skills/one/SKILL.md")).unwrap(), SKILL);
    assert_eq!(fs::read_dir(place.at("work/skills")).unwrap().count(), 1);
}

#[test]
fn what_is_no_skill_is_not_replaced() {
    let place = Place::new();
    place.write("src/one/SKILL.md", SKILL);
    place.write("work/to/one/thesis.txt", "years of work");
    let run = place.run(&["skills", "install", "../src", "--to", "to", "--force"]);
    assert!(run.failure().contains("is no skill"), "{}", run.stderr);
    assert!(place.at("work/to/one/thesis.txt").exists());
    place.write("work/file/one", "a file");
    assert!(place.run(&["skills", "install", "../src", "--to", "file", "--force"]).failure().contains("is no skill"));
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_skill_is_replaced_and_not_followed() {
    let place = Place::new();
    place.write("src/one/SKILL.md", SKILL);
    place.write("mine/SKILL.md", "---\ndescription: mine\n---\n");
    fs::create_dir(place.at("work/to")).unwrap();
    std::os::unix::fs::symlink(place.at("mine"), place.at("work/to/one")).unwrap();
    assert!(place.run(&["skills", "install", "../src", "--to", "to"]).failure().contains("there already"));
    place.run(&["skills", "install", "../src", "--to", "to", "--force"]).data();
    assert!(place.at("mine/SKILL.md").exists() && !place.at("work/to/one").is_symlink());
    assert_eq!(fs::read_to_string(place.at("work/to/one/SKILL.md")).unwrap(), SKILL);
}

#[test]
fn another_skill_of_the_same_id_is_told() {
    let place = Place::new();
    place.write("src/one/SKILL.md", SKILL);
    place.write("work/to/other/SKILL.md", "---\nid: one\ndescription: d\n---\n");
    let run = place.run(&["skills", "install", "../src", "--to", "to"]);
    run.data();
    assert!(run.stderr.contains("warning[id-elsewhere]") && run.stderr.contains("other/SKILL.md"), "{}", run.stderr);
}

#[test]
fn ids_that_can_be_no_folder_are_refused() {
    let place = Place::new();
    for (folder, id) in [("a", "nul"), ("b", ".staging-1"), ("c", "a:b"), ("d", "..")] {
        place.write(&format!("src/{folder}/SKILL.md"), format!("---\nid: \"{id}\"\ndescription: d\n---\n"));
    }
    let run = place.run(&["skills", "install", "../src", "--to", "to"]);
    assert_eq!(run.failure().matches("error[skill-not-installed]").count(), 4, "{}", run.stderr);
    assert!(!place.at("work/to").exists());
}
