//! Conversations that begin alike: what one rendered, the next one shares.

use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tower_prompt_layers::text::{Fitted, Limit, Room, TokenCounter};
use tower_prompt_layers::wire::OpenAiChat;
use tower_prompt_layers::{Context, Fragment, Manifest, Prompt, PromptStack, Report, Session, Settings, Source, Text, Tier, Trust, Turn};

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

/// A stack that adds what `now` holds.
fn saying(now: &Arc<Mutex<Fragment>>) -> PromptStack<OpenAiChat> {
    let is = now.clone();
    PromptStack::new(OpenAiChat, Settings::default()).with(move |_: &Turn, prompt: &mut Prompt| {
        prompt.add(Tier::Session, || is.lock().unwrap().clone());
    })
}

#[tokio::test]
async fn the_same_words_under_another_id_trust_source_or_limit_are_told_as_what_they_are() {
    type Facets = (&'static str, Trust, &'static str, usize);
    let of = |(id, trust, file, bytes): Facets| {
        Fragment::new(id, "It rains.").trust(trust).source(Source::file(file)).limit(Limit::Bytes(bytes))
    };
    let first = ("fact", Trust::User, "a.md", 50);
    let (now, others) = (
        Arc::new(Mutex::new(of(first))),
        [
            ("other", first.1, first.2, 50),
            ("fact", Trust::Host, first.2, 50),
            ("fact", first.1, "b.md", 50),
            ("fact", first.1, first.2, 60),
        ],
    );
    let stack = saying(&now);
    for facets in others.into_iter().flat_map(|other| [first, other]) {
        *now.lock().unwrap() = of(facets);
        let (_, manifest) = sent(&stack, &Session::new(), &["hi"]).await;
        let (_, told) = manifest.fragments().next().unwrap();
        let (id, trust, file, bytes) = facets;
        assert_eq!((told.id.as_str(), told.trust, &told.source), (id, trust, &Source::file(file)));
        assert_eq!(told.limit.map(|limit| limit.limit), Some(Limit::Bytes(bytes)));
    }
}

/// Kept, so that others can hold it too.
struct Kept(Arc<str>);
impl Text for Kept {
    fn fit(&self, _: &Room<'_>) -> Fitted<'_> {
        Fitted::whole(&*self.0)
    }
    fn shared(&self) -> Option<&Arc<str>> {
        Some(&self.0)
    }
}

#[tokio::test]
async fn conversations_that_begin_alike_hold_one_copy_of_a_value() {
    let (first, alike): (Arc<str>, Arc<str>) = ("It rains.".into(), "It rains.".into());
    let now = Arc::new(Mutex::new(Fragment::new("fact", Kept(first.clone()))));
    let (stack, sessions) = (saying(&now), [Session::new(), Session::new()]);
    sent(&stack, &sessions[0], &["hi"]).await;
    *now.lock().unwrap() = Fragment::new("fact", Kept(alike.clone()));
    let held = Arc::strong_count(&first);
    sent(&stack, &sessions[1], &["hi"]).await;
    *now.lock().unwrap() = Fragment::new("fact", "");
    assert_eq!(Arc::strong_count(&alike), 1, "the second holds what the first told");
    assert!(held > 1);
}

#[tokio::test]
async fn what_was_rendered_last_is_what_the_next_one_shares() {
    let (counter, now) = (Counter::new(1), Arc::new(Mutex::new(Fragment::new("fact", "One."))));
    let is = now.clone();
    let settings = Settings::default().counter(counter.clone());
    let stack = PromptStack::new(OpenAiChat, settings).with(move |_: &Turn, prompt: &mut Prompt| {
        prompt.add(Tier::Session, || is.lock().unwrap().clone());
    });
    sent(&stack, &Session::new(), &["hi"]).await;
    *now.lock().unwrap() = Fragment::new("fact", "Other.");
    sent(&stack, &Session::new(), &["hi"]).await;
    counter.counted();
    sent(&stack, &Session::new(), &["hi"]).await;
    assert_eq!(counter.counted(), 0);
}
