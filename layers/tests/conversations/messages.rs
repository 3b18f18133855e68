//! The caller's messages, and what must be equal for two of them to be the same.

/// What the caller wrote.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Own {
    User { texts: Vec<String>, image: bool, is_string: bool, beside_results: bool },
    Answer { text: String, calls: Vec<String> },
    Results { calls: Vec<String>, content: &'static str },
}

/// What an anchor is made of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Key {
    User(Vec<String>, bool),
    Answer(String, usize),
    Results(usize),
}

impl Own {
    pub(crate) fn user(text: &str) -> Self {
        Self::User { texts: vec![text.into()], image: false, is_string: true, beside_results: false }
    }
    pub(crate) fn is_place(&self) -> bool {
        !matches!(self, Self::Answer { .. })
    }
    pub(crate) fn is_user(&self) -> bool {
        matches!(self, Self::User { .. })
    }
    pub(crate) fn says(&self, word: &str) -> bool {
        matches!(self, Self::User { texts, .. } if texts.iter().any(|text| text.contains(word)))
    }
    fn key(&self) -> Key {
        match self {
            Self::User { texts, image, .. } => {
                let texts = texts.iter().map(|text| text.trim_end().to_owned()).filter(|text| !text.is_empty());
                Key::User(texts.collect(), *image)
            }
            Self::Answer { text, calls } => Key::Answer(text.clone(), calls.len()),
            Self::Results { calls, .. } => Key::Results(calls.len()),
        }
    }
}

/// A message, and our text behind it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Sent(pub(crate) Own, pub(crate) Option<String>);

/// Of the messages up to the last place.
pub(crate) fn keys(messages: &[Sent]) -> Vec<Key> {
    let end = messages.iter().rposition(|sent| sent.0.is_place()).map_or(0, |last| last + 1);
    messages[..end].iter().map(|sent| sent.0.key()).collect()
}

pub(crate) fn count_places(key: &[Key]) -> usize {
    key.iter().filter(|key| !matches!(key, Key::Answer(..))).count()
}
