//! One folder, one file: what each is. Asked from several threads at once.

use super::listing::Listing;
use super::{Find, Folder, What, joined, not_followed, shown, unreadable};
use crate::files::{self, Base, Stamp};
use crate::layers::Diagnostic;
use crate::skills::known::Known;
use crate::skills::links::Refusal;
use crate::skills::parallel::{MANY, VERY_MANY};
use crate::skills::roots::RootRules;
use crate::skills::skill_file::{Form, Found, Place, Reading, SkillFile, not_regular, unreadable as unreadable_file};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// What a folder was seen to be.
#[derive(Default)]
pub(super) struct Seen<'k> {
    /// The file that may make it a skill.
    pub(super) file: Option<Find<'k>>,
    /// Where it is searched on.
    pub(super) listing: Option<Listed>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The stamps of the file and of the listing tell whether it would be seen so again.
    pub(super) is_plain: bool,
}

/// A folder's listing, with the folder's stamp from before it was read.
#[derive(Clone)]
pub(in crate::skills) struct Listed {
    pub(super) stamp: Option<Stamp>,
    pub(super) listing: Arc<Listing>,
}

impl Seen<'_> {
    pub(super) fn is_skill(&self) -> bool {
        self.file.as_ref().is_some_and(|file| !file.is_no_skill())
    }
    fn only(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: vec![diagnostic], ..Self::default() }
    }
}

/// What there is to know while looking.
#[derive(Clone, Copy)]
pub(super) struct Look<'a, 'k> {
    pub(super) keys: &'k Known,
    pub(super) known: Option<&'k Known>,
    pub(super) number: u32,
    pub(super) rules: RootRules,
    pub(super) place: &'a Arc<Place>,
    pub(super) base: &'a Base,
}

