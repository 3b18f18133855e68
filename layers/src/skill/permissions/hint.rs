//! One hint, and what it covers.

use super::{FILE_READ, SHELL_EXECUTE, SKILL_SCRIPT_EXECUTE, SkillAction, command};
use crate::skill::SkillPermissionHints;
use globset::GlobBuilder;

const FILE_WRITE: &str = "file.write";
const NETWORK: &str = "network";

/// Tools of which it is known what they do.
const TOOLS: [(&str, &str); 12] = [
    ("Bash", SHELL_EXECUTE),
    ("Shell", SHELL_EXECUTE),
    ("Read", FILE_READ),
    ("Glob", FILE_READ),
    ("Grep", FILE_READ),
    ("LS", FILE_READ),
    ("Write", FILE_WRITE),
    ("Edit", FILE_WRITE),
    ("MultiEdit", FILE_WRITE),
    ("NotebookEdit", FILE_WRITE),
    ("WebFetch", NETWORK),
    ("WebSearch", NETWORK),
];

/// How far a hint covers an action.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Cover {
    /// It is about something else.
    Not,
    /// It lists less than this.
    Partly,
    /// It lists any command, and names none.
    Unnamed,
    /// Its words are there, in more than one plain command.
    Compound,
    Whole,
}

/// A hint as a skill wrote it.
pub(super) struct Hint<'a> {
    pub(super) written: &'a str,
    subject: Subject<'a>,
}

/// What a hint's pattern names.
pub(super) enum Named {
    /// It can't be read.
    Nothing,
    /// There is none.
    Whatever,
    /// The first words of a command.
    Command(String),
    /// Files, pages, or another tool's input.
    Input,
}

enum Subject<'a> {
    Tool { name: &'a str, pattern: Pattern<'a> },
    Category(String),
}

enum Pattern<'a> {
    /// The tool with whatever input.
    Any,
    Of(&'a str),
    /// Without its closing parenthesis, or with text behind it.
    Unreadable,
}

impl<'a> Hint<'a> {
    /// Tools first.
    pub(super) fn all(hints: &'a SkillPermissionHints) -> impl Iterator<Item = Hint<'a>> {
        let tools = hints.tools.iter().map(|written| Hint { written, subject: tool(written) });
        tools.chain(hints.categories.iter().map(|written| Hint { written, subject: Subject::Category(category(written)) }))
    }

    pub(super) fn covers(&self, tool: Option<&str>, wanted: Option<&str>, input: &str) -> Cover {
        match (&self.subject, tool) {
            (Subject::Category(listed), _) => match wanted {
                Some(SHELL_EXECUTE) if is_within(SHELL_EXECUTE, listed) => Cover::Unnamed,
                Some(wanted) if is_within(wanted, listed) => Cover::Whole,
                Some(wanted) if is_within(listed, wanted) => Cover::Partly,
                _ => Cover::Not,
            },
            // Of a category it is not told which tool, nor with what.
            (Subject::Tool { name, pattern }, None) => match (category_of_tool(name), pattern) {
                (Some(listed), Pattern::Any) if wanted == Some(listed) && listed == SHELL_EXECUTE => Cover::Unnamed,
                (Some(listed), Pattern::Unreadable) if wanted == Some(listed) => Cover::Not,
                (Some(listed), _) if wanted.is_some_and(|wanted| is_within(listed, wanted)) => Cover::Partly,
                _ => Cover::Not,
            },
            (Subject::Tool { name, pattern }, Some(tool)) if name.eq_ignore_ascii_case(tool) => pattern.covers(wanted, input),
            _ => Cover::Not,
        }
    }

    /// What its pattern names.
    pub(super) fn named(&self) -> Named {
        match &self.subject {
            Subject::Tool { pattern: Pattern::Unreadable, .. } => Named::Nothing,
            Subject::Tool { name, pattern: Pattern::Of(pattern) } if category_of_tool(name) == Some(SHELL_EXECUTE) => {
                command::pattern(pattern).map_or(Named::Nothing, |(words, _)| Named::Command(words.join(" ")))
            }
            Subject::Tool { pattern: Pattern::Of(_), .. } => Named::Input,
            _ => Named::Whatever,
        }
    }
    /// Where it is known.
    pub(super) fn category(&self) -> Option<&str> {
        match &self.subject {
            Subject::Tool { name, .. } => category_of_tool(name),
            Subject::Category(category) => Some(category),
        }
    }
    /// All that it lists, where there is no pattern.
    pub(super) fn action(&self) -> SkillAction<'_> {
        match &self.subject {
            Subject::Tool { name, .. } => SkillAction::Tool { name, input: "" },
            Subject::Category(category) => SkillAction::Category(category),
        }
    }
}

