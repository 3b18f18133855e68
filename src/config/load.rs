//! Finds the sources, reads them in their order, and makes one configuration of them.

use super::check::{Check, Checked};
use super::composition::{layers, merge, settle};
use super::effect::{unknown_bundled_profiles, without_a_base, without_effect};
use super::keys::{DEFAULTS, is_ours};
use super::model::Config;
use super::place::{KeyPath, Origin, OriginKind};
use super::read::read;
use super::source::Source;
use super::text::{shown, toml_text};
use super::values::ConfigValues;
use super::variables;
use crate::environment::{Environment, Workspace};
use crate::layers::Diagnostic;
use crate::skills::resolved;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// A configuration, and what was found while it was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// What holds.
    pub config: Config,
    /// In the order of the sources, and by place in each.
    pub findings: Vec<Diagnostic>,
    /// Every value with what set it.
    pub values: ConfigValues,
}

/// Something that the user named is wrong. Prints all findings, one a line.
#[derive(Clone, Debug)]
pub struct ConfigError {
    findings: Vec<Diagnostic>,
}

impl ConfigError {
    /// All that was found, in discovered files too; one at least is an error.
    pub fn findings(&self) -> &[Diagnostic] {
        &self.findings
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, finding) in self.findings.iter().enumerate() {
            let end = if number == 0 { "" } else { "\n" };
            write!(f, "{end}{finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// Loads from files, variables and defaults: [`Loader`] with nothing added.
pub fn load(environment: &Environment, workspace: &Workspace) -> Result<Loaded, ConfigError> {
    Loader::new(environment, workspace).load()
}

/// Loads a configuration.
///
/// ```
/// use tower_prompt::config::Loader;
/// use tower_prompt::{Environment, Workspace};
///
/// let environment = Environment::new("/nowhere").variable("BCODE_SKILLS__PROMPT__MAX_BYTES", "8192");
/// let loaded = Loader::new(&environment, &Workspace::at("/nowhere")).set("skills.commands", true).load()?;
/// assert_eq!(loaded.config.skills.prompt.max_bytes.unwrap().get(), 8192);
/// assert_eq!(loaded.values.get("skills.prompt.max_bytes").unwrap().origin.to_string(), "BCODE_SKILLS__PROMPT__MAX_BYTES");
/// # Ok::<(), tower_prompt::config::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Loader<'e> {
    environment: &'e Environment,
    workspace: &'e Workspace,
    files: Vec<PathBuf>,
    /// A value that can't be written as TOML is told when all is loaded.
    settings: Vec<(String, Result<toml::Value, String>)>,
}

impl<'e> Loader<'e> {
    /// For this workspace. Where it is not trusted, its own files are not read.
    pub fn new(environment: &'e Environment, workspace: &'e Workspace) -> Self {
        Self { environment, workspace, files: Vec::new(), settings: Vec::new() }
    }
    /// With a file on top, as `--config` adds it; of several, a later one wins. A relative path hangs from the environment's working
    /// directory. A missing file is an error.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(path.into());
        self
    }
    /// With a value over all files and variables; of several, a later one wins. `key` is a dotted key of TOML; a relative path in the value
    /// hangs from the workspace's directory. The value may be whatever TOML can say: `true`, `8192`, `"names_only"`, a list, a map, a table of the
    /// configuration's own types.
    pub fn set(mut self, key: impl Into<String>, value: impl Serialize) -> Self {
        self.settings.push((key.into(), toml::Value::try_from(value).map_err(|error| error.to_string())));
        self
    }
    /// Reads everything. What is wrong in a discovered file is among the findings of [`Loaded`]; what is wrong in something named is an error.
    pub fn load(self) -> Result<Loaded, ConfigError> {
        let mut sources = self.sources();
        settle(&mut sources);
        let (layers, left_out) = layers(&sources);
        let merged = merge(layers.iter().map(|layer| layer.table.as_ref()));
        let values = ConfigValues::of(&merged, &layers, &sources);
        let mut findings: Vec<Diagnostic> = sources.iter().flat_map(|source| source.checked.findings.clone()).chain(left_out).collect();
        let stops = sources.iter().any(|source| source.is_named && source.checked.has_errors());
        match merged.extract::<Config>() {
            Ok(config) if !stops => {
                findings.extend(without_a_base(&config, &values));
                findings.extend(unknown_bundled_profiles(&config, &values));
                findings.extend(without_effect(&values));
                findings.extend(self.below_the_root());
                Ok(Loaded { config, findings, values })
            }
            Ok(_) => Err(ConfigError { findings }),
            // The check lets nothing through that the types refuse; were it wrong, that would be told.
            Err(error) => {
                findings.push(Diagnostic::error("value-invalid", error.to_string()));
                Err(ConfigError { findings })
            }
        }
    }

    /// Files in the working directory that would be the workspace's own, were it the root.
    fn below_the_root(&self) -> Vec<Diagnostic> {
        let at = |folder: &Path| self.environment.working_directory().join(folder);
        let (root, directory) = (at(self.workspace.root()), at(self.workspace.directory()));
        if !self.workspace.is_trusted() || resolved(&root) == resolved(&directory) {
            return Vec::new();
        }
        let message = format!(
            "this file is not read: the root of the workspace is {}; name this folder (`--dir`) to make it the root",
            root.display()
        );
        let files = ["bcode.toml", ".bcode/bcode.toml"].map(|file| directory.join(file)).into_iter().filter(|path| path.is_file());
        files.map(|path| Diagnostic::note("file-not-read", message.clone()).at(path.display().to_string())).collect()
    }

    /// All sources, the lowest first.
    fn sources(&self) -> Vec<Source> {
        let defaults = Checked { table: DEFAULTS.clone(), ..Checked::default() };
        let mut sources = vec![Source { origin: Origin::new(OriginKind::Default, ""), is_named: false, checked: defaults }];
        sources.extend(variables::undecodable(self.environment));
        let root = self.environment.working_directory().join(self.workspace.root());
        if let Some(home) = self.environment.config_home() {
            let path = self.environment.working_directory().join(home).join("bcode/bcode.toml");
            sources.extend(if self.workspace.is_trusted() || !resolved(&path).starts_with(resolved(&root)) {
                self.read(&path, false)
            } else {
                unread(&path)
            });
        }
        if self.workspace.is_trusted() {
            let discovered = ["bcode.toml", ".bcode/bcode.toml"].map(|file| root.join(file));
            sources.extend(discovered.iter().filter_map(|path| self.read(path, false)));
        }
        if let Some(path) = self.environment.get("BCODE_CONFIG") {
            sources.extend(self.read(&self.environment.resolve(path, self.environment.working_directory()), true));
        }
        let base = self.environment.working_directory().join(self.workspace.directory());
        if let Some(text) = self.environment.get("BCODE_CONFIG_TOML") {
            let origin = Origin::new(OriginKind::Variable, "BCODE_CONFIG_TOML");
            sources.push(Source::document(text, origin, true, self.environment, &base));
        }
        sources.extend(variables::sources(self.environment, &base));
        sources.extend(self.files.iter().filter_map(|path| self.read(&self.environment.working_directory().join(path), true)));
        sources.extend(self.settings.iter().map(|(key, value)| self.setting(key, value, &base)));
        sources
    }

    /// `path` hangs from the working directory already. `None` for a discovered file that is not there.
    fn read(&self, path: &Path, is_named: bool) -> Option<Source> {
        let origin = Origin::new(OriginKind::File, path.display().to_string());
        match read(path, &origin) {
            Ok(Some(text)) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                Some(Source::document(&text, origin, is_named, self.environment, folder))
            }
            Ok(None) if is_named => {
                let finding = origin.locate(Diagnostic::error("file-missing", "there is no such file"), None);
                Some(Source::broken(origin, is_named, finding))
            }
            Ok(None) => None,
            Err(finding) => Some(Source::broken(origin, is_named, finding)),
        }
    }

