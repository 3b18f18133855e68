//! `skills remove`.

use crate::place::Place;
use std::fs;

#[test]
fn a_skill_is_removed_by_its_id() {
    let place = Place::new();
    for (folder, text) in
        [("one", "---\ndescription: d\n---\n"), ("two", "---\nid: second\ndescription: d\n---\n"), ("broken", "---\nopen")]
    {
        place.write(&format!("home/.config/bcode/skills/{folder}/SKILL.md"), text);
    }
    place.write("home/.config/bcode/skills/flat.md", "---\ndescription: d\n---\n");
    let near = place.run(&["skills", "remove", "secnod"]);
    assert!(near.failure().contains("did you mean `second`?"), "{}", near.stderr);
    for (id, path) in [("one", "one"), ("second", "two"), ("broken", "broken"), ("flat", "flat.md")] {
        let path = place.shown(&format!("home/.config/bcode/skills/{path}"));
        assert_eq!(place.run(&["skills", "remove", id]).data(), format!("{path}\n"));
    }
    assert_eq!(fs::read_dir(place.at("home/.config/bcode/skills")).unwrap().count(), 0);
    assert!(place.run(&["skills", "remove", "one"]).failure().contains("there is no skill `one`"));
}

#[test]
fn what_is_no_skill_directly_in_the_folder_stays() {
    let place = Place::new();
    place.write("work/to/pack/deep/SKILL.md", "---\ndescription: d\n---\n");
    place.write("work/to/files/thesis.txt", "years of work");
    place.write("work/secret/SKILL.md", "---\ndescription: d\n---\n");
    assert!(place.run(&["skills", "remove", "deep", "--from", "to"]).failure().contains("only what stands directly in the folder"));
    for id in ["files", "pack", "..", ".", "../secret", "", "/", "to"] {
        assert!(place.run(&["skills", "remove", id, "--from", "to"]).failure().contains("there is no skill"), "{id}");
    }
    assert!(place.run(&["skills", "remove", "x", "--from", "missing"]).failure().contains("there is no skill"));
    for path in ["to/pack/deep/SKILL.md", "to/files/thesis.txt", "secret/SKILL.md"] {
        assert!(place.at("work").join(path).exists());
    }
}

#[test]
fn a_folder_that_is_itself_a_skill_is_not_removed_with_all_that_is_in_it() {
    let place = Place::new();
    place.write("work/to/SKILL.md", "---\ndescription: d\n---\n");
    place.write("work/to/thesis.txt", "years of work");
    assert!(place.run(&["skills", "remove", "to", "--from", "to"]).failure().contains("only what stands directly"));
    assert!(place.at("work/to/thesis.txt").exists());
}

#[cfg(unix)]
#[test]
fn of_a_link_the_link_alone_is_removed() {
    let place = Place::new();
    place.write("mine/SKILL.md", "---\ndescription: d\n---\n");
    fs::create_dir(place.at("work/to")).unwrap();
    for (link, to) in [("one", place.at("mine")), ("dangling", place.at("nowhere"))] {
        std::os::unix::fs::symlink(to, place.at("work/to").join(link)).unwrap();
        place.run(&["skills", "remove", link, "--from", "to"]).data();
    }
    assert!(place.at("mine/SKILL.md").exists());
    assert_eq!(fs::read_dir(place.at("work/to")).unwrap().count(), 0);
}
