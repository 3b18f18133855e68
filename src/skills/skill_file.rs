//! One skill file: its front matter for the catalog in one open and one read, and later its body. Nothing but a regular file is ever read.

use super::bundled;
use super::fields::{Described, describe};
use super::front_matter::{self, Document};
use super::links::{Links, Refusal};
use super::resources::{Contents, Files, Reach, decoded};
use super::validation::{RuleSet, dropped_by, front_matter_findings};
use crate::blocking::{FILE_DEADLINE, off_the_executor_within};
use crate::files::{self, Stamp};
use crate::layers::skill::{
    LoadSkill, LoadingFiles, LoadingResource, LoadingSkill, SkillFiles, SkillId, SkillLoadError, SkillPlaceholders, SkillResource,
    SkillSource, SkillSummary, SkillText,
};
use crate::layers::{Diagnostic, Severity};
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is read at first: the front matter of nearly all skill files fits.
const BEGINNING: usize = 4 * 1024;

/// How a skill lies in its root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// A folder with a `SKILL.md`.
    Folder,
    /// A folder with a `README.md` that has front matter.
    Readme,
    /// A file directly in the root that has front matter.
    Flat,
    /// The same, where `name` is the id: batbox's.
    Named,
    /// A folder with a `SKILL.md` that keeps the rules: brute's.
    Strict,
}

impl Form {
    /// Without front matter it is a Markdown file like any other.
    pub(super) fn wants_front_matter(self) -> bool {
        !matches!(self, Self::Folder | Self::Strict)
    }
    /// The skill's folder is its own, and what is in it too.
    pub(super) fn has_folder(self) -> bool {
        !matches!(self, Self::Flat | Self::Named)
    }
}

/// What holds for all skills of a root.
#[derive(PartialEq, Debug)]
pub(super) struct Place {
    /// The root as it was given.
    pub(super) root: PathBuf,
    /// And without links.
    pub(super) canonical: PathBuf,
    pub(super) links: Links,
    pub(super) source: Arc<SkillSource>,
    pub(super) max_bytes: usize,
}

/// A file that may be a skill's, as it was read.
#[derive(Debug)]
pub(super) struct SkillFile {
    pub(super) stamp: Stamp,
    pub(super) reading: Reading,
}

/// What a file is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Reading {
    Skill(Arc<FileSkill>),
    /// A Markdown file like any other.
    NoSkill,
    Broken(Box<Diagnostic>),
}

/// A skill of a file: what is known of it, and how its body is read when it is activated.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct FileSkill {
    /// As the file has it, without settings of the configuration.
    pub(super) summary: Arc<SkillSummary>,
    pub(super) place: Arc<Place>,
    pub(super) form: Form,
    more: Option<Box<More>>,
}

/// What is to be kept of few skills.
#[derive(Clone, PartialEq, Default, Debug)]
struct More {
    /// The path as found, where it is no Unicode.
    path: Option<PathBuf>,
    canonical: Option<PathBuf>,
    other_fields: BTreeMap<String, String>,
    diagnostics: Vec<Diagnostic>,
}

/// A file on its way to being read.
pub(super) struct Found<'a> {
    /// Where a link led to.
    pub(super) canonical: Option<PathBuf>,
    pub(super) form: Form,
    pub(super) place: &'a Arc<Place>,
}

impl SkillFile {
    /// What could not be read.
    pub(super) fn failed(path: &Path, diagnostic: Diagnostic, metadata: &Metadata) -> Self {
        Self { stamp: Stamp::of(metadata), reading: broken(path, diagnostic) }
    }
}

fn broken(path: &Path, diagnostic: Diagnostic) -> Reading {
    Reading::Broken(Box::new(diagnostic.at(path.to_string_lossy())))
}

impl Found<'_> {
    /// Reads as much of an open regular file as the catalog needs. A skill takes the path that it was found at.
    pub(super) fn read(self, path: &mut PathBuf, file: &File, metadata: &Metadata) -> SkillFile {
        let stamp = Stamp::of(metadata);
        let reading = match self.document(file, stamp.bytes) {
            Err(error) => broken(path, error),
            Ok(None) => Reading::NoSkill,
            Ok(Some(document)) => match described(&document, path, self.form, &self.place.source) {
                Ok(Some(described)) => Reading::Skill(Arc::new(self.skill(std::mem::take(path), described))),
                Ok(None) => Reading::NoSkill,
                Err(error) => broken(path, error),
            },
        };
        SkillFile { stamp, reading }
    }

    fn skill(self, path: PathBuf, described: Described) -> FileSkill {
        let Described { mut summary, other_fields, mut diagnostics } = described;
        let (location, path) = match path.into_os_string().into_string() {
            Ok(location) => (location, None),
            Err(path) => (path.to_string_lossy().into_owned(), Some(PathBuf::from(path))),
        };
        summary.location = location;
        summary.compact();
        for diagnostic in &mut diagnostics {
            diagnostic.path = Some(summary.location.clone());
        }
        diagnostics.shrink_to_fit();
        let more = More { path, canonical: self.canonical, other_fields, diagnostics };
        let more = (more != More::default()).then(|| Box::new(more));
        FileSkill { summary: Arc::new(summary), place: self.place.clone(), form: self.form, more }
    }

    fn document(&self, mut file: &File, length_of_file: u64) -> Result<Option<Document>, Diagnostic> {
        let max_bytes = self.place.max_bytes;
        let mut buffer = [0; BEGINNING];
        let length = file.read(&mut buffer).map_err(|error| unreadable(&error))?;
        let beginning = &buffer[..length];
        // A large text beside the skills is nobody's mistake.
        if self.form.wants_front_matter() && !front_matter::opens(beginning) {
            return Ok(None);
        }
        if length_of_file > max_bytes as u64 {
            return Err(too_large(max_bytes));
        }
        if length < BEGINNING && length as u64 == length_of_file {
            return front_matter::read(beginning).map(Some);
        }
        if let Some(read) = front_matter::read_beginning(beginning)
            && read.as_ref().map_or(true, has_description)
        {
            return read.map(Some);
        }
        let mut bytes = beginning.to_vec();
        let rest = (max_bytes + 1).saturating_sub(bytes.len());
        file.take(rest as u64).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
        if bytes.len() > max_bytes {
            return Err(too_large(max_bytes));
        }
        front_matter::read(&bytes).map(Some)
    }
}

