//! Which folders skills come from, highest precedence first.

use crate::config::CompatibleSystem;
use crate::layers::skill::{SkillSource, SkillSourceKind, SkillVisibility};
use crate::{Environment, Workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};

/// What of `[skills]` in `bcode.toml` finding and reading follow. The defaults are those of the configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the configuration")]
#[non_exhaustive]
pub struct DiscoveryOptions {
    /// `<root>/.bcode/skills`.
    pub include_repo_skills: bool,
    /// `<root>/skills`.
    pub include_generic_repo_skills: bool,
    /// All roots of the user's own.
    pub include_user_skills: bool,
    /// `.claude/skills`, in the workspace and at home.
    pub include_compat_claude_skills: bool,
    /// `.agents/skills`, in the workspace and at home.
    pub include_agents_skills: bool,
    /// `skills.compat`: the systems whose roots stand behind those of the same kind, in this order.
    pub compat: Vec<CompatibleSystem>,
    /// `skills.sources.paths`, resolved, in order.
    pub paths: Vec<PathBuf>,
    /// Roots of the host and its plugins, behind all others, in order.
    pub host_roots: Vec<Root>,
    /// A skill file of more bytes is left out.
    pub max_skill_file_bytes: NonZeroUsize,
    /// A bundled file of more bytes is cut.
    pub max_resource_bytes: NonZeroUsize,
    /// Whether links are followed: those of the user's own to anywhere, those of a repository within it.
    pub follow_symlinks: bool,
    /// `skills.prompt.include_resources`: whether the names of bundled scripts and references are read for the catalog.
    pub include_resources: bool,
    /// `skills.disabled.ids`: ids, or names that one skill alone bears.
    pub disabled: BTreeSet<String>,
    /// `skills.overrides`, by id, or by a name that one skill alone bears.
    pub overrides: BTreeMap<String, SkillVisibility>,
    /// `skills.matching.patterns`, by id, or by a name that one skill alone bears: trigger patterns beside the skill's own.
    pub patterns: BTreeMap<String, Vec<String>>,
}

/// 256 KiB are not zero, and the compiler would say so if they were.
const DEFAULT_BYTES: NonZeroUsize = NonZeroUsize::new(256 * 1024).unwrap();

impl Default for DiscoveryOptions {
    fn default() -> Self {
        Self {
            include_repo_skills: true,
            include_generic_repo_skills: true,
            include_user_skills: true,
            include_compat_claude_skills: true,
            include_agents_skills: true,
            compat: Vec::new(),
            paths: Vec::new(),
            host_roots: Vec::new(),
            max_skill_file_bytes: DEFAULT_BYTES,
            max_resource_bytes: DEFAULT_BYTES,
            follow_symlinks: true,
            include_resources: false,
            disabled: BTreeSet::new(),
            overrides: BTreeMap::new(),
            patterns: BTreeMap::new(),
        }
    }
}

/// A folder that skills are looked for in.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Root {
    /// The folder; need not exist.
    pub path: PathBuf,
    /// Which kind of root.
    pub kind: SkillSourceKind,
    /// What a person sees, such as `repo:.bcode/skills`.
    pub label: String,
    /// The folder that no link may lead out of: the workspace's root, for what a repository brings.
    pub within: Option<PathBuf>,
    /// What counts as a skill in it.
    pub rules: RootRules,
}

/// What counts as a skill in a root.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[non_exhaustive]
pub enum RootRules {
    /// Folders with an instruction file, to any depth in bounds, and flat files in the root itself.
    #[default]
    Standard,
    /// Files `*.md` in the root itself, no folders. `name` is required, and is the id; of two in one root the last by path wins.
    Batbox,
    /// `SKILL.md` in folders of the root itself, no deeper.
    Orcbot,
    /// `SKILL.md` in folders to any depth in bounds, below a skill's folder too. A skill that breaks a rule of the specification is left out.
    Brute,
}

impl Root {
    /// A root with the standard rules, whose links may lead anywhere.
    pub fn new(path: impl Into<PathBuf>, kind: SkillSourceKind, label: impl Into<String>) -> Self {
        Self { path: path.into(), kind, label: label.into(), within: None, rules: RootRules::Standard }
    }
    /// With links confined to this folder.
    pub fn within(mut self, folder: impl Into<PathBuf>) -> Self {
        self.within = Some(folder.into());
        self
    }
    /// With these rules.
    pub fn rules(mut self, rules: RootRules) -> Self {
        self.rules = rules;
        self
    }
    /// Where its skills say that they came from.
    pub fn source(&self) -> SkillSource {
        SkillSource::new(self.kind, &*self.label).path(self.path.to_string_lossy())
    }
}

