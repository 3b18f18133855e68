//! Installations that end before they are done, and several at once.
#![cfg(unix)]

use crate::place::Place;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

const FILES: usize = 14;

/// A skill of some files, each of which tells its version.
fn write_version(place: &Place, version: &str) {
    place.write(&format!("{version}/one/SKILL.md"), format!("---\nname: one\ndescription: d\n---\n{version}"));
    (1..FILES).for_each(|n| drop(place.write(&format!("{version}/one/references/{n}.md"), format!("{version}{n}"))));
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                found.insert(path.strip_prefix(folder).unwrap().to_string_lossy().into_owned(), text);
            }
        }
    }
    found
}

/// Kills it when so many files are staged, or lets it end.
fn kill_at(mut child: Child, folder: &Path, count: usize) {
    while child.try_wait().unwrap().is_none() {
        let staged = files(folder).keys().filter(|path| path.starts_with(".staging-")).count();
        if staged >= count {
            break;
        }
    }
    let _ = child.kill();
    child.wait().unwrap();
}

#[test]
fn killed_at_any_point_there_is_the_old_skill_or_the_new_one_or_none_and_never_a_part() {
    let place = Place::new();
    for version in ["old", "new"] {
        write_version(&place, version);
    }
    let (old, new) = (files(&place.at("old/one")), files(&place.at("new/one")));
    assert_eq!(new.len(), FILES);
    let mut killed_before = 0;
    for count in 0..2 * FILES + 2 {
        // Into a folder with an old one, and into one that is empty.
        let is_there = count % 2 == 0;
        let to = place.at("to");
        let _ = fs::remove_dir_all(to.join("one"));
        if is_there {
            place.run(&["skills", "install", "../old", "--to", "../to"]).data();
        }
        let mut command = place.command(&["skills", "install", "../new", "--to", "../to", "--force"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        kill_at(child, &to, count / 2);
        let found = files(&to.join("one"));
        let is_new = found == new;
        killed_before += usize::from(!is_new);
        assert!(is_new || if is_there { found == old } else { !to.join("one").exists() }, "{count}: {found:?}");
        let listed = place.run(&["skills", "list", "--root", "../to", "--json"]).json();
        assert!(listed["skills"].as_array().is_none_or(|skills| skills.len() <= 1), "what is staged is no skill: {listed}");
    }
    assert!(killed_before > 0, "each of them was too late");
    // The next one finds nothing in its way, and leaves nothing behind.
    place.run(&["skills", "install", "../new", "--to", "../to", "--force"]).data();
    assert_eq!(files(&place.at("to/one")), new);
    let names: Vec<_> = fs::read_dir(place.at("to")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["one"]);
}

#[test]
fn killed_while_it_fetches_there_is_what_there_was_and_the_next_one_clears_up() {
    for (name, source) in [("git", "file:///nowhere"), ("npm", "some-skill")] {
        let place = Place::new();
        write_version(&place, "old");
        place.run(&["skills", "install", "../old", "--to", "../to"]).data();
        let old = files(&place.at("to/one"));
        let program =
            place.write(&format!("bin/{name}"), format!("#!/bin/sh\necho part > part\necho $$ > {}\nexec sleep 600\n", place.shown("pid")));
        fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", place.shown("bin"));
        let mut command = place.command(&["skills", "install", source, "--to", "../to", "--force"]);
        let mut child = command.env("PATH", path).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pid = loop {
            let pid = fs::read_to_string(place.at("pid")).unwrap_or_default();
            if pid.ends_with('\n') {
                break pid;
            }
            assert!(child.try_wait().unwrap().is_none(), "{name}: it ended");
        };
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(std::process::Command::new("kill").args(["-9", pid.trim()]).status().unwrap().success());
        assert_eq!(files(&place.at("to/one")), old, "{name}");
        let listed = place.run(&["skills", "list", "--root", "../to", "--json"]).json();
        assert_eq!(listed["skills"].as_array().map(Vec::len), Some(1), "{name}: {listed}");
        place.run(&["skills", "install", "../old", "--to", "../to", "--force"]).data();
        let names: Vec<_> = fs::read_dir(place.at("to")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["one"], "{name}");
    }
}

#[test]
fn what_is_staged_is_found_by_no_search() {
    let place = Place::new();
    place.write("work/skills/.staging-1-0/tree/one/one/SKILL.md", "---\ndescription: d\n---\n");
    place.write("work/skills/.staging-1-0/SKILL.md", "---\ndescription: d\n---\n");
    let run = place.run(&["skills", "list", "--json"]);
    assert_eq!(run.json()["skills"].as_array().map(Vec::len), Some(0), "{}", run.stdout);
}

#[test]
fn of_several_at_once_one_is_first() {
    let place = Place::new();
    write_version(&place, "new");
    let start = || {
        let mut command = place.command(&["skills", "install", "../new", "--to", "../to"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<Child> = (0..4).map(|_| start()).collect();
    let ended: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    assert_eq!(ended.iter().filter(|output| output.status.success()).count(), 1);
    let told = ended.iter().filter(|output| String::from_utf8_lossy(&output.stderr).contains("there already")).count();
    assert_eq!(told, 3);
    assert_eq!(files(&place.at("to/one")).len(), FILES);
    assert_eq!(fs::read_dir(place.at("to")).unwrap().count(), 1);
}
