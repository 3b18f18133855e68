//! Where HEAD is.

use super::head::{Head, Upstream};
use super::probe::{Answer, Probe, is_news};
use crate::layers::{Entry, Prompt, Section, Tier, Trust, Turn, sections};
use crate::sections::bounded;
use crate::{Environment, Workspace};

const NAME: &str = "git_revision";
/// Digits of a commit's id.
const DIGITS: usize = 12;

/// `git_revision`: HEAD as 12 hex digits, the upstream's name, and how many commits it lacks and has more. At each user message, when it changed.
/// Absent outside a repository, in one without a working tree, and in a workspace that is not trusted (where no git command runs).
#[derive(Clone, Debug)]
pub struct GitRevision {
    environment: Environment,
    workspace: Workspace,
}

impl GitRevision {
    /// Of this workspace; git is looked for on this environment's `PATH`.
    pub fn new(environment: Environment, workspace: Workspace) -> Self {
        Self { environment, workspace }
    }
}

impl Section for GitRevision {
    fn name(&self) -> &'static str {
        NAME
    }
    fn add(&self, turn: &Turn, prompt: &mut Prompt) {
        if !prompt.round().collects(Tier::Turn) {
            return;
        }
        let probe = Probe::of(prompt, &self.environment, &self.workspace).want(|wants| wants.head = true);
        let is_news = is_news(turn, turn.told(NAME).is_some());
        prompt.add_later(Tier::Turn, || async move {
            let looked = probe.looked().await;
            match &looked.head {
                Answer { known: Some(head), .. } => Some(Entry::from(sections::fragment(NAME, &text(head)).trust(Trust::Repository))),
                // Silence: that git did not answer does not make anything gone.
                Answer { failed: Some(failed), .. } => looked.say(failed, is_news).map(Entry::from),
                _ => Some(Entry::Gone(NAME.into())),
            }
        });
    }
}

fn text(head: &Head) -> String {
    let Some(commit) = &head.commit else { return "HEAD: no commits yet".into() };
    let commit = format!("HEAD: {}", commit.get(..DIGITS).unwrap_or(commit));
    match &head.upstream {
        None => commit,
        Some(Upstream { name, ahead_behind }) => format!("{commit}\nUpstream: {} ({})", bounded(name), difference(*ahead_behind)),
    }
}

fn difference(ahead_behind: Option<(u64, u64)>) -> String {
    match ahead_behind {
        None => "gone".into(),
        Some((0, 0)) => "up to date".into(),
        Some((ahead, 0)) => format!("{ahead} ahead"),
        Some((0, behind)) => format!("{behind} behind"),
        Some((ahead, behind)) => format!("{ahead} ahead, {behind} behind"),
    }
}
