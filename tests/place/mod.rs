//! A workspace and a home, side by side in a folder that goes away with the test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

pub(crate) struct Place {
    _folder: TempDir,
    /// Without links: as the program names it.
    path: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        for name in ["work", "home"] {
            fs::create_dir(path.join(name)).unwrap();
        }
        Self { _folder: folder, path }
    }
    pub(crate) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path.join(path)
    }
    pub(crate) fn shown(&self, path: &str) -> String {
        self.at(path).to_string_lossy().into_owned()
    }
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }
    /// A skill in the workspace.
    pub(crate) fn skill(&self, id: &str, description: &str, body: &str) -> PathBuf {
        self.write(&format!("work/skills/{id}/SKILL.md"), format!("---\nname: {id}\ndescription: {description}\n---\n{body}\n"))
    }
    /// The variables by which git is found, and finds no configuration but the repository's.
    pub(crate) fn own_git(&self) -> Vec<(&'static str, String)> {
        let path = std::env::var("PATH").expect("these tests need git");
        let own =
            [("PATH", path), ("HOME", self.shown("home")), ("GIT_CONFIG_GLOBAL", "/dev/null".into()), ("GIT_CONFIG_NOSYSTEM", "1".into())];
        own.into()
    }
    /// Runs git in the workspace, with no configuration but its own.
    pub(crate) fn git(&self, arguments: &[&str]) {
        self.git_in("work", arguments);
    }
    /// Runs git in this folder, with no configuration but its own.
    pub(crate) fn git_in(&self, folder: &str, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"]);
        git.args(["-c", "protocol.file.allow=always"]).args(arguments).current_dir(self.at(folder));
        let status = git.env_clear().envs(self.own_git()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(status.expect("these tests need git").success(), "git {arguments:?}");
    }
}
