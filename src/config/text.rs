//! TOML text of one line, for messages, for `config show`, and for values that are set in code.

use std::fmt::Write as _;

/// As a basic string of TOML: no control character in it reaches a terminal.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            // Direction marks too: they could show a value as another.
            c if c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// [`quoted`], of at most 60 characters.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => quoted(&text[..end]) + "…",
        None => quoted(text),
    }
}

/// A value as TOML writes it, in one line.
pub(super) fn toml_text(value: &toml::Value) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        toml::Value::String(text) => quoted(text),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) if number.is_nan() => "nan".to_owned(),
        toml::Value::Float(number) => format!("{number:?}"),
        toml::Value::Boolean(yes) => yes.to_string(),
        toml::Value::Datetime(time) => time.to_string(),
        toml::Value::Array(items) => format!("[{}]", list(items.iter().map(toml_text).collect())),
        toml::Value::Table(table) if table.is_empty() => "{}".to_owned(),
        toml::Value::Table(table) => {
            let fields = table.iter().map(|(key, value)| format!("{} = {}", super::place::KeyPath::from([key]), toml_text(value)));
            format!("{{ {} }}", list(fields.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = toml::Value> {
        let leaf = prop_oneof![
            any::<String>().prop_map(toml::Value::from),
            any::<i64>().prop_map(toml::Value::from),
            any::<f64>().prop_filter("is no number", |number| !number.is_nan()).prop_map(toml::Value::from),
            any::<bool>().prop_map(toml::Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(toml::Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|fields| toml::Value::Table(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_is_read_back_from_its_text(value in value()) {
            let text = toml_text(&value);
            prop_assert!(!text.chars().any(char::is_control));
            let table: toml::Table = format!("value = {text}").parse().unwrap();
            prop_assert_eq!(&table["value"], &value);
        }
    }

    #[test]
    fn what_is_long_is_cut_in_messages() {
        assert_eq!(shown(&"ä".repeat(61)), format!("\"{}\"…", "ä".repeat(60)));
    }
}
