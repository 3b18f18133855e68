//! Requests of one session on several threads, in the orders that shuttle chooses: at each lock another thread may go ahead.
//! `RUSTFLAGS="--cfg shuttle" cargo test -p tower-prompt-layers --lib orders --target-dir target/shuttle`.

use crate::prompt::session::{Appending, JournalError, LoadingEvents, SessionEvent, SessionJournal};
use crate::skill::{Skill, SkillId, SkillSource, SkillSourceKind, SkillSummary, Skills};
use crate::wire::OpenAiChat;
use crate::{
    ActiveSkillsLayer, Context, Fragment, Prompt, PromptStack, Report, Session, Settings, SkillCatalogLayer, SystemPromptLayer, Tier, Turn,
};
use serde_json::{Value, json};
use shuttle::future::{block_on, yield_now};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::Mutex;
use shuttle::{Config, Runner, thread};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Orders that each test tries in each way.
const ORDERS: usize = 1_000;

/// Chosen at random, and with few changes from one thread to another.
fn check(promise: impl Fn() + Send + Sync + 'static) {
    let promise = Arc::new(promise);
    let mut config = Config::new();
    // A request takes more of it than shuttle's threads have.
    config.stack_size = 1 << 20;
    let by = promise.clone();
    Runner::new(RandomScheduler::new(ORDERS), config.clone()).run(move || by());
    Runner::new(PctScheduler::new(3, ORDERS), config).run(move || promise());
}

fn id() -> SkillId {
    SkillId::new("rust").unwrap()
}

/// Each turn has news, so that each place gets a text.
fn stack() -> Arc<PromptStack<OpenAiChat>> {
    let source = SkillSource::new(SkillSourceKind::Bundled, "test");
    let skill = Skill::new(SkillSummary::new(id(), "Rust.", source), "The body of rust.".to_owned());
    let turns = AtomicUsize::new(0);
    let news = move |_: &Turn, prompt: &mut Prompt| {
        prompt.add(Tier::Turn, || Fragment::new("news", format!("News {}.", turns.fetch_add(1, Ordering::Relaxed))));
    };
    let settings = Settings::default().skills(Skills::new([skill], Vec::new()));
    let stack = PromptStack::new(OpenAiChat, settings).with(SystemPromptLayer::replaced("BASE")).with(SkillCatalogLayer::default());
    Arc::new(stack.with(ActiveSkillsLayer::default()).with(news))
}

fn sent(stack: &PromptStack<OpenAiChat>, session: &Session, messages: &[Value]) -> Vec<Value> {
    let request = json!({"model": "m", "messages": messages});
    let sent = block_on(stack.assemble(request, Context::default().session(session.clone())));
    sent["messages"].as_array().unwrap().clone()
}
fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}
fn says(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}
fn text_of(messages: &[Value]) -> String {
    messages.iter().filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn requests_that_go_side_by_side_are_each_extended_by_what_follows_on_them() {
    check(|| {
        let (stack, session) = (stack(), Session::new());
        let threads: Vec<_> = ["one", "two", "one"]
            .into_iter()
            .map(|words| {
                let (stack, session) = (stack.clone(), session.clone());
                thread::spawn(move || {
                    let first = [user(words)];
                    let begun = sent(&stack, &session, &first);
                    let next = [user(words), says("Yes."), user("and then?")];
                    let grown = sent(&stack, &session, &next);
                    assert!(grown.starts_with(&begun), "{begun:#?}\n{grown:#?}");
                    assert_eq!(sent(&stack, &session, &first), begun, "the same request once more");
                    (words, begun, grown)
                })
            })
            .collect();
        let all: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        for (words, begun, grown) in &all {
            assert_eq!(begun[0], json!({"role": "system", "content": all[0].1[0]["content"]}), "one system prompt");
            let same = all.iter().find(|(other, ..)| other == words).unwrap();
            assert_eq!((begun, grown), (&same.1, &same.2), "the same conversation is sent with the same bytes");
        }
    });
}

#[test]
fn a_skill_that_is_switched_off_while_requests_are_under_way_is_off() {
    check(|| {
        let (stack, session) = (stack(), Session::new());
        session.activate(id(), None);
        let (other, of_other) = (stack.clone(), session.clone());
        let asking = thread::spawn(move || sent(&other, &of_other, &[user("one")]));
        session.deactivate(&id());
        let begun = asking.join().unwrap();
        assert_eq!(session.active(), [], "nothing brought it back");
        let grown = sent(&stack, &session, &[user("one"), says("Yes."), user("two")]);
        assert!(grown.starts_with(&begun));
        let (begun, grown) = (text_of(&begun), text_of(&grown));
        let body = "The body of rust.";
        assert_eq!(begun.contains(body), grown.contains("no longer applies"), "{grown}");
        assert_eq!(grown.matches(body).count(), begun.matches(body).count());
    });
}

#[test]
fn a_body_that_is_taken_out_while_requests_are_under_way_stays_out() {
    check(|| {
        let (stack, session) = (stack(), Session::new());
        session.activate(id(), None);
        let (other, of_other) = (stack.clone(), session.clone());
        let asking = thread::spawn(move || sent(&other, &of_other, &[user("one")]));
        session.purge(&id());
        asking.join().unwrap();
        let grown = text_of(&sent(&stack, &session, &[user("one"), says("Yes."), user("two")]));
        assert!(!grown.contains("The body of rust."), "{grown}");
    });
}

#[test]
fn a_session_that_is_rebased_and_used_at_once_keeps_what_stands_at_places() {
    check(|| {
        let (stack, session) = (stack(), Session::new());
        let begun = sent(&stack, &session, &[user("one")]);
        let next = [user("one"), says("Yes."), user("two")];
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (stack, session, next) = (stack.clone(), session.clone(), next.clone());
                thread::spawn(move || sent(&stack, &session, &next))
            })
            .collect();
        session.rebase();
        for grown in threads.into_iter().map(|thread| thread.join().unwrap()) {
            assert_eq!(grown[..2], begun[..], "the system prompt, and what stood there");
            let again = sent(&stack, &session, &next);
            assert_eq!(again, grown, "the same words are told, so the same bytes are sent");
        }
    });
}

