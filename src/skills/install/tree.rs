//! What a source brings, written into a folder of our own that nothing else writes to: regular files and folders, counted as they come.

use super::Limits;
use super::error::{InstallError, Refusal, io_error};
use super::names::{EntryPath, folded};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

pub(super) struct Tree<'l> {
    root: PathBuf,
    limits: &'l Limits,
    /// By what a file system that knows no case calls them.
    names: HashMap<String, Known>,
    bytes: u64,
    /// What comes out may not be out of all proportion to this.
    packed: Option<u64>,
    /// What was not written, with the reason: the skill that it belongs to is not installed.
    pub(super) passed_over: Vec<(EntryPath, Refusal)>,
}

struct Known {
    path: String,
    is_folder: bool,
    /// The source has an entry for it, and not only for something in it.
    is_named: bool,
}

impl<'l> Tree<'l> {
    /// An empty one, in a folder that is made.
    pub(super) fn new(root: PathBuf, limits: &'l Limits) -> Result<Self, InstallError> {
        fs::create_dir_all(&root).map_err(|reason| io_error(&root, reason))?;
        Ok(Self { root, limits, names: HashMap::new(), bytes: 0, packed: None, passed_over: Vec::new() })
    }
    /// It comes out of an archive of so many bytes.
    pub(super) fn set_packed(&mut self, bytes: usize) {
        self.packed = Some(bytes as u64);
    }
    pub(super) fn limits(&self) -> &'l Limits {
        self.limits
    }

    pub(super) fn folder(&mut self, path: &EntryPath) -> Result<(), InstallError> {
        self.claim(path, true)?;
        let folder = self.place(path);
        fs::create_dir_all(&folder).map_err(|reason| io_error(&folder, reason))
    }
    /// Writes a file, and says how many bytes it has. Of the mode only counts whether it may be run.
    pub(super) fn file(&mut self, path: &EntryPath, may_run: bool, content: impl Read) -> Result<u64, InstallError> {
        self.claim(path, false)?;
        let place = self.place(path);
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder).map_err(|reason| io_error(folder, reason))?;
        }
        let mut file = create(&place, may_run).map_err(|reason| io_error(&place, reason))?;
        let written = self.copy(content, &mut file).map_err(|failure| match failure {
            Failure::Limit(refusal) => InstallError::refused(path.shown(), refusal),
            Failure::Read(reason) => InstallError::Io { path: path.shown(), reason },
            Failure::Write(reason) => io_error(&place, reason),
        })?;
        file.sync_all().map_err(|reason| io_error(&place, reason))?;
        Ok(written)
    }
    /// Writes nothing, and remembers it.
    pub(super) fn pass_over(&mut self, path: EntryPath, refusal: Refusal) -> Result<(), InstallError> {
        self.claim(&path, false)?;
        self.passed_over.push((path, refusal));
        Ok(())
    }

    fn place(&self, path: &EntryPath) -> PathBuf {
        path.names().iter().fold(self.root.clone(), |place, name| place.join(name))
    }

    /// Takes the name, and those of the folders that it lies in.
    fn claim(&mut self, path: &EntryPath, is_folder: bool) -> Result<(), InstallError> {
        let refused = |refusal| Err(InstallError::refused(path.shown(), refusal));
        let Some(last) = path.names().len().checked_sub(1) else {
            return if is_folder { Ok(()) } else { refused(Refusal::Unnamed) };
        };
        let (mut key, mut exact) = (String::new(), String::new());
        for (at, name) in path.names().iter().enumerate() {
            if at > 0 {
                key.push('/');
                exact.push('/');
            }
            key.push_str(&folded(name));
            exact.push_str(name);
            let (is_folder, is_named) = (at < last || is_folder, at == last);
            let is_full = self.names.len() >= self.limits.entries;
            match self.names.get_mut(&key) {
                Some(known) if known.path != exact => return refused(Refusal::Twin(known.path.clone())),
                Some(known) if known.is_folder && is_folder && !(known.is_named && is_named) => known.is_named |= is_named,
                Some(_) => return refused(Refusal::Twice),
                None if is_full => {
                    return refused(Refusal::TooMuch(format!("{} files and folders", self.limits.entries)));
                }
                None => {
                    self.names.insert(key.clone(), Known { path: exact.clone(), is_folder, is_named });
                }
            }
        }
        Ok(())
    }

    fn copy(&mut self, mut content: impl Read, file: &mut File) -> Result<u64, Failure> {
        let mut buffer = vec![0; 64 * 1024];
        let mut written = 0;
        loop {
            let read = match content.read(&mut buffer) {
                Ok(0) => return Ok(written),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::Read(error)),
            };
            written += read as u64;
            self.bytes += read as u64;
            let too_much = |what: String| Err(Failure::Limit(Refusal::TooMuch(what)));
            if written > self.limits.file_bytes {
                return too_much(format!("{} bytes in one file", self.limits.file_bytes));
            }
            if self.bytes > self.limits.bytes {
                return too_much(format!("{} bytes", self.limits.bytes));
            }
            if self.packed.is_some_and(|packed| self.bytes > self.limits.ratio_from.max(packed.saturating_mul(self.limits.ratio))) {
                return too_much(format!("{} times the bytes of its archive", self.limits.ratio));
            }
            file.write_all(&buffer[..read]).map_err(Failure::Write)?;
        }
    }
}

