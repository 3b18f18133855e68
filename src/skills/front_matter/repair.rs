//! What a person reads where YAML reads nothing, or something else: each entry by itself, then its text line by line.

use super::reason::{indented, reason, stray};
use super::scan::{Odd, Raw, scan, split_key, without_strays};
use super::value::Value;
use super::yaml::{self, Failure, Refused};
use std::cell::Cell;
use std::collections::HashSet;

/// Fields whose values are prose, where ` #` begins no comment.
const PROSE: [&str; 6] = ["description", "when_to_use", "when-to-use", "argument-hint", "argument_hint", "compatibility"];
/// Whether a field's value is prose.
pub(super) fn is_prose(key: &str) -> bool {
    PROSE.iter().any(|prose| prose.eq_ignore_ascii_case(key))
}

/// How deep maps are repaired within maps.
const MAX_DEPTH: usize = 8;
/// So many entries and items are parsed by themselves; each costs the library some kilobytes to begin with.
const MAX_PARSES: usize = 400;
/// So many entries are repaired, those within others counted too: a thousand times what a person writes.
const MAX_ENTRIES: usize = 4_000;

/// An entry's value, and what was done to get it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Repaired {
    pub(super) value: Value,
    pub(super) repairs: Vec<Repair>,
}

/// Something that was read otherwise than YAML would. The place is one in the block: line from 0, column from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Repair {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: String,
}

/// The front matter that an entry stands in: what its repair needs to know, and may spend.
pub(super) struct Surroundings<'a> {
    /// Names behind a `*`.
    aliases: HashSet<&'a str>,
    parses_left: Cell<usize>,
    entries_left: Cell<usize>,
}

impl<'a> Surroundings<'a> {
    pub(super) fn of(block: &'a str) -> Self {
        let name = |behind: &'a str| behind.split(|c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}')).next();
        let aliases = block.split('*').skip(1).filter_map(name).collect();
        Self { aliases, parses_left: Cell::new(MAX_PARSES), entries_left: Cell::new(MAX_ENTRIES) }
    }

    /// One more entry, while there may be more.
    fn count(&self) -> Result<(), Refused> {
        let refused = || Refused(format!("more than {MAX_ENTRIES} fields that are no YAML"));
        self.entries_left.set(self.entries_left.get().checked_sub(1).ok_or_else(refused)?);
        Ok(())
    }

    /// As YAML, while there is something left to spend.
    fn parse(&self, text: &str) -> Result<Option<Value>, Refused> {
        let Some(left) = self.parses_left.get().checked_sub(1) else { return Ok(None) };
        self.parses_left.set(left);
        match yaml::parse(text) {
            Ok(value) => Ok(Some(value)),
            Err(Failure::Invalid) => Ok(None),
            Err(Failure::Refused(refused)) => Err(refused),
        }
    }

    /// The value of an entry that YAML reads by itself.
    fn entry(&self, entry: &str) -> Result<Option<Value>, Refused> {
        match self.parse(entry)? {
            Some(Value::Map(mut pairs)) if pairs.len() == 1 => Ok(pairs.pop().map(|(_, value)| value)),
            _ => Ok(None),
        }
    }

    /// Whether a value begins with an anchor that nothing refers to, or with a tag that is none of YAML's.
    fn marks_text(&self, value: &str) -> bool {
        if let Some(anchored) = value.strip_prefix('&') {
            return !anchored.split(char::is_whitespace).next().is_some_and(|name| self.aliases.contains(name));
        }
        value.starts_with('!') && !value.starts_with("!!")
    }
}

/// Whether YAML, though it reads the entry, would lose part of its text: behind ` #` in prose, or behind `&` or `!`.
pub(super) fn loses_text(raw: &Raw<'_>, block: &str, around: &Surroundings<'_>) -> bool {
    let below = raw.continuation(block);
    let begins = if raw.first.is_empty() { below.trim_start() } else { raw.first };
    let is_plain = !begins.starts_with(['"', '\'', '|', '>', '[', '{', '-']);
    let is_prose = is_prose(raw.key) && is_plain;
    let numbered = raw.first.starts_with('#') && raw.first[1..].starts_with(char::is_alphanumeric);
    let commented = || holds_hash(raw.first) || below.lines().any(|line| holds_hash(line.trim()));
    is_prose && (numbered || commented()) || around.marks_text(raw.first)
}

