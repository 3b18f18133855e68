//! One git command, run so that it changes nothing, asks nobody, waits for nobody and starts as little as can be.
//!
//! It takes no lock and writes no index (`GIT_OPTIONAL_LOCKS=0`), so that no hook runs either, and hooks are switched off besides; no monitor is
//! started or asked (`core.fsmonitor=false`); no page, no prompt for a password, no askpass program; nothing is fetched, whatever the repository
//! lacks (`GIT_ALLOW_PROTOCOL` names no protocol). Of the environment's own `GIT_*` variables only those stay that say where git's own files and
//! settings are: a host that runs in a hook is not led to another repository.
//!
//! What is left to the repository are its filters (`filter.NAME.clean`): git runs them on a file whose stamp alone can't tell whether it changed.
//! That is why no git command runs at all in a workspace that is not trusted.

use crate::Environment;
use crate::process::{self, Printed, Surroundings};
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

/// A git command that takes longer says nothing in this turn.
pub(super) const DEADLINE: Duration = Duration::from_secs(2);
/// A status is cut for the prompt anyway; more of it is not even read.
pub(super) const MAX_OUTPUT: usize = 256 * 1024;

const SETTINGS: [&str; 9] =
    ["--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false", "-c", "color.ui=false"];
const VARIABLES: [(&str, &str); 9] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // Set and empty it stands before `core.askPass` and `SSH_ASKPASS`, and starts nothing.
    ("GIT_ASKPASS", ""),
    ("GIT_PAGER", "cat"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("LC_ALL", "C"),
    ("LANGUAGE", "C"),
    ("TERM", "dumb"),
];
/// Of the environment's own. The prefixes `GIT_CONFIG_KEY_` and `GIT_CONFIG_VALUE_` besides, which `GIT_CONFIG_COUNT` counts.
const KEPT: [&str; 7] = [
    "GIT_EXEC_PATH",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
];

/// Why git said nothing.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Failure {
    /// There is no working tree here: a bare repository, or a folder within `.git`.
    NoWorkTree,
    /// What looks like a repository is none.
    NoRepository(String),
    Other(String),
}

/// Blocks for at most `deadline`.
pub(super) fn git(arguments: &[&OsStr], directory: &Path, environment: &Environment, deadline: Duration) -> Result<Printed, Failure> {
    let Some(program) = process::find("git", environment) else {
        return Err(Failure::Other("git is not on the PATH of this environment".into()));
    };
    let arguments: Vec<&OsStr> = SETTINGS.iter().map(OsStr::new).chain(arguments.iter().copied()).collect();
    let within = Surroundings { directory, variables: variables(environment), deadline, max_bytes: MAX_OUTPUT };
    match process::run(&program, &arguments, &within) {
        Ok(printed) if printed.succeeded => Ok(printed),
        Ok(printed) => Err(refusal(&printed.complaint)),
        Err(error) => Err(Failure::Other(format!("git {error}"))),
    }
}

fn variables(environment: &Environment) -> Vec<(&str, &str)> {
    let is_kept = |name: &str| {
        !name.starts_with("GIT_") || KEPT.contains(&name) || name.starts_with("GIT_CONFIG_KEY_") || name.starts_with("GIT_CONFIG_VALUE_")
    };
    process::variables(environment).filter(|(name, _)| is_kept(name)).chain(VARIABLES).collect()
}

/// What git said of it, in its first line.
fn refusal(complaint: &str) -> Failure {
    if complaint.contains("must be run in a work tree") {
        return Failure::NoWorkTree;
    }
    let line = complaint.lines().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing").trim();
    let line = line.strip_prefix("fatal: ").unwrap_or(line);
    let reason = format!("git refused to look at this repository: {line}");
    if line.contains("not a git repository") { Failure::NoRepository(reason) } else { Failure::Other(reason) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_callers_git_variables_those_stay_that_lead_to_no_other_repository() {
        let mut environment = Environment::new("/").variable("HOME", "/h").variable("LC_ALL", "de_DE.UTF-8");
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_CONFIG_PARAMETERS", "GIT_TRACE", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_KEY_0"] {
            environment = environment.variable(name, "theirs");
        }
        let variables = variables(&environment);
        let theirs: Vec<&str> = variables.iter().filter(|(_, value)| *value == "theirs").map(|(name, _)| *name).collect();
        assert_eq!(theirs, ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_KEY_0"]);
        assert_eq!(variables.iter().rfind(|(name, _)| *name == "LC_ALL"), Some(&("LC_ALL", "C")), "the last one counts");
        assert!(variables.contains(&("HOME", "/h")));
    }

    #[test]
    fn a_refusal_is_told_in_one_line() {
        assert_eq!(refusal("fatal: this operation must be run in a work tree\n"), Failure::NoWorkTree);
        let told = "git refused to look at this repository: detected dubious ownership in repository at '/r'";
        let said = "fatal: detected dubious ownership in repository at '/r'\nTo add an exception\n";
        assert_eq!(refusal(said), Failure::Other(told.into()));
        assert_eq!(refusal(""), Failure::Other("git refused to look at this repository: it said nothing".into()));
    }

    #[cfg(unix)]
    #[test]
    fn a_git_that_hangs_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let script = format!("printf '#!/bin/sh\\nexec sleep 600\\n' > {0}/git; chmod +x {0}/git", folder.path().display());
        assert!(std::process::Command::new("sh").args(["-c", &script]).status().unwrap().success());
        let environment = Environment::new("/").variable("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
        let late = git(&["status".as_ref()], Path::new("/"), &environment, Duration::from_millis(50));
        assert_eq!(late.unwrap_err(), Failure::Other("git did not answer within 50 ms".into()));
    }
}
