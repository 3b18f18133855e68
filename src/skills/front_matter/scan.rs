//! The lines of a block, without YAML: which `key: value` stand at its left edge, and which lines belong to each.

use std::ops::Range;

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
        let inside = nothing || indent > base.unwrap_or(0) || found.entries.last().is_some_and(|entry| goes_on(entry, content));
        if inside {
            match found.entries.last_mut() {
                Some(entry) => entry.range.end = start,
                None if nothing => {}
                None => found.strays.push((number, content)),
            }
        } else if let Some((key, behind)) = split_key(content) {
            let first = content[behind..].trim();
            let value = from + indent + content.len() - content[behind..].trim_start().len();
            found.entries.push(Raw { key, line: number, column: indent + 1, range: from..start, value, first });
        } else {
            found.strays.push((number, content));
        }
    }
    found
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
    let tight = colons.next().filter(|at| KNOWN.contains(&&line[..*at]));
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
