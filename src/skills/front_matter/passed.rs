//! Whether a fence stands within a value, and closes nothing.

use super::entries::of_toml;
use super::scan::{Raw, Scan, scan};
use super::yaml::{self, Failure};
use crate::layers::Diagnostic;

/// The lines, from 0, of the fences in a block; none unless each stands within a value that is complete, and that holds nothing else which front
/// matter or a body begins with. A quote that was left open would else take in the body up to the next quote.
pub(super) fn fences(block: &str, fence: &str) -> Option<Vec<usize>> {
    let mut starts = Vec::new();
    let mut start = 0;
    for (number, line) in block.split_inclusive('\n').enumerate() {
        if line.trim() == fence {
            starts.push((number, start));
        }
        start += line.len();
    }
    let held = (fence == "---" && in_yaml(block, &starts)) || in_toml(block, &starts);
    held.then(|| starts.into_iter().map(|(number, _)| number).collect())
}

fn in_yaml(block: &str, fences: &[(usize, usize)]) -> bool {
    let found = scan(block);
    let holding = |start: usize| {
        let before = found.entries.partition_point(|entry| entry.range.start <= start).checked_sub(1)?;
        found.entries.get(before).filter(|entry| entry.range.contains(&start))
    };
    let mut last = None;
    fences.iter().all(|(_, start)| {
        let Some(entry) = holding(*start) else { return false };
        // What is open at one fence of a complete value is open at the others.
        last.replace(entry.line) == Some(entry.line) || is_open_at(entry, *start, &found, block)
    })
}

/// Whether an entry is complete as a whole, but not where the fence stands.
fn is_open_at(entry: &Raw<'_>, fence: usize, found: &Scan<'_>, block: &str) -> bool {
    let whole = &block[entry.range.clone()];
    let lines = entry.line..entry.line + whole.lines().count();
    let ends = |text: &str| match yaml::parse(text) {
        Ok(_) => Some(true),
        Err(Failure::Invalid) => Some(false),
        Err(Failure::Refused(_)) => None,
    };
    whole.contains(['"', '\'', '[', '{'])
        && !whole.lines().any(is_heading)
        && !found.strays.iter().any(|(line, _)| lines.contains(line))
        && ends(&block[entry.range.start..fence]) == Some(false)
        && ends(whole) == Some(true)
}

fn in_toml(block: &str, fences: &[(usize, usize)]) -> bool {
    if !["\"\"\"", "'''"].iter().any(|quotes| block.contains(quotes)) {
        return false;
    }
    let Some(entries) = yaml::guard(block).ok().and_then(|()| of_toml(block, 1)) else { return false };
    fences.iter().all(|(_, start)| {
        let holding = entries.iter().find(|entry| entry.written.contains(start));
        holding.is_some_and(|entry| !block[entry.written.clone()].lines().skip(1).any(|line| is_heading(line) || is_toml_pair(line)))
    })
}

/// A heading of Markdown at the left edge.
fn is_heading(line: &str) -> bool {
    let behind = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - behind.len())) && behind.starts_with(' ')
}

fn is_toml_pair(line: &str) -> bool {
    let is_bare = |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    line.split_once('=').is_some_and(|(key, _)| is_bare(key.trim_end()))
}

/// What is said of a fence that was passed over.
pub(super) fn note(fence: &str, line: usize) -> Diagnostic {
    let message = format!("this line is exactly `{fence}`, but stands within a value, and does not close the front matter; indent it");
    Diagnostic::warning("front-matter-repaired", message).line(line).column(1)
}
