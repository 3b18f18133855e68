//! Checks what a source wrote against the table of keys, before it is merged with anything.
//!
//! What passes is kept, in the form in which it is compared (ids normalized, paths absolute); what doesn't is a finding with its place, and
//! the key counts as not written.

use super::keys::{FILE, Shape, TableShape};
use super::model::profile_id;
use super::nearest::{instead, nearest_key, nearest_table};
use super::place::{KeyPath, Lines, Origin, Place};
use super::text::shown;
use crate::environment::Environment;
use crate::layers::skill::SkillId;
use crate::layers::{Diagnostic, Severity};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is left of a source.
#[derive(Default, Debug)]
pub(super) struct Checked {
    pub(super) table: toml::Table,
    /// Where each value stands; elements that name profiles and layers too (their segment is their number).
    pub(super) places: BTreeMap<KeyPath, Place>,
    pub(super) findings: Vec<Diagnostic>,
}

impl Checked {
    pub(super) fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}

/// Findings of one severity in one source beyond these are counted, not told.
const MOST_FINDINGS: usize = 100;

/// One check of one source.
pub(super) struct Check<'a> {
    /// `None` where the text is not what the user wrote.
    pub(super) lines: Option<Lines<'a>>,
    pub(super) origin: &'a Origin,
    pub(super) environment: &'a Environment,
    /// Where relative paths hang from.
    pub(super) base: &'a Path,
    findings: Vec<(Option<Place>, Diagnostic)>,
    /// Of each severity, told or not.
    counts: BTreeMap<Severity, usize>,
    places: BTreeMap<KeyPath, Place>,
}

impl<'a> Check<'a> {
    pub(super) fn new(origin: &'a Origin, environment: &'a Environment, base: &'a Path) -> Self {
        Self { lines: None, origin, environment, base, findings: Vec::new(), counts: BTreeMap::new(), places: BTreeMap::new() }
    }
    /// Of a text that the user wrote as it stands.
    pub(super) fn written_as(mut self, text: &'a str) -> Self {
        self.lines = Some(Lines::new(text));
        self
    }
    /// Checks a whole document.
    pub(super) fn document(mut self, document: &DeTable<'_>) -> Checked {
        let table = self.table(&FILE, document, &KeyPath::default(), false);
        self.checked(table)
    }
    /// What was found, with `table` as what passed.
    pub(super) fn checked(mut self, table: toml::Table) -> Checked {
        self.findings.sort_by_key(|(place, _)| *place);
        let mut findings: Vec<Diagnostic> = self.findings.into_iter().map(|(_, finding)| finding).collect();
        for (severity, count) in self.counts.into_iter().filter(|(_, count)| *count > MOST_FINDINGS) {
            let message = format!("{} more of severity {severity} are not told", count - MOST_FINDINGS);
            findings.push(self.origin.locate(Diagnostic::new(severity, "findings-not-told", message), None));
        }
        Checked { table, places: self.places, findings }
    }

    pub(super) fn find(&mut self, finding: Diagnostic, span: &Range<usize>) {
        let count = self.counts.entry(finding.severity).or_default();
        *count += 1;
        if *count > MOST_FINDINGS {
            return;
        }
        let place = self.place(span);
        self.findings.push((place, self.origin.locate(finding, place)));
    }
    pub(super) fn stands(&mut self, path: KeyPath, span: &Range<usize>) {
        if let Some(place) = self.place(span) {
            self.places.insert(path, place);
        }
    }
    /// `inside_a_patch`: the table is, or is in, a profile's patch.
    pub(super) fn table(&mut self, shape: &TableShape, written: &DeTable<'_>, path: &KeyPath, inside_a_patch: bool) -> toml::Table {
        let mut table = toml::Table::new();
        for (key, value) in written {
            let name = key.get_ref().as_ref();
            let Some(child) = shape.child(name) else {
                if !shape.is_shared() {
                    self.unknown_key(shape, name, path, &key.span());
                } else if value.get_ref().is_table() {
                    self.other_table(shape, name, path, &key.span());
                }
                continue;
            };
            if inside_a_patch && shape.path.is_empty() && name == "composition" {
                let message = format!("`{}` cannot stand in a profile's patch; only the file's own `composition` counts", path.join(name));
                self.find(Diagnostic::error("key-misplaced", message), &key.span());
                continue;
            }
            let Some(id) = self.normalized(shape, name, path, &key.span()) else { continue };
            let path = path.join(id.as_str());
            if table.contains_key(&id) {
                self.find(
                    Diagnostic::error("id-duplicate", format!("`{path}` stands twice: ids are compared in their normal form")),
                    &key.span(),
                );
                continue;
            }
            if let Some(value) = self.child(child, value, &path, inside_a_patch) {
                table.insert(id, value);
            }
        }
        table
    }

    /// A table that is another program's, unless its name reads like one of ours.
    fn other_table(&mut self, shape: &TableShape, name: &str, path: &KeyPath, span: &Range<usize>) {
        if let Some(known) = nearest_table(shape, name) {
            let message = format!("`{}` is no table that is read here; the nearest is `{known}`", path.join(name));
            self.find(Diagnostic::note("table-unknown", message), span);
        }
    }

    fn child(&mut self, shape: &Shape, value: &Spanned<DeValue<'_>>, path: &KeyPath, inside_a_patch: bool) -> Option<toml::Value> {
        match (shape, value.get_ref()) {
            (Shape::Key(key), _) => {
                let checked = self.value(&key.kind, value, path)?;
                self.stands(path.clone(), &value.span());
                Some(checked)
            }
            (Shape::Table(table), DeValue::Table(written)) => {
                let checked = self.table(table, written, path, inside_a_patch);
                // One in which nothing is set says no more than one that is not there, but for a profile, which can be named.
                let is_told = !checked.is_empty() || table.path == "composition.profiles.ID";
                is_told.then_some(toml::Value::Table(checked))
            }
            // Another program's key, which happens to be called so.
            (Shape::Table(table), _) if table.is_shared() => None,
            (Shape::Table(_), _) => {
                self.wrong_type(path, value, "a table");
                None
            }
        }
    }

    fn place(&self, span: &Range<usize>) -> Option<Place> {
        self.lines.as_ref().map(|lines| lines.place(span.start))
    }

    /// An id as it is compared; other names as they stand.
    fn normalized(&mut self, shape: &TableShape, name: &str, path: &KeyPath, span: &Range<usize>) -> Option<String> {
        if shape.named.contains_key(name) {
            return Some(name.to_owned());
        }
        let normalized = match shape.path.split('.').next() {
            Some("skills") => SkillId::new(name).map(String::from).map_err(|why| why.to_string()),
            Some("composition") => profile_id(name).ok_or_else(|| "a profile's id is neither empty nor `active`".to_owned()),
            _ => Ok(name.to_owned()),
        };
        if let Err(why) = &normalized {
            self.find(Diagnostic::error("id-invalid", format!("`{path}` has the id {}: {why}", shown(name))), span);
        }
        normalized.ok()
    }

    fn unknown_key(&mut self, shape: &TableShape, name: &str, path: &KeyPath, span: &Range<usize>) {
        // The search costs time that a finding which is only counted is not worth.
        let is_told = self.counts.get(&Severity::Warning).is_none_or(|count| *count < MOST_FINDINGS);
        let nearest = if is_told { instead(nearest_key(shape, name), shape) } else { String::new() };
        let shown_name: String = name.chars().take(80).collect();
        self.find(Diagnostic::warning("key-unknown", format!("`{}` is not a known key{nearest}", path.join(shown_name))), span);
    }
}