/// Whether ` #` in a line of prose is text: comments are written behind two blanks, or with a blank behind the sign and one word before it.
fn holds_hash(line: &str) -> bool {
    line.match_indices(" #").any(|(at, _)| {
        let (before, behind) = (&line[..at], &line[at + 2..]);
        !before.is_empty() && !before.ends_with([' ', '\t']) && (!behind.starts_with(' ') || before.split_whitespace().nth(1).is_some())
    })
}

/// The value of an entry that YAML does not read, or would lose text of.
pub(super) fn repair(raw: &Raw<'_>, block: &str, around: &Surroundings<'_>, depth: usize) -> Result<Repaired, Refused> {
    around.count()?;
    let entry = &block[raw.range.clone()];
    let lost = loses_text(raw, block, around);
    if !lost && let Some(value) = around.entry(entry)? {
        return Ok(Repaired { value, repairs: Vec::new() });
    }
    let column = raw.column + block[..raw.value].rsplit('\n').next().unwrap_or_default().chars().count() + 1 - raw.column;
    let said = |value, message: String| {
        let repairs = vec![Repair { line: raw.line, column, message: format!("`{}`: {message}", raw.key) }];
        Ok(Repaired { value, repairs })
    };
    if let Some(expanded) = without_tabs(entry)
        && let Some(value) = around.entry(&expanded)?
    {
        return said(value, "tabs are no indentation in YAML; they were read as blanks".into());
    }
    let continuation = raw.continuation(block);
    let below = continuation.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
    if raw.first.is_empty() && !lost && !is_prose(raw.key) {
        if below == "-" || below.starts_with("- ") {
            return said(
                Value::List(items(continuation, around)?),
                "a list's item that is no YAML was read as plain text; quote it".into(),
            );
        }
        if split_key(below).is_some() && depth < MAX_DEPTH {
            return nested(raw, continuation, around, depth);
        }
    }
    let whole = fold(raw.first, continuation);
    if let Some(list) = flow_items(&whole, around)? {
        return said(Value::List(list), "an item in brackets that is no YAML was read as plain text; quote it".into());
    }
    let value =
        if raw.first.starts_with('|') && header(raw.first).is_some_and(str::is_empty) { literal(continuation) } else { unquoted(&whole) };
    let tight = block[..raw.value].ends_with(':') && !raw.first.is_empty();
    let reason = if tight { "a blank must stand behind the colon".into() } else { reason(raw, &whole) };
    said(Value::Text(value), reason)
}

fn nested(raw: &Raw<'_>, continuation: &str, around: &Surroundings<'_>, depth: usize) -> Result<Repaired, Refused> {
    let found = scan(continuation);
    let mut repairs: Vec<Repair> = Vec::new();
    let mut pairs = Vec::new();
    let kept = without_strays(continuation, &found);
    for inner in &found.entries {
        if inner.odd == Some(Odd::Indented) {
            repairs.push(Repair { line: inner.line, column: inner.column, message: indented(inner.key) });
        }
        let repaired = repair(inner, &kept, around, depth + 1)?;
        pairs.push((inner.key.to_owned(), repaired.value));
        repairs.extend(repaired.repairs);
    }
    let strays = found.strays.iter();
    repairs.extend(strays.map(|(line, text)| Repair { line: *line, column: 1, message: stray(text) }));
    for repair in &mut repairs {
        repair.line += raw.line + 1;
    }
    Ok(Repaired { value: Value::Map(pairs), repairs })
}

/// Tabs in indentation as two blanks each, if there are any.
fn without_tabs(entry: &str) -> Option<String> {
    let mut found = false;
    let mut expanded = String::with_capacity(entry.len() + 16);
    for line in entry.split_inclusive('\n') {
        let content = line.trim_start_matches([' ', '\t']);
        for blank in line[..line.len() - content.len()].chars() {
            found |= blank == '\t';
            expanded.push_str(if blank == '\t' { "  " } else { " " });
        }
        expanded.push_str(content);
    }
    found.then_some(expanded)
}

/// The items of a block list, each by itself.
fn items(block: &str, around: &Surroundings<'_>) -> Result<Vec<Value>, Refused> {
    let mut items: Vec<Vec<&str>> = Vec::new();
    let mut base = None;
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        if content.starts_with('#') && base.is_none_or(|base| indent <= base) {
            continue;
        }
        let base = *base.get_or_insert(indent);
        match items.last_mut() {
            Some(item) if indent > base || !content.starts_with('-') => item.push(line),
            _ => items.push(vec![line]),
        }
    }
    let read = |lines: Vec<&str>| {
        let text = lines[0].trim_start().strip_prefix('-').unwrap_or(lines[0]).trim();
        match around.parse(&lines.join("\n"))? {
            Some(Value::List(mut one)) if one.len() == 1 && !around.marks_text(text) => Ok(one.remove(0)),
            _ => Ok(Value::Text(unquoted(&fold(text, &lines[1..].join("\n"))))),
        }
    };
    items.into_iter().map(read).collect()
}