impl<'k> Look<'_, 'k> {
    /// How many are looked at by several threads: what is known already takes a fifth of the time.
    pub(super) fn many(self) -> usize {
        if self.known.is_some() { VERY_MANY } else { MANY }
    }

    /// What a folder is, with the file that makes it a skill read.
    pub(super) fn folder(self, folder: &Folder, is_root: bool) -> Seen<'k> {
        let form = match self.rules {
            RootRules::Standard => Some(Form::Folder),
            RootRules::Brute => Some(Form::Strict),
            RootRules::Orcbot => (!is_root).then_some(Form::Folder),
            RootRules::Batbox => None,
        };
        // Nearly every skill has this name: no listing is needed.
        match form.map_or(Ok(None), |form| self.file(folder, OsStr::new("SKILL.md"), form)) {
            Ok(None) => {}
            Ok(file) => {
                let is_searched_on = self.rules == RootRules::Brute;
                let listing = (is_searched_on || is_root).then(|| self.listed(folder).ok()).flatten();
                if !is_searched_on {
                    let hidden = listing.and_then(|listed| listed.listing.hidden_by(folder, "SKILL.md"));
                    return Seen { file, diagnostics: hidden.into_iter().collect(), is_plain: !is_root, ..Seen::default() };
                }
                // Where it can't be listed, another time it may.
                let is_plain = listing.is_some();
                return Seen { file, listing, is_plain, ..Seen::default() };
            }
            Err(diagnostic) => return Seen::only(diagnostic),
        }
        let listed = match self.listed(folder) {
            Ok(listed) => listed,
            Err(error) => return Seen::only(unreadable(&folder.path, &error)),
        };
        let listing = &*listed.listing;
        if !is_root && listing.is_linked_worktree(folder) {
            let message = "a linked worktree: its skills are those of its repository, and were not looked for";
            return Seen::only(Diagnostic::note("worktree-skipped", message).at(shown(&folder.path)));
        }
        // A folder, or a link to one, as a file it would have been read. A root that is a folder of skills may have one of any name.
        let is_misnamed = form.is_some() && !is_root && listing.folders.iter().any(|(name, _)| **name == *"SKILL.md");
        let misnamed = is_misnamed.then(|| not_regular().at(shown(&folder.path.join("SKILL.md"))));
        let is_plain = !is_misnamed && !listing.has_git_file();
        let mut seen = Seen { is_plain, diagnostics: misnamed.into_iter().collect(), ..Seen::default() };
        if self.rules != RootRules::Standard {
            seen.listing = Some(listed);
            return seen;
        }
        let in_other_case = || listing.file(|file| file.eq_ignore_ascii_case("skill.md"));
        if let Some(name) = listing.file(|file| file == "skill.md").or_else(in_other_case) {
            return match self.file(folder, name, Form::Folder) {
                // Gone by now, or a link to a folder.
                Ok(None) => Seen { listing: Some(listed), is_plain: false, ..seen },
                Ok(file) => {
                    let note = format!("`{}` was taken for the instruction file; other readers want `SKILL.md`", name.to_string_lossy());
                    let note = Diagnostic::note("instruction-file-name", note).at(shown(&folder.path.join(name)));
                    let hidden = if is_root { listing.hidden_by(folder, &name.to_string_lossy()) } else { None };
                    Seen { file, diagnostics: std::iter::once(note).chain(hidden).collect(), ..Seen::default() }
                }
                Err(diagnostic) => Seen::only(diagnostic),
            };
        }
        if !is_root && let Some(name) = listing.file(|file| file == "README.md") {
            match self.file(folder, name, Form::Readme) {
                Ok(file) => seen.file = file,
                Err(diagnostic) => {
                    seen.diagnostics.push(diagnostic);
                    seen.is_plain = false;
                }
            }
        }
        if seen.is_skill() {
            // A file that comes before this one may come.
            seen.is_plain = false;
        } else {
            seen.listing = Some(listed);
        }
        seen
    }

    /// What a folder holds, read unless that was done before.
    fn listed(self, folder: &Folder) -> io::Result<Listed> {
        let stamp = Listing::stamp(&folder.path);
        if let Some(known) = self.keys.listed(self.keys.key(&folder.path))
            && stamp.is_some()
            && known.stamp == stamp
        {
            return Ok(known.clone());
        }
        Ok(Listed { stamp, listing: Arc::new(Listing::of(&folder.path)?) })
    }

    /// A file, read unless that was done before; `None` if there is no such file. An error is a link that is not followed.
    pub(super) fn file(self, folder: &Folder, name: &OsStr, form: Form) -> Result<Option<Find<'k>>, Diagnostic> {
        let mut path = joined(&folder.path, name);
        let key = self.keys.key(&path);
        let identity = |folder: &Folder| folder.canonical.as_ref().map_or(key, |canonical| self.keys.key(&canonical.join(name)));
        let known = self.known.and_then(|known| known.get(key, self.number)).filter(|(_, known)| known.is_settled);
        // What was no link costs a stat while it is none, and one open where it was not read before.
        if let Some((order, known)) = known
            && self.base.stamp(&path).is_some_and(|stamp| stamp == known.stamp)
        {
            if let Reading::Skill(_) = known.reading {
                path = PathBuf::new();
            }
            return Ok(Some(Find { key, identity: identity(folder), path, form, file: What::Unchanged(order, known), is_plain: true }));
        }
        let found = |canonical| Found { canonical, form, place: self.place };
        match self.base.open_unlinked(&path).and_then(|file| Ok((file.metadata()?, file))) {
            Ok((metadata, file)) if metadata.is_file() => {
                let file = What::Read(found(None).read(&mut path, &file, &metadata));
                return Ok(Some(Find { key, identity: identity(folder), path, form, file, is_plain: true }));
            }
            // The usual case of a folder that is no skill.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            _ => {}
        }
        let Ok(mut metadata) = fs::symlink_metadata(&path) else { return Ok(None) };
        let mut identity = identity(folder);
        let mut target = None;
        if metadata.is_symlink() {
            if !self.place.links.followed {
                return Err(not_followed(&path));
            }
            let resolved = self.place.links.resolve(&path).and_then(|canonical| {
                let metadata = fs::metadata(&canonical).map_err(Refusal::Unreadable)?;
                Ok((canonical, metadata))
            });
            let (canonical, of_target) = resolved.map_err(|refusal| refusal.diagnostic(&path))?;
            identity = self.keys.key(&canonical);
            metadata = of_target;
            if let Some((order, known)) = known
                && known.stamp == Stamp::of(&metadata)
                && let Reading::Skill(skill) = &known.reading
                && skill.canonical() == Some(&canonical)
            {
                return Ok(Some(Find { key, identity, path, form, file: What::Unchanged(order, known), is_plain: false }));
            }
            target = Some(canonical);
        }
        let file = if metadata.is_dir() {
            return Ok(None);
        } else if metadata.is_file() {
            // The target by its own path: a link that was put elsewhere since then is not followed unseen.
            let canonical = target.as_deref().unwrap_or(&path);
            match files::open_unlinked(canonical).or_else(|_| files::open(canonical)).and_then(|file| Ok((file.metadata()?, file))) {
                Ok((metadata, file)) if metadata.is_file() => found(target).read(&mut path, &file, &metadata),
                Ok((metadata, _)) => SkillFile::failed(&path, not_regular(), &metadata),
                Err(error) => SkillFile::failed(&path, unreadable_file(&error), &metadata),
            }
        } else if !form.wants_front_matter() {
            SkillFile::failed(&path, not_regular(), &metadata)
        } else {
            SkillFile { stamp: Stamp::of(&metadata), reading: Reading::NoSkill }
        };
        Ok(Some(Find { key, identity, path, form, file: What::Read(file), is_plain: false }))
    }
}