/// Whether the body, of which only the beginning is there, is not needed for a description.
fn has_description(document: &Document) -> bool {
    let text = |key| document.front_matter.as_ref()?.get(key)?.value.as_text();
    text("description").is_some_and(|text| !text.trim().is_empty())
}

/// What a document says of its skill; nothing where its form wants front matter and it has none.
fn described(document: &Document, path: &Path, form: Form, source: &Arc<SkillSource>) -> Result<Option<Described>, Diagnostic> {
    if form.wants_front_matter() && document.front_matter.is_none() {
        return Ok(None);
    }
    let named = if form.has_folder() { path.parent().and_then(Path::file_name) } else { path.file_stem() };
    let Some(name) = named.and_then(|name| name.to_str()) else {
        return Err(Diagnostic::error("id-invalid", "the name of this skill is no Unicode"));
    };
    match form {
        Form::Named => named_by_itself(document, source.clone()),
        Form::Strict => by_the_rules(document, name, source.clone()),
        Form::Folder | Form::Readme | Form::Flat => describe(document, name, source.clone()),
    }
    .map(Some)
}

/// A skill whose `name` is its id, whatever else the file says.
fn named_by_itself(document: &Document, source: Arc<SkillSource>) -> Result<Described, Diagnostic> {
    let name = document.front_matter.as_ref().and_then(|front_matter| front_matter.get("name")?.value.as_text());
    let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) else {
        let message = "no `name`, which is the id of a skill in this root; no skill";
        return Err(Diagnostic::warning("name-missing", message).line(1).column(1));
    };
    let mut described = describe(document, name, source)?;
    described.summary.id = SkillId::new(name).map_err(|why| Diagnostic::warning("id-invalid", format!("{name:?}: {why}")))?;
    described.summary.placeholders = SkillPlaceholders::EveryArgs;
    Ok(described)
}

/// A skill that keeps brute's rules, without the fields that they don't know.
fn by_the_rules(document: &Document, name: &str, source: Arc<SkillSource>) -> Result<Described, Diagnostic> {
    let mut broken = front_matter_findings(document, name, RuleSet::Brute);
    broken.retain(|found| found.severity == Severity::Error);
    if let Some(first) = broken.first() {
        let messages: Vec<&str> = broken.iter().map(|found| found.message.as_str()).collect();
        let message = format!("by the rules of this root, no skill: {}", messages.join("; "));
        let mut skipped = Diagnostic::warning("skill-skipped", message);
        (skipped.line, skipped.column) = (first.line, first.column);
        return Err(skipped);
    }
    if document.front_matter.is_none() {
        return Err(Diagnostic::warning("skill-skipped", "by the rules of this root, no skill: there is no front matter")
            .line(1)
            .column(1));
    }
    let mut known = document.clone();
    let mut dropped: Vec<Diagnostic> = Vec::new();
    if let Some(front_matter) = &mut known.front_matter {
        for entry in front_matter.entries.extract_if(.., |entry| dropped_by(RuleSet::Brute, &entry.key)) {
            let message = format!("`{}` is no field by the rules of this root; it was dropped", entry.key);
            dropped.push(Diagnostic::warning("field-unknown", message).line(entry.line).column(entry.column));
        }
    }
    let mut described = describe(&known, name, source)?;
    described.diagnostics.extend(dropped);
    described.diagnostics.sort_by_key(|found| (found.line, found.column));
    Ok(described)
}

pub(super) fn not_regular() -> Diagnostic {
    Diagnostic::error("file-not-regular", "this is no regular file; it was not opened")
}
pub(super) fn unreadable(error: &io::Error) -> Diagnostic {
    Diagnostic::error("file-unreadable", format!("this file cannot be read: {error}"))
}
pub(super) fn too_large(max_bytes: usize) -> Diagnostic {
    Diagnostic::error("file-too-large", format!("this file has more than {max_bytes} bytes, the limit of `skills.max_skill_file_bytes`"))
}