    fn setting(&self, key: &str, value: &Result<toml::Value, String>, base: &Path) -> Source {
        let origin = Origin::new(OriginKind::Code, "");
        let broken = |finding: Diagnostic| {
            let finding = origin.locate(finding, None);
            Source::broken(origin.clone(), true, finding)
        };
        let Some(path) = dotted_key(key) else {
            return broken(Diagnostic::error("key-invalid", format!("{} is no dotted key", shown(key))));
        };
        if !is_ours(&path.segments().iter().map(String::as_str).collect::<Vec<_>>()) {
            return broken(Diagnostic::warning("key-unknown", format!("`{path}` is in no table that is read")));
        }
        let not_toml = |why: &str| broken(Diagnostic::error("value-not-toml", format!("`{path}` cannot be written as TOML: {why}")));
        let value = match value {
            Ok(value) => value,
            Err(why) => return not_toml(why),
        };
        // Through text, so that code and files go by one check.
        let text: Vec<String> = path.holding(value.clone()).iter().map(|(key, value)| format!("{key} = {}", toml_text(value))).collect();
        match DeTable::parse(&text.join("\n")) {
            Ok(document) => {
                let checked = Check::new(&origin, self.environment, base).document(document.get_ref());
                Source { origin, is_named: true, checked }
            }
            Err(error) => not_toml(error.message()),
        }
    }
}

/// The user's own file in a workspace that is not trusted: whoever wrote the repository may have written it. `None` where there is none.
fn unread(path: &Path) -> Option<Source> {
    path.symlink_metadata().ok()?;
    let origin = Origin::new(OriginKind::File, path.display().to_string());
    let note = Diagnostic::note("file-not-trusted", "lies in the workspace, which is not trusted, and is not read");
    let finding = origin.locate(note, None);
    Some(Source::broken(origin, false, finding))
}

/// The path that a dotted key of TOML spells.
fn dotted_key(key: &str) -> Option<KeyPath> {
    let document = format!("{key} = true");
    let parsed = DeTable::parse(&document).ok()?;
    let mut path = KeyPath::default();
    let mut table = parsed.get_ref();
    loop {
        let (name, value) = table.iter().next().filter(|_| table.len() == 1)?;
        path = path.join(name.get_ref().as_ref());
        match value.get_ref() {
            toml::de::DeValue::Table(inner) => table = inner,
            toml::de::DeValue::Boolean(true) => return Some(path),
            _ => return None,
        }
    }
}
