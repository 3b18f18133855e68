//! From the text between two fences to entries: as YAML or TOML reads it, or repaired.

use super::reason::{indented, stray};
use super::repair::{Repaired, Surroundings, loses_text, repair};
use super::scan::{FIELDS, Odd, Raw, scan, split_key, unlisted, without_strays};
use super::value::Value;
use super::yaml::{self, Failure, Refused};
use super::{Entry, Format, MAX_DIAGNOSTICS, plain, toml};
use crate::layers::Diagnostic;
use std::collections::{BTreeSet, HashMap};

/// The entries of a block, and what was found in it. `line` is that of the block's first line in the file.
pub(super) type Read<E = Failure> = Result<(Format, Vec<Entry>, Findings), E>;

/// What was found, in the order of the file as far as it matters to what is kept.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Findings {
    pub(super) kept: Vec<Diagnostic>,
    /// What more there was.
    pub(super) more: usize,
}

impl Findings {
    fn say(&mut self, line: usize, column: usize, message: impl FnOnce() -> String) {
        if self.kept.len() < MAX_DIAGNOSTICS {
            self.kept.push(Diagnostic::warning("front-matter-repaired", message()).line(line).column(column));
        } else {
            self.more += 1;
        }
    }
}

/// What YAML reads, else TOML; with `+++` the other way round.
pub(super) fn read(fence: &str, block: &str, line: usize) -> Read {
    of_fields(fence, block, line, unrepaired)
}

/// What a person reads: each entry by itself, repaired where it must be.
pub(super) fn repaired(fence: &str, block: &str, line: usize) -> Read<Refused> {
    of_fields(fence, block, line, one_by_one)
}

/// The fields, where they are a list's item too, with their names as they are known.
fn of_fields<E>(fence: &str, block: &str, line: usize, read: fn(&str, &str, usize) -> Read<E>) -> Read<E> {
    let unlisted = if fence == "---" { unlisted(block) } else { None };
    let (format, mut entries, mut found) = read(fence, unlisted.as_deref().unwrap_or(block), line)?;
    if unlisted.is_some() {
        let first = entries.first().map_or(line, |entry| entry.line);
        found.say(first, 1, || "the fields stand in a list; they were read without the `-` before them".into());
    }
    match_without_case(&mut entries, &mut found);
    Ok((format, entries, found))
}

/// `Name` is `name`, where there is no other.
fn match_without_case(entries: &mut [Entry], found: &mut Findings) {
    for at in 0..entries.len() {
        let Entry { key, line, column, .. } = &entries[at];
        if !key.bytes().any(|byte| byte.is_ascii_uppercase()) || FIELDS.contains(&key.as_str()) {
            continue;
        }
        let field = FIELDS.iter().find(|field| field.eq_ignore_ascii_case(key));
        let Some(field) = field.filter(|field| !entries.iter().any(|entry| entry.key == **field)) else { continue };
        found.say(*line, *column, || format!("`{key}` was read as `{field}`, which is how it is written"));
        (*field).clone_into(&mut entries[at].key);
    }
}

fn unrepaired(fence: &str, block: &str, line: usize) -> Read {
    if fence == "---"
        && let Some(entries) = plain::read(block, line)
    {
        return Ok((Format::Yaml, entries, Findings::default()));
    }
    yaml::guard(block)?;
    if fence == "+++" {
        return match of_toml(block, line) {
            Some(entries) => Ok((Format::Toml, entries, Findings::default())),
            None => of_yaml(block, line).ok().filter(|(_, entries, _)| !entries.is_empty()).ok_or(Failure::Invalid),
        };
    }
    of_yaml(block, line).or_else(|failure| match failure {
        Failure::Invalid if block.contains('=') => {
            let entries = of_toml(block, line).ok_or(Failure::Invalid)?;
            let message = "this is TOML between the fences of YAML; `+++` opens TOML";
            let kept = vec![Diagnostic::note("front-matter-toml", message).line(line).column(1)];
            Ok((Format::Toml, entries, Findings { kept, more: 0 }))
        }
        _ => Err(failure),
    })
}

pub(super) fn of_yaml(block: &str, line: usize) -> Read {
    let pairs = match yaml::parse(block)? {
        Value::Absent => Vec::new(),
        Value::Map(pairs) => pairs,
        // No map of fields.
        _ => return Err(Failure::Invalid),
    };
    let scanned = scan(block);
    if scanned.entries.iter().any(|raw| raw.odd == Some(Odd::Unindented)) {
        // Two fields to YAML, of which the first is empty.
        return Err(Failure::Invalid);
    }
    let mut lines: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, raw) in scanned.entries.iter().enumerate().rev() {
        lines.entry(raw.key).or_default().push(index);
    }
    let around = Surroundings::of(block);
    let mut collected = Collected::new(block, line);
    for (key, value) in pairs {
        let raw = lines.get_mut(key.as_str()).and_then(Vec::pop).map(|index| &scanned.entries[index]);
        let repaired = match raw {
            Some(raw) if loses_text(raw, block, &around) => repair(raw, block, &around, 0)?,
            _ => Repaired { value, repairs: Vec::new() },
        };
        collected.add(key, raw, repaired);
    }
    Ok((Format::Yaml, collected.entries, collected.found))
}

