//! A fragment's text, which knows how to be shorter, and what to say of a change.

use crate::text::{Fitted, Room};
use std::borrow::Cow;
use std::sync::Arc;

/// A fragment's text. It knows how to say less, and what to say when it has changed. Called while its session is locked: it must not call the
/// session.
pub trait Text: Send + Sync {
    /// As much as the room holds; never more, from 0 up. In [`Room::UNLIMITED`] it is the whole: the fragment's *value*, by which a change is
    /// noticed.
    fn fit(&self, room: &Room<'_>) -> Fitted<'_>;

    /// What to say where `said`, the value told last, differs from the value of now. `None`: nothing worth saying, and `said` stays the one told.
    /// Never more than the room holds.
    fn since(&self, said: &str, room: &Room<'_>) -> Option<Fitted<'_>> {
        let _ = said;
        Some(self.fit(room))
    }

    /// The least that is to be said of it where a budget is short. Unless told otherwise nothing: it may go whole.
    fn least(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    /// The value, where it is kept so that others can hold it too: a session that told it keeps no copy, and knows it again by where it stands. It
    /// is what [`fit`](Self::fit) gives in [`Room::UNLIMITED`].
    fn shared(&self) -> Option<&Arc<str>> {
        None
    }
}

impl<T: Text + ?Sized> Text for Arc<T> {
    fn fit(&self, room: &Room<'_>) -> Fitted<'_> {
        (**self).fit(room)
    }
    fn since(&self, said: &str, room: &Room<'_>) -> Option<Fitted<'_>> {
        (**self).since(said, room)
    }
    fn least(&self) -> Cow<'_, str> {
        (**self).least()
    }
    fn shared(&self) -> Option<&Arc<str>> {
        (**self).shared()
    }
}
impl<T: Text + ?Sized> Text for &'static T {
    fn fit(&self, room: &Room<'_>) -> Fitted<'_> {
        (**self).fit(room)
    }
    fn since(&self, said: &str, room: &Room<'_>) -> Option<Fitted<'_>> {
        (**self).since(said, room)
    }
    fn least(&self) -> Cow<'_, str> {
        (**self).least()
    }
    fn shared(&self) -> Option<&Arc<str>> {
        (**self).shared()
    }
}
