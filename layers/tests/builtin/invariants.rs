//! Those invariants that count for the task, chosen by words.

use super::stage::Chat;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use tower_prompt_layers::invariant::{CatalogSource, SelectByWords};
use tower_prompt_layers::text::Limit;
use tower_prompt_layers::wire::OpenAiChat;
use tower_prompt_layers::{Diagnostic, Document, DocumentSource, Event, InvariantsLayer, PromptStack, ReadingDocument, Settings};

/// A document that a test changes; `None`: it can't be read.
#[derive(Clone)]
struct Changing(Arc<Mutex<Option<&'static str>>>);
impl Changing {
    fn is(&self, text: Option<&'static str>) {
        *self.0.lock().unwrap() = text;
    }
}
impl DocumentSource for Changing {
    fn read(&self) -> ReadingDocument {
        let read = match *self.0.lock().unwrap() {
            Some(text) => Ok((!text.is_empty()).then(|| Document::new(text).path("/w/INVARIANTS.md"))),
            None => Err(Diagnostic::warning("file-unreadable", "could not be read")),
        };
        Box::pin(std::future::ready(read))
    }
}

const TEXT: &str = "# Title\n\n## Storage\n* **Keys.** Keys never change.\n* **Writers.** One </context> writer.\n\n## Output\n- Tabs.\n";

fn chat(limit: Limit) -> (Chat, Changing) {
    let document = Changing(Arc::new(Mutex::new(Some(TEXT))));
    let chosen = SelectByWords::new(NonZeroUsize::new(2).unwrap());
    let layer = InvariantsLayer::relevant(CatalogSource::new(document.clone()), chosen).limit(limit);
    (Chat::new(PromptStack::new(OpenAiChat, Settings::default()).with(layer)), document)
}

#[tokio::test]
async fn what_shares_words_with_the_message_is_said_behind_it_and_once() {
    let (mut chat, _) = chat(Limit::None);
    let first = chat.says("Write tabs, writer!").await;
    assert_eq!(first.system, "", "never in the system prompt");
    assert_eq!(first.manifest.events, [Event::InvariantsSelected { numbers: vec![2, 3] }]);
    assert_eq!(
        first.tail,
        "<context origin=\"repository\">\n<relevant_invariants path=\"/w/INVARIANTS.md\">\n\
         Relevant repository invariants: 2 of 3, chosen for the task. The others hold too.\n\n\
         ## Storage\n* **Writers.** One &lt;/context> writer.\n\n## Output\n- Tabs.\n</relevant_invariants>\n</context>"
    );
    let same = chat.says("Which writer, which tabs?").await;
    assert_eq!((&*same.tail, same.manifest.events.len()), ("", 0), "the same choice");
    assert_eq!(chat.says("Yes.").await.tail, "", "no shared word");
    let other = chat.says("Now the keys").await.tail;
    assert!(other.contains("**Keys.**") && !other.contains("Tabs") && !other.contains("gone"), "{other}");
}

#[tokio::test]
async fn a_document_that_goes_is_said_to_be_gone_and_a_fault_makes_nothing_gone() {
    let (mut chat, document) = chat(Limit::None);
    assert!(chat.says("keys").await.tail.contains("**Keys.**"));
    document.is(None);
    let unread = chat.says("tabs").await;
    assert_eq!((&*unread.tail, unread.codes()), ("", vec!["file-unreadable"]));
    document.is(Some("Prose alone, of keys."));
    let empty = chat.says("keys").await;
    assert_eq!(
        (&*empty.tail, empty.codes()),
        ("<context origin=\"host\">\nrelevant_invariants is gone.\n</context>", vec!["invariants-missing"])
    );
    document.is(Some(TEXT));
    assert!(chat.says("keys").await.tail.contains("**Keys.**"));
    document.is(Some(""));
    let gone = chat.says("keys").await;
    assert!(gone.tail.contains("relevant_invariants is gone.") && gone.codes().is_empty());
}

#[tokio::test]
async fn what_is_chosen_keeps_to_its_limit() {
    for limit in (0..400).step_by(13) {
        let sent = chat(Limit::Chars(limit)).0.says("keys, writer").await;
        let chars = sent.manifest.fragments().map(|(_, fragment)| fragment.chars).next().unwrap_or_default();
        assert!(chars <= limit && (chars == 0 || sent.tail.ends_with("\n</relevant_invariants>\n</context>")), "{limit}: {}", sent.tail);
    }
}

#[tokio::test]
async fn a_document_that_is_read_amiss_says_so() {
    let text = "* **Keys.** a\n```\n";
    let (mut chat, document) = chat(Limit::None);
    document.is(Some(text));
    let found = chat.says("keys").await.manifest.diagnostics;
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        "/w/INVARIANTS.md:2: warning[invariants-unclosed]: a code block begins here and does not end: invariants in it are not seen as such"
    );
}
