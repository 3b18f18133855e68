//! What the repository says of itself: its project files, and its instructions to agents.

use crate::Workspace;
use crate::blocking::{FILE_DEADLINE, off_the_executor_within};
use crate::files::{self, FileText};
use crate::layers::text::{Block, Limit};
use crate::layers::{Diagnostic, Entry, Fragment, FragmentId, Prompt, Section, SheddingRank, Source, Tier, Trust, Turn, sections};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The section's name, and the id of the fragment that names the project files.
const NAME: &str = "repository_context";
/// The id of an instruction file is this and its path from the root.
const INSTRUCTIONS: &str = "instructions:";
/// In each folder the first that is there.
const INSTRUCTION_FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// Bytes of an instruction file that are read.
const MAX_FILE_BYTES: usize = 1024 * 1024;
/// In the root, in this order.
const PROJECT_FILES: [&str; 24] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "requirements.txt",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "Gemfile",
    "composer.json",
    "mix.exs",
    "Package.swift",
    "CMakeLists.txt",
    "meson.build",
    "Makefile",
    "justfile",
    "Dockerfile",
    "compose.yaml",
    "flake.nix",
    "deno.json",
    "tsconfig.json",
    "README.md",
    "CONTRIBUTING.md",
];

/// `repository_context`: the project files found in the root, and `AGENTS.md` (else `CLAUDE.md`) of each folder from the root down to the working
/// directory, nearest last, each with its path. At the conversation's start; later what changed. A file that did not change is not read again.
///
/// Nothing of a workspace that is not trusted is read.
#[derive(Clone, Debug)]
pub struct RepositoryContext {
    workspace: Workspace,
    max_chars: Option<NonZeroUsize>,
    texts: Arc<files::Texts>,
}

impl RepositoryContext {
    /// Of this workspace; all instruction files together take at most so many characters (`system_prompt.repository_instructions_max_chars`), and
    /// the farthest is cut first.
    pub fn new(workspace: Workspace, max_chars: Option<NonZeroUsize>) -> Self {
        Self { workspace, max_chars, texts: Arc::default() }
    }
}

impl Section for RepositoryContext {
    fn name(&self) -> &'static str {
        NAME
    }
    fn add(&self, _: &Turn, prompt: &mut Prompt) {
        if !self.workspace.is_trusted() {
            return;
        }
        prompt.add_later(Tier::Stable, || {
            let section = self.clone();
            let read = off_the_executor_within(FILE_DEADLINE, move || section.read());
            // Silence: that the repository could not be read in time makes nothing gone.
            async move {
                read.await.unwrap_or_else(|| vec![Diagnostic::warning("probe-failed", "the repository could not be read in time").into()])
            }
        });
    }
}

/// An instruction file that is there.
struct Instructions {
    /// From the root, with `/`.
    name: String,
    path: PathBuf,
    text: Arc<str>,
}

impl RepositoryContext {
    fn read(&self) -> Vec<Entry> {
        let root = self.workspace.root();
        let mut entries = Vec::new();
        let found: Vec<&str> = PROJECT_FILES.into_iter().filter(|name| root.join(name).is_file()).collect();
        entries.push(match &*found {
            [] => Entry::Gone(NAME.into()),
            found => sections::fragment(NAME, &format!("Project files in the root: {}", found.join(", "))).trust(Trust::Repository).into(),
        });
        let mut files = Vec::new();
        let mut unread = BTreeSet::new();
        for folder in self.folders() {
            entries.extend(INSTRUCTION_FILES.iter().filter_map(|name| files::link_to_nothing(&folder.join(name))).map(Entry::from));
            let Some(path) = INSTRUCTION_FILES.iter().map(|name| folder.join(name)).find(|path| files::is_there(path)) else { continue };
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            match self.texts.read_inside(&path, root, MAX_FILE_BYTES) {
                Ok(FileText { text, diagnostic }) => {
                    entries.extend(diagnostic.map(Entry::from));
                    if text.trim().is_empty() {
                        entries.extend(hidden_by(&path).map(Entry::from));
                    } else {
                        files.push(Instructions { name, path, text });
                    }
                }
                Err(diagnostic) => {
                    entries.push(diagnostic.into());
                    // Silence: that it could not be read does not make it gone.
                    unread.insert(id(&name));
                }
            }
        }
        let all = files.iter().map(|file| id(&file.name)).chain(unread).collect();
        let limits = self.limits(&files);
        let nearest = files.len().saturating_sub(1);
        entries.extend(files.iter().zip(limits).enumerate().map(|(n, (file, limit))| {
            let fragment = fragment(file).limit(limit);
            if n < nearest { fragment.shedding(SheddingRank::INSTRUCTIONS).into() } else { fragment.into() }
        }));
        entries.push(Entry::Only { prefix: INSTRUCTIONS.into(), ids: all });
        entries
    }

    /// From the root down to the working directory.
    fn folders(&self) -> Vec<&Path> {
        let (root, directory) = (self.workspace.root(), self.workspace.directory());
        let mut folders: Vec<&Path> = directory.ancestors().take_while(|folder| folder.starts_with(root)).collect();
        folders.reverse();
        folders
    }

    /// The nearest takes what it needs, the next what is left.
    fn limits(&self, files: &[Instructions]) -> Vec<Limit> {
        let Some(max) = self.max_chars else { return vec![Limit::None; files.len()] };
        let mut left = max.get();
        let mut limits: Vec<Limit> = files
            .iter()
            .rev()
            .map(|file| {
                let limit = Limit::Chars(left);
                // And the blank line between two.
                left = left.saturating_sub(fragment(file).value().chars().count() + 2);
                limit
            })
            .collect();
        limits.reverse();
        limits
    }
}

/// What an empty file keeps from being read.
fn hidden_by(path: &Path) -> Option<Diagnostic> {
    let [first, second] = INSTRUCTION_FILES;
    let is_hidden = path.ends_with(first) && files::is_there(&path.with_file_name(second));
    let message = format!("is empty, and `{second}` beside it is not read");
    is_hidden.then(|| Diagnostic::note("instructions-empty", message).at(path.to_string_lossy()))
}

fn id(name: &str) -> FragmentId {
    format!("{INSTRUCTIONS}{name}").into()
}

fn fragment(file: &Instructions) -> Fragment {
    let path = file.path.to_string_lossy();
    let block = Block::new("instructions", &file.text).path_attribute("path", &path).rest_in(&*path);
    Fragment::new(id(&file.name), block).trust(Trust::Repository).source(Source::file(path))
}
