//! TOML front matter, with scalars as they are spelled.

use super::value::Value;
use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

/// The document's pairs, each with the byte range of its value, in the order of the file.
pub(super) fn parse(text: &str) -> Option<Vec<Pair>> {
    let table = DeTable::parse(text).ok()?;
    let mut pairs: Vec<Pair> = table.get_ref().iter().map(|(key, value)| pair(text, key, value)).collect();
    pairs.sort_by_key(|pair| pair.key_start);
    Some(pairs)
}

/// A key at the top, and its value.
pub(super) struct Pair {
    pub(super) key: String,
    pub(super) value: Value,
    pub(super) key_start: usize,
    pub(super) span: std::ops::Range<usize>,
}

fn pair(text: &str, key: &Spanned<std::borrow::Cow<'_, str>>, value: &Spanned<DeValue<'_>>) -> Pair {
    Pair { key: key.get_ref().to_string(), value: read(text, value), key_start: key.span().start, span: value.span() }
}

fn read(text: &str, value: &Spanned<DeValue<'_>>) -> Value {
    match value.get_ref() {
        DeValue::String(string) => Value::Text(string.to_string()),
        DeValue::Array(items) => Value::List(items.iter().map(|item| read(text, item)).collect()),
        DeValue::Table(table) => {
            let mut pairs: Vec<Pair> = table.iter().map(|(key, value)| pair(text, key, value)).collect();
            pairs.sort_by_key(|pair| pair.key_start);
            Value::Map(pairs.into_iter().map(|pair| (pair.key, pair.value)).collect())
        }
        _ => Value::Text(text.get(value.span()).unwrap_or_default().to_owned()),
    }
}
