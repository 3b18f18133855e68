//! In which working tree one is.

use super::probe::{Answer, Probe};
use crate::layers::text::{Limit, escape};
use crate::layers::{Entry, Prompt, Section, Tier, Turn, sections};
use crate::sections::is_looked_up_in;
use crate::{Environment, Workspace};
use std::path::{Path, PathBuf};

const NAME: &str = "worktree_context";
/// No system opens a longer path.
const MAX_PATH: usize = 4096;

/// `worktree_context`: whether this is a repository's primary or a linked worktree, and its root. Looked up once a conversation, and once more
/// where it was compacted. Absent outside a repository, in one without a working tree, and in a workspace that is not trusted (where no git
/// command runs).
#[derive(Clone, Debug)]
pub struct WorktreeContext {
    environment: Environment,
    workspace: Workspace,
}

impl WorktreeContext {
    /// Of this workspace; git is looked for on this environment's `PATH`.
    pub fn new(environment: Environment, workspace: Workspace) -> Self {
        Self { environment, workspace }
    }
}

impl Section for WorktreeContext {
    fn name(&self) -> &'static str {
        NAME
    }
    fn add(&self, _: &Turn, prompt: &mut Prompt) {
        if !is_looked_up_in(prompt.round()) {
            return;
        }
        let probe = Probe::of(prompt, &self.environment, &self.workspace).want(|wants| wants.worktree = true);
        prompt.add_later(Tier::Session, || async move {
            let looked = probe.looked().await;
            let Answer { known, failed } = &looked.worktree;
            let mut entries: Vec<Entry> = failed.iter().filter_map(|failed| looked.say(failed, true)).map(Entry::from).collect();
            match known {
                Some(worktree) => {
                    entries.push(sections::fragment(NAME, &worktree.text()).limit(Limit::Chars(MAX_PATH)).into());
                }
                None if failed.is_none() => entries.push(Entry::Gone(NAME.into())),
                None => {}
            }
            entries
        });
    }
}

/// A working tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Worktree {
    is_linked: bool,
    root: PathBuf,
}

impl Worktree {
    /// Of the git folder, the one that all worktrees share, and the root, each on a line; `None` where a path has more than one.
    pub(super) fn read(printed: &str, folder: &Path) -> Option<Self> {
        let lines: Vec<&str> = printed.lines().collect();
        let [git_folder, common, root] = &*lines else { return None };
        let real = |path: &str| {
            let path = folder.join(path);
            path.canonicalize().unwrap_or(path)
        };
        Some(Self { is_linked: real(git_folder) != real(common), root: root.into() })
    }

    /// As far as the files tell, where git does not.
    pub(super) fn by_files(folder: &Path) -> Option<Self> {
        let git = folder.join(".git");
        let root = folder.to_owned();
        if git.is_dir() {
            return Some(Self { is_linked: false, root });
        }
        let (file, _) = crate::files::open_regular(&git).ok()??;
        let (bytes, _) = crate::files::read_bounded(&file, MAX_PATH).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let git_folder = folder.join(text.strip_prefix("gitdir:")?.trim());
        git_folder.is_dir().then(|| Self { is_linked: git_folder.join("commondir").is_file(), root })
    }

    fn text(&self) -> String {
        let kind = if self.is_linked { "Linked" } else { "Primary" };
        format!("{kind} git worktree, root: {}", escape::path(&self.root.to_string_lossy()))
    }
}