/// At most `max_bytes` of a regular file, and whether there is more.
pub(super) fn read_bounded(path: &Path, max_bytes: usize) -> Result<(Vec<u8>, bool), Diagnostic> {
    let opened = files::open_regular(path).map_err(|error| unreadable(&error))?;
    let (file, _) = opened.ok_or_else(not_regular)?;
    files::read_bounded(&file, max_bytes).map_err(|error| unreadable(&error))
}

impl FileSkill {
    /// The instruction file, as it was found.
    pub(super) fn path(&self) -> &Path {
        let kept = self.more.as_deref().and_then(|more| more.path.as_deref());
        kept.unwrap_or(Path::new(&self.summary.location))
    }
    /// Where a link led to.
    pub(super) fn canonical(&self) -> Option<&Path> {
        self.more.as_deref()?.canonical.as_deref()
    }
    /// Fields that nobody here reads, as text.
    pub(super) fn other_fields(&self) -> BTreeMap<String, String> {
        self.more.as_deref().map(|more| more.other_fields.clone()).unwrap_or_default()
    }
    /// What was found while it was read.
    pub(super) fn diagnostics(&self) -> &[Diagnostic] {
        self.more.as_deref().map_or(&[], |more| &more.diagnostics)
    }

    /// The files that it brings.
    pub(super) fn files(&self) -> Files<'_> {
        Files { instructions: self.path(), form: self.form, links: &self.place.links }
    }

    /// Where its file is if no link was put in the way since.
    fn is_at(&self, canonical: &Path) -> bool {
        let Place { root, canonical: of_root, .. } = &*self.place;
        self.path().strip_prefix(root).is_ok_and(|below| of_root.join(below) == canonical)
    }

    fn read(&self) -> Result<SkillText, SkillLoadError> {
        let id = &self.summary.id;
        let max_bytes = self.place.max_bytes;
        let changed = |why: &str| Diagnostic::error("skill-changed", format!("this file is no longer the skill `{id}`: {why}"));
        match self.place.links.resolve(self.path()) {
            Ok(canonical) if self.place.links.followed || self.is_at(&canonical) => {}
            Ok(_) => return Err(changed("it is a link now, and `skills.follow_symlinks` is off")),
            Err(Refusal::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Diagnostic::error("skill-vanished", format!("the file of skill `{id}` is gone")));
            }
            Err(refusal) => return Err(refusal.diagnostic(self.path())),
        }
        let (bytes, more) = read_bounded(self.path(), max_bytes)?;
        let document = if more { front_matter::read_cut(&bytes) } else { front_matter::read(&bytes) };
        let document = document.map_err(|error| changed(&error.message))?;
        match described(&document, self.path(), self.form, &self.place.source) {
            Ok(Some(described)) if described.summary.id == *id => {}
            Ok(Some(described)) => return Err(changed(&format!("its id is `{}`", described.summary.id))),
            Ok(None) => return Err(changed("it has no front matter")),
            Err(error) => return Err(changed(&error.message)),
        }
        let mut text = SkillText::new(document.body());
        text.first_line = u32::try_from(document.body_line()).ok();
        if more {
            let line_end = text.body.rfind(['\n', '\r']).map_or(text.body.len(), |at| at + 1);
            text.body.truncate(line_end);
            let message =
                format!("this file has grown over {max_bytes} bytes, the limit of `skills.max_skill_file_bytes`; its body was cut");
            text.diagnostics.push(Diagnostic::warning("file-cut", message).at(self.path().to_string_lossy()));
        }
        Ok(text)
    }
}

impl LoadSkill for FileSkill {
    fn load(&self) -> LoadingSkill {
        let skill = self.clone();
        Box::pin(async move {
            let path = skill.summary.location.clone();
            let read = off_the_executor_within(FILE_DEADLINE, move || skill.read()).await;
            let failed = || Err(Diagnostic::error("file-unreadable", "this file could not be read in time"));
            read.unwrap_or_else(failed).map_err(|error| error.at(path))
        })
    }
    fn files(&self) -> LoadingFiles {
        let skill = self.clone();
        Box::pin(async move {
            let names = move || bundled::names(skill.path(), skill.form, &skill.place.links);
            let (names, more) = off_the_executor_within(FILE_DEADLINE, names).await.unwrap_or_default();
            SkillFiles::new(names, more)
        })
    }
    fn resource(&self, path: &str, max_bytes: NonZeroUsize) -> LoadingResource {
        let (skill, path) = (self.clone(), path.to_owned());
        Box::pin(async move {
            let location = skill.summary.location.clone();
            let read = move || skill.files().read(&path, Reach::Skill, max_bytes.get());
            let failed = || Err(Diagnostic::error("file-unreadable", "this file could not be read in time").at(location));
            let Contents { path, bytes, length, cut } = off_the_executor_within(FILE_DEADLINE, read).await.unwrap_or_else(failed)?;
            let is_text = !bytes.contains(&0);
            let text = decoded(bytes, cut).ok().filter(|_| is_text);
            Ok(SkillResource::new(path.to_string_lossy(), length, text))
        })
    }
}
