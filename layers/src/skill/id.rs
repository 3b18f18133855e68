//! The id of a skill: what it is called in settings, commands and the catalog.

use crate::text::escape::is_invisible;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization;

/// A skill's id: one to 255 bytes of any script, in NFC, exact case kept, without `/`, `\`, characters that no one sees or blanks at its ends, and
/// not a word that host commands use (`active`, `off`).
///
/// ```
/// use tower_prompt_layers::skill::SkillId;
///
/// let composed: SkillId = "caf\u{e9}".parse()?;
/// assert_eq!(composed, "cafe\u{301}".parse()?);
/// assert!("a/b".parse::<SkillId>().is_err());
/// # Ok::<(), tower_prompt_layers::skill::InvalidSkillId>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SkillId(Arc<str>);

/// Why a text is no [`SkillId`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InvalidSkillId {
    /// Nothing but blanks.
    Empty,
    /// Of so many bytes, over 255.
    TooLong(usize),
    /// Holds a character that no id may hold.
    Character(char),
    /// A word that host commands use.
    Reserved(&'static str),
}

const MAX_BYTES: usize = 255;
const RESERVED: [&str; 2] = ["active", "off"];

impl fmt::Display for InvalidSkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "a skill id must not be empty"),
            Self::TooLong(bytes) => write!(f, "a skill id has at most {MAX_BYTES} bytes, this one has {bytes}"),
            Self::Character(c) => write!(f, "a skill id must not hold {c:?}: no `/`, no `\\`, nothing invisible"),
            Self::Reserved(word) => write!(f, "`{word}` is a word of the host's commands and can be no skill id"),
        }
    }
}
impl std::error::Error for InvalidSkillId {}

impl SkillId {
    /// The id, trimmed and in NFC.
    pub fn new(text: &str) -> Result<Self, InvalidSkillId> {
        let text = text.trim();
        // ASCII is its own normal form, and nearly all ids are.
        let id: String = if text.is_ascii() { text.to_owned() } else { text.nfc().collect() };
        if id.is_empty() {
            return Err(InvalidSkillId::Empty);
        }
        if id.len() > MAX_BYTES {
            return Err(InvalidSkillId::TooLong(id.len()));
        }
        if let Some(c) = id.chars().find(|c| is_invisible(*c) || c.is_control() || matches!(c, '/' | '\\')) {
            return Err(InvalidSkillId::Character(c));
        }
        if let Some(word) = RESERVED.into_iter().find(|word| *word == id) {
            return Err(InvalidSkillId::Reserved(word));
        }
        Ok(Self(id.into()))
    }
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SkillId {
    type Err = InvalidSkillId;
    fn from_str(text: &str) -> Result<Self, InvalidSkillId> {
        Self::new(text)
    }
}
impl TryFrom<String> for SkillId {
    type Error = InvalidSkillId;
    fn try_from(text: String) -> Result<Self, InvalidSkillId> {
        Self::new(&text)
    }
}
impl From<SkillId> for String {
    fn from(id: SkillId) -> Self {
        id.0.as_ref().to_owned()
    }
}
impl Borrow<str> for SkillId {
    fn borrow(&self) -> &str {
        &self.0
    }
}
impl AsRef<str> for SkillId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}
impl fmt::Display for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl fmt::Debug for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_any_script_are_ids() {
        for id in ["rust", "数据分析", "café", "навык", "हिन्दी", "ไทย", "a b", "C++"] {
            assert_eq!(SkillId::new(id).unwrap().as_str(), id.nfc().collect::<String>());
        }
    }

    #[test]
    fn what_is_no_id_says_why() {
        use InvalidSkillId::{Character, Empty, Reserved, TooLong};
        let long = "x".repeat(256);
        let cases = [
            ("", Empty),
            (" \t", Empty),
            ("a/b", Character('/')),
            ("a\\b", Character('\\')),
            ("a\0", Character('\0')),
            ("a\u{202e}b", Character('\u{202e}')),
            ("a\u{200b}b", Character('\u{200b}')),
            ("off", Reserved("off")),
            ("active", Reserved("active")),
            (&long, TooLong(256)),
        ];
        for (text, why) in cases {
            assert_eq!(SkillId::new(text), Err(why));
        }
    }

    #[test]
    fn serde_round_trips_and_refuses_what_is_no_id() {
        let id = SkillId::new("rust-debugging").unwrap();
        assert_eq!(serde_json::from_str::<SkillId>(&serde_json::to_string(&id).unwrap()).unwrap(), id);
        assert!(serde_json::from_str::<SkillId>("\"a/b\"").is_err());
    }
}
