//! Sessions that are stored: before the request is sent, in order, by several processes.

use crate::common::*;
use serde_json::Value;
use std::future::{pending, poll_fn, ready};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Wake};
use tower::{Layer, Service, ServiceExt, service_fn};
use tower_prompt_layers::wire::{OpenAiChat, OpenAiResponses};
use tower_prompt_layers::{
    Appending, Context, Diagnostic, JournalError, LoadingEvents, PromptStack, Report, Session, SessionEvent, SessionJournal, Settings,
    SystemPromptLayer,
};

/// What the next appends come to.
#[derive(Clone, Copy, PartialEq, Default)]
enum Weather {
    #[default]
    Fair,
    /// The disk is full.
    Fails,
    /// Never an answer, and nothing stored.
    Hangs,
    /// Stored, and never an answer.
    HangsWhenDone,
    /// Another process is always first.
    IsOvertaken,
}

/// A store that several processes share.
#[derive(Clone, Default)]
struct Store(Arc<Mutex<(Vec<SessionEvent>, Weather, usize)>>);

impl Store {
    fn events(&self) -> Vec<SessionEvent> {
        self.0.lock().unwrap().0.clone()
    }
    fn weather(&self, weather: Weather) {
        self.0.lock().unwrap().1 = weather;
    }
    fn appends(&self) -> usize {
        self.0.lock().unwrap().2
    }
    /// A process of its own.
    fn open(&self) -> Session {
        let events = self.events();
        let session = if events.is_empty() { Session::new() } else { Session::replay(events).unwrap() };
        session.stored_in(self.clone())
    }
}

impl SessionJournal for Store {
    fn append(&self, expected: u64, events: Arc<[SessionEvent]>) -> Appending {
        let store = self.clone();
        Box::pin(async move {
            let weather = store.0.lock().unwrap().1;
            if weather == Weather::Hangs {
                return pending().await;
            }
            {
                let (stored, _, appends) = &mut *store.0.lock().unwrap();
                *appends += 1;
                match weather {
                    Weather::Fails => return Err(JournalError::Failed(Diagnostic::warning("session-not-stored", "the disk is full"))),
                    Weather::IsOvertaken => {
                        stored.push(SessionEvent::Compacted);
                        return Err(JournalError::Conflict);
                    }
                    _ if stored.len() as u64 != expected => return Err(JournalError::Conflict),
                    _ => stored.extend(events.iter().cloned()),
                }
            }
            if weather == Weather::HangsWhenDone { pending().await } else { Ok(()) }
        })
    }
    fn load(&self) -> LoadingEvents {
        Box::pin(ready(Ok(self.events())))
    }
}

fn stack() -> PromptStack<OpenAiChat> {
    PromptStack::new(OpenAiChat, Settings::default()).with(base()).with(clock("1"))
}
async fn send(session: &Session, history: &[Value]) -> (Value, Report) {
    let report = Report::default();
    let context = Context::default().session(session.clone()).report(report.clone());
    (stack().assemble(body(history), context).await, report)
}
fn codes(report: &Report) -> Vec<String> {
    report.manifest().unwrap().diagnostics.iter().map(|found| found.code.to_string()).collect()
}

#[tokio::test]
async fn what_is_settled_is_stored_before_the_inner_call_and_another_process_sends_the_same_bytes() {
    let store = Store::default();
    let stored_at_the_call = Arc::new(Mutex::new(0));
    let (seen, of_store) = (stored_at_the_call.clone(), store.clone());
    let inner = service_fn(move |request: Value| {
        *seen.lock().unwrap() = of_store.events().len();
        echo(request)
    });
    let session = store.open();
    let sent = stack().context(Context::default().session(session)).layer(inner).oneshot(body(&[user("one")])).await.unwrap();
    let names: Vec<&str> = store.events().iter().map(SessionEvent::name).collect();
    assert_eq!(names, ["started", "system_rendered", "text_anchored"]);
    assert_eq!(*stored_at_the_call.lock().unwrap(), names.len());
    let elsewhere = store.open();
    assert_eq!(send(&elsewhere, &[user("one")]).await.0, sent);
    assert_eq!(store.appends(), 1, "a retry brings nothing to store");
}

#[tokio::test]
async fn two_processes_that_settle_one_place_send_the_same_bytes() {
    let store = Store::default();
    let one = store.open();
    send(&one, &[user("one")]).await;
    let other = store.open();
    let history = [user("one"), says("a"), user("two")];
    let (sent, _) = send(&one, &history).await;
    // The other does not know yet that this place is settled, and says something else there.
    let late = PromptStack::new(OpenAiChat, Settings::default()).with(base()).with(clock("2"));
    let sent_late = late.assemble(body(&history), Context::default().session(other.clone())).await;
    assert_eq!(sent_late, sent);
    let longer = [&history[..], &[says("b"), user("three")]].concat();
    let (extended, report) = send(&other, &longer).await;
    assert!(messages(&extended).starts_with(&messages(&sent)));
    assert!(codes(&report).is_empty());
    assert_eq!(send(&store.open(), &longer).await.0, extended);
}