/// The roots in order of precedence. A workspace that is not trusted brings none: not its own, and no other that lies in it.
pub fn roots(options: &DiscoveryOptions, environment: &Environment, workspace: &Workspace) -> Vec<Root> {
    use SkillSourceKind::{Compatibility, Configured, Repository, User};
    let mut roots = Vec::new();
    let of_the_repository = [
        (options.include_repo_skills, Repository, ".bcode/skills"),
        (options.include_generic_repo_skills, Repository, "skills"),
        (options.include_agents_skills, Compatibility, ".agents/skills"),
        (options.include_compat_claude_skills, Compatibility, ".claude/skills"),
    ];
    for (_, kind, below) in of_the_repository.into_iter().filter(|(included, ..)| *included && workspace.is_trusted()) {
        let folder = environment.working_directory().join(workspace.root());
        roots.push(Root::new(folder.join(below), kind, format!("repo:{below}")).within(folder));
    }
    if workspace.is_trusted() {
        roots.extend(compatible_roots_of_the_repository(options, environment, workspace));
    }
    if options.include_user_skills {
        roots.extend(environment.config_home().map(|folder| Root::new(folder.join("bcode/skills"), User, "user-config:skills")));
        roots.extend(environment.state_folder().map(|folder| Root::new(folder.join("skills"), User, "user-state:skills")));
        let at_home = [(options.include_agents_skills, ".agents/skills"), (options.include_compat_claude_skills, ".claude/skills")];
        for (_, below) in at_home.into_iter().filter(|(included, _)| *included) {
            roots.extend(environment.home_folder().map(|home| Root::new(home.join(below), User, format!("user:{below}"))));
        }
        for system in &options.compat {
            let (below, rules) = match system {
                CompatibleSystem::Batbox => (".batbox/skills", RootRules::Batbox),
                CompatibleSystem::Brute => (".config/brute/skills", RootRules::Brute),
                CompatibleSystem::Orcbot => (".orcbot/plugins/skills", RootRules::Orcbot),
            };
            let at_home = environment.home_folder().map(|home| Root::new(home.join(below), User, format!("user:{below}")).rules(rules));
            roots.extend(at_home);
        }
    }
    let configured = options.paths.iter().enumerate();
    roots.extend(
        configured.map(|(number, path)| Root::new(environment.working_directory().join(path), Configured, format!("configured:{number}"))),
    );
    roots.extend(options.host_roots.iter().filter(|root| workspace.is_trusted() || !root.kind.is_of_the_repository()).cloned());
    if !workspace.is_trusted() {
        let top = resolved(&environment.working_directory().join(workspace.root()));
        roots.retain(|root| !resolved(&environment.working_directory().join(&root.path)).starts_with(&top));
    }
    roots
}

/// The path without links, as far as it is there; what is not has none.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    let Some((folder, canonical)) = there else { return path.to_owned() };
    let mut resolved = canonical;
    for part in path.strip_prefix(folder).unwrap_or(Path::new("")).components() {
        if part == Component::ParentDir {
            resolved.pop();
        } else {
            resolved.push(part);
        }
    }
    resolved
}

/// What the systems of `skills.compat` read in a repository. `.claude/skills`, which is batbox's too, is a standard root and keeps its rules, but
/// where batbox looks for it in another folder.
fn compatible_roots_of_the_repository(options: &DiscoveryOptions, environment: &Environment, workspace: &Workspace) -> Vec<Root> {
    let here = environment.working_directory();
    let top = here.join(workspace.root());
    let mut roots = Vec::new();
    let mut add = |folder: &Path, below: &str, rules| {
        // A working directory outside of the workspace is a repository of its own.
        let within = if folder.starts_with(&top) { &top } else { folder };
        let root = Root::new(folder.join(below), SkillSourceKind::Compatibility, format!("repo:{below}"));
        roots.push(root.within(within).rules(rules));
    };
    for system in &options.compat {
        match system {
            CompatibleSystem::Batbox => {
                let project = batbox_project(here, &top);
                add(project, ".batbox/skills", RootRules::Batbox);
                if project != top && options.include_compat_claude_skills {
                    add(project, ".claude/skills", RootRules::Batbox);
                }
            }
            CompatibleSystem::Brute => add(here, ".brute/skills", RootRules::Brute),
            // Has none.
            CompatibleSystem::Orcbot => {}
        }
    }
    roots
}

