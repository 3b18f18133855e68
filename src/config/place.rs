//! Where things stand: places in a text, paths of keys, and where a value came from.

use super::text::quoted;
use crate::layers::Diagnostic;
use serde::Serialize;
use std::fmt;

/// Line and column, both from 1; the column counts characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Finds places in a text, each in constant time: a file of one long line with a finding a word must not cost its square.
pub(super) struct Lines<'t> {
    text: &'t [u8],
    line_starts: Vec<usize>,
    /// How many characters begin before each multiple of [`STRIDE`].
    characters_before: Vec<usize>,
}

const STRIDE: usize = 256;

fn characters_in(bytes: &[u8]) -> usize {
    // A byte of the form 10xxxxxx continues a character.
    bytes.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count()
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let text = text.as_bytes();
        let breaks = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let line_starts = std::iter::once(0).chain(breaks).collect();
        let mut characters = 0;
        let mut characters_before = vec![0];
        for chunk in text.chunks(STRIDE) {
            characters += characters_in(chunk);
            characters_before.push(characters);
        }
        Self { text, line_starts, characters_before }
    }
    /// Of a byte; one behind the end counts as the end.
    pub(super) fn place(&self, byte: usize) -> Place {
        let byte = byte.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= byte);
        let start = self.line_starts[line - 1];
        Place { line, column: self.characters_to(byte) - self.characters_to(start) + 1 }
    }

    fn characters_to(&self, byte: usize) -> usize {
        let stride = byte / STRIDE;
        self.characters_before[stride] + characters_in(&self.text[stride * STRIDE..byte])
    }
}

/// The path of a key as written: segment by segment.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) struct KeyPath(Vec<String>);

impl KeyPath {
    pub(super) fn join(&self, segment: impl Into<String>) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment.into());
        Self(segments)
    }
    pub(super) fn extended(&self, with: &Self) -> Self {
        Self(self.0.iter().chain(&with.0).cloned().collect())
    }
    /// A document that holds `value` at this path alone.
    pub(super) fn holding(&self, value: toml::Value) -> toml::Table {
        let nest = |inner, segment: &String| toml::Value::Table(std::iter::once((segment.clone(), inner)).collect());
        match self.0.iter().rev().fold(value, nest) {
            toml::Value::Table(table) => table,
            _ => toml::Table::new(),
        }
    }
    pub(super) fn segments(&self) -> &[String] {
        &self.0
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for KeyPath {
    fn from(segments: [S; N]) -> Self {
        Self(segments.into_iter().map(Into::into).collect())
    }
}

impl<'s> FromIterator<&'s str> for KeyPath {
    fn from_iter<I: IntoIterator<Item = &'s str>>(segments: I) -> Self {
        Self(segments.into_iter().map(str::to_owned).collect())
    }
}

impl fmt::Display for KeyPath {
    /// As TOML's dotted key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, segment) in self.0.iter().enumerate() {
            let dot = if number == 0 { "" } else { "." };
            let is_bare = !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
            if is_bare {
                write!(f, "{dot}{segment}")?;
            } else {
                write!(f, "{dot}{}", quoted(segment))?;
            }
        }
        Ok(())
    }
}

/// What kind of source set a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum OriginKind {
    /// Nothing set it: the built-in default.
    Default,
    /// A file.
    File,
    /// A variable of the environment.
    Variable,
    /// The host program.
    Code,
}

/// Where a value came from. Prints as `path:line:column`, as a variable's name, or in words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Origin {
    /// What kind of source.
    pub kind: OriginKind,
    /// The file's path or the variable's name; empty for the other kinds.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Line in the file or in the variable's TOML text, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in that line in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl Origin {
    pub(super) fn new(kind: OriginKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into(), line: None, column: None }
    }
    pub(super) fn at(mut self, place: Option<Place>) -> Self {
        self.line = place.and_then(|place| u32::try_from(place.line).ok());
        self.column = place.and_then(|place| u32::try_from(place.column).ok());
        self
    }
    /// `finding`, with this as its place, at `place` where that is known.
    pub(super) fn locate(&self, finding: Diagnostic, place: Option<Place>) -> Diagnostic {
        let name = if self.name.is_empty() { self.to_string() } else { self.name.clone() };
        let place = match place {
            Some(_) => self.clone().at(place),
            None => self.clone(),
        };
        let mut finding = finding.at(name);
        (finding.line, finding.column) = (place.line, place.column);
        finding
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            OriginKind::Default => return f.write_str("built-in default"),
            OriginKind::Code => return f.write_str("set in code"),
            OriginKind::File | OriginKind::Variable => f.write_str(&self.name)?,
        }
        [self.line, self.column].into_iter().flatten().try_for_each(|number| write!(f, ":{number}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters() {
        let text = format!("a\nä€😀x\r\n{}\nend", "é".repeat(1000));
        let lines = Lines::new(&text);
        for (byte, c) in text.char_indices() {
            let before = &text[..byte];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
            assert_eq!(lines.place(byte), Place { line, column }, "{c:?} at {byte}");
        }
        assert_eq!(lines.place(usize::MAX), Place { line: 4, column: 4 });
    }

    #[test]
    fn a_path_prints_as_a_dotted_key() {
        let path = KeyPath::from(["skills", "overrides", "a.b \"c\"\n", ""]);
        assert_eq!(path.to_string(), r#"skills.overrides."a.b \"c\"\n"."""#);
    }
}
