//! What a search rests on: while each of these stands as it did, another search would find the same, and need not be made.

use super::listing::Listing;
use super::{Folder, Walk, enter};
use crate::files::{Base, Stamp};
use crate::skills::known::{Known, KnownFile};
use crate::skills::parallel::{VERY_MANY, side_by_side};
use crate::skills::roots::Root;
use crate::skills::skill_file::Reading;
use std::path::{Path, PathBuf};

/// The folders that were listed and the files that are no skills, with their stamps; skills are with the files that are known. What a link or a file
/// that is no skill file has a say in is told by no stamp: then there is none of this.
#[derive(Default)]
pub(in crate::skills) struct Evidence {
    folders: Vec<(PathBuf, Stamp)>,
    /// With the numbers of their roots.
    others: Vec<(u32, PathBuf, Stamp)>,
}

impl Walk<'_> {
    pub(super) fn rests_on_folder(&mut self, folder: &Folder, stamp: Option<Stamp>) {
        match (&mut self.evidence, stamp) {
            (Some(evidence), Some(stamp)) => evidence.folders.push((folder.path.clone(), stamp)),
            _ => self.evidence = None,
        }
    }

    pub(super) fn rests_on_other(&mut self, root: u32, path: &Path, stamp: Stamp) {
        match &mut self.evidence {
            Some(evidence) if stamp.is_settled_at(self.start) => evidence.others.push((root, path.to_owned(), stamp)),
            _ => self.evidence = None,
        }
    }

    /// Whether it is seen by stamps alone that these roots hold what they held. One stat each, as far as all is as it was.
    pub(in crate::skills) fn still_holds(known: &Known, roots: &[Root], followed: bool) -> bool {
        let Some(evidence) = &known.evidence else { return false };
        let mut bases = Vec::with_capacity(roots.len());
        for (root, before) in roots.iter().zip(&known.places) {
            let (now, before) = (enter(root, followed), before.as_deref());
            let Ok(now) = now else { return false };
            if now.as_ref().map(|(links, canonical)| (links, canonical)) != before.map(|place| (&place.links, &place.canonical)) {
                return false;
            }
            bases.push(now.map(|_| Base::open(&root.path)));
        }
        let stamp = |root: u32, path: &Path| bases.get(root as usize)?.as_ref()?.stamp(path);
        let is_same = |file: &KnownFile| match &file.reading {
            Reading::Skill(skill) => file.is_settled && stamp(file.root, skill.path()).is_some_and(|stamp| stamp == file.stamp),
            // Among the others.
            _ => true,
        };
        evidence.folders.iter().all(|(path, before)| Listing::stamp(path).is_some_and(|stamp| stamp == *before))
            && evidence.others.iter().all(|(root, path, before)| stamp(*root, path).is_some_and(|stamp| stamp == *before))
            && known.files().chunks(AT_A_TIME).all(|files| match files.len() {
                ..VERY_MANY => files.iter().all(is_same),
                _ => side_by_side(files, VERY_MANY, is_same).into_iter().all(|same| same),
            })
    }
}

/// Files that are looked at before it is seen whether one changed.
const AT_A_TIME: usize = 4_096;
