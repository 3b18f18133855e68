//! Skills that reload by themselves, under what editors, version control and users do to files. Each test waits for what it is told, and for as long
//! as a loaded machine may take; none for a fixed time.
#![cfg(feature = "watch")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tower_prompt::layers::skill::{SkillRegistry, SkillSourceKind, Skills};
use tower_prompt::skills::{DiscoveryOptions, FolderSkills, Root, SkillWatch, Watched};

const DEADLINE: Duration = Duration::from_secs(60);

struct Place {
    folder: TempDir,
    skills: FolderSkills,
    told: Receiver<Watched>,
    watch: Option<SkillWatch>,
}

impl Place {
    /// A watched root `a/b/skills`, as `made` makes it.
    fn new(made: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        made(folder.path());
        let root = Root::new(folder.path().join("a/b/skills"), SkillSourceKind::Configured, "configured:0");
        let skills = FolderSkills::in_roots(vec![root], &DiscoveryOptions::default());
        let (sender, told) = channel();
        let watch = skills.watch(move |watched| drop(sender.send(watched))).unwrap();
        Self { folder, skills, told, watch: Some(watch) }
    }
    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }
    /// Waits until a snapshot is told that is as it should be.
    fn until(&self, what: &str, is_so: impl Fn(&Skills) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        while !is_so(&self.skills.snapshot()) {
            match self.told.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Watched::Changed(skills)) if is_so(&skills) => return,
                Ok(_) => {}
                Err(error) => panic!("{what}: {error}, {:?}", self.skills.snapshot()),
            }
        }
    }
    fn until_ids(&self, what: &str, ids: &[&str]) {
        self.until(what, |skills| skills.iter().map(|skill| skill.summary.id.as_str()).eq(ids.iter().copied()));
    }
    fn until_described(&self, what: &str, id: &str, description: &str) {
        self.until(what, |skills| skills.get(id).is_some_and(|skill| skill.summary.description == description));
    }
}

fn text(description: &str) -> String {
    format!("---\ndescription: {description}\n---\nBody.\n")
}
fn write(path: PathBuf, description: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text(description)).unwrap();
}
fn one_skill(folder: &Path) {
    write(folder.join("a/b/skills/one/SKILL.md"), "first");
}

#[test]
fn editors_write_in_their_ways() {
    let place = Place::new(one_skill);
    let path = place.at("a/b/skills/one/SKILL.md");
    fs::write(&path, text("truncated and written")).unwrap();
    place.until_described("truncate and write", "one", "truncated and written");
    fs::write(path.with_extension("md.tmp"), text("renamed")).unwrap();
    fs::rename(path.with_extension("md.tmp"), &path).unwrap();
    place.until_described("write and rename", "one", "renamed");
    fs::rename(&path, path.with_extension("md~")).unwrap();
    fs::write(&path, text("backed up")).unwrap();
    place.until_described("back up and write", "one", "backed up");
    fs::remove_file(&path).unwrap();
    place.until_ids("remove", &[]);
    fs::write(&path, text("again")).unwrap();
    place.until_described("write anew", "one", "again");
}

#[test]
fn folders_come_move_and_go() {
    let place = Place::new(one_skill);
    write(place.at("elsewhere/two/SKILL.md"), "second");
    fs::rename(place.at("elsewhere/two"), place.at("a/b/skills/two")).unwrap();
    place.until_ids("moved in", &["one", "two"]);
    fs::rename(place.at("a/b/skills/two"), place.at("a/b/skills/three")).unwrap();
    place.until_ids("renamed", &["one", "three"]);
    let location = place.skills.snapshot().get("three").unwrap().summary.location.clone();
    assert_eq!(Path::new(&location), place.at("a/b/skills/three/SKILL.md"));
    fs::write(place.at("a/b/skills/three/SKILL.md"), text("written where it is now")).unwrap();
    place.until_described("written behind a rename", "three", "written where it is now");
    write(place.at("a/b/skills/group/deep/four/SKILL.md"), "fourth");
    place.until_ids("made in folders that are new", &["four", "one", "three"]);
    fs::remove_dir_all(place.at("a/b/skills/group")).unwrap();
    place.until_ids("removed", &["one", "three"]);
}

#[test]
fn a_root_appears_is_renamed_and_comes_back() {
    let place = Place::new(|_| {});
    write(place.at("a/b/skills/one/SKILL.md"), "first");
    place.until_ids("made with the folders above it", &["one"]);
    write(place.at("a/b/skills/two/SKILL.md"), "second");
    place.until_ids("watched since", &["one", "two"]);
    fs::rename(place.at("a/b"), place.at("a/c")).unwrap();
    place.until_ids("the folder above is renamed", &[]);
    fs::rename(place.at("a/c"), place.at("a/b")).unwrap();
    place.until_ids("and is back", &["one", "two"]);
    fs::remove_dir_all(place.at("a")).unwrap();
    place.until_ids("removed", &[]);
    write(place.at("a/b/skills/three/SKILL.md"), "third");
    place.until_ids("made anew", &["three"]);
}

#[test]
fn thousands_of_events_end_in_what_is_there() {
    let place = Place::new(one_skill);
    for number in 0..1_500 {
        let folder = place.at(&format!("a/b/skills/s{number:04}"));
        write(folder.join("SKILL.md"), "made");
        write(folder.join("references/more.md"), "more");
        if number % 3 == 0 {
            fs::remove_dir_all(folder).unwrap();
        }
    }
    place.until("a thousand, and the one before", |skills| skills.len() == 1_001);
}

#[cfg(unix)]
#[test]
fn what_a_link_leads_to_is_watched() {
    let place = Place::new(|folder| {
        write(folder.join("store/one.md"), "first");
        write(folder.join("store/folder/two/SKILL.md"), "second");
        fs::create_dir_all(folder.join("a/b/skills/one")).unwrap();
        std::os::unix::fs::symlink(folder.join("store/one.md"), folder.join("a/b/skills/one/SKILL.md")).unwrap();
        std::os::unix::fs::symlink(folder.join("store/folder/two"), folder.join("a/b/skills/two")).unwrap();
    });
    place.until_ids("found", &["one", "two"]);
    write(place.at("store/one.md"), "first, changed");
    place.until_described("the file that a link leads to", "one", "first, changed");
    write(place.at("store/folder/two/SKILL.md"), "second, changed");
    place.until_described("the folder that a link leads to", "two", "second, changed");
}

#[test]
fn a_dropped_watch_tells_nothing_more() {
    let mut place = Place::new(one_skill);
    fs::write(place.at("a/b/skills/one/SKILL.md"), text("second")).unwrap();
    place.until_described("while it is there", "one", "second");
    drop(place.watch.take());
    while place.told.try_recv().is_ok() {}
    write(place.at("a/b/skills/two/SKILL.md"), "unheard");
    // Its thread has ended, and with it the other end.
    assert!(place.told.recv().is_err());
    assert_eq!(place.skills.snapshot().len(), 1);
}
