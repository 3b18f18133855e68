//! What is said of a repair.

use super::repair::{header, unquoted};
use super::scan::{Odd, Raw};

/// Why a value is no YAML, and what to do about it.
pub(super) fn reason(raw: &Raw<'_>, whole: &str) -> String {
    let first = raw.first;
    let begins = first.chars().next().unwrap_or_default();
    match raw.odd {
        Some(Odd::Unindented) => return format!("the text below `{first}` is not indented; it was read up to the next field, indent it"),
        Some(Odd::Continued) => return "a line at the left edge goes on with it; it was read as part of the text, indent it".into(),
        Some(Odd::Indented) | None => {}
    }
    if let Some(c) = whole.chars().find(|c| is_no_character(*c)) {
        return format!("U+{:04X} is no character of YAML; it was read as plain text, leave it out", u32::from(c));
    }
    let what = match begins {
        '>' | '|' => match header(first) {
            Some("") => return format!("the lines below `{first}` are not indented alike; they were read as they stand"),
            Some(_) => format!("text stands behind `{begins}` on its own line"),
            None => format!("a value must not begin with `{begins}` unquoted"),
        },
        '"' | '\'' if unquoted(whole) != whole => match wrong_escape(whole).filter(|_| begins == '"') {
            Some(c) => return format!("`\\{c}` is no escape within quotes; it was read as it stands, write `\\\\{c}`"),
            None => return format!("a quote {begins} stands within quotes; it was read as part of the text"),
        },
        '"' | '\'' => format!("the quote {begins} does not close at the end of the value"),
        '[' | '{' | '*' | '&' | '!' | '%' | '@' | '`' | '#' | '-' | '?' | ',' | ']' | '}' => {
            format!("a value must not begin with `{begins}` unquoted")
        }
        _ if whole.contains(" #") => "` #` begins a comment in YAML".into(),
        _ if whole.contains(": ") || whole.ends_with(':') => "an unquoted value holds `: `".into(),
        _ => "this is no YAML".into(),
    };
    format!("{what}; it was read as plain text, quote the whole of it")
}

/// YAML takes these nowhere but as escapes.
fn is_no_character(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}') || c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')
}

/// The first character behind a `\` that YAML gives no meaning there.
fn wrong_escape(quoted: &str) -> Option<char> {
    let mut chars = quoted.chars();
    while chars.any(|c| c == '\\') {
        let behind = chars.next()?;
        if !"0abt\tnvfre \"/\\N_LPxuU\n".contains(behind) {
            return Some(behind);
        }
    }
    None
}

/// What is said of a line that belongs to no entry.
pub(super) fn stray(line: &str) -> String {
    let shown: String = line.chars().take(40).collect();
    format!("`{shown}` belongs to no field and was left out; indent it, or quote the value before it")
}

/// What is said of a key that is indented under a text.
pub(super) fn indented(key: &str) -> String {
    format!("`{key}` is indented under the text before it; it was read as a field of its own")
}
