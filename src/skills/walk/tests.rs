//! What is read again, and what is not.

use super::listing::{Kind, Listing};
use super::{MAX_KEPT, Walk, What};
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
    let listings = walk.listings;
    known.set(files, vec![Some(place)], Vec::new());
    known.set_listings(listings);
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
    for entries in [40_000, 40_000, 20_000, MAX_KEPT, 5_536] {
        walk.keep(known.key(folder.path()), stamp, &of(entries));
    }
    let kept: Vec<usize> = walk.listings.iter().map(|(_, listed)| listed.listing.entries()).collect();
    assert_eq!(kept, [40_000, 20_000, 5_536]);
}
