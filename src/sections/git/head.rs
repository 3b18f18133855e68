//! `git status --porcelain=v2 --branch`, read.

use crate::process::Printed;
use std::path::{Path, PathBuf};

/// Where HEAD is, and what differs from it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Head {
    /// What the files' paths hang from.
    pub(super) root: PathBuf,
    /// `None` before the first commit.
    pub(super) commit: Option<String>,
    /// `None` where HEAD is detached.
    pub(super) branch: Option<String>,
    pub(super) upstream: Option<Upstream>,
    /// A line a file, as git prints them for people: ` M a.rs`.
    pub(super) files: Vec<String>,
    /// There are more files.
    pub(super) is_cut: bool,
    /// It has submodules, whose own files are not among `files`.
    pub(super) has_submodules: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Upstream {
    pub(super) name: String,
    /// Commits that it lacks, and that it has more; `None` where it is gone.
    pub(super) ahead_behind: Option<(u64, u64)>,
}

impl Head {
    pub(super) fn read(printed: &Printed, root: &Path) -> Self {
        let mut lines: Vec<&str> = printed.text.lines().collect();
        if printed.is_cut {
            // The last line may be torn.
            lines.pop();
        }
        let has_submodules = root.join(".gitmodules").exists();
        let mut head = Self { root: root.to_owned(), is_cut: printed.is_cut, has_submodules, ..Self::default() };
        for line in lines {
            match line.strip_prefix("# branch.").and_then(|header| header.split_once(' ')) {
                Some(("oid", commit)) => head.commit = Some(commit.to_owned()).filter(|commit| is_hex(commit)),
                Some(("head", branch)) => head.branch = Some(branch.to_owned()).filter(|branch| branch != "(detached)"),
                Some(("upstream", name)) => head.upstream = Some(Upstream { name: name.to_owned(), ahead_behind: None }),
                Some(("ab", counts)) => {
                    if let Some(upstream) = &mut head.upstream {
                        upstream.ahead_behind = ahead_behind(counts);
                    }
                }
                _ => head.files.extend(file(line)),
            }
        }
        head
    }
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `+2 -1`
fn ahead_behind(counts: &str) -> Option<(u64, u64)> {
    let (ahead, behind) = counts.split_once(' ')?;
    Some((ahead.strip_prefix('+')?.parse().ok()?, behind.strip_prefix('-')?.parse().ok()?))
}

/// The line of a file in the form that people and models know.
fn file(line: &str) -> Option<String> {
    let (kind, rest) = line.split_once(' ')?;
    // The path stands behind so many fields.
    let fields = match kind {
        "1" => 7,
        "2" => 8,
        "u" => 9,
        "?" => return Some(format!("?? {rest}")),
        _ => return None,
    };
    let path = rest.splitn(fields + 1, ' ').nth(fields)?;
    let state = rest.get(..2)?.replace('.', " ");
    Some(match path.split_once('\t') {
        Some((now, before)) => format!("{state} {before} -> {now}"),
        None => format!("{state} {path}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, is_cut: bool) -> Head {
        Head::read(&Printed { text: text.into(), is_cut, succeeded: true, complaint: String::new() }, Path::new(""))
    }

    #[test]
    fn what_git_prints_is_read_line_by_line() {
        let head = read(
            "# branch.oid 0123456789abcdef0123456789abcdef01234567\n# branch.head main\n# branch.upstream origin/main\n# branch.ab +2 -1\n\
             1 .M N... 100644 100644 100644 aaaa aaaa a b.rs\n2 R. N... 100644 100644 100644 aaaa aaaa R100 new name.rs\told.rs\n\
             u UU N... 100644 100644 100644 100644 aaaa bbbb cccc both.rs\n? \"tab\\there\"\n! ignored\n",
            false,
        );
        assert_eq!(head.files, [" M a b.rs", "R  old.rs -> new name.rs", "UU both.rs", "?? \"tab\\there\""]);
        assert_eq!(head.upstream, Some(Upstream { name: "origin/main".into(), ahead_behind: Some((2, 1)) }));
        assert_eq!((head.branch.as_deref(), head.commit.as_deref().map(str::len)), (Some("main"), Some(40)));
    }

    #[test]
    fn no_commit_no_branch_no_upstream() {
        let head = read("# branch.oid (initial)\n# branch.head (detached)\n", false);
        assert_eq!(head, Head::default());
        assert_eq!(read("# branch.ab +1 -1\n# branch.oid\n#\n1 M\n\n2 ..\nu\n", false), Head::default(), "what makes no sense is left out");
        assert_eq!(read("# branch.upstream o/m\n# branch.ab +? -?\n", false).upstream.unwrap().ahead_behind, None);
    }

    #[test]
    fn a_torn_line_is_left_out() {
        let head = read("# branch.head main\n? a.rs\n? </dynamic_repo", true);
        assert_eq!((head.files, head.is_cut), (vec!["?? a.rs".to_owned()], true));
    }
}