/// The nearest folder with `.git` or `BATBOX.md`, at or above the working directory, and never above the workspace, which is what the user trusts.
fn batbox_project<'a>(here: &'a Path, top: &'a Path) -> &'a Path {
    let within = here.ancestors().take_while(|folder| folder.starts_with(top));
    within.into_iter().find(|folder| [".git", "BATBOX.md"].iter().any(|mark| folder.join(mark).exists())).unwrap_or(top)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(options: &DiscoveryOptions, environment: &Environment, workspace: &Workspace) -> Vec<String> {
        roots(options, environment, workspace).iter().map(|root| format!("{} {}", root.label, root.path.display())).collect()
    }

    #[test]
    fn the_roots_stand_in_order_of_precedence() {
        let environment = Environment::new("/w/deep").home("/h");
        let workspace = Workspace::at("/w");
        let options = DiscoveryOptions { paths: vec!["/x".into(), "/y".into()], ..DiscoveryOptions::default() };
        let expected = [
            "repo:.bcode/skills /w/.bcode/skills",
            "repo:skills /w/skills",
            "repo:.agents/skills /w/.agents/skills",
            "repo:.claude/skills /w/.claude/skills",
            "user-config:skills /h/.config/bcode/skills",
            "user-state:skills /h/.local/state/bcode/skills",
            "user:.agents/skills /h/.agents/skills",
            "user:.claude/skills /h/.claude/skills",
            "configured:0 /x",
            "configured:1 /y",
        ];
        assert_eq!(shown(&options, &environment, &workspace), expected);
        assert_eq!(shown(&options, &environment, &workspace.untrusted()), expected[4..]);
    }

    #[test]
    fn what_lies_in_a_workspace_that_is_not_trusted_is_no_root() {
        let folder = tempfile::tempdir().unwrap();
        let (work, outside) = (folder.path().join("work"), folder.path().join("outside"));
        for path in [&work.join(".claude/skills"), &outside] {
            std::fs::create_dir_all(path).unwrap();
        }
        let environment = Environment::new(&work).home(&work);
        let by_detour = outside.join("..").join("work").join("new");
        let paths = vec!["here".into(), by_detour, outside.clone()];
        let host_roots = vec![Root::new(work.join("plugin"), SkillSourceKind::Plugin, "plugin:a")];
        let options = DiscoveryOptions { paths, host_roots, ..DiscoveryOptions::default() };
        let workspace = Workspace::at(&work);
        assert_eq!(roots(&options, &environment, &workspace).len(), 12);
        let expected = [format!("configured:2 {}", outside.display())];
        assert_eq!(shown(&options, &environment, &workspace.clone().untrusted()), expected);
        #[cfg(unix)]
        {
            // By another name it is the same workspace.
            let link = folder.path().join("link");
            std::os::unix::fs::symlink(&work, &link).unwrap();
            let environment = Environment::new(&link).home(&link);
            assert_eq!(shown(&options, &environment, &Workspace::at(&link).untrusted()), expected);
            assert_eq!(shown(&options, &environment, &workspace.untrusted()), expected);
        }
    }

    #[test]
    fn variables_move_the_users_roots_and_keys_switch_them_off() {
        let environment = Environment::new("/w").home("/h").variable("XDG_CONFIG_HOME", "/c").variable("XDG_STATE_HOME", "/s");
        let workspace = Workspace::at("/w").untrusted();
        let options = DiscoveryOptions { include_agents_skills: false, ..DiscoveryOptions::default() };
        let expected = ["user-config:skills /c/bcode/skills", "user-state:skills /s/bcode/skills", "user:.claude/skills /h/.claude/skills"];
        assert_eq!(shown(&options, &environment, &workspace), expected);
        let moved = environment.variable("BCODE_STATE_DIR", "/b");
        assert_eq!(shown(&options, &moved, &workspace)[1], "user-state:skills /b/skills");
        let none = DiscoveryOptions { include_user_skills: false, ..options };
        assert_eq!(shown(&none, &moved, &workspace), [""; 0]);
        assert_eq!(shown(&DiscoveryOptions::default(), &Environment::new("/w"), &workspace), [""; 0]);
    }
}
