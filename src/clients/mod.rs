//! Typed clients, each behind the feature of its crate's name: how its requests are read and written ([`Wire`](crate::layers::wire::Wire)), and
//! the client as a [`tower::Service`], so that `stack.layer(client)` is all that a program adds.
//!
//! Each crate comes without TLS: a program that names it itself chooses that there. Answers pass as they come, streams too.
//!
//! A wire of one's own takes some thirty lines: `examples/own_client.rs`.

#[cfg(feature = "async-openai")]
pub mod async_openai;
#[cfg(feature = "genai")]
pub mod genai;
#[cfg(any(feature = "genai", feature = "rig"))]
mod parts;
#[cfg(feature = "rig")]
pub mod rig;

use crate::layers::wire::Edits;

/// What becomes of a tool's description.
fn describe(name: &str, description: &mut Option<String>, edits: &Edits) {
    let Some(change) = edits.tool_descriptions.get(name) else { return };
    let described = change.apply(description.as_deref().unwrap_or_default()).into_owned();
    if !(described.is_empty() && description.is_none()) {
        *description = Some(described);
    }
}
