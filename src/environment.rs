//! What the process would otherwise look up behind one's back: variables, home, working directory, clock. A value, so that a host can give its
//! own and a test runs the same on every machine.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Variables, home, working directory and clock. Programs that are started (git, toolchains) are looked for on its `PATH`, and find its variables
/// and no others.
///
/// ```
/// use tower_prompt::Environment;
///
/// let environment = Environment::new("/srv/project").home("/home/me").variable("XDG_CONFIG_HOME", "/cfg");
/// assert_eq!(environment.config_home().unwrap(), std::path::Path::new("/cfg"));
/// assert_eq!(environment.state_home().unwrap(), std::path::Path::new("/home/me/.local/state"));
/// ```
#[derive(Clone)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// Names of variables whose values are no Unicode.
    undecodable: BTreeSet<String>,
    home: Option<PathBuf>,
    directory: PathBuf,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl Environment {
    /// In this working directory, with no variable, no home, and the system's clock.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            variables: BTreeMap::new(),
            undecodable: BTreeSet::new(),
            home: None,
            directory: directory.into(),
            clock: Arc::new(SystemTime::now),
        }
    }
    /// This process's. Of a variable that is no Unicode the name alone is known: see [`undecodable`](Self::undecodable). A working directory that
    /// is gone is `.`.
    pub fn of_process() -> Self {
        let directory = std::env::current_dir().unwrap_or_else(|_| ".".into());
        let environment = std::env::vars_os().fold(Self::new(directory), |environment, (name, value)| match name.into_string() {
            Ok(name) => environment.raw_variable(name, value),
            // No name of ours, and no program would look for it.
            Err(_) => environment,
        });
        Self { home: std::env::home_dir().filter(|home| home.is_absolute()), ..environment }
    }
    /// With this variable.
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.undecodable.remove(&name);
        self.variables.insert(name, value.into());
        self
    }
    /// With this variable, as the system has it. One that is no Unicode counts as not set, and is among the [`undecodable`](Self::undecodable).
    pub fn raw_variable(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        if let Ok(value) = value.into().into_string() {
            return self.variable(name, value);
        }
        self.variables.remove(&name);
        self.undecodable.insert(name);
        self
    }
    /// With this home folder.
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }
    /// In this working directory.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = directory.into();
        self
    }
    /// With this clock.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// A variable's value; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
    /// All variables, ordered by name.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
    /// Names of variables that are set to something that is no Unicode, ordered.
    pub fn undecodable(&self) -> impl Iterator<Item = &str> {
        self.undecodable.iter().map(String::as_str)
    }
    /// The user's home folder, if there is one.
    pub fn home_folder(&self) -> Option<&Path> {
        self.home.as_deref()
    }
    /// The working directory.
    pub fn working_directory(&self) -> &Path {
        &self.directory
    }
    /// The time by this environment's clock.
    pub fn now(&self) -> SystemTime {
        (self.clock)()
    }
    /// `$XDG_CONFIG_HOME` where it is absolute, else `~/.config`.
    pub fn config_home(&self) -> Option<PathBuf> {
        self.xdg("XDG_CONFIG_HOME", ".config")
    }
    /// `$XDG_STATE_HOME` where it is absolute, else `~/.local/state`.
    pub fn state_home(&self) -> Option<PathBuf> {
        self.xdg("XDG_STATE_HOME", ".local/state")
    }
    /// Where state is kept: `$BCODE_STATE_DIR`, else `bcode` in [`state_home`](Self::state_home).
    pub fn state_folder(&self) -> Option<PathBuf> {
        let set = self.get("BCODE_STATE_DIR").map(|folder| self.resolve(folder, &self.directory));
        set.or_else(|| self.state_home().map(|home| home.join("bcode")))
    }
    /// `path` with a leading `~` replaced by the home folder, and hung from `base` where it is relative.
    pub fn resolve(&self, path: &str, base: &Path) -> PathBuf {
        let in_home = |rest: &str| self.home.as_ref().map(|home| home.join(rest.trim_start_matches(['/', '\\'])));
        let expanded = match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with(['/', '\\']) => in_home(rest),
            _ => None,
        };
        base.join(expanded.unwrap_or_else(|| path.into()))
    }

    fn xdg(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let set = self.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        set.or_else(|| self.home.as_ref().map(|home| home.join(below_home)))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of variables may be secrets.
        let names: Vec<&String> = self.variables.keys().collect();
        f.debug_struct("Environment")
            .field("variables", &names)
            .field("undecodable", &self.undecodable)
            .field("home", &self.home)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// The folder that one works in: its root, the working directory in it, and whether the user trusts it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Workspace {
    root: PathBuf,
    directory: PathBuf,
    trusted: bool,
}

impl Workspace {
    /// `directory` is root and working directory alike.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        Self { root: directory.clone(), directory, trusted: true }
    }
    /// The root is the nearest folder at or above `directory` that holds `.git` (a folder, or a linked worktree's file), else `directory` itself.
    pub fn around(directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        let root = directory.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&directory).to_owned();
        Self { root, directory, trusted: true }
    }
    /// Its skills, its `bcode.toml` and its instruction files add nothing, and no git command runs in it.
    pub fn untrusted(mut self) -> Self {
        self.trusted = false;
        self
    }
    /// The workspace's root.
    pub fn root(&self) -> &Path {
        &self.root
    }
    /// The working directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
    /// Whether the user trusts what stands in it.
    pub fn is_trusted(&self) -> bool {
        self.trusted
    }
}
