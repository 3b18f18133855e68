//! Messages and items, edited as their JSON is: what changes in one is written by the JSON wire, and read back into its type.

use crate::layers::wire::{Append, Edits, Removal, SystemEdit, Wire};
use serde::Serialize;
use serde::de::Error;
use serde_json::{Value, json};

/// One of those that a conversation is made of.
pub(super) trait Item: Serialize + Sized {
    /// The field of a body that lists them.
    const FIELD: &'static str;
    /// As the type that `before` is, of which it is the edited form, or which it stands behind.
    fn parse(value: &Value, before: Option<&Self>) -> serde_json::Result<Self>;
    /// Our system prompt goes in front of its text.
    fn takes_system(&self) -> bool;
    /// Bounds on tool output may cut it.
    fn is_bounded(&self) -> bool;
    /// A text of ours as a message of its own.
    fn said(text: &str) -> Self;
}

/// All of them, edited. What can't be said in its type stays as the caller made it, with our texts behind it: the request is sent in any case.
pub(super) fn edited<T: Item>(items: Vec<T>, wire: &impl Wire<Value>, edits: &Edits) -> Vec<T> {
    let mut written = Vec::with_capacity(items.len() + 1);
    for (at, item) in items.into_iter().enumerate() {
        let system = edits.system.as_ref().filter(|system| at == 0 && item.takes_system() && !system.is_nothing());
        let is_bounded = edits.tool_output.is_some() && item.is_bounded();
        if edits.leaves(at) && system.is_none() && !is_bounded {
            written.push(item);
            continue;
        }
        let here = here(edits, at, system);
        match rewritten(Some(&item), wire, &here) {
            Ok(Some(items)) => written.extend(items),
            Ok(None) => written.push(item),
            Err(reason) => {
                tracing::warn!(at, %reason, "a message can't be edited in its type: it is sent as it came, and our texts behind it");
                written.push(item);
                written.extend(here.appends.iter().map(|append| T::said(&append.text)));
            }
        }
    }
    written
}

/// Our system prompt as an item of its own, where the format has it so.
pub(super) fn system<T: Item>(system: &SystemEdit, wire: &impl Wire<Value>) -> Vec<T> {
    let mut edits = Edits::default();
    edits.system = Some(system.clone());
    rewritten(None, wire, &edits).ok().flatten().unwrap_or_default()
}

/// The edits of one item, as if it stood alone.
fn here(edits: &Edits, at: usize, system: Option<&SystemEdit>) -> Edits {
    let mut here = Edits::default();
    here.system = system.cloned();
    here.tool_output.clone_from(&edits.tool_output);
    here.appends = edits.appends_at(at).iter().map(|append| Append::new(0, append.spot, append.text.clone())).collect();
    here.removals = edits.removals_at(at).iter().map(moved_to_front).collect();
    here
}

fn moved_to_front(removal: &Removal) -> Removal {
    match *removal {
        Removal::Cut { part, keep, .. } => Removal::Cut { at: 0, part, keep },
        Removal::Part { part, .. } => Removal::Part { at: 0, part },
        Removal::Message { .. } => Removal::Message { at: 0 },
    }
}

/// What becomes of this item alone, or comes where there is none; `None` where it stays as it is. An error where its type can't say it.
fn rewritten<T: Item>(item: Option<&T>, wire: &impl Wire<Value>, edits: &Edits) -> serde_json::Result<Option<Vec<T>>> {
    let before = item.map(serde_json::to_value).transpose()?;
    let after = wire.write(json!({T::FIELD: before.iter().collect::<Vec<_>>()}), edits);
    let after = after.get(T::FIELD).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if after.iter().eq(&before) {
        return Ok(None);
    }
    let typed = |value: &Value| {
        let typed = T::parse(value, item)?;
        // A type that leaves out what it doesn't know would drop the caller's words.
        if serde_json::to_value(&typed)? == *value { Ok(typed) } else { Err(serde_json::Error::custom("its type leaves something out")) }
    };
    after.iter().map(typed).collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::wire::{OpenAiChat, Spot};

    /// A type that can be sent, and in which no edited form can be said.
    #[derive(PartialEq, Debug, Serialize)]
    struct Stubborn {
        role: &'static str,
        content: String,
    }

    impl Item for Stubborn {
        const FIELD: &'static str = "messages";
        fn parse(value: &Value, _: Option<&Self>) -> serde_json::Result<Self> {
            // It takes the message for another one.
            Ok(Self::said(if value.is_object() { "?" } else { "" }))
        }
        fn takes_system(&self) -> bool {
            false
        }
        fn is_bounded(&self) -> bool {
            true
        }
        fn said(text: &str) -> Self {
            Self { role: "user", content: text.to_owned() }
        }
    }

    #[test]
    fn what_a_type_cannot_say_is_sent_as_it_came_with_our_texts_behind_it() {
        let mut edits = Edits::default();
        edits.appends = vec![Append::new(1, Spot::Content, "OURS")];
        let sent = edited(["hi", "and?", "bye"].map(Stubborn::said).into(), &OpenAiChat, &edits);
        assert_eq!(sent, ["hi", "and?", "OURS", "bye"].map(Stubborn::said));
    }

    #[test]
    fn what_nothing_changes_in_is_not_read_back() {
        let mut edits = Edits::default();
        edits.tool_output = Some(crate::layers::wire::ToolOutputBound::default());
        assert_eq!(edited(vec![Stubborn::said("hi")], &OpenAiChat, &edits), [Stubborn::said("hi")]);
    }
}