pub(super) fn of_toml(block: &str, line: usize) -> Option<Vec<Entry>> {
    // Line ends are LF by now.
    let starts: Vec<usize> = std::iter::once(0).chain(block.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let entries = toml::parse(block)?.into_iter().map(|pair| {
        let below = starts.partition_point(|start| *start <= pair.key_start) - 1;
        let column = block[starts[below]..pair.key_start].chars().count() + 1;
        Entry { key: pair.key, value: pair.value, line: line + below, column, written: pair.span }
    });
    Some(entries.collect())
}

fn one_by_one(fence: &str, block: &str, line: usize) -> Read<Refused> {
    let rewritten = (fence == "+++").then(|| block.lines().map(of_toml_line).collect::<String>());
    let format = if fence == "+++" { Format::Toml } else { Format::Yaml };
    let block = rewritten.as_deref().unwrap_or(block);
    let scanned = scan(block);
    let around = Surroundings::of(block);
    let kept = without_strays(block, &scanned);
    let mut collected = Collected::new(&kept, line);
    if rewritten.is_some() {
        collected.say(0, 1, || "this is no TOML; it was read line by line".into());
    }
    let mut strays = scanned.strays.iter().peekable();
    for raw in &scanned.entries {
        while let Some((below, text)) = strays.next_if(|(below, _)| *below < raw.line) {
            collected.say(*below, 1, || stray(text));
        }
        if raw.odd == Some(Odd::Indented) {
            collected.say(raw.line, raw.column, || indented(raw.key));
        }
        let repaired = repair(raw, &kept, &around, 0)?;
        collected.add(raw.key.to_owned(), Some(raw), repaired);
    }
    for (below, text) in strays {
        collected.say(*below, 1, || stray(text));
    }
    if collected.found.kept.is_empty() && !block.trim().is_empty() {
        collected.say(0, 1, || "what stands here is no YAML as a whole; each field was read by itself".into());
    }
    let Collected { mut entries, found, .. } = collected;
    if rewritten.is_some() {
        // Ranges hold for the rewritten text alone.
        for entry in &mut entries {
            entry.written = 0..0;
        }
    }
    Ok((format, entries, found))
}

/// A line `key = value` of a broken TOML document as one of YAML; any other as it is.
fn of_toml_line(line: &str) -> String {
    match line.split_once('=') {
        Some((key, value)) if !key.contains(':') && !key.trim().is_empty() => format!("{}: {}\n", key.trim(), value.trim()),
        _ => format!("{line}\n"),
    }
}

struct Collected<'a> {
    block: &'a str,
    line: usize,
    entries: Vec<Entry>,
    by_key: HashMap<String, usize>,
    found: Findings,
}

impl<'a> Collected<'a> {
    fn new(block: &'a str, line: usize) -> Self {
        Self { block, line, entries: Vec::new(), by_key: HashMap::new(), found: Findings::default() }
    }

    fn say(&mut self, below: usize, column: usize, message: impl FnOnce() -> String) {
        self.found.say(self.line + below, column, message);
    }

    fn add(&mut self, key: String, raw: Option<&Raw<'_>>, repaired: Repaired) {
        for repair in repaired.repairs {
            self.say(repair.line, repair.column, || repair.message);
        }
        let mut value = repaired.value;
        let mut twice = BTreeSet::new();
        keep_last_of_each_key(&mut value, &mut twice);
        let (below, column, written) = raw.map_or((0, 1, 0..0), |raw| (raw.line, raw.column, raw.value.min(raw.range.end)..raw.range.end));
        if !twice.is_empty() {
            let lines = self.lines_within(raw);
            for key in twice {
                let (first, last) = lines.get(key.as_str()).copied().unwrap_or((self.line + below, self.line + below));
                self.say(last - self.line, 1, || stands_twice(&key, first, last));
            }
        }
        let entry = Entry { key, value, line: self.line + below, column, written };
        if let Some(&index) = self.by_key.get(&entry.key) {
            let first = self.entries[index].line;
            self.say(below, column, || stands_twice(&entry.key, first, entry.line));
            self.entries[index] = entry;
        } else {
            self.by_key.insert(entry.key.clone(), self.entries.len());
            self.entries.push(entry);
        }
    }

    /// The first and the last line of the file on which each key within an entry stands.
    fn lines_within(&self, raw: Option<&Raw<'_>>) -> HashMap<&'a str, (usize, usize)> {
        let Some(raw) = raw else { return HashMap::new() };
        let mut lines: HashMap<&str, (usize, usize)> = HashMap::new();
        for (number, text) in self.block[raw.range.clone()].lines().enumerate() {
            let text = text.trim_start().trim_start_matches("- ");
            if let Some((key, _)) = split_key(text) {
                let line = self.line + raw.line + number;
                lines.entry(key).or_insert((line, line)).1 = line;
            }
        }
        lines
    }
}

fn stands_twice(key: &str, first: usize, last: usize) -> String {
    if first == last {
        format!("`{key}` stands twice in line {first}; the last one counts")
    } else {
        format!("`{key}` stands twice, in lines {first} and {last}; the last one counts")
    }
}

fn keep_last_of_each_key(value: &mut Value, twice: &mut BTreeSet<String>) {
    match value {
        Value::Absent | Value::Text(_) => {}
        Value::List(items) => items.iter_mut().for_each(|item| keep_last_of_each_key(item, twice)),
        Value::Map(pairs) => {
            let mut places: HashMap<String, usize> = HashMap::new();
            let mut kept: Vec<(String, Value)> = Vec::with_capacity(pairs.len());
            for (key, mut value) in pairs.drain(..) {
                keep_last_of_each_key(&mut value, twice);
                if let Some(&place) = places.get(&key) {
                    kept[place].1 = value;
                    twice.insert(key);
                } else {
                    places.insert(key.clone(), kept.len());
                    kept.push((key, value));
                }
            }
            *pairs = kept;
        }
    }
}
