//! Parts of a summary that few skills have, in little room: ten thousand summaries are held at once.

use super::{ExecutionOptions, SkillActivation, SkillPermissionHints, SkillRequirements};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// What is mostly empty, and then takes a pointer's room. It reads and writes as what it holds, and serializes as that.
///
/// ```
/// use tower_prompt_layers::skill::{Seldom, SkillPermissionHints};
///
/// let mut hints = Seldom::<SkillPermissionHints>::default();
/// assert!(hints.tools.is_empty());
/// hints.tools.push("Read".to_owned());
/// assert_eq!(hints.tools, ["Read"]);
/// ```
#[derive(Clone)]
pub struct Seldom<T>(Option<Box<T>>);

/// What [`Seldom`] can hold: parts of a [`SkillSummary`](super::SkillSummary), and nothing of anyone else's.
pub trait SummaryPart: Default + PartialEq + sealed::Nothing {}

mod sealed {
    /// Keeps others from implementing [`SummaryPart`](super::SummaryPart), so that it can change.
    pub trait Nothing: Sized + 'static {
        /// Nothing of it.
        const NOTHING: &'static Self;
    }
}
use sealed::Nothing;

impl SummaryPart for SkillActivation {}
impl Nothing for SkillActivation {
    const NOTHING: &'static Self =
        &Self { keywords: Vec::new(), file_patterns: Vec::new(), trigger_patterns: Vec::new(), auto_activate: false };
}
impl SummaryPart for SkillPermissionHints {}
impl Nothing for SkillPermissionHints {
    const NOTHING: &'static Self = &Self { tools: Vec::new(), categories: Vec::new() };
}
impl SummaryPart for SkillRequirements {}
impl Nothing for SkillRequirements {
    const NOTHING: &'static Self = &Self { packages: Vec::new(), settings: Vec::new() };
}
impl SummaryPart for ExecutionOptions {}
impl Nothing for ExecutionOptions {
    const NOTHING: &'static Self = &Self { model: None, thinking_effort: None };
}

impl<T: SummaryPart> Seldom<T> {
    /// Gives back the room that nothing takes.
    pub(super) fn compact(&mut self) {
        if **self == *T::NOTHING {
            self.0 = None;
        }
    }
}

impl<T> Default for Seldom<T> {
    fn default() -> Self {
        Self(None)
    }
}
impl<T: SummaryPart> From<T> for Seldom<T> {
    fn from(part: T) -> Self {
        Self((part != *T::NOTHING).then(|| Box::new(part)))
    }
}
impl<T: SummaryPart> Deref for Seldom<T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::NOTHING)
    }
}
impl<T: SummaryPart> DerefMut for Seldom<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}
impl<T: SummaryPart> PartialEq for Seldom<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
impl<T: SummaryPart> PartialEq<T> for Seldom<T> {
    fn eq(&self, other: &T) -> bool {
        **self == *other
    }
}
impl<T: SummaryPart + fmt::Debug> fmt::Debug for Seldom<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
impl<T: SummaryPart + Serialize> Serialize for Seldom<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}
impl<'de, T: SummaryPart + Deserialize<'de>> Deserialize<'de> for Seldom<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

/// A few texts by name, ordered by name; it never changes, and takes no more room than they do.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TextMap(Box<[(Box<str>, Box<str>)]>);

impl TextMap {
    /// The text of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(key, _)| (**key).cmp(name)).ok()?;
        Some(&self.0[at].1)
    }
    /// Names and texts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (&**name, &**text))
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<BTreeMap<String, String>> for TextMap {
    fn from(map: BTreeMap<String, String>) -> Self {
        Self(map.into_iter().map(|(name, text)| (name.into(), text.into())).collect())
    }
}
impl FromIterator<(String, String)> for TextMap {
    /// Of a name that stands twice, the last text counts.
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        pairs.into_iter().collect::<BTreeMap<_, _>>().into()
    }
}
impl PartialEq<BTreeMap<String, String>> for TextMap {
    fn eq(&self, other: &BTreeMap<String, String>) -> bool {
        self.iter().eq(other.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    }
}
impl Serialize for TextMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
impl<'de> Deserialize<'de> for TextMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_emptied_takes_no_room_and_reads_the_same() {
        let mut part = Seldom::<SkillActivation>::default();
        part.keywords.push("a".into());
        part.keywords.clear();
        assert_eq!(part, Seldom::default());
        part.compact();
        assert!(part.0.is_none() && size_of_val(&part) == size_of::<usize>());
        assert_eq!(serde_json::to_string(&part).unwrap(), "{}");
    }

    #[test]
    fn a_map_of_texts_reads_as_it_was_written() {
        let map: TextMap = serde_json::from_str(r#"{"b": "2", "a": "1", "b": "3"}"#).unwrap();
        assert_eq!((map.len(), map.get("a"), map.get("b"), map.get("c")), (2, Some("1"), Some("3"), None));
        assert_eq!(serde_json::to_string(&map).unwrap(), r#"{"a":"1","b":"3"}"#);
    }
}
