//! A request's body of any JSON, in each format: with nothing to do it stays as it is; assembled, it holds our texts and all that the caller wrote; and
//! sent again, or assembled once more, it is the same.
//!
//! The first byte says which format, the second how much of a tool's result is sent; then the body.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::collections::HashSet;
use std::num::NonZeroUsize;
use tower_prompt::layers::text::{TextChange, TextMode};
use tower_prompt::layers::wire::{Edits, Format, ToolDefinition, ToolOutputBound, Wire};
use tower_prompt::layers::{Context, Fragment, Manifest, Placement, Prompt, PromptStack, Report, Session, Settings, Tier, Trust, Turn};

/// No word of a caller's.
const OURS: &str = "\u{F0000}";

fn strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, found)),
        _ => {}
    }
}

fn all_strings(value: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    strings(value, &mut found);
    found
}

fn layer(max_chars: Option<NonZeroUsize>) -> impl Fn(&Turn, &mut Prompt) {
    move |turn, prompt| {
        for (tier, id) in [(Tier::Stable, "stable"), (Tier::Session, "session"), (Tier::Turn, "turn"), (Tier::Step, "step")] {
            let round = turn.conversation.messages.len();
            let said = if tier >= Tier::Turn { format!("{OURS} {id} {round}") } else { format!("{OURS} {id}") };
            prompt.add(tier, || Fragment::new(id, said).trust(Trust::Host));
        }
        prompt.add_tool(ToolDefinition::new("ours", "A tool of ours.", serde_json::json!({"type": "object"})));
        prompt.describe_tool("ls", TextChange::default().then(TextMode::Append, "Ours too."));
        if max_chars.is_some() {
            let mut bound = ToolOutputBound::default();
            (bound.max_chars, bound.max_malformed_argument_chars) = (max_chars, max_chars);
            prompt.bound_tool_output(bound);
        }
    }
}

/// Everything is there at once.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut cx) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => unreachable!("no layer of this stack waits"),
    }
}

fn assemble(stack: &PromptStack<Format>, session: &Session, body: &Value) -> (Value, Option<Manifest>) {
    let report = Report::default();
    let sent = wait(stack.assemble(body.clone(), Context::default().session(session.clone()).report(report.clone())));
    (sent, report.manifest())
}

fuzz_target!(|bytes: &[u8]| {
    let [format, max, json @ ..] = bytes else { return };
    let Ok(body) = serde_json::from_slice::<Value>(json) else { return };
    let callers = all_strings(&body);
    if callers.iter().any(|text| text.contains(OURS)) {
        return;
    }
    let format = Format::ALL[usize::from(*format) % Format::ALL.len()];
    let read = format.read(&body);
    assert_eq!(format.read(&body), read, "the same again");
    assert_eq!(format.write(body.clone(), &Edits::default()), body, "with nothing to do it stays");

    let max = NonZeroUsize::new(usize::from(*max)).filter(|max| max.get() >= 16);
    let stack = PromptStack::new(format, Settings::default()).with(layer(max));
    let session = Session::new();
    let (sent, manifest) = assemble(&stack, &session, &body);
    assert_eq!(assemble(&stack, &session, &body).0, sent, "a retry");
    let (again, _) = assemble(&stack, &session, &sent);
    assert_eq!(again, sent, "assembled twice in {format}");

    let Some(manifest) = manifest else {
        assert!(read.is_foreign && sent == body, "what is no conversation passes as it is: {sent}");
        return;
    };
    let ours = all_strings(&sent);
    for text in &manifest.texts {
        let is_in_one = ours.iter().any(|sent| sent.contains(&*text.text));
        // A long one is parted where the provider keeps its prefix.
        assert!(is_in_one || text.placement == Placement::System, "{:?} is not in {sent}", text.text);
        for fragment in text.fragments.iter() {
            let said = text.text.get(fragment.offset..fragment.end()).expect("it is in its text");
            assert!(!said.is_empty() && ours.iter().any(|sent| sent.contains(said)), "{said:?} is not in {sent}");
        }
    }
    if manifest.texts.is_empty() && manifest.tools.is_empty() && manifest.cut_outputs.is_empty() {
        assert_eq!(sent, body, "nothing of ours, and another body");
    }
    // What is bounded is cut.
    if max.is_none() {
        let whole: HashSet<&str> = ours.iter().copied().collect();
        for text in callers {
            assert!(whole.contains(text) || ours.iter().any(|sent| sent.contains(text)), "{text:?} went in {format}: {sent}");
        }
    }
});
