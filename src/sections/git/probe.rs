//! What the sections of one turn look up together.

use super::command::{DEADLINE, Failure, git};
use super::head::Head;
use super::worktree::Worktree;
use crate::blocking::off_the_executor_within;
use crate::layers::{Diagnostic, Prompt, Round, Turn};
use crate::{Environment, Workspace};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;

/// A process is killed when it is late; this is for a file system on which it can't even be started.
const WAIT: Duration = DEADLINE.saturating_add(Duration::from_millis(500));

/// One look at a repository, begun when it is first waited for: by then it is known what all sections want of it.
#[derive(Clone)]
pub(super) struct Probe(Arc<Look>);

struct Look {
    environment: Environment,
    workspace: Workspace,
    wants: Mutex<Wants>,
    looked: OnceCell<Looked>,
}

/// What the sections that are on want to know.
#[derive(Clone, Copy, Default)]
pub(super) struct Wants {
    pub(super) head: bool,
    /// The files that differ from it, too.
    pub(super) files: bool,
    pub(super) worktree: bool,
}

/// What there is to know.
#[derive(Default)]
pub(super) struct Looked {
    pub(super) head: Answer<Head>,
    pub(super) worktree: Answer<Worktree>,
    is_said: AtomicBool,
}

/// What became known, or why nothing did. Neither: there is no repository, or it has no working tree, or it is not trusted.
#[derive(Clone, Debug)]
pub(super) struct Answer<T> {
    pub(super) known: Option<T>,
    pub(super) failed: Option<Diagnostic>,
}

impl<T> Default for Answer<T> {
    fn default() -> Self {
        Self { known: None, failed: None }
    }
}

impl Probe {
    /// The one of this request, for whoever asks.
    pub(super) fn of(prompt: &mut Prompt, environment: &Environment, workspace: &Workspace) -> Self {
        let is_such = |probe: &Self| probe.0.workspace == *workspace;
        prompt.shared(is_such, || {
            let (environment, workspace) = (environment.clone(), workspace.clone());
            Self(Arc::new(Look { environment, workspace, wants: Mutex::default(), looked: OnceCell::new() }))
        })
    }
    /// This is wanted too.
    pub(super) fn want(self, want: impl FnOnce(&mut Wants)) -> Self {
        want(&mut self.0.wants.lock().unwrap_or_else(PoisonError::into_inner));
        self
    }
    /// What came of it. All git commands run side by side, off the executor.
    pub(super) async fn looked(&self) -> &Looked {
        self.0.looked.get_or_init(|| self.look()).await
    }

    async fn look(&self) -> Looked {
        let wants = *self.0.wants.lock().unwrap_or_else(PoisonError::into_inner);
        let (look, same) = (Arc::clone(&self.0), Arc::clone(&self.0));
        let head = wants.head.then(|| off_the_executor_within(WAIT, move || look.head(wants.files)));
        let worktree = wants.worktree.then(|| off_the_executor_within(WAIT, move || same.worktree()));
        let mut looked = Looked::default();
        if let Some(head) = head {
            looked.head = head.await.unwrap_or_else(failed);
        }
        if let Some(worktree) = worktree {
            looked.worktree = worktree.await.unwrap_or_else(failed);
        }
        looked
    }
}

fn failed<T>() -> Answer<T> {
    Answer { known: None, failed: Some(Diagnostic::warning("probe-failed", "the repository could not be looked at in time")) }
}

impl Look {
    /// The folder in which git is asked: the nearest with a `.git`, as git looks for it. `None` where that is not found before one is out of a
    /// repository's own folder: within `.git` there is no working tree.
    fn folder(&self) -> Option<&Path> {
        if !self.workspace.is_trusted() {
            return None;
        }
        let has_one = |folder: &Path| folder.join(".git").is_file() || folder.join(".git/HEAD").symlink_metadata().is_ok();
        let found = self.workspace.directory().ancestors().find(|folder| has_one(folder) || is_git_folder(folder));
        found.filter(|folder| has_one(folder))
    }

    fn head(&self, files: bool) -> Answer<Head> {
        let Some(folder) = self.folder() else { return Answer::default() };
        let untracked = if files { "--untracked-files=normal" } else { "--untracked-files=no" };
        // A submodule is another repository: whether it stands at another commit is told, and no git of its own is started to look into it.
        let status = ["status", "--porcelain=v2", "--branch", "--ahead-behind", "--ignore-submodules=dirty", untracked, "--"];
        // Of a repository that is larger than the workspace only what lies in the workspace.
        let arguments: Vec<&OsStr> = status.iter().map(OsStr::new).chain([self.workspace.root().as_os_str()]).collect();
        match git(&arguments, folder, &self.environment, DEADLINE) {
            Ok(printed) => Answer { known: Some(Head::read(&printed, folder)), failed: None },
            Err(failure) => Answer { known: None, failed: diagnostic(failure, folder) },
        }
    }

    fn worktree(&self) -> Answer<Worktree> {
        let Some(folder) = self.folder() else { return Answer::default() };
        let arguments = ["rev-parse", "--git-dir", "--git-common-dir", "--show-toplevel"].map(OsStr::new);
        match git(&arguments, folder, &self.environment, DEADLINE) {
            Ok(printed) => Answer { known: Worktree::read(&printed.text, folder).or_else(|| Worktree::by_files(folder)), failed: None },
            Err(Failure::NoWorkTree) => Answer::default(),
            Err(failure @ Failure::NoRepository(_)) => Answer { known: None, failed: diagnostic(failure, folder) },
            Err(failure) => Answer { known: Worktree::by_files(folder), failed: diagnostic(failure, folder) },
        }
    }
}

/// As git tells one: a `.git`, a bare repository.
fn is_git_folder(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && ["objects", "refs"].iter().all(|name| folder.join(name).is_dir())
}

fn diagnostic(failure: Failure, folder: &Path) -> Option<Diagnostic> {
    match failure {
        Failure::NoWorkTree => None,
        Failure::NoRepository(reason) | Failure::Other(reason) => {
            Some(Diagnostic::warning("git-failed", reason).at(folder.to_string_lossy()))
        }
    }
}

impl Looked {
    /// Says why something is not known: once a turn, however many sections miss it, and only where that is news.
    pub(super) fn say(&self, failed: &Diagnostic, is_news: bool) -> Option<Diagnostic> {
        (is_news && !self.is_said.swap(true, Ordering::Relaxed)).then(|| failed.clone())
    }
}

/// A failure is news at the start of a conversation, and where what is missing was told before.
pub(super) fn is_news(turn: &Turn, told: bool) -> bool {
    turn.round != Round::User || told
}
