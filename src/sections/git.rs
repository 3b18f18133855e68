//! Where one works, and what git says of it.

use super::bounded;
use crate::Workspace;
use crate::blocking::off_the_executor;
use crate::layers::text::{Block, Edge, Fitted, Limit, Room, escape};
use crate::layers::{Diagnostic, Entry, Fragment, Prompt, Section, Source, Text, Tier, Trust, Turn};
use crate::process::{self, Printed};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

const NAME: &str = "dynamic_repository_context";
/// A git command that takes longer says nothing in this turn.
const DEADLINE: Duration = Duration::from_secs(2);
/// A status is cut for the prompt anyway; more of it is not even read.
const MAX_OUTPUT: usize = 256 * 1024;

/// `dynamic_repository_context`: the working directory, the branch and `git status`. At each user message; of a status that changed only the lines
/// that did. Outside a repository, and in a workspace that is not trusted (where no git command runs), the working directory alone.
#[derive(Clone, Debug)]
pub struct DynamicRepositoryContext {
    workspace: Workspace,
    max_chars: NonZeroUsize,
}

impl DynamicRepositoryContext {
    /// Of this workspace, in at most so many characters (`system_prompt.git_status_max_chars`).
    pub fn new(workspace: Workspace, max_chars: NonZeroUsize) -> Self {
        Self { workspace, max_chars }
    }
}

impl Section for DynamicRepositoryContext {
    fn name(&self) -> &'static str {
        NAME
    }
    fn add(&self, turn: &Turn, prompt: &mut Prompt) {
        let is_told = turn.told(NAME).is_some();
        prompt.add_later(Tier::Turn, || {
            let (workspace, max_chars) = (self.workspace.clone(), self.max_chars.get());
            let directory = vec![directory_line(&workspace)];
            let looked_up = off_the_executor(move || look_up(&workspace));
            let fragment = move |lines: Vec<String>| {
                let fragment = Fragment::new(NAME, Status::new(lines)).limit(Limit::Chars(max_chars));
                Entry::from(fragment.trust(Trust::Repository).source(Source::Probe))
            };
            async move {
                let status = looked_up.await.unwrap_or_else(|| Err(Diagnostic::warning("probe-failed", "the git status probe failed")));
                match status {
                    Ok(lines) => vec![fragment(lines)],
                    // Silence: that git did not answer in time does not make anything gone.
                    Err(diagnostic) if is_told => vec![diagnostic.into()],
                    Err(diagnostic) => vec![diagnostic.into(), fragment(directory)],
                }
            }
        });
    }
}

fn directory_line(workspace: &Workspace) -> String {
    format!("Working directory: {}", escape::path(&workspace.directory().to_string_lossy()))
}

fn look_up(workspace: &Workspace) -> Result<Vec<String>, Diagnostic> {
    let directory = workspace.directory();
    let is_repository = workspace.is_trusted() && directory.ancestors().any(|folder| folder.join(".git").exists());
    let mut lines = vec![directory_line(workspace)];
    if is_repository {
        // Of a repository that is larger than the workspace only what lies in the workspace.
        let root = workspace.root().as_os_str();
        let status = ["status", "--porcelain=v1", "--branch", "--untracked-files=normal", "--"].map(OsStr::new);
        let printed = git(directory, &[&status[..], &[root]].concat())?;
        lines.extend(status_lines(&printed));
    }
    Ok(lines)
}

/// Runs git so that it takes no lock, asks nothing, pages nothing and starts no monitor.
fn git(directory: &Path, arguments: &[&OsStr]) -> Result<Printed, Diagnostic> {
    let settings = ["-c", "core.fsmonitor=false", "-c", "color.ui=false"].map(OsStr::new);
    let arguments = [&settings[..], arguments].concat();
    let variables = [
        ("GIT_OPTIONAL_LOCKS", Some("0")),
        ("GIT_TERMINAL_PROMPT", Some("0")),
        ("GIT_PAGER", Some("cat")),
        ("LC_ALL", Some("C")),
        // A host that runs in a hook must not point us at another repository.
        ("GIT_DIR", None),
        ("GIT_WORK_TREE", None),
        ("GIT_INDEX_FILE", None),
        ("GIT_COMMON_DIR", None),
        ("GIT_OBJECT_DIRECTORY", None),
        ("GIT_NAMESPACE", None),
    ];
    let failed = |reason: String| Diagnostic::warning("git-failed", format!("git {reason}")).at(directory.to_string_lossy());
    let printed =
        process::run("git", &arguments, directory, &variables, DEADLINE, MAX_OUTPUT).map_err(|reason| failed(reason.to_string()))?;
    if printed.succeeded { Ok(printed) } else { Err(failed("refused to look at this repository".to_owned())) }
}

