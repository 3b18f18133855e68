//! File patterns of all skills, as globs against the paths that the host or the text names.
//!
//! A pattern matches the end of a path: `*.pdf` a file in any folder, `src/*.rs` also in `/a/b/src`. `*` does not pass a `/`, `**` does; `{a,b}`
//! and `[abc]` are as in git. Case does not count.

use crate::prompt::Diagnostic;
use crate::skill::SkillSummary;
use crate::text::shorten;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::collections::BTreeSet;

/// Longer patterns, and those beyond this many bytes of all skills', are left out: what they compile to is many times that.
const MAX_PATTERN_BYTES: usize = 256;
const MAX_ALL_BYTES: usize = 256 * 1024;

/// Paths that are looked at, and how long one may be.
const MAX_PATHS: usize = 256;
const MAX_PATH_BYTES: usize = 1024;

#[derive(Default)]
pub(super) struct Files {
    set: GlobSet,
    owners: Vec<(u32, String)>,
}

impl Files {
    pub(super) fn of<'a>(skills: impl IntoIterator<Item = &'a SkillSummary>, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let (mut globs, mut owners, mut room) = (Vec::new(), Vec::new(), MAX_ALL_BYTES);
        for (skill, summary) in (0..).zip(skills) {
            for pattern in &summary.activation.file_patterns {
                let glob = match pattern.len() {
                    0 => Err("it is empty".to_owned()),
                    length if length > MAX_PATTERN_BYTES => Err(format!("it is longer than {MAX_PATTERN_BYTES} bytes")),
                    length if length > room => Err(format!("all file patterns take over {} KiB", MAX_ALL_BYTES / 1024)),
                    _ => GlobBuilder::new(&anywhere(pattern)).literal_separator(true).build().map_err(|error| error.kind().to_string()),
                };
                match glob {
                    Ok(glob) => {
                        room -= pattern.len();
                        globs.push(glob);
                        owners.push((skill, pattern.clone()));
                    }
                    Err(reason) => {
                        let message = format!("the file pattern {:?} of `{}` is ignored: {reason}", shorten(pattern, 200), summary.id);
                        diagnostics.push(Diagnostic::warning("pattern-ignored", message).at(summary.location.clone()));
                    }
                }
            }
        }
        let mut builder = GlobSetBuilder::new();
        for glob in globs {
            builder.add(glob);
        }
        match builder.build() {
            Ok(set) => Self { set, owners },
            Err(reason) => {
                diagnostics.push(Diagnostic::warning("patterns-ignored", format!("all file patterns are ignored: {reason}")));
                Self::default()
            }
        }
    }

    /// The skills whose patterns match one of these paths or one that the text names, with the pattern.
    pub(super) fn find(&self, text: &str, paths: &[String]) -> Vec<(u32, &str)> {
        if self.owners.is_empty() {
            return Vec::new();
        }
        let paths = paths.iter().map(String::as_str).chain(named_paths(text)).filter(|path| path.len() <= MAX_PATH_BYTES);
        let mut matched = BTreeSet::new();
        for path in paths.take(MAX_PATHS) {
            matched.extend(self.set.matches(path.to_lowercase().replace('\\', "/")));
        }
        matched.into_iter().map(|n| (self.owners[n].0, &*self.owners[n].1)).collect()
    }
}

fn anywhere(pattern: &str) -> String {
    let pattern = pattern.to_lowercase();
    let pattern = pattern.strip_prefix("./").unwrap_or(&pattern);
    if pattern.starts_with('/') || pattern.starts_with("**/") { pattern.to_owned() } else { format!("**/{pattern}") }
}

/// What looks like a path: something with a slash in it, or a name with an ending.
fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    let is_around = |c: char| c.is_whitespace() || "\"'`()[]<>{},;|*“”‘’".contains(c);
    text.split(is_around).filter_map(|word| {
        let word = word.trim_start_matches(['@', ':']).trim_end_matches(['.', ':', '!', '?']);
        // `src/lib.rs:12:5`
        let place = word.find(':').filter(|at| word[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
        let path = word[..place.unwrap_or(word.len())].trim_start_matches("./");
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        let has_ending = (1..=12).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric());
        (path.len() > 1 && !path.contains("://") && (has_ending || path.contains(['/', '\\']))).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_known_in_a_text() {
        let text =
            "see ./src/lib.rs:12:5, `Cargo.toml` and (docs/a b.md). Ask @notes/x or http://a.b/c.pdf! Version 1.2, e.g. C:\\a\\b.TXT.";
        assert_eq!(
            named_paths(text).collect::<Vec<_>>(),
            ["src/lib.rs", "Cargo.toml", "docs/a", "b.md", "notes/x", "1.2", "e.g", "C:\\a\\b.TXT"]
        );
    }

    #[test]
    fn a_pattern_holds_in_any_folder_unless_it_says_from_where() {
        for (pattern, glob) in [("*.PDF", "**/*.pdf"), ("./src/*.rs", "**/src/*.rs"), ("/etc/hosts", "/etc/hosts"), ("**/a", "**/a")] {
            assert_eq!(anywhere(pattern), glob);
        }
        assert_eq!(named_paths("this / that \\ and a.").count(), 0, "a sign alone is no path");
    }
}
