//! What matching would leave out of a skill: patterns that don't compile or are too large, keywords that match nothing.

use super::{TOP, nowhere, place};
use crate::layers::Diagnostic;
use crate::layers::skill::{Matcher, Skill};
use crate::skills::fields::describe;
use crate::skills::front_matter::{Document, Value};

pub(super) fn ignored(document: &Document, name: &str) -> Vec<Diagnostic> {
    let Ok(described) = describe(document, name, nowhere()) else { return Vec::new() };
    let mut summary = described.summary;
    // The matcher passes over hidden skills, whose patterns are no better.
    summary.hidden = false;
    let matcher = Matcher::new(&[Skill::new(summary, String::new())]);
    let located = matcher.diagnostics().iter().map(|found| {
        let (line, column) = declared_at(document, &found.code).unwrap_or(TOP);
        let mut found = found.clone().line(line).column(column);
        found.path = None;
        found
    });
    located.collect()
}

/// Gives what matching leaves out of a skill the line of the field that declares it: none where the configuration does.
pub(in crate::skills) fn locate(found: Diagnostic, document: &Document) -> Diagnostic {
    match declared_at(document, &found.code) {
        Some((line, column)) => found.line(line).column(column),
        None => found,
    }
}

fn declared_at(document: &Document, code: &str) -> Option<(usize, usize)> {
    let fields: &[&str] = match code {
        "keyword-ignored" => &["keywords", "triggers", "activation"],
        _ => &["orcbot", "activation"],
    };
    let front_matter = document.front_matter.as_ref()?;
    let holding = |field: &&str| front_matter.get(field).filter(|entry| entry.value != Value::Absent);
    fields.iter().find_map(holding).map(place)
}
