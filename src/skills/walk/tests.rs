//! What is read again, and what is not.

use super::listing::{Kind, Listing};
use super::{Folder, MAX_KEPT, Walk, What};
use crate::layers::skill::SkillSourceKind;
use crate::skills::known::{Known, KnownFile};
use crate::skills::roots::Root;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The files found in this root, and of how many of them a stat was enough; all are known from then on, as of a time at which each is settled.
fn look(known: &mut Known, folder: &Path) -> (usize, usize) {
    look_at(known, folder, SystemTime::now())
}

fn look_at(known: &mut Known, folder: &Path, start: SystemTime) -> (usize, usize) {
    let root = Root::new(folder, SkillSourceKind::Configured, "configured:0");
    let mut walk = Walk::new(known, start);
    let (finds, place) = walk.root(0, &root, true, 1_000).unwrap();
    let count = finds.len();
    let unchanged = finds.iter().filter(|find| matches!(find.file, What::Unchanged(..))).count();
    let files = finds.into_iter().map(|find| {
        let (stamp, reading) = match find.file {
            What::Unchanged(_, file) => (file.stamp, file.reading.clone()),
            What::Read(file) => (file.stamp, file.reading),
        };
        (find.key, KnownFile { root: 0, is_settled: true, stamp, reading })
    });
    let files = files.collect();
    let (listings, evidence, said) = (walk.listings, walk.evidence, walk.diagnostics);
    known.set(files, vec![Some(place)], said);
    known.set_found(listings, evidence);
    (count, unchanged)
}

#[test]
fn a_file_whose_stamp_holds_is_not_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "deep/c"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("SKILL.md"), "---\ndescription: d\n---\n").unwrap();
    }
    fs::write(folder.path().join("flat.md"), "---\ndescription: d\n---\n").unwrap();
    fs::write(folder.path().join("notes.md"), "none").unwrap();
    // By a detour, and with a separator at its end, it is the same folder.
    for root in [folder.path().to_owned(), folder.path().join("deep/../"), folder.path().join("")] {
        let mut known = Known::default();
        assert_eq!(look(&mut known, &root), (5, 0));
        assert_eq!(look(&mut known, &root), (5, 5));
        fs::write(folder.path().join("b/SKILL.md"), format!("---\ndescription: {}\n---\n", root.display())).unwrap();
        assert_eq!(look(&mut known, &root), (5, 4));
        fs::rename(folder.path().join("deep/c"), folder.path().join("deep/d")).unwrap();
        assert_eq!(look(&mut known, &root), (5, 4));
        fs::rename(folder.path().join("deep/d"), folder.path().join("deep/c")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_a_known_file_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let (file, elsewhere) = (folder.path().join("root/a/SKILL.md"), folder.path().join("elsewhere.md"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "---\ndescription: d\n---\n").unwrap();
    let mut known = Known::default();
    let root = folder.path().join("root");
    assert_eq!(look(&mut known, &root), (1, 0));
    // The very same inode, behind a link.
    fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    assert_eq!(look(&mut known, &root), (1, 0));
    assert_eq!(look(&mut known, &root), (1, 1));
}

#[cfg(unix)]
#[test]
fn a_folder_whose_stamp_holds_is_not_listed_again_and_one_that_changed_is() {
    let folder = tempfile::tempdir().unwrap();
    let skill = |name: &str| {
        fs::create_dir_all(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("SKILL.md"), "---\ndescription: d\n---\n").unwrap();
    };
    ["a", "group/b"].into_iter().for_each(skill);
    let listings = |known: &Known| {
        let folders = [folder.path().to_owned(), folder.path().join("group")];
        folders.map(|folder| known.listed(known.key(&folder)).map(|listed| listed.listing.clone()))
    };
    let same = |a: &Option<Arc<Listing>>, b: &Option<Arc<Listing>>| matches!((a, b), (Some(a), Some(b)) if Arc::ptr_eq(a, b));
    let mut known = Known::default();
    // What changed a moment ago may change again within the same tick of the clock.
    assert_eq!(look_at(&mut known, folder.path(), SystemTime::now()), (2, 0));
    assert!(listings(&known).iter().all(Option::is_none));

    let later = SystemTime::now() + Duration::from_secs(10);
    assert_eq!(look_at(&mut known, folder.path(), later), (2, 2));
    let before = listings(&known);
    assert_eq!(look_at(&mut known, folder.path(), later), (2, 2));
    assert!(before.iter().zip(&listings(&known)).all(|(a, b)| same(a, b)));

    let group = folder.path().join("group");
    let stamp = Listing::stamp(&group);
    skill("group/c");
    while Listing::stamp(&group) == stamp {
        fs::write(group.join("tick"), "").unwrap();
        fs::remove_file(group.join("tick")).unwrap();
    }
    assert_eq!(look_at(&mut known, folder.path(), later), (3, 2));
    let [root, group] = listings(&known);
    assert!(same(&before[0], &root) && !same(&before[1], &group));
}

#[cfg(unix)]
#[test]
fn of_very_many_entries_no_more_are_kept_than_there_is_room_for() {
    let folder = tempfile::tempdir().unwrap();
    let (stamp, known) = (Listing::stamp(folder.path()), Known::default());
    let of = |entries: usize| Arc::new(Listing { folders: vec![(OsStr::new("a").into(), Kind::Folder); entries], files: Vec::new() });
    let mut walk = Walk::new(&known, SystemTime::now() + Duration::from_secs(10));
    let at = Folder::new(folder.path().to_owned(), folder.path().to_owned());
    for entries in [40_000, 40_000, 20_000, MAX_KEPT, 5_536] {
        walk.keep(&at, stamp, &of(entries));
    }
    let kept: Vec<usize> = walk.listings.iter().map(|(_, listed)| listed.listing.entries()).collect();
    assert_eq!(kept, [40_000, 20_000, 5_536]);
}

/// What may be done to a tree, with numbers for its paths.
#[cfg(unix)]
#[derive(Clone, Debug)]
enum Act {
    Write(usize, usize, bool),
    Remove(usize, usize),
    RemoveFolder(usize),
    Move(usize, usize),
    Link(usize, usize),
    Nothing,
}

#[cfg(unix)]
const FOLDERS: [&str; 6] = ["", "a", "a/b", "a/b/c", "d", "d/e"];
#[cfg(unix)]
const FILES: [&str; 6] = ["SKILL.md", "skill.md", "README.md", "flat.md", ".git", "SKILL.md/x"];

#[cfg(unix)]
impl Act {
    /// Does it as far as it can be done, and gives each folder above a time of its own, as clocks of file systems are coarse.
    fn on(&self, root: &Path, tick: u64) {
        let folder = |at: usize| root.join(FOLDERS[at % FOLDERS.len()]);
        let file = |at: usize, name: usize| folder(at).join(FILES[name % FILES.len()]);
        let done = match *self {
            Self::Write(at, name, is_skill) => {
                let path = file(at, name);
                let _ = fs::create_dir_all(path.parent().unwrap());
                fs::write(path, if is_skill { format!("---\nname: n\ndescription: d{tick}\n---\n") } else { "gitdir: none".to_owned() })
            }
            Self::Remove(at, name) => fs::remove_file(file(at, name)),
            Self::RemoveFolder(at) if at % FOLDERS.len() > 0 => fs::remove_dir_all(folder(at)),
            Self::Move(from, to) if from % FOLDERS.len() > 0 => fs::rename(folder(from), folder(to).join("moved")),
            Self::Link(from, to) => std::os::unix::fs::symlink(folder(from), folder(to).join("link")),
            _ => Ok(()),
        };
        if done.is_err() || matches!(self, Self::Nothing) {
            return;
        }
        for (path, at) in FOLDERS.iter().zip(0..) {
            let Ok(folder) = fs::File::open(root.join(path)) else { continue };
            folder.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + tick * 100 + at)).unwrap();
        }
    }
}

