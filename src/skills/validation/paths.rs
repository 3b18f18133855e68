//! Validation of files, of skills' folders and of whole roots.

use super::{RuleSet, validate};
use crate::layers::skill::SkillSourceKind;
use crate::layers::{Diagnostic, Severity};
use crate::skills::front_matter;
use crate::skills::known::Known;
use crate::skills::roots::{DiscoveryOptions, Root, RootRules};
use crate::skills::skill_file::{Form, read_bounded, too_large};
use crate::skills::walk::Walk;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A validation of one path after another. A file that is reached twice is validated once.
#[derive(Debug)]
pub struct Validation {
    rules: RuleSet,
    max_bytes: usize,
    seen: HashSet<PathBuf>,
    files: Vec<PathBuf>,
    findings: Vec<Diagnostic>,
}

impl Validation {
    /// By these rules, of files up to the default of `skills.max_skill_file_bytes`.
    pub fn new(rules: RuleSet) -> Self {
        let max_bytes = DiscoveryOptions::default().max_skill_file_bytes.get();
        Self { rules, max_bytes, seen: HashSet::new(), files: Vec::new(), findings: Vec::new() }
    }
    /// The skill files that were looked at, in the order of the paths, and by path within one.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }
    /// What was found, file by file.
    pub fn findings(&self) -> &[Diagnostic] {
        &self.findings
    }
    /// Whether nothing was found but advice.
    pub fn is_valid(&self) -> bool {
        self.findings.iter().all(|found| found.severity == Severity::Note)
    }

    /// Validates an instruction file, a flat file, a skill's folder, or each skill of a root. Links are followed: who names a path means it. An
    /// error where there is no such path.
    pub fn path(&mut self, path: &Path) -> io::Result<()> {
        if !fs::metadata(path)?.is_dir() {
            let name = path.file_name().unwrap_or_default();
            let form = if name.eq_ignore_ascii_case("SKILL.md") {
                Form::Folder
            } else if name.eq_ignore_ascii_case("README.md") {
                Form::Readme
            } else {
                Form::Flat
            };
            self.file(path, form, true);
            return Ok(());
        }
        // Of brute's, skills may stand below skills.
        match instruction_file(path) {
            Some(file) if self.rules != RuleSet::Brute => {
                self.file(&file, Form::Folder, true);
            }
            _ => self.root(path),
        }
        Ok(())
    }

    fn root(&mut self, folder: &Path) {
        let mut root = Root::new(folder, SkillSourceKind::Configured, String::new());
        root.rules = if self.rules == RuleSet::Brute { RootRules::Brute } else { RootRules::Standard };
        let nothing = Known::default();
        let mut walk = Walk::new(&nothing, SystemTime::now());
        let mut finds = walk.root(0, &root, true, self.max_bytes).map(|(finds, _)| finds).unwrap_or_default();
        finds.retain(|find| find.form != Form::Readme || !find.is_no_skill());
        finds.sort_by(|a, b| a.path().as_os_str().as_encoded_bytes().cmp(b.path().as_os_str().as_encoded_bytes()));
        // The names of instruction files are judged by the rules.
        let found = walk.diagnostics.into_iter().filter(|found| found.code != "instruction-file-name");
        self.findings.extend(found);
        let mut is_root = false;
        for find in finds {
            is_root |= self.file(find.path(), find.form, false);
        }
        // As a root it holds no skill, but its README.md may make it one.
        if !is_root && !self.file(&folder.join("README.md"), Form::Readme, false) {
            let message = "there is no SKILL.md in this folder, and no skill below it";
            self.findings.push(Diagnostic::error("instruction-file-missing", message).at(folder.to_string_lossy()));
        }
    }

    /// Whether it is a skill file: one that was named is, and of others those whose form says so, or that have front matter.
    fn file(&mut self, path: &Path, form: Form, is_named: bool) -> bool {
        let canonical = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if self.seen.contains(&canonical) {
            return true;
        }
        let is_one = is_named || !form.wants_front_matter();
        let found = match read_bounded(path, self.max_bytes) {
            Err(_) if !is_one => return false,
            Err(error) => vec![error],
            Ok((bytes, _)) if !is_one && !front_matter::opens(&bytes) => return false,
            Ok((_, true)) => vec![too_large(self.max_bytes)],
            Ok((bytes, false)) => {
                let mut found = validate(&bytes, &skill_name(path, form), self.rules);
                found.splice(0..0, self.form(path, form));
                found
            }
        };
        self.seen.insert(canonical);
        self.files.push(path.to_owned());
        self.findings.extend(found.into_iter().map(|found| found.at(path.to_string_lossy())));
        true
    }

    /// How the file lies there.
    fn form(&self, path: &Path, form: Form) -> Option<Diagnostic> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let other = format!("`{name}` is the instruction file here; other readers want `SKILL.md`");
        let found = match (form, &*name, self.rules) {
            (Form::Folder | Form::Strict, "SKILL.md", _) | (Form::Flat | Form::Named | Form::Readme, _, RuleSet::Bcode) => return None,
            (Form::Flat | Form::Named, ..) => Diagnostic::note(
                "skill-flat",
                "a single file is a skill for some readers; the specification's is a folder with a `SKILL.md`",
            ),
            // The reference library takes these two spellings.
            (Form::Folder, "skill.md", _) | (Form::Folder, _, RuleSet::Bcode) => Diagnostic::note("instruction-file-name", other),
            (Form::Folder | Form::Strict | Form::Readme, ..) => Diagnostic::error("instruction-file-name", other),
        };
        Some(found.line(1).column(1))
    }
}

/// A folder's `SKILL.md`, in whatever case.
fn instruction_file(folder: &Path) -> Option<PathBuf> {
    let usual = folder.join("SKILL.md");
    if usual.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
        return Some(usual);
    }
    let names = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.file_name());
    let like = names.filter(|name| name.eq_ignore_ascii_case("SKILL.md") && !folder.join(name).is_dir());
    // `skill.md` stands behind other cases bytewise, and before them here.
    like.max().map(|name| folder.join(name))
}

/// The name of the skill's folder, or a flat file's stem. Of `.` and `SKILL.md` alone, the folder's real name.
fn skill_name(path: &Path, form: Form) -> String {
    if matches!(form, Form::Flat | Form::Named) {
        return path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = || folder.canonicalize().ok().and_then(|folder| folder.file_name().map(ToOwned::to_owned));
    folder.file_name().map(ToOwned::to_owned).or_else(real).unwrap_or_default().to_string_lossy().into_owned()
}
