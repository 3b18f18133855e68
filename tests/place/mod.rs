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
    /// Runs git in the workspace, with no configuration but its own.
    pub(crate) fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"]);
        git.args(arguments).current_dir(self.at("work")).stdin(Stdio::null()).stdout(Stdio::null());
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            git.env_remove(name);
        }
        let status = git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").status();
        assert!(status.expect("these tests need git").success(), "git {arguments:?}");
    }
}
