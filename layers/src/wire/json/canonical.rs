//! A value's canonical form: two that mean the same are the same text.

use serde_json::Value;
use std::fmt::Write;

/// A value as JSON with sorted keys, without marks that callers move about.
pub(crate) fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let own = fields.iter().filter(|(key, _)| !MARKS.contains(&key.as_str()));
            out.push('{');
            if fields.keys().is_sorted() {
                write_fields(own, out);
            } else {
                let mut own: Vec<_> = own.collect();
                own.sort_by_key(|(key, _)| *key);
                write_fields(own.into_iter(), out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::String(text) => write_string(text, out),
        plain => {
            let _ = write!(out, "{plain}");
        }
    }
}

fn write_fields<'a>(fields: impl Iterator<Item = (&'a String, &'a Value)>, out: &mut String) {
    for (n, (key, value)) in fields.enumerate() {
        if n > 0 {
            out.push(',');
        }
        write_string(key, out);
        out.push(':');
        write_canonical(value, out);
    }
}

fn write_string(text: &str, out: &mut String) {
    if text.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\' | 0x7f)) {
        // Writing to a string can't fail.
        let _ = write!(out, "{}", Value::from(text));
    } else {
        out.reserve(text.len() + 2);
        out.extend(["\"", text, "\""]);
    }
}

pub(super) const MARKS: [&str; 3] = ["cache_control", "thoughtSignature", "thought_signature"];