enum Failure {
    Limit(Refusal),
    Read(io::Error),
    Write(io::Error),
}

/// A new file; one that is there, link or not, is an error.
fn create(path: &Path, may_run: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if may_run { 0o755 } else { 0o644 });
    #[cfg(not(unix))]
    let _ = may_run;
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(error: InstallError) -> Refusal {
        match error {
            InstallError::Refused { refusal, .. } => refusal,
            other => panic!("{other}"),
        }
    }
    /// Writes empty files, and folders where the name ends with a `/`.
    fn write(tree: &mut Tree<'_>, names: &[&str]) -> Result<(), Refusal> {
        for name in names {
            let path = EntryPath::new(name.as_bytes(), tree.limits()).unwrap();
            let written = if name.ends_with('/') { tree.folder(&path) } else { tree.file(&path, false, &b""[..]).map(|_| ()) };
            written.map_err(refusal)?;
        }
        Ok(())
    }

    #[test]
    fn two_of_one_name_or_of_names_that_differ_in_case_are_refused() {
        let limits = Limits::default();
        for (names, expected) in [
            (&["a/b", "a/c", "a/", "d/", "d/e"][..], Ok(())),
            (&["a", "a"], Err(Refusal::Twice)),
            (&["a/", "a/"], Err(Refusal::Twice)),
            (&["a", "a/"], Err(Refusal::Twice)),
            (&["a", "a/b"], Err(Refusal::Twice)),
            (&["a/b", "a"], Err(Refusal::Twice)),
            (&["a/SKILL.md", "a/skill.md"], Err(Refusal::Twin("a/SKILL.md".into()))),
            (&["A/x", "a/y"], Err(Refusal::Twin("A".into()))),
            (&["caf\u{e9}", "cafe\u{301}"], Err(Refusal::Twin("caf\u{e9}".into()))),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let mut tree = Tree::new(folder.path().join("tree"), &limits).unwrap();
            assert_eq!(write(&mut tree, names), expected, "{names:?}");
        }
    }

    #[test]
    fn each_limit_holds_at_its_edge() {
        let limits = Limits { entries: 3, bytes: 100, file_bytes: 60, ratio: 2, ratio_from: 10, ..Limits::default() };
        let folder = tempfile::tempdir().unwrap();
        let mut next = 0;
        let mut tree = |packed| {
            next += 1;
            let mut tree = Tree::new(folder.path().join(next.to_string()), &limits).unwrap();
            tree.set_packed(packed);
            tree
        };
        let file = |tree: &mut Tree<'_>, name: &str, bytes: usize| {
            let path = EntryPath::new(name.as_bytes(), &limits).unwrap();
            tree.file(&path, false, &vec![0; bytes][..]).map_err(refusal)
        };
        assert!(write(&mut tree(0), &["a/b", "c"]).is_ok());
        assert!(matches!(write(&mut tree(0), &["a/b", "c", "d"]), Err(Refusal::TooMuch(_))));
        assert_eq!(file(&mut tree(1000), "a", 60), Ok(60));
        assert!(matches!(file(&mut tree(1000), "a", 61), Err(Refusal::TooMuch(_))));
        let mut two = tree(1000);
        assert_eq!((file(&mut two, "a", 60), file(&mut two, "b", 40)), (Ok(60), Ok(40)));
        assert!(matches!(file(&mut two, "c", 1), Err(Refusal::TooMuch(_))));
        assert_eq!((file(&mut tree(1), "a", 10), file(&mut tree(10), "a", 20)), (Ok(10), Ok(20)));
        assert!(matches!(file(&mut tree(10), "a", 21), Err(Refusal::TooMuch(_))));
    }
}
