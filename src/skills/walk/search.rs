//! A root's folders, level by level, within bounds.

use super::listing::{Entry, Kind, Listing, is_markdown};
use super::look::{Listed, Look, Seen};
use super::{Find, Folder, Walk, is_pruned, not_followed, shown};
use crate::layers::Diagnostic;
use crate::skills::known::Keys;
use crate::skills::parallel::side_by_side;
use crate::skills::roots::RootRules;
use crate::skills::skill_file::{Form, Reading};
use std::sync::Arc;

/// Levels below a root that are searched.
const MAX_DEPTH: usize = 6;
/// Folders below a root that are searched and are no skills; and as many Markdown files directly in it.
const MAX_OTHERS: usize = 2_000;
/// Folders or files that are looked at before it is seen whether the search is at its bound.
const AT_A_TIME: usize = 4_096;

pub(super) struct Search<'s, 'a, 'k> {
    walk: &'s mut Walk<'k>,
    look: Look<'a, 'k>,
    /// Canonical paths of this root's folders that are no skills: a loop ends here.
    visited: Keys,
    found: Vec<Find<'k>>,
}

impl<'s, 'a, 'k> Search<'s, 'a, 'k> {
    pub(super) fn new(walk: &'s mut Walk<'k>, look: Look<'a, 'k>) -> Self {
        Self { walk, look, visited: Keys::default(), found: Vec::new() }
    }

    /// Level by level, each in bytewise order, so that bounds cut at the same place everywhere.
    pub(super) fn run(mut self, root: Folder) -> Vec<Find<'k>> {
        let start = shown(&root.path);
        let mut level = vec![root];
        let mut others = 0;
        for depth in 0..=MAX_DEPTH {
            let mut next = Vec::new();
            self.found.reserve(level.len());
            self.walk.files.reserve(level.len());
            for folders in level.chunks(AT_A_TIME) {
                let look = self.look;
                let all = side_by_side(folders, look.many(), |folder| look.folder(folder, depth == 0));
                for (folder, seen) in folders.iter().zip(all) {
                    let is_skill = seen.is_skill();
                    let Some(listing) = self.take(folder, seen) else { continue };
                    if is_skill {
                        next.extend(self.folders_in(folder, &listing));
                        continue;
                    }
                    if depth > 0 {
                        others += 1;
                    } else if matches!(look.rules, RootRules::Standard | RootRules::Batbox) {
                        self.flat_files(folder, &listing);
                    }
                    if others > MAX_OTHERS {
                        let message = format!(
                            "over {MAX_OTHERS} folders below this root are no skills; the search ended at {}",
                            folder.path.display()
                        );
                        self.walk.diagnostics.push(Diagnostic::warning("folder-limit", message).at(start));
                        return self.found;
                    }
                    let goes_on = match look.rules {
                        RootRules::Standard | RootRules::Brute => true,
                        RootRules::Batbox => false,
                        RootRules::Orcbot => depth == 0,
                    };
                    if goes_on {
                        next.extend(self.folders_in(folder, &listing));
                    }
                }
            }
            level = next;
        }
        if let Some(deepest) = level.first() {
            let message = format!("folders over {MAX_DEPTH} levels below their root are not searched, such as {}", deepest.path.display());
            self.walk.diagnostics.push(Diagnostic::warning("depth-limit", message).at(start));
        }
        self.found
    }

    /// Keeps what was seen of a folder, unless that was reached before; the listing of one that is searched on.
    fn take(&mut self, folder: &Folder, seen: Seen<'k>) -> Option<Arc<Listing>> {
        let Seen { file, listing, diagnostics, is_plain } = seen;
        if !is_plain {
            self.walk.evidence = None;
        }
        if listing.is_some() && !self.visited.insert(self.look.keys.key(folder.canonical())) {
            return None;
        }
        if file.is_some_and(|file| !self.keep(file)) {
            return None;
        }
        self.walk.diagnostics.extend(diagnostics);
        let Listed { stamp, listing } = listing?;
        self.walk.keep(folder, stamp, &listing);
        Some(listing)
    }

    /// Keeps a file unless it was found already.
    fn keep(&mut self, file: Find<'k>) -> bool {
        if !file.is_plain {
            self.walk.evidence = None;
        } else if !matches!(file.reading(), Reading::Skill(_)) {
            self.walk.rests_on_other(self.look.number, &file.path, file.stamp());
        }
        let is_new = file.is_no_skill() || self.walk.files.insert(file.identity);
        if is_new {
            self.found.push(file);
        }
        is_new
    }

    /// `name.md` directly in a root. Hidden files are editors' and file systems' own.
    fn flat_files(&mut self, folder: &Folder, listing: &Listing) {
        let look = self.look;
        let form = if look.rules == RootRules::Batbox { Form::Named } else { Form::Flat };
        let flat = |(name, _): &&Entry| {
            let is_readme = look.rules == RootRules::Standard && name.eq_ignore_ascii_case("README.md");
            is_markdown(name) && !is_readme && !name.as_encoded_bytes().starts_with(b".")
        };
        let files: Vec<&Entry> = listing.files.iter().filter(flat).collect();
        let mut others = 0;
        for files in files.chunks(AT_A_TIME) {
            let read = side_by_side(files, look.many(), |(name, kind)| {
                let leads_to_folder = *kind == Kind::Link && folder.path.join(&**name).is_dir();
                if leads_to_folder { Ok(None) } else { look.file(folder, name, form) }
            });
            for ((name, kind), file) in files.iter().zip(read) {
                if *kind != Kind::File {
                    self.walk.evidence = None;
                }
                match file {
                    Ok(Some(file)) => {
                        others += usize::from(file.is_no_skill());
                        self.keep(file);
                    }
                    Ok(None) => {}
                    Err(diagnostic) => self.walk.say(diagnostic),
                }
                if others > MAX_OTHERS {
                    let message = format!(
                        "over {MAX_OTHERS} Markdown files directly in this root are no skills; files behind `{}` were not read",
                        name.display()
                    );
                    self.walk.diagnostics.push(Diagnostic::warning("file-limit", message).at(shown(&folder.path)));
                    return;
                }
            }
        }
    }

    fn folders_in(&mut self, folder: &Folder, listing: &Listing) -> Vec<Folder> {
        let mut folders = Vec::with_capacity(listing.folders.len());
        for (name, kind) in listing.folders.iter().filter(|(name, _)| !is_pruned(name)) {
            if *kind != Kind::Link {
                folders.push(folder.folder(name));
                continue;
            }
            // What a link leads to may change unseen.
            self.walk.evidence = None;
            let path = folder.path.join(&**name);
            if path.is_dir() {
                if !self.look.place.links.followed {
                    self.walk.diagnostics.push(not_followed(&path));
                    continue;
                }
                match self.look.place.links.resolve(&path) {
                    Ok(canonical) => folders.push(Folder::new(path, canonical)),
                    Err(refusal) => self.walk.diagnostics.push(refusal.diagnostic(&path)),
                }
            }
        }
        folders
    }
}
