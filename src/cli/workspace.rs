//! Which workspace, which configuration: the options that most commands share.

use super::Failure;
use super::terminal::{self, Terminal};
use crate::config::{ConfigError, Loaded, Loader};
use crate::layers::Diagnostic;
use crate::layers::skill::{SkillId, SkillRegistry};
use crate::skills::nearest;
use crate::{Assembly, Environment, Workspace};
use clap::Args;
use std::path::PathBuf;

/// What is said while skills are found.
pub(super) const LOOKING: &str = "Looking for skills";

#[derive(Args)]
pub(super) struct WorkspaceOptions {
    /// The workspace, root and working directory alike [default: here, its root found by walking up to a `.git`]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// A configuration file on top of those that are found; of several, a later one wins
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Don't trust the workspace: its skills, configuration and instruction files add nothing
    #[arg(long)]
    untrusted: bool,
}

impl WorkspaceOptions {
    /// Says so where the workspace is not trusted.
    pub(super) fn open(&self, terminal: &mut Terminal) -> Result<(Environment, Workspace), Failure> {
        let environment = Environment::of_process();
        let workspace = match &self.dir {
            None => Workspace::around(environment.working_directory()),
            Some(dir) => {
                // What a model reads names the folder from the root of the file system.
                let dir = environment.working_directory().join(dir);
                let missing = |reason: std::io::Error| Failure::failed(format!("--dir {}: {reason}", dir.display()));
                let found = dir.canonicalize().map_err(missing)?;
                if !found.is_dir() {
                    return Err(Failure::failed(format!("--dir {}: this is no folder", dir.display())));
                }
                Workspace::at(found)
            }
        };
        if !self.untrusted {
            return Ok((environment, workspace));
        }
        let folder = terminal::printable(&workspace.root().to_string_lossy());
        terminal.say(&format!("{folder} is not trusted: nothing in it is read, and no program runs in it"));
        Ok((environment, workspace.untrusted()))
    }

    fn loaded(&self, environment: &Environment, workspace: &Workspace) -> Result<Loaded, ConfigError> {
        self.config.iter().fold(Loader::new(environment, workspace), Loader::file).load()
    }
    pub(super) fn load(&self, environment: &Environment, workspace: &Workspace) -> Result<Loaded, Failure> {
        self.loaded(environment, workspace).map_err(|error| Failure::failed(format!("the configuration is wrong:\n{error}")))
    }
    /// All that is found, whether it stops or not.
    pub(super) fn findings(&self, environment: &Environment, workspace: &Workspace) -> Vec<Diagnostic> {
        match self.loaded(environment, workspace) {
            Ok(loaded) => loaded.findings,
            Err(error) => error.findings().to_vec(),
        }
    }

    /// The configuration with its findings shown, and what it makes of the workspace.
    pub(super) fn assembly(&self, terminal: &mut Terminal) -> Result<Assembly, Failure> {
        let (environment, workspace) = self.open(terminal)?;
        let loaded = self.load(&environment, &workspace)?;
        terminal.diagnostics(&loaded.findings);
        Ok(terminal.during(LOOKING, || Assembly::new(loaded.config, &environment, &workspace)))
    }
}

/// The id of a usable skill that is called so.
pub(super) fn skill_id(assembly: &Assembly, name: &str) -> Result<SkillId, Failure> {
    let skills = assembly.skills().snapshot();
    match skills.find(name) {
        Some(skill) if skill.summary.is_usable() => Ok(skill.summary.id.clone()),
        Some(_) => Err(Failure::failed(format!("the skill `{name}` is disabled by the configuration"))),
        None => {
            let ids: Vec<&str> = skills.iter().map(|skill| skill.summary.id.as_str()).collect();
            let nearest = nearest(name, ids.iter().copied());
            let hint = nearest.map(|id| format!("; did you mean `{id}`?")).unwrap_or_default();
            Err(Failure::failed(format!("there is no skill `{name}` among {}{hint}", ids.len())))
        }
    }
}

/// Runs a future to its end.
pub(super) fn wait<F: Future>(future: F) -> Result<F::Output, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok(runtime.map_err(Failure::failed)?.block_on(future))
}
