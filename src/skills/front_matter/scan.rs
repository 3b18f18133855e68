//! The lines of a block, without YAML: which `key: value` stand at its left edge, and which lines belong to each.

use super::repair::{header, is_prose};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// The fields that are read here.
pub(super) const FIELDS: [&str; 25] = [
    "id",
    "name",
    "description",
    "when_to_use",
    "version",
    "license",
    "compatibility",
    "metadata",
    "activation",
    "keywords",
    "triggers",
    "allowed-tools",
    "allowed_tools",
    "allowedTools",
    "permissions",
    "orcbot",
    "disable-model-invocation",
    "disable_model_invocation",
    "user-invocable",
    "user_invocable",
    "model",
    "thinking_effort",
    "argument-hint",
    "argument_hint",
    "arguments",
];
/// Those that prose hardly holds as `word: `, and so are fields even where they are indented under a text.
const UNMISTAKABLE: [&str; 8] =
    ["name", "description", "version", "license", "metadata", "allowed-tools", "argument-hint", "compatibility"];

/// Fields that are recognised even without a blank behind the colon.
const KNOWN: [&str; 8] = ["name", "description", "version", "license", "allowed-tools", "argument-hint", "when_to_use", "id"];

/// A `key: value` at the left edge, with the lines that belong to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Raw<'a> {
    pub(super) key: &'a str,
    /// Line in the block, from 0.
    pub(super) line: usize,
    /// Column of the key, from 1.
    pub(super) column: usize,
    /// The whole entry in the block, line ends included.
    pub(super) range: Range<usize>,
    /// Where the value starts in the block: behind the colon, blanks passed over.
    pub(super) value: usize,
    /// The value on the key's own line, trimmed.
    pub(super) first: &'a str,
    /// How its lines stand otherwise than they must.
    pub(super) odd: Option<Odd>,
}

/// What a person takes for part of an entry, or for one, and YAML does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Odd {
    /// The key is indented under the text before it.
    Indented,
    /// The text below `|` or `>` is not.
    Unindented,
    /// Prose goes on at the left edge.
    Continued,
}

impl Raw<'_> {
    /// The value's lines below the key's own.
    pub(super) fn continuation<'b>(&self, block: &'b str) -> &'b str {
        let entry = &block[self.range.clone()];
        entry.split_once('\n').map_or("", |(_, below)| below)
    }
}

/// A block's entries, and the lines at its left edge that are none.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Scan<'a> {
    pub(super) entries: Vec<Raw<'a>>,
    /// Line in the block from 0, and its text.
    pub(super) strays: Vec<(usize, &'a str)>,
}

/// Scans a block whose line ends are LF.
pub(super) fn scan(block: &str) -> Scan<'_> {
    let mut found = Scan::default();
    let mut base = None;
    let mut start = 0;
    let mut fields = None;
    // Whether nothing stands below the last entry's own line so far.
    let mut is_empty = true;
    for (number, whole) in block.split_inclusive('\n').enumerate() {
        let from = start;
        start += whole.len();
        let line = whole.trim_end_matches('\n');
        let content = line.trim_start_matches([' ', '\t']);
        let indent = line.len() - content.len();
        let nothing = content.is_empty() || (content.starts_with('#') && indent <= base.unwrap_or(0));
        if !nothing && base.is_none() {
            base = Some(indent);
        }
        let edge = base.unwrap_or(0);
        let key = split_key(content);
        let is_deeper = indent > edge;
        let is_field = key.filter(|_| is_deeper && !nothing).is_some_and(|(key, _)| {
            UNMISTAKABLE.contains(&key)
                && found.entries.last().is_some_and(|entry| is_whole_text(entry.first))
                && fields.get_or_insert_with(|| fields_at(edge, block)).insert(key)
        });
        let odd = match found.entries.last() {
            Some(entry) if !is_field && !nothing => continued(entry, is_empty, content, is_deeper),
            _ => None,
        };
        is_empty &= nothing;
        if let Some(entry) = found.entries.last_mut().filter(|_| odd.is_some()) {
            entry.odd = odd;
            entry.range.end = start;
            continue;
        }
        let goes_on = nothing || is_deeper || found.entries.last().is_some_and(|entry| goes_on(entry, content));
        if goes_on && !is_field {
            match found.entries.last_mut() {
                Some(entry) => entry.range.end = start,
                None if nothing => {}
                None => found.strays.push((number, content)),
            }
        } else if let Some((key, behind)) = key {
            let first = content[behind..].trim();
            let value = from + indent + content.len() - content[behind..].trim_start().len();
            found.entries.push(Raw {
                key,
                line: number,
                column: indent + 1,
                range: from..start,
                value,
                first,
                odd: is_field.then_some(Odd::Indented),
            });
            is_empty = true;
        } else {
            found.strays.push((number, content));
        }
    }
    found
}

/// The unmistakable fields that stand at this indentation.
fn fields_at(edge: usize, block: &str) -> HashSet<&str> {
    let at_edge = |line: &&str| line.len() - line.trim_start_matches([' ', '\t']).len() <= edge;
    let keys = block.lines().filter(at_edge).filter_map(|line| split_key(line.trim()).map(|(key, _)| key));
    keys.filter(|key| UNMISTAKABLE.contains(key)).collect()
}

