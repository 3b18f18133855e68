//! A session's log in a file: what stands in it, and what becomes of it when it breaks, in whichever way.

mod sessions_log {
    mod broken;
    mod kept;
    use super::*;
}

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tower_prompt::layers::skill::SkillId;
use tower_prompt::layers::wire::OpenAiChat;
use tower_prompt::layers::{
    Context, Fragment, JournalError, Prompt, PromptStack, Report, Session, SessionEvent, SessionJournal, Settings, SystemPromptLayer, Tier,
    Turn,
};
use tower_prompt::sessions::{SessionLog, StoreError};

/// A folder that goes away with the test.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    /// A file for its owner alone.
    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        fs::write(&path, bytes).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        path
    }
}

fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_782_909_015)
}

/// A fact that is another in each stack: who renders anew says something else.
fn stack(fact: &'static str) -> PromptStack<OpenAiChat> {
    let facts = move |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Turn, || Fragment::new("fact", fact));
    PromptStack::new(OpenAiChat, Settings::default()).with(SystemPromptLayer::replaced(format!("Base of {fact}. ünï"))).with(facts)
}

/// A history of so many turns.
fn history(turns: usize) -> Vec<Value> {
    let turn = |n: usize| [json!({"role": "assistant", "content": format!("a{n}")}), json!({"role": "user", "content": format!("u{n}")})];
    (0..turns).flat_map(turn).skip(1).collect()
}

fn send(session: &Session, fact: &'static str, turns: usize) -> (Vec<Value>, Vec<String>) {
    let report = Report::default();
    let context = Context::default().session(session.clone()).report(report.clone());
    let sent = wait(stack(fact).assemble(json!({"messages": history(turns)}), context));
    let codes = report.manifest().unwrap().diagnostics.iter().map(|found| found.code.to_string()).collect();
    (sent["messages"].as_array().unwrap().clone(), codes)
}

fn open(path: &Path) -> Result<(Session, Vec<String>), StoreError> {
    let opened = wait(SessionLog::at(path).clock(noon).open())?;
    Ok((opened.session, opened.diagnostics.iter().map(|found| found.code.to_string()).collect()))
}

fn session(path: &Path) -> Session {
    let (session, found) = open(path).unwrap();
    assert!(found.is_empty(), "{found:?}");
    session
}

/// The log of a conversation of three turns with an activation, and what was sent last.
fn some_log(place: &Place) -> (Vec<u8>, Vec<Value>) {
    let path = place.at("some.jsonl");
    let session = session(&path);
    send(&session, "one", 1);
    session.activate(SkillId::new("überprüfung").unwrap(), Some("a \"b\""));
    send(&session, "two", 2);
    let (sent, codes) = send(&session, "three", 3);
    assert!(codes.iter().all(|code| code != "session-not-stored"), "{codes:?}");
    (fs::read(path).unwrap(), sent)
}

fn events(path: &Path) -> Vec<SessionEvent> {
    wait(SessionLog::at(path).load()).unwrap()
}
