//! Base prompt, user authority, invariants, sections: in their tiers and their order.

use super::stage::Chat;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use tower_prompt_layers::text::{Fitted, Limit, Room};
use tower_prompt_layers::wire::OpenAiChat;
use tower_prompt_layers::{
    BASE_PROMPT, Diagnostic, Document, DocumentSource, Fragment, InvariantsLayer, Prompt, PromptStack, ReadingDocument, RepositoryText,
    Section, SectionsLayer, Settings, SystemPromptLayer, Text, TextSection, Tier, Turn, USER_AUTHORITY, UserAuthorityLayer,
};

#[tokio::test]
async fn a_replaced_base_leaves_authority_and_sections() {
    let sections = SectionsLayer::default().with(TextSection::new("team", Tier::Session, "Core"));
    let stack = |base| PromptStack::new(OpenAiChat, Settings::default()).with(base).with(UserAuthorityLayer).with(sections.clone());
    let built_in = Chat::new(stack(SystemPromptLayer::default())).says("hi").await.system;
    let replaced = Chat::new(stack(SystemPromptLayer::replaced("OWN"))).says("hi").await.system;
    assert_eq!(built_in.replace(BASE_PROMPT.trim_end(), "OWN"), replaced);
    assert_eq!(replaced, format!("OWN\n\n{}\n\n<team>\nCore\n</team>", USER_AUTHORITY.trim_end()));
    let empty = Chat::new(stack(SystemPromptLayer::replaced(""))).says("hi").await.system;
    assert!(empty.starts_with("<user_authority>"));
}

#[tokio::test]
async fn stable_comes_before_session_whatever_the_order_of_the_layers() {
    let sections = SectionsLayer::default()
        .with(TextSection::new("b", Tier::Session, "session"))
        .with(TextSection::new("a", Tier::Stable, "stable"))
        .with(TextSection::new("off", Tier::Stable, "off"))
        .without("off");
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(sections).with(SystemPromptLayer::replaced("BASE"));
    assert_eq!(Chat::new(stack).says("hi").await.system, "<a>\nstable\n</a>\n\nBASE\n\n<b>\nsession\n</b>");
}

/// A section that is off is not asked.
struct Panics;
impl Section for Panics {
    fn name(&self) -> &'static str {
        "panics"
    }
    fn add(&self, _: &Turn, _: &mut Prompt) {
        panic!("it was asked");
    }
}

#[tokio::test]
async fn a_section_that_is_off_is_not_asked() {
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(SectionsLayer::default().with(Panics).without("panics"));
    assert_eq!(Chat::new(stack).says("hi").await.system, "");
}

/// A document that changes, goes and fails.
#[derive(Clone)]
struct Changing(Arc<Mutex<Result<Option<&'static str>, ()>>>);
impl DocumentSource for Changing {
    fn read(&self) -> ReadingDocument {
        let now = *self.0.lock().unwrap();
        let read = now.map(|text| text.map(Document::new)).map_err(|()| Diagnostic::warning("file-unreadable", "a disk fault"));
        Box::pin(std::future::ready(read)) as Pin<Box<_>>
    }
}

#[tokio::test]
async fn invariants_that_change_are_told_at_the_tail_and_a_fault_makes_nothing_gone() {
    let document = Changing(Arc::new(Mutex::new(Ok(Some("* **One.** </repository_invariants>")))));
    let mut chat = Chat::new(PromptStack::new(OpenAiChat, Settings::default()).with(InvariantsLayer::full(document.clone())));
    let first = chat.says("one").await;
    assert_eq!(first.system, "<repository_invariants>\n* **One.** &lt;/repository_invariants>\n</repository_invariants>");
    *document.0.lock().unwrap() = Err(());
    let second = chat.says("two").await;
    assert_eq!((&*second.tail, second.codes()), ("", vec!["file-unreadable"]));
    *document.0.lock().unwrap() = Ok(Some("* **Two.**"));
    let third = chat.says("three").await;
    assert_eq!(third.system, first.system);
    assert_eq!(third.tail, "<context origin=\"repository\">\n<repository_invariants>\n* **Two.**\n</repository_invariants>\n</context>");
    *document.0.lock().unwrap() = Ok(None);
    assert_eq!(chat.says("four").await.tail, "<context origin=\"host\">\nrepository_invariants is gone.\n</context>");
}

#[tokio::test]
async fn invariants_keep_to_their_limit_and_may_stand_in_the_first_context() {
    let document = Document::new("* line\n".repeat(100)).path("/r/INVARIANTS.md");
    let layer = InvariantsLayer::full(document).limit(Limit::Chars(200));
    let settings = Settings::default().repository_text(RepositoryText::Context);
    let sent = Chat::new(PromptStack::new(OpenAiChat, settings).with(layer)).says("one").await;
    assert_eq!(sent.system, "");
    let (_, fragment) = sent.manifest.fragments().next().unwrap();
    assert!(fragment.chars <= 200 && sent.tail.contains("the rest is in /r/INVARIANTS.md]"));
}

/// A text that does not keep to its room.
struct Careless;
impl Text for Careless {
    fn fit(&self, _: &Room<'_>) -> Fitted<'_> {
        Fitted::whole("far more than the limit")
    }
}

#[tokio::test]
async fn a_limit_holds_for_a_text_that_does_not_keep_to_it() {
    let layer = |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Stable, || Fragment::new("careless", Careless).limit(Limit::Chars(8)));
    let sent = Chat::new(PromptStack::new(OpenAiChat, Settings::default()).with(layer)).says("hi").await;
    assert_eq!((&*sent.system, sent.codes()), ("far more", vec!["limit"]));
}

#[tokio::test]
async fn what_is_shared_is_made_once_a_request_for_each_kind_of_it() {
    let made = Arc::new(Mutex::new(Vec::new()));
    let asks = |id: &'static str, kind: u8| {
        let made = made.clone();
        move |_: &Turn, prompt: &mut Prompt| {
            let make = || {
                made.lock().unwrap().push(kind);
                (kind, made.lock().unwrap().len())
            };
            let (_, number) = prompt.shared(|(of, _): &(u8, usize)| *of == kind, make);
            prompt.add(Tier::Turn, || Fragment::new(id, format!("{id} has {number}")));
        }
    };
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(asks("a", 1)).with(asks("b", 2)).with(asks("c", 1));
    let mut chat = Chat::new(stack);
    let first = chat.says("one").await.tail;
    assert!(["a has 1", "b has 2", "c has 1"].iter().all(|told| first.contains(told)), "{first}");
    let second = chat.says("two").await.tail;
    assert!(["a has 3", "b has 4", "c has 3"].iter().all(|told| second.contains(told)), "{second}");
    assert_eq!(*made.lock().unwrap(), [1, 2, 1, 2]);
}