/// Whether a value is a text that ends on its own line, as far as that can be seen.
fn is_whole_text(first: &str) -> bool {
    match first.chars().next() {
        None | Some('#' | '&' | '!' | '*' | '|' | '>' | '[' | '{') => false,
        Some('"') => first.len() > 1 && first.ends_with('"') && !first.ends_with("\\\""),
        Some('\'') => first.ends_with('\'') && first.matches('\'').count().is_multiple_of(2),
        Some(_) => true,
    }
}

/// Whether a line goes on with the text of the entry before it, though it stands at the left edge.
fn continued(entry: &Raw<'_>, is_empty: bool, line: &str, is_deeper: bool) -> Option<Odd> {
    let key = split_key(line).map(|(key, _)| key);
    let is_known = key.is_some_and(|key| FIELDS.contains(&key));
    if entry.odd == Some(Odd::Unindented) {
        return (!is_known).then_some(Odd::Unindented);
    }
    if is_deeper || is_known || line.starts_with(['?', ':']) || line.starts_with("---") {
        return None;
    }
    let is_prose = is_prose(entry.key);
    if header(entry.first) == Some("") {
        // A field's name is one word.
        let is_text = key.is_none_or(|key| is_prose && key.contains(' '));
        return (is_empty && is_text).then_some(Odd::Unindented);
    }
    (is_prose && key.is_none() && is_whole_text(entry.first)).then_some(Odd::Continued)
}

/// The block with blanks in place of the lines that belong to no entry: what goes on behind one is not parted from its field.
pub(super) fn without_strays<'a>(block: &'a str, found: &Scan<'_>) -> Cow<'a, str> {
    if found.strays.is_empty() {
        return block.into();
    }
    let mut strays = found.strays.iter().map(|(number, _)| *number).peekable();
    let mut kept = String::with_capacity(block.len());
    for (number, line) in block.split_inclusive('\n').enumerate() {
        if strays.next_if_eq(&number).is_some() {
            let end = line.trim_end_matches('\n').len();
            kept.extend(std::iter::repeat_n(' ', end));
            kept.push_str(&line[end..]);
        } else {
            kept.push_str(line);
        }
    }
    kept.into()
}

/// A block whose fields are the items of a list as one of fields: blanks stand for `- `, so that each keeps its place.
pub(super) fn unlisted(block: &str) -> Option<String> {
    let mut base = None;
    let mut text = String::new();
    for line in block.split_inclusive('\n') {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        if !content.is_empty() && !content.starts_with('#') && indent <= *base.get_or_insert(indent) {
            let item = content.strip_prefix("- ").filter(|item| split_key(item.trim()).is_some())?;
            text.extend([&line[..indent], "  ", item]);
        } else {
            text.push_str(line);
        }
    }
    base.map(|_| text)
}

/// Whether a line at the left edge belongs to the entry before it: a list's item, or the rest of what a quote or bracket opened.
fn goes_on(entry: &Raw<'_>, line: &str) -> bool {
    let item = line == "-" || line.starts_with("- ");
    let open = entry.first.starts_with(['"', '\'', '[', '{']);
    (item && (entry.first.is_empty() || entry.first.starts_with('#'))) || (open && split_key(line).is_none() && !line.starts_with("---"))
}

/// The key of `key: value`, and where the value starts behind it.
pub(super) fn split_key(line: &str) -> Option<(&str, usize)> {
    let blank_or_end = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t']);
    if let Some(quote @ ('"' | '\'')) = line.chars().next() {
        let close = 1 + line[1..].find(quote)?;
        let behind = line[close + 1..].trim_start();
        let rest = behind.strip_prefix(':').filter(|rest| blank_or_end(rest))?;
        return Some((&line[1..close], line.len() - rest.len()));
    }
    if line.starts_with(['-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '%', '@', '`']) {
        return None;
    }
    let mut colons = line.match_indices(':').map(|(at, _)| at);
    let spaced = colons.clone().find(|at| blank_or_end(&line[at + 1..])).filter(|at| !line[..*at].contains(" #"));
    let tight = colons.next().filter(|at| KNOWN.iter().any(|known| known.eq_ignore_ascii_case(&line[..*at])));
    let at = spaced.into_iter().chain(tight).min()?;
    Some((line[..at].trim_end(), at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_their_lines() {
        let block = "# note\nname: a\ndescription: |\n  b: c\n\n  d\nstray\nkeywords:\n- x\n- y\n\"quoted key\": \"z\nmore\"\nname:tight\nurl: http://x\n";
        let found = scan(block);
        let entries: Vec<_> = found.entries.iter().map(|entry| (entry.key, entry.line, entry.first, entry.continuation(block))).collect();
        assert_eq!(
            entries,
            [
                ("name", 1, "a", ""),
                ("description", 2, "|", "  b: c\n\n  d\n"),
                ("keywords", 7, "", "- x\n- y\n"),
                ("quoted key", 10, "\"z", "more\"\n"),
                ("name", 12, "tight", ""),
                ("url", 13, "http://x", ""),
            ]
        );
        assert_eq!(found.strays, [(6, "stray")]);
        assert_eq!(&block[found.entries[0].value..], &block[block.find("a\nde").unwrap()..]);
    }

    #[test]
    fn a_block_may_be_indented() {
        let found = scan("  a: 1\n    b: 2\n  c: 3");
        assert_eq!(found.entries.iter().map(|entry| (entry.key, entry.column)).collect::<Vec<_>>(), [("a", 3), ("c", 3)]);
    }
}