#[test]
fn a_report_is_of_one_request_whole() {
    check(|| {
        let (stack, session, report) = (stack(), Session::new(), Report::default());
        let threads: Vec<_> = ["one", "two"]
            .into_iter()
            .map(|words| {
                let (stack, session, report) = (stack.clone(), session.clone(), report.clone());
                let request = json!({"model": "m", "messages": [user(words)]});
                thread::spawn(move || {
                    block_on(stack.assemble(request, Context::default().session(session).report(report)));
                })
            })
            .collect();
        let (reader, filled) = (report.clone(), || report.manifest().expect("it was filled"));
        let reading = thread::spawn(move || reader.manifest().is_none_or(|manifest| !manifest.texts.is_empty()));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(reading.join().unwrap());
        assert!(filled().texts.iter().all(|text| text.text.contains("News") || text.text.contains("BASE")));
    });
}

/// Keeps events; to write and to read takes a while.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<Vec<SessionEvent>>>);

impl Disk {
    fn events(&self) -> Vec<SessionEvent> {
        self.0.lock().unwrap().clone()
    }
    /// The session as another process finds it.
    fn session(&self) -> Session {
        Session::replay(self.events()).unwrap().stored_in(self.clone())
    }
}

impl SessionJournal for Disk {
    fn append(&self, expected: u64, events: Arc<[SessionEvent]>) -> Appending {
        let disk = self.clone();
        Box::pin(async move {
            yield_now().await;
            let mut kept = disk.0.lock().unwrap();
            if kept.len() as u64 != expected {
                return Err(JournalError::Conflict);
            }
            kept.extend(events.iter().cloned());
            Ok(())
        })
    }
    fn load(&self) -> LoadingEvents {
        let disk = self.clone();
        Box::pin(async move {
            yield_now().await;
            Ok(disk.events())
        })
    }
}

#[test]
fn what_was_sent_is_stored_and_nobody_waits_for_ever() {
    check(|| {
        let (stack, disk) = (stack(), Disk::default());
        let session = Session::new().stored_in(disk.clone());
        let threads: Vec<_> = ["one", "two", "three"]
            .into_iter()
            .map(|words| {
                let (stack, session, disk) = (stack.clone(), session.clone(), disk.clone());
                thread::spawn(move || {
                    let begun = sent(&stack, &session, &[user(words)]);
                    assert_eq!(sent(&stack, &disk.session(), &[user(words)]), begun, "it was stored by the time it was sent");
                    (words, begun)
                })
            })
            .collect();
        for (words, begun) in threads.into_iter().map(|thread| thread.join().unwrap()) {
            assert_eq!(sent(&stack, &disk.session(), &[user(words)]), begun);
        }
    });
}

#[test]
fn two_processes_carry_one_session() {
    check(|| {
        let (stack, disk) = (stack(), Disk::default());
        let begun = sent(&stack, &Session::new().stored_in(disk.clone()), &[user("one")]);
        let threads: Vec<_> = ["two", "three"]
            .into_iter()
            .map(|words| {
                let (stack, session) = (stack.clone(), disk.session());
                thread::spawn(move || {
                    let history = [user("one"), says("Yes."), user(words)];
                    (sent(&stack, &session, &history), history)
                })
            })
            .collect();
        for (grown, history) in threads.into_iter().map(|thread| thread.join().unwrap()) {
            assert!(grown.starts_with(&begun));
            assert_eq!(sent(&stack, &disk.session(), &history), grown, "whoever was first");
        }
    });
}