#[cfg(unix)]
proptest::proptest! {
    #[test]
    fn what_is_seen_to_stand_by_stamps_alone_would_be_found_the_same(acts in proptest::collection::vec(act(), 1..24)) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        let roots = [Root::new(&root, SkillSourceKind::Configured, "configured:0")];
        let later = SystemTime::now() + Duration::from_secs(100);
        let mut known = Known::default();
        look_at(&mut known, &root, later);
        for (act, tick) in acts.iter().zip(0..) {
            act.on(&root, tick);
            let before: Vec<_> = known.files().iter().map(|file| (file.stamp, file.reading.clone())).collect();
            let said = std::mem::take(&mut known.diagnostics);
            let stands = Walk::still_holds(&known, &roots, true);
            let (count, unchanged) = look_at(&mut known, &root, later);
            let after: Vec<_> = known.files().iter().map(|file| (file.stamp, file.reading.clone())).collect();
            if stands {
                proptest::prop_assert_eq!(before, after, "{:?}", act);
                proptest::prop_assert_eq!(count, unchanged);
                proptest::prop_assert_eq!(&said, &known.diagnostics);
            }
        }
    }
}

#[cfg(unix)]
fn act() -> impl proptest::strategy::Strategy<Value = Act> {
    use proptest::prelude::*;
    let some = || 0_usize..6;
    prop_oneof![
        4 => (some(), some(), any::<bool>()).prop_map(|(at, name, is_skill)| Act::Write(at, name, is_skill)),
        1 => (some(), some()).prop_map(|(at, name)| Act::Remove(at, name)),
        1 => some().prop_map(Act::RemoveFolder),
        1 => (some(), some()).prop_map(|(from, to)| Act::Move(from, to)),
        1 => (some(), some()).prop_map(|(from, to)| Act::Link(from, to)),
        1 => Just(Act::Nothing),
    ]
}

#[cfg(unix)]
#[test]
fn a_tree_without_links_is_seen_to_stand_by_its_stamps() {
    let folder = tempfile::tempdir().unwrap();
    let roots = [Root::new(folder.path(), SkillSourceKind::Configured, "configured:0")];
    let later = SystemTime::now() + Duration::from_secs(100);
    for (path, text) in
        [("a/SKILL.md", "---\ndescription: d\n---\n"), ("group/README.md", "none"), ("group/b/SKILL.md", "torn"), ("notes.md", "none")]
    {
        fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
        fs::write(folder.path().join(path), text).unwrap();
    }
    let mut known = Known::default();
    assert!(!Walk::still_holds(&known, &roots, true));
    look_at(&mut known, folder.path(), later);
    assert!(Walk::still_holds(&known, &roots, true));
    fs::write(folder.path().join("group/README.md"), "---\ndescription: d\n---\n").unwrap();
    assert!(!Walk::still_holds(&known, &roots, true));
    look_at(&mut known, folder.path(), later);
    // A `SKILL.md` beside it would come first.
    assert!(!Walk::still_holds(&known, &roots, true));
}
