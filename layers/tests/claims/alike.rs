//! Conversations that begin alike: what one rendered, the next one shares.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tower_prompt_layers::text::{Fitted, Room, TokenCounter};
use tower_prompt_layers::wire::OpenAiChat;
use tower_prompt_layers::{Context, Fragment, Manifest, Prompt, PromptStack, Report, Session, Settings, Text, Tier, Turn};

/// So many tokens for each byte, and how many bytes were counted.
#[derive(Clone)]
struct Counter(usize, Arc<AtomicUsize>);
impl TokenCounter for Counter {
    fn count(&self, text: &str) -> usize {
        self.1.fetch_add(text.len(), Ordering::Relaxed);
        text.len() * self.0
    }
}
impl Counter {
    fn new(tokens: usize) -> Self {
        Self(tokens, Arc::default())
    }
    fn counted(&self) -> usize {
        self.1.swap(0, Ordering::Relaxed)
    }
}

/// A text that counts how often it is fitted into a room that has a limit.
#[derive(Clone)]
struct Fits(Arc<AtomicUsize>);
impl Text for Fits {
    fn fit(&self, room: &Room<'_>) -> Fitted<'_> {
        if room.limit().amount().is_some() {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        Fitted::whole("fits")
    }
}

fn stack(settings: Settings, other: &'static str, fits: &Fits) -> PromptStack<OpenAiChat> {
    let fits = fits.clone();
    PromptStack::new(OpenAiChat, settings).with(move |_: &Turn, prompt: &mut Prompt| {
        prompt.add(Tier::Stable, || Fragment::new("base", "Be careful."));
        let limit = tower_prompt_layers::text::Limit::Bytes(8);
        prompt.add(Tier::Session, || Fragment::new("fits", fits.clone()).limit(limit));
        prompt.add(Tier::Session, || Fragment::new("other", other));
    })
}

async fn sent(stack: &PromptStack<OpenAiChat>, session: &Session, words: &[&str]) -> (Value, Manifest) {
    let roles = ["user", "assistant"].into_iter().cycle();
    let messages: Vec<Value> = words.iter().zip(roles).map(|(word, role)| json!({"role": role, "content": word})).collect();
    let report = Report::default();
    let context = Context::default().session(session.clone()).report(report.clone());
    let sent = stack.assemble(json!({"messages": messages}), context).await;
    (sent, report.manifest().expect("a manifest is reported"))
}

#[tokio::test]
async fn what_is_unchanged_is_counted_and_fitted_once() {
    let (counter, fits) = (Counter::new(2), Fits(Arc::default()));
    let stack = stack(Settings::default().counter(counter.clone()), "One.", &fits);
    let session = Session::new();
    let (first, _) = sent(&stack, &session, &["hi"]).await;
    assert!(counter.counted() > 0 && fits.0.swap(0, Ordering::Relaxed) > 0);
    let (next, _) = sent(&stack, &session, &["hi", "ho", "and?"]).await;
    assert_eq!((counter.counted(), fits.0.load(Ordering::Relaxed)), (0, 0));
    assert_eq!(next["messages"][0], first["messages"][0]);
}

#[tokio::test]
async fn a_conversation_that_begins_as_the_last_one_did_counts_nothing_and_says_the_same() {
    let (counter, fits) = (Counter::new(2), Fits(Arc::default()));
    let stack = stack(Settings::default().counter(counter.clone()), "One.", &fits);
    let (first, told) = sent(&stack, &Session::new(), &["hi"]).await;
    counter.counted();
    let (second, told_again) = sent(&stack, &Session::new(), &["hi"]).await;
    assert_eq!(counter.counted(), 0);
    assert_eq!(first["messages"], second["messages"]);
    assert_eq!((&told.texts, told.system_hash), (&told_again.texts, told_again.system_hash));
    assert!(Arc::ptr_eq(&told.texts[0].text, &told_again.texts[0].text));
}

#[tokio::test]
async fn another_counter_counts_for_itself_and_another_text_alone_is_counted() {
    let (counter, fits) = (Counter::new(2), Fits(Arc::default()));
    let settings = Settings::default().counter(counter.clone());
    let (_, told) = sent(&stack(settings.clone(), "One.", &fits), &Session::new(), &["hi"]).await;
    let tokens = told.tokens();
    counter.counted();
    let (_, told) = sent(&stack(settings.clone(), "Other.", &fits), &Session::new(), &["hi"]).await;
    assert_eq!((counter.counted(), told.tokens()), ("Other.".len(), tokens + 2 * 2));
    assert_eq!(told.texts[0].text.matches("Other.").count(), 1);
    let (_, told) = sent(&stack(settings.counter(Counter::new(3)), "One.", &fits), &Session::new(), &["hi"]).await;
    assert_eq!(told.tokens(), tokens / 2 * 3);
}