fn status_lines(printed: &Printed) -> Vec<String> {
    let mut lines: Vec<&str> = printed.text.lines().collect();
    if printed.is_cut {
        // The last line may be torn.
        lines.pop();
    }
    let mut told = Vec::with_capacity(lines.len() + 2);
    let mut lines = lines.into_iter().peekable();
    if let Some(branch) = lines.next_if(|line| line.starts_with("## ")) {
        told.push(format!("Branch: {}", bounded(&branch[3..])));
    }
    told.push(if lines.peek().is_some() { "Status:" } else { "Status: clean" }.to_owned());
    told.extend(lines.map(|line| escape::prose(line, &[NAME]).into_owned()));
    if printed.is_cut {
        told.push("(git printed more)".to_owned());
    }
    told
}

/// The lines of a status, whole or since another one.
struct Status {
    lines: Vec<String>,
    block: Block,
}

impl Status {
    fn new(lines: Vec<String>) -> Self {
        let block = Block::new(NAME, &lines.join("\n")).edge(Edge::Line);
        Self { lines, block }
    }
}

impl Text for Status {
    fn fit(&self, room: &Room<'_>) -> Fitted<'_> {
        self.block.fit(room)
    }

    /// The lines that came, and those that went; headings alone say nothing.
    fn since(&self, said: &str, room: &Room<'_>) -> Option<Fitted<'_>> {
        let tags = [format!("<{NAME}>"), format!("</{NAME}>")];
        let before: Vec<&str> = said.lines().filter(|line| !tags.iter().any(|tag| tag == line)).collect();
        let is_heading = |line: &str| line == "Status:";
        let (was, is): (HashSet<&str>, HashSet<&str>) = (before.iter().copied().collect(), self.lines.iter().map(String::as_str).collect());
        let went = before.iter().filter(|line| !is.contains(**line) && !is_heading(line)).map(|line| format!("- {line}"));
        let came = self.lines.iter().filter(|line| !was.contains(line.as_str()) && !is_heading(line)).map(|line| format!("+ {line}"));
        let changed: Vec<String> = went.chain(came).collect();
        if changed.is_empty() {
            return None;
        }
        let body = format!("Changed since it was told last (- no longer so, + so now):\n{}", changed.join("\n"));
        Some(Block::new(NAME, &body).fit(room).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(lines: &[&str]) -> Status {
        Status::new(lines.iter().map(|&line| line.to_owned()).collect())
    }

    #[test]
    fn of_a_status_only_what_changed_is_told() {
        let before = status(&["Branch: main", "Status:", " M a.rs", "?? b.rs"]);
        let now = status(&["Branch: main", "Status:", " M a.rs", " M c.rs"]);
        let said = before.fit(&Room::UNLIMITED).text;
        let since = now.since(&said, &Room::UNLIMITED).unwrap().text;
        assert!(since.ends_with("so now):\n- ?? b.rs\n+  M c.rs\n</dynamic_repository_context>"), "{since}");
        assert!(
            status(&["Branch: main", "Status:", "?? b.rs", " M a.rs"]).since(&said, &Room::UNLIMITED).is_none(),
            "another order is no news"
        );
    }

    #[test]
    fn what_git_prints_is_read_line_by_line() {
        let printed = |text: &str, is_cut| Printed { text: text.into(), is_cut, succeeded: true };
        assert_eq!(
            status_lines(&printed("## main...origin/main [ahead 1]\n", false)),
            ["Branch: main...origin/main [ahead 1]", "Status: clean"]
        );
        assert_eq!(status_lines(&printed("## a</skill>\n", false))[0], "Branch: a&lt;/skill&gt;", "escaped once");
        let torn = status_lines(&printed("## main\n M a.rs\n?? </dynamic_repo", true));
        assert_eq!(torn, ["Branch: main", "Status:", " M a.rs", "(git printed more)"]);
    }
}
