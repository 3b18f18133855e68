//! A session's log of any bytes: an error, or a session that goes on and is read back whole, without a byte of what counted lost.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use std::path::PathBuf;
use tower_prompt::layers::{JournalError, SessionEvent, SessionJournal};
use tower_prompt::sessions::SessionLog;

thread_local! {
    static FILE: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

fn file() -> PathBuf {
    FILE.with(|file| {
        let name = || std::env::temp_dir().join(format!("tower-prompt-fuzz-{}.jsonl", std::process::id()));
        file.borrow_mut().get_or_insert_with(name).clone()
    })
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
}

fuzz_target!(|bytes: &[u8]| {
    let path = file();
    std::fs::write(&path, bytes).expect("a file for a while");
    let log = SessionLog::at(&path);
    let Ok(events) = wait(log.load()) else {
        assert!(matches!(wait(log.append(0, [SessionEvent::Rebased].into())), Err(JournalError::Failed(_))));
        assert_eq!(std::fs::read(&path).expect("it is there"), bytes, "what is not understood stays");
        return;
    };
    let opened = wait(log.open());
    let more = [SessionEvent::Rebased, SessionEvent::Compacted];
    let count = events.len() as u64;
    assert_eq!(wait(log.append(count + 1, more.clone().into())), Err(JournalError::Conflict));
    assert_eq!(std::fs::read(&path).expect("it is there"), bytes, "a conflict changes nothing");
    // A log of its own knows nothing of what the other read.
    let log = if bytes.len() % 2 == 0 { log } else { SessionLog::at(&path) };
    assert_eq!(wait(log.append(count, more.clone().into())), Ok(()));
    let again = wait(SessionLog::at(&path).open());
    assert_eq!(opened.is_ok() || events.is_empty(), again.is_ok() || events.is_empty());
    if let Ok(again) = again {
        assert!(again.diagnostics.iter().all(|found| found.code != "session-log-torn"));
    }
    assert_eq!(wait(SessionLog::at(&path).load()), Ok([&events[..], &more].concat()));
});
