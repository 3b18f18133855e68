//! The name of an entry, which must be one on every system: the folder may be carried to another.

use super::{Limits, Refusal};
use unicode_normalization::UnicodeNormalization;

/// Bytes of a name in a folder; the file systems in use take no more.
const MAX_NAME_BYTES: usize = 255;

/// A path below the folder that is unpacked into: names that lead nowhere else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct EntryPath(Vec<String>);

impl EntryPath {
    /// What an archive calls an entry. `.` and a separator at the end are passed over; the folder itself is a path of no names.
    pub(super) fn new(name: &[u8], limits: &Limits) -> Result<Self, Refusal> {
        let name = std::str::from_utf8(name).map_err(|_| Refusal::NotText)?;
        if name.is_empty() {
            return Err(Refusal::Unnamed);
        }
        if name.starts_with('/') {
            return Err(Refusal::Absolute);
        }
        let mut path = Self(Vec::new());
        for part in name.strip_suffix('/').unwrap_or(name).split('/').filter(|part| *part != ".") {
            path = path.below(part, limits)?;
        }
        Ok(path)
    }
    /// With a name more.
    pub(super) fn below(mut self, name: &str, limits: &Limits) -> Result<Self, Refusal> {
        check(name)?;
        self.0.push(name.to_owned());
        if self.0.len() > limits.depth {
            return Err(Refusal::TooDeep);
        }
        if self.0.iter().map(|name| name.len() + 1).sum::<usize>() > limits.path_bytes + 1 {
            return Err(Refusal::TooLong);
        }
        Ok(self)
    }
    /// Without its first name, under which some archives hold all.
    pub(super) fn without_first(mut self) -> Self {
        if !self.0.is_empty() {
            self.0.remove(0);
        }
        self
    }
    pub(super) fn names(&self) -> &[String] {
        &self.0
    }
    /// What systems leave in folders and archives for themselves, and git's own.
    pub(super) fn is_litter(&self) -> bool {
        let is_litter = |name: &String| [".git", ".DS_Store", "__MACOSX"].iter().any(|litter| name.eq_ignore_ascii_case(litter));
        self.0.iter().any(is_litter)
    }
    pub(super) fn shown(&self) -> String {
        self.0.join("/")
    }
}

/// Whether this is one name, and the same one everywhere.
pub(super) fn check(name: &str) -> Result<(), Refusal> {
    match name {
        "" | "." => return Err(Refusal::Unnamed),
        ".." => return Err(Refusal::LeadsOut),
        _ => {}
    }
    if name.len() > MAX_NAME_BYTES {
        return Err(Refusal::TooLong);
    }
    for (is_held, refusal) in [
        (name.contains('/'), Refusal::LeadsOut),
        (name.contains('\\'), Refusal::Backslash),
        (name.contains(':'), Refusal::Drive),
        (name.contains(char::is_control), Refusal::Control),
        (name.ends_with(['.', ' ']) || is_device(name), Refusal::Reserved),
    ] {
        if is_held {
            return Err(refusal);
        }
    }
    Ok(())
}

/// Windows finds these in every folder, whatever follows the first dot.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ').to_ascii_uppercase();
    let is_numbered = |of: &str| stem.strip_prefix(of).is_some_and(|number| matches!(number, "¹" | "²" | "³") || is_digit(number));
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&&*stem) || is_numbered("COM") || is_numbered("LPT")
}

fn is_digit(text: &str) -> bool {
    text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a file system that knows no case, or composes what it is given, takes this name for.
pub(super) fn folded(name: &str) -> String {
    // Upper case first: of the letters that have one in common, such as `ß` and `ss`, or `ſ` and `s`, all become the same.
    let upper: String = name.nfkc().flat_map(char::to_uppercase).collect();
    upper.chars().flat_map(char::to_lowercase).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    fn path(name: &str) -> Result<String, Refusal> {
        EntryPath::new(name.as_bytes(), &Limits::default()).map(|path| path.shown())
    }

    #[test]
    fn names_that_lead_elsewhere_or_mean_something_else_are_refused() {
        use Refusal::{Absolute, Backslash, Control, Drive, LeadsOut, NotText, Reserved, TooDeep, TooLong, Unnamed};
        let long = "x".repeat(256);
        let deep = "a/".repeat(30);
        let wide = format!("{0}/{0}/{0}", "x".repeat(200));
        let cases = [
            ("", Unnamed),
            ("a//b", Unnamed),
            ("a//", Unnamed),
            ("/", Absolute),
            ("/etc/passwd", Absolute),
            ("//server/share", Absolute),
            ("..", LeadsOut),
            ("../a", LeadsOut),
            ("a/../../b", LeadsOut),
            ("a/..", LeadsOut),
            ("./../a", LeadsOut),
            ("C:/a", Drive),
            ("C:", Drive),
            ("a:stream", Drive),
            ("..\\a", Backslash),
            ("a\\b", Backslash),
            ("\\\\server\\share", Backslash),
            ("a\0b", Control),
            ("a\nb", Control),
            ("a\u{1b}[2J", Control),
            ("NUL", Reserved),
            ("a/con.md", Reserved),
            ("com1 .txt", Reserved),
            ("LPT9", Reserved),
            ("a.", Reserved),
            ("...", Reserved),
            ("a /b", Reserved),
            (&long, TooLong),
            (&wide, TooLong),
            (&deep, TooDeep),
        ];
        for (name, refusal) in cases {
            assert_eq!(path(name), Err(refusal), "{name:?}");
        }
        assert_eq!(EntryPath::new(b"a\xff", &Limits::default()), Err(NotText));
    }

    #[test]
    fn names_of_any_script_are_names() {
        for name in ["SKILL.md", "a/b/c.txt", "数据/說明.md", "a b", ".hidden", "..a", "a..b", "console", "com10", "communication", "nul-l"]
        {
            assert_eq!(path(name).as_deref(), Ok(name));
        }
        assert_eq!(path("./a/./b/").as_deref(), Ok("a/b"));
        assert_eq!(path(".").as_deref(), Ok(""));
    }

    #[test]
    fn names_that_some_file_systems_take_for_one_are_one() {
        for (one, other) in
            [("SKILL.md", "skill.MD"), ("cafe\u{301}", "café"), ("STRASSE", "straße"), ("ſ", "S"), ("Σ", "ς"), ("\u{212a}", "k")]
        {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
        assert_ne!(folded("a"), folded("b"));
    }

    proptest! {
        #[test]
        fn a_path_that_is_taken_stays_below(name in "(\\.\\./|[a-c./\\\\:~]|\\PC){0,12}|.{0,20}") {
            if let Ok(path) = EntryPath::new(name.as_bytes(), &Limits::default()) {
                for name in path.names() {
                    let mut parts = Path::new(name).components();
                    prop_assert!(matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)));
                }
            }
        }
    }
}
