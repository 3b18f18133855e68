//! Random conversations in types that have no JSON wire: each request only adds to the one before, and holds all that the caller said.

use crate::clients::said::stack_of;
use proptest::prelude::*;
use serde_json::Value;
use tower_prompt::layers::wire::Wire;
use tower_prompt::layers::{Context, Session};

/// What is said, in no type yet.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    User(Vec<String>),
    Model(String),
    /// Calls, and results of so many texts each.
    Calls(Vec<String>),
}

pub(crate) fn said() -> impl Strategy<Value = Vec<Said>> {
    let text = || prop_oneof!["[a-z é]{1,9}", Just("is there sun?".to_owned()), Just("long ".repeat(20))];
    let said = prop_oneof![
        3 => prop::collection::vec(text(), 1..3).prop_map(Said::User),
        2 => text().prop_map(Said::Model),
        2 => prop::collection::vec(text(), 1..3).prop_map(Said::Calls),
    ];
    prop::collection::vec(said, 1..8)
}

/// `request` makes one of what is said; `messages` gives its messages as JSON.
pub(crate) fn only_grows<R: Clone, W: Wire<R> + Copy>(
    wire: W,
    said: &[Said],
    request: impl Fn(&[Said]) -> R,
    messages: impl Fn(&R) -> Vec<Value>,
) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let session = Session::new();
    let stack = stack_of(wire, &session);
    let send = |request: R| runtime.block_on(stack.assemble(request, Context::default().session(session.clone())));
    let mut before = Vec::new();
    for n in 1..=said.len() {
        let bare = request(&said[..n]);
        let written = send(bare.clone());
        let sent = messages(&written);
        prop_assert!(sent.starts_with(&before), "{before:#?}\n\ndoes not go on as\n\n{sent:#?}");
        prop_assert!(sent.len() >= messages(&bare).len());
        // Sent again as it was, and as a caller may keep it.
        prop_assert_eq!(&messages(&send(bare)), &sent);
        prop_assert_eq!(&messages(&send(written)), &sent);
        before = sent;
    }
    Ok(())
}