#[tokio::test]
async fn what_the_host_said_here_survives_that_another_process_was_first() {
    let store = Store::default();
    let one = store.open();
    send(&one, &[user("one")]).await;
    let other = store.open();
    other.activate(id("rust"), Some("x"));
    other.dismiss_suggestion(id("sql"));
    one.activate(id("pdf"), None);
    let history = [user("one"), says("a"), user("two")];
    send(&one, &history).await;
    // Here its words and its place are not stored yet, and the place is settled there already.
    let (_, report) = send(&other, &history).await;
    assert!(codes(&report).is_empty());
    for session in [&other, &store.open()] {
        let active: Vec<String> = session.active_by_host().iter().map(|skill| skill.id.to_string()).collect();
        assert_eq!(active, ["pdf", "rust"], "both activations are kept");
        assert!(session.is_dismissed(&id("sql")));
    }
}

#[tokio::test]
async fn a_host_that_rebased_here_gets_a_new_system_prompt_though_another_process_was_first() {
    let store = Store::default();
    let one = store.open();
    send(&one, &[user("one")]).await;
    let other = store.open();
    send(&one, &[user("one"), says("a"), user("two")]).await;
    other.rebase();
    let rebased = PromptStack::new(OpenAiChat, Settings::default()).with(SystemPromptLayer::replaced("NEW"));
    let history = [user("one"), says("a"), user("three")];
    let sent = rebased.assemble(body(&history), Context::default().session(other.clone())).await;
    assert_eq!(texts(&sent)[0], "NEW");
    assert_eq!(texts(&rebased.assemble(body(&history), Context::default().session(store.open())).await)[0], "NEW");
}

#[tokio::test]
async fn a_store_that_fails_stops_nothing_and_gets_it_all_later() {
    let store = Store::default();
    let session = store.open();
    store.weather(Weather::Fails);
    let (sent, report) = send(&session, &[user("one")]).await;
    assert_eq!((last(&sent), codes(&report)), (&*behind("one", "1"), vec!["session-not-stored".to_owned()]));
    assert!(store.events().is_empty());
    store.weather(Weather::Fair);
    let (_, report) = send(&session, &[user("one"), says("a"), user("two")]).await;
    assert!(codes(&report).is_empty());
    assert_eq!(send(&store.open(), &[user("one")]).await.0, sent);
}

#[tokio::test]
async fn who_is_always_overtaken_sends_all_the_same_and_says_so() {
    let store = Store::default();
    let session = store.open();
    send(&session, &[user("one")]).await;
    store.weather(Weather::IsOvertaken);
    let (sent, report) = send(&session, &[user("one"), says("a"), user("two")]).await;
    assert_eq!((last(&sent), codes(&report)), ("two", vec!["session-not-stored".to_owned()]));
    assert!(store.appends() < 25);
}

#[tokio::test]
async fn a_request_given_up_while_it_is_stored_leaves_the_next_to_store_it() {
    for weather in [Weather::Hangs, Weather::HangsWhenDone] {
        let store = Store::default();
        let session = store.open();
        store.weather(weather);
        {
            let history = [user("one")];
            let mut waiting = pin!(send(&session, &history));
            let is_waiting = poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx).is_pending())).await;
            assert!(is_waiting);
        }
        store.weather(Weather::Fair);
        let (sent, report) = send(&session, &[user("one")]).await;
        assert_eq!((last(&sent), codes(&report)), (&*behind("one", "1"), Vec::new()));
        assert_eq!(store.events().len(), 3);
        assert_eq!(send(&store.open(), &[user("one")]).await.0, sent);
    }
}

#[tokio::test]
async fn requests_at_once_are_stored_in_the_order_in_which_they_settled() {
    let store = Store::default();
    let session = store.open();
    send(&session, &[user("one")]).await;
    store.weather(Weather::Hangs);
    let history = |text: &str| vec![user("one"), says("a"), user(text)];
    let (two, three) = (history("two"), history("three"));
    let mut first = Box::pin(send(&session, &two));
    assert!(poll_fn(|cx| Poll::Ready(first.as_mut().poll(cx).is_pending())).await);
    let mut second = Box::pin(send(&session, &three));
    assert!(poll_fn(|cx| Poll::Ready(second.as_mut().poll(cx).is_pending())).await, "it waits for the first");
    store.weather(Weather::Fair);
    drop(first);
    assert_eq!(last(&second.await.0), "three", "it stores for both");
    let (sent, _) = send(&session, &history("four")).await;
    assert_eq!(last(&sent), "four");
    assert_eq!(send(&store.open(), &history("three")).await.0, send(&session, &history("three")).await.0);
}

