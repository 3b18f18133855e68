//! One source of configuration: what it said, where, and whether the user named it; and the door through which figment reads it.

use super::check::{Check, Checked};
use super::place::{KeyPath, Lines, Origin, Place};
use super::read::without_mark;
use crate::environment::Environment;
use crate::layers::Diagnostic;
use figment::value::{Dict, Map};
use figment::{Metadata, Profile, Provider};
use std::path::Path;
use toml::de::DeTable;

/// A source, checked.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) origin: Origin,
    /// The user named it: what is wrong in it stops.
    pub(super) is_named: bool,
    pub(super) checked: Checked,
}

impl Source {
    /// With nothing in it but a finding.
    pub(super) fn broken(origin: Origin, is_named: bool, finding: Diagnostic) -> Self {
        Self { origin, is_named, checked: Checked { findings: vec![finding], ..Checked::default() } }
    }
    /// From a document that the user wrote.
    pub(super) fn document(text: &str, origin: Origin, is_named: bool, environment: &Environment, base: &Path) -> Self {
        let text = without_mark(text);
        match DeTable::parse(text) {
            Ok(document) => {
                let checked = Check::new(&origin, environment, base).written_as(text).document(document.get_ref());
                Self { origin, is_named, checked }
            }
            Err(error) => {
                let place = error.span().map(|span| Lines::new(text).place(span.start));
                let message: Vec<&str> = error.message().lines().map(str::trim).collect();
                let finding = origin.locate(Diagnostic::error("file-not-toml", format!("is no TOML: {}", message.join(" "))), place);
                Self::broken(origin, is_named, finding)
            }
        }
    }
    /// Where a value stands.
    pub(super) fn place(&self, path: &KeyPath) -> Option<Place> {
        self.checked.places.get(path).copied()
    }
    /// Takes a key out again.
    pub(super) fn drop_key(&mut self, path: &KeyPath) {
        let Some((last, tables)) = path.segments().split_last() else { return };
        let mut table = Some(&mut self.checked.table);
        for segment in tables {
            table = table.and_then(|table| table.get_mut(segment)).and_then(toml::Value::as_table_mut);
        }
        if let Some(table) = table {
            table.remove(last);
        }
    }
}

/// A table as figment takes it. Its number goes through figment's tags and finds the layer again.
pub(super) struct Numbered<'t> {
    pub(super) number: usize,
    pub(super) table: &'t toml::Table,
}

impl Provider for Numbered<'_> {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.number.to_string())
    }
    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Map::from([(Profile::Default, dict(self.table))]))
    }
}

/// The number of the layer that a value came from.
pub(super) fn number_of(value: &figment::value::Value, figment: &figment::Figment) -> Option<usize> {
    figment.get_metadata(value.tag())?.name.parse().ok()
}

fn dict(table: &toml::Table) -> Dict {
    table.iter().map(|(key, value)| (key.clone(), to_figment(value))).collect()
}

fn to_figment(value: &toml::Value) -> figment::value::Value {
    match value {
        toml::Value::String(text) => text.clone().into(),
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Float(number) => (*number).into(),
        toml::Value::Boolean(yes) => (*yes).into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(elements) => elements.iter().map(to_figment).collect::<Vec<_>>().into(),
        toml::Value::Table(table) => dict(table).into(),
    }
}

/// A merged value as TOML; numbers of a key are whole, and of 64 bits.
pub(super) fn to_toml(value: &figment::value::Value) -> toml::Value {
    use figment::value::Value;
    match value {
        Value::String(_, text) => text.clone().into(),
        Value::Char(_, c) => c.to_string().into(),
        Value::Bool(_, yes) => (*yes).into(),
        Value::Num(_, number) => match number.to_i128().and_then(|number| i64::try_from(number).ok()) {
            Some(whole) => whole.into(),
            None => number.to_f64().unwrap_or(f64::NAN).into(),
        },
        Value::Empty(..) => String::new().into(),
        Value::Dict(_, fields) => toml::Value::Table(fields.iter().map(|(key, value)| (key.clone(), to_toml(value))).collect()),
        Value::Array(_, elements) => toml::Value::Array(elements.iter().map(to_toml).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::place::OriginKind;

    #[test]
    fn a_table_goes_through_figment_and_back_with_its_number() {
        let one: toml::Table = "a = 1\nb.text = 'x'\nb.list = [true, 'y', { c = 2 }]".parse().unwrap();
        let two: toml::Table = "b.text = 'z'".parse().unwrap();
        let merged =
            [one, two].iter().enumerate().fold(figment::Figment::new(), |merged, (number, table)| merged.merge(Numbered { number, table }));
        let whole = merged.find_value("").unwrap();
        let expected: toml::Table = "a = 1\nb.text = 'z'\nb.list = [true, 'y', { c = 2 }]".parse().unwrap();
        assert_eq!(to_toml(&whole), toml::Value::Table(expected));
        assert_eq!(number_of(&merged.find_value("b.list").unwrap(), &merged), Some(0));
        assert_eq!(number_of(&merged.find_value("b.text").unwrap(), &merged), Some(1));
    }

    #[test]
    fn a_dropped_key_is_gone_and_its_neighbours_stay() {
        let environment = Environment::new("/");
        let origin = Origin::new(OriginKind::File, "f");
        let mut source = Source::document("skills.enabled = true\nskills.commands = true", origin, false, &environment, Path::new("/"));
        for path in [["skills", "enabled"], ["skills", "nothing"], ["nothing", "x"]] {
            source.drop_key(&KeyPath::from(path));
        }
        assert_eq!(source.checked.table, "skills.commands = true".parse().unwrap());
        assert_eq!(source.place(&KeyPath::from(["skills", "commands"])), Some(Place { line: 2, column: 19 }));
    }
}