/// The items of a value that is one list in brackets as a whole.
fn flow_items(value: &str, around: &Surroundings<'_>) -> Result<Option<Vec<Value>>, Refused> {
    let Some(inner) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else { return Ok(None) };
    let mut depth = 0_usize;
    let mut quote = None;
    let mut start = 0;
    let mut parts = Vec::new();
    for (at, c) in inner.char_indices() {
        if let Some(open) = quote {
            quote = (c != open).then_some(open);
            continue;
        }
        match c {
            '"' | '\'' if inner[start..at].trim().is_empty() => quote = Some(c),
            '[' | '{' | '(' => depth += 1,
            // The first bracket closes before the end: text, such as `[a] [b]`.
            ']' if depth == 0 => return Ok(None),
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    let read = |part: &str| match around.parse(part)? {
        Some(value) if !around.marks_text(part) => Ok(value),
        _ => Ok(Value::Text(unquoted(part))),
    };
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).map(read).collect::<Result<_, _>>().map(Some)
}

/// What stands behind a block scalar's indicator: `> text` gives `text`.
pub(super) fn header(first: &str) -> Option<&str> {
    let rest = first.strip_prefix(['>', '|'])?.trim_start_matches(|c: char| matches!(c, '+' | '-') || c.is_ascii_digit());
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

/// The text of a value's lines, folded as YAML folds: a line end is a blank, an empty line a line end.
pub(super) fn fold(first: &str, continuation: &str) -> String {
    let mut text = header(first).unwrap_or(first).to_owned();
    let mut empty = 0;
    for line in continuation.lines().map(str::trim) {
        if line.is_empty() {
            empty += 1;
            continue;
        }
        if !text.is_empty() {
            text.push_str(if empty == 0 { " " } else { "" });
            text.extend(std::iter::repeat_n('\n', empty));
        }
        empty = 0;
        text.push_str(line);
    }
    text
}

/// The lines of a literal block, without the indentation that all of them have.
fn literal(continuation: &str) -> String {
    let indents = continuation.lines().filter(|line| !line.trim().is_empty()).map(|line| line.len() - line.trim_start().len());
    let indent = indents.min().unwrap_or(0);
    let lines: Vec<&str> = continuation.lines().map(|line| line.get(indent..).unwrap_or_default()).collect();
    format!("{}\n", lines.join("\n").trim_end())
}

/// A text without the quotes around the whole of it.
pub(super) fn unquoted(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '\''] {
        let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) else { continue };
        // The next quote closes the first one: `"Foo" and "bar"` is not quoted as a whole.
        let next = inner.find(quote).map(|at| (&inner[..at], &inner[at + 1..]));
        let closes = next.is_some_and(|(before, behind)| {
            !before.is_empty() && !before.ends_with([' ', '(', '\\']) && !behind.starts_with(|c: char| c == quote || c.is_alphanumeric())
        });
        if !closes {
            return if quote == '"' { inner.replace("\\\"", "\"").replace("\\\\", "\\") } else { inner.replace("''", "'") };
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_dropped_around_a_whole_value_alone() {
        let cases = [
            (r#""a""#, "a"),
            (r#""He said "hi" to me""#, r#"He said "hi" to me"#),
            (r#""Foo" and "bar""#, r#""Foo" and "bar""#),
            (r#""Foo" and bar"#, r#""Foo" and bar"#),
            (r#""C:\d+ \"x\"""#, r#"C:\d+ "x""#),
            ("'it''s'", "it's"),
            ("'it's'", "it's"),
            ("\"", "\""),
            (r#""" x""#, r#"" x"#),
            (r#""a " b""#, r#"a " b"#),
            (r#""a" (b")"#, r#""a" (b")"#),
        ];
        for (text, expected) in cases {
            assert_eq!(unquoted(text), expected, "{text}");
        }
    }

    #[test]
    fn lists_in_brackets_are_split_as_a_reader_splits_them() {
        let text = |value: &str| flow_items(value, &Surroundings::of(value)).unwrap().map(|items| Value::List(items).to_text());
        assert_eq!(text("[*.rs, \"a, b\", Bash(x, y), !z]").unwrap(), r#"["*.rs","a, b","Bash(x, y)","!z"]"#);
        assert_eq!(text("[a] [b]"), None);
        assert_eq!(text("[a"), None);
    }
}
