//! How a text changes another: behind it, before it, or in its place.

use super::GAP;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How a text joins another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TextMode {
    /// Behind it.
    #[default]
    Append,
    /// Before it.
    Prepend,
    /// In its place, and in the place of all that joined it before.
    Replace,
}

/// What one or several changes make of a text. Applying it again changes nothing.
///
/// ```
/// use tower_prompt_layers::text::{TextChange, TextMode};
///
/// let change = TextChange::default().then(TextMode::Append, "Ask first.").then(TextMode::Prepend, "Slow.");
/// assert_eq!(change.apply("Runs a command."), "Slow.\n\nRuns a command.\n\nAsk first.");
/// assert_eq!(change.apply(&change.apply("Runs a command.")), change.apply("Runs a command."));
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct TextChange {
    before: String,
    instead: Option<String>,
    behind: String,
}

impl TextChange {
    /// And this one after it. Blanks around a text are dropped; an empty text changes nothing unless it replaces.
    pub fn then(mut self, mode: TextMode, text: &str) -> Self {
        let text = text.trim();
        match mode {
            TextMode::Append => self.behind = joined([&self.behind, text]),
            TextMode::Prepend => self.before = joined([text, &self.before]),
            TextMode::Replace => self = Self { instead: Some(text.to_owned()), ..Self::default() },
        }
        self
    }
    /// As [`then`](Self::then), with all changes of another.
    pub fn and(self, other: &Self) -> Self {
        let replaced = match &other.instead {
            Some(text) => self.then(TextMode::Replace, text),
            None => self,
        };
        replaced.then(TextMode::Prepend, &other.before).then(TextMode::Append, &other.behind)
    }
    /// Changes no text.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
    /// The changed text.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let own = self.instead.as_deref().unwrap_or_else(|| self.own(text));
        let changed = joined([&self.before, own, &self.behind]);
        if changed == text { Cow::Borrowed(text) } else { Cow::Owned(changed) }
    }

    /// A text without what this change put around it before.
    fn own<'a>(&self, text: &'a str) -> &'a str {
        let rest = match &*self.before {
            "" => text,
            before if text == before => "",
            before => text.strip_prefix(before).and_then(|rest| rest.strip_prefix(GAP)).unwrap_or(text),
        };
        match &*self.behind {
            "" => rest,
            behind if rest == behind => "",
            behind => rest.strip_suffix(behind).and_then(|rest| rest.strip_suffix(GAP)).unwrap_or(rest),
        }
    }
}

/// Those that say something, with a gap between them.
fn joined<const N: usize>(texts: [&str; N]) -> String {
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(GAP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_mode() -> impl Strategy<Value = TextMode> {
        prop_oneof![Just(TextMode::Append), Just(TextMode::Prepend), Just(TextMode::Replace)]
    }

    proptest! {
        #[test]
        fn changing_a_changed_text_changes_nothing(
            changes in proptest::collection::vec((any_mode(), "[ab\n]{0,4}"), 0..5),
            text in "[ab\n]{0,8}",
        ) {
            let change = changes.iter().fold(TextChange::default(), |all, (mode, text)| all.then(*mode, text));
            let once = change.apply(&text).into_owned();
            prop_assert_eq!(change.apply(&once), &*once);
        }

        #[test]
        fn changes_one_by_one_are_changes_together(
            first in proptest::collection::vec((any_mode(), "[a-z]{0,4}"), 0..4),
            second in proptest::collection::vec((any_mode(), "[a-z]{0,4}"), 0..4),
        ) {
            let all = |changes: &[(TextMode, String)]| changes.iter().fold(TextChange::default(), |all, (mode, text)| all.then(*mode, text));
            prop_assert_eq!(all(&first).and(&all(&second)), all(&[first, second].concat()));
        }
    }

    #[test]
    fn what_is_empty_leaves_no_gap() {
        let change = TextChange::default().then(TextMode::Append, "B").then(TextMode::Prepend, " \n");
        assert_eq!(change.apply(""), "B");
        assert_eq!(change.apply("B"), "B");
        assert!(TextChange::default().then(TextMode::Append, "").is_nothing());
        assert_eq!(TextChange::default().then(TextMode::Replace, "").apply("gone"), "");
    }
}