#[tokio::test]
async fn readiness_is_given_back_while_it_is_stored() {
    let (mock, mut handle) = tower_test::mock::pair::<Value, Value>();
    let store = Store::default();
    let stack = stack().context(Context::default().session(store.open()));
    let mut service = stack.layer(mock);
    handle.allow(1);
    poll_fn(|cx| service.poll_ready(cx)).await.unwrap();
    let call = tokio::spawn(service.call(body(&[user("one")])));
    let (request, reply) = handle.next_request().await.unwrap();
    assert_eq!(store.events().len(), 3);
    reply.send_response(request);
    assert_eq!(last(&call.await.unwrap().unwrap()), behind("one", "1"));
}

#[tokio::test]
async fn what_the_host_says_is_stored_with_the_next_request_or_by_its_word() {
    let store = Store::default();
    let session = store.open();
    session.activate(id("rust"), Some("x"));
    assert!(store.events().is_empty());
    session.store().await.unwrap();
    assert_eq!(store.events().len(), 2);
    assert_eq!(store.open().active_by_host(), session.active_by_host());
    session.copy().activate(id("sql"), None);
    session.store().await.unwrap();
    assert_eq!(store.events().len(), 2, "a copy is stored nowhere");
    let child = session.child();
    assert_eq!(child.active_by_host(), session.active_by_host());
    assert_eq!(child.places(), 0);
}

#[tokio::test]
async fn a_session_that_was_loaded_stores_behind_what_there_is() {
    let store = Store::default();
    send(&store.open(), &[user("one")]).await;
    let (events, appends) = (store.events().len(), store.appends());
    let loaded = store.open();
    for (n, skill) in ["rust", "sql", "pdf"].into_iter().enumerate() {
        loaded.activate(id(skill), None);
        loaded.store().await.unwrap();
        assert_eq!((store.events().len(), store.appends()), (events + n + 1, appends + n + 1), "at the first try");
    }
}

#[tokio::test]
async fn what_came_through_though_it_was_given_up_is_stored_once() {
    let store = Store::default();
    let session = store.open();
    session.activate(id("rust"), None);
    store.weather(Weather::HangsWhenDone);
    {
        let mut given_up = pin!(session.store());
        assert!(poll_fn(|cx| Poll::Ready(given_up.as_mut().poll(cx).is_pending())).await);
    }
    store.weather(Weather::Fair);
    assert_eq!(session.store().await, Ok(()));
    assert_eq!(store.events().len(), 2);
    let appends = store.appends();
    session.activate(id("sql"), None);
    assert_eq!(session.store().await, Ok(()));
    assert_eq!((store.events().len(), store.appends()), (3, appends + 1), "and what follows stands behind it at the first try");
}

#[tokio::test]
async fn who_waits_for_anothers_storing_is_woken_once_and_learns_that_the_session_is_another() {
    struct Wakes(AtomicUsize);
    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let store = Store::default();
    send(&store.open(), &[user("one")]).await;
    let (here, elsewhere) = (store.open(), store.open());
    elsewhere.activate(id("pdf"), None);
    elsewhere.store().await.unwrap();
    here.activate(id("rust"), None);
    store.weather(Weather::Hangs);
    let (mut first, mut second) = (Box::pin(here.store()), Box::pin(here.store()));
    let wakes = Arc::new(Wakes(AtomicUsize::new(0)));
    let waker = wakes.clone().into();
    let mut cx = std::task::Context::from_waker(&waker);
    assert!(first.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_pending());
    assert!(second.as_mut().poll(&mut cx).is_pending() && second.as_mut().poll(&mut cx).is_pending());
    store.weather(Weather::Fair);
    drop(first);
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
    // A third one takes over what was stored elsewhere, ahead of the second.
    assert_eq!(here.store().await, Err(JournalError::Conflict));
    assert_eq!(second.await, Err(JournalError::Conflict));
    assert_eq!(here.store().await, Ok(()));
    assert_eq!(store.open().active_by_host().len(), 2);
}

#[tokio::test]
async fn the_name_of_a_history_survives_that_another_process_was_first() {
    let store = Store::default();
    let stack = PromptStack::new(OpenAiResponses, Settings::default()).with(base());
    let (one, report) = (store.open(), Report::default());
    let context = Context::default().session(one.clone()).report(report.clone());
    stack.assemble(serde_json::json!({"input": "one"}), context).await;
    let other = store.open();
    other.activate(id("pdf"), None);
    other.store().await.unwrap();
    report.record_response_id("r1");
    assert_eq!(one.store().await, Err(JournalError::Conflict));
    assert_eq!(one.store().await, Ok(()));
    assert!(one.knows_history("r1") && store.open().knows_history("r1"));
}
