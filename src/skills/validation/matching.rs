//! What matching would leave out of a skill: patterns that don't compile or are too large, keywords that match nothing.

use super::{TOP, nowhere, place};
use crate::layers::Diagnostic;
use crate::layers::skill::{Matcher, Skill};
use crate::skills::fields::describe;
use crate::skills::front_matter::{Document, FrontMatter, Value};

pub(super) fn ignored(document: &Document, name: &str) -> Vec<Diagnostic> {
    let Ok(described) = describe(document, name, nowhere()) else { return Vec::new() };
    let mut summary = described.summary;
    // The matcher passes over hidden skills, whose patterns are no better.
    summary.hidden = false;
    let matcher = Matcher::new(&[Skill::new(summary, String::new())]);
    let located = matcher.diagnostics().iter().map(|found| {
        let fields: &[&str] = match &*found.code {
            "keyword-ignored" => &["keywords", "triggers", "activation"],
            _ => &["orcbot", "activation"],
        };
        let (line, column) = document.front_matter.as_ref().map_or(TOP, |front_matter| first_of(front_matter, fields));
        let mut found = found.clone().line(line).column(column);
        found.path = None;
        found
    });
    located.collect()
}

fn first_of(front_matter: &FrontMatter, fields: &[&str]) -> (usize, usize) {
    let holding = |field: &&str| front_matter.get(field).filter(|entry| entry.value != Value::Absent);
    fields.iter().find_map(holding).map_or(TOP, place)
}