impl Pattern<'_> {
    fn covers(&self, category: Option<&str>, input: &str) -> Cover {
        match (self, category) {
            (Self::Unreadable, _) => Cover::Not,
            (Self::Any, Some(SHELL_EXECUTE)) => Cover::Unnamed,
            (Self::Any, _) => Cover::Whole,
            (Self::Of(pattern), Some(SHELL_EXECUTE)) => {
                let Some(pattern) = command::pattern(pattern) else { return Cover::Not };
                match command::words(input) {
                    Some(words) if command::begins(&words, &pattern) => Cover::Whole,
                    Some(_) => Cover::Not,
                    None => Cover::Compound,
                }
            }
            (Self::Of(pattern), Some(NETWORK)) => whole_if(is_of_domain(input, pattern)),
            (Self::Of(pattern), Some(FILE_READ | FILE_WRITE)) => whole_if(is_file_of(input, pattern)),
            // What another tool's pattern means is not known here.
            (Self::Of(pattern), _) => whole_if(*pattern == input),
        }
    }
}

fn whole_if(whole: bool) -> Cover {
    if whole { Cover::Whole } else { Cover::Not }
}

fn tool(written: &str) -> Subject<'_> {
    let written = written.trim();
    let Some((name, rest)) = written.split_once('(') else { return Subject::Tool { name: written, pattern: Pattern::Any } };
    let pattern = match rest.strip_suffix(')').map(str::trim) {
        None => Pattern::Unreadable,
        Some("" | "*" | ":*" | "**") => Pattern::Any,
        Some(pattern) => Pattern::Of(pattern),
    };
    Subject::Tool { name: name.trim(), pattern }
}

/// In lower case, with other systems' words for files and the network replaced.
pub(super) fn category(written: &str) -> String {
    let lower = written.trim().to_lowercase();
    let (first, rest) = lower.split_once('.').map_or((&*lower, ""), |(first, rest)| (first, rest));
    let first = match first {
        "filesystem" | "fs" | "files" => "file",
        "net" => NETWORK,
        other => other,
    };
    if rest.is_empty() { first.to_owned() } else { format!("{first}.{rest}") }
}

pub(super) fn category_of_tool(name: &str) -> Option<&'static str> {
    TOOLS.iter().find(|(tool, _)| tool.eq_ignore_ascii_case(name)).map(|(_, category)| *category)
}

/// The same, or behind a point of it: `file.read` is within `file`.
pub(super) fn is_within(category: &str, listed: &str) -> bool {
    category.strip_prefix(listed).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) && !listed.is_empty()
}

pub(super) fn is_known(category: &str) -> bool {
    [SHELL_EXECUTE, FILE_READ, FILE_WRITE, NETWORK, SKILL_SCRIPT_EXECUTE].iter().any(|known| is_within(category, known))
        || category == "file"
}

/// `domain:example.com` is that host alone.
fn is_of_domain(address: &str, pattern: &str) -> bool {
    let Some(domain) = pattern.strip_prefix("domain:") else { return pattern == address };
    let behind_scheme = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    // What different readers of an address read differently has no host here.
    let Some(rest) = behind_scheme.filter(|rest| !rest.contains(['@', '\\', '%']) && !rest.contains(char::is_whitespace)) else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.split_once(':').map_or(authority, |(host, _)| host);
    !host.is_empty() && host.eq_ignore_ascii_case(domain.trim())
}

/// A glob over a path without `..`.
fn is_file_of(path: &str, pattern: &str) -> bool {
    let climbs = path.split(['/', '\\']).any(|part| part == "..");
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    !climbs && glob.is_ok_and(|glob| glob.compile_matcher().is_match(path))
}
