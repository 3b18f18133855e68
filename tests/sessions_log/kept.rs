//! What is kept, for whom, and among several who write.

use super::*;
use std::sync::{Arc, Barrier, Mutex};
use tower::{Layer, ServiceExt, service_fn};

#[test]
fn each_event_is_a_line_with_number_and_time_stored_before_the_inner_call() {
    let place = Place::new();
    let path = place.at("session.jsonl");
    let at_the_call = Arc::new(Mutex::new(String::new()));
    let (seen, of_call) = (at_the_call.clone(), path.clone());
    let inner = service_fn(move |request: Value| {
        *seen.lock().unwrap() = fs::read_to_string(&of_call).unwrap();
        async move { Ok::<_, std::convert::Infallible>(request) }
    });
    let stack = stack("one").context(Context::default().session(session(&path)));
    assert!(!path.exists(), "nothing was said yet");
    wait(stack.layer(inner).oneshot(json!({"messages": history(1)}))).unwrap();
    let text = at_the_call.lock().unwrap().clone();
    assert_eq!(text, fs::read_to_string(&path).unwrap());
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let heads: Vec<_> = lines.iter().map(|line| (line["seq"].as_u64().unwrap(), line["event"].as_str().unwrap())).collect();
    assert_eq!(heads, [(0, "started"), (1, "system_rendered"), (2, "text_anchored")]);
    assert!(lines.iter().all(|line| line["time"] == "2026-07-01T12:30:15Z"));
    assert!(text.starts_with("{\"seq\":0,\"time\":\"2026-07-01T12:30:15Z\",\"event\":\"started\",") && text.ends_with("}\n"));
}

#[cfg(unix)]
#[test]
fn the_file_is_its_owners_alone_and_one_that_is_not_is_told_of() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let (path, _) = (place.at("some.jsonl"), some_log(&place));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(open(&path).unwrap().1, ["session-log-open"]);
}

#[test]
fn another_process_sends_the_same_bytes_whatever_it_would_say_itself() {
    let place = Place::new();
    let (_, sent) = some_log(&place);
    let again = session(&place.at("some.jsonl"));
    assert_eq!(again.active().len(), 1);
    assert_eq!(send(&again, "other", 3).0, sent);
    let (longer, _) = send(&again, "other", 4);
    assert!(longer.starts_with(&sent) && longer.len() > sent.len());
}

#[test]
fn two_processes_that_write_in_turn_lose_nothing() {
    let place = Place::new();
    let path = place.at("session.jsonl");
    let (one, other) = (session(&path), session(&path));
    let mut before = Vec::new();
    for turns in 1..8 {
        let (session, fact) = if turns % 2 == 0 { (&one, "even") } else { (&other, "odd") };
        let (sent, codes) = send(session, fact, turns);
        assert!(sent.starts_with(&before) && codes.is_empty(), "{codes:?}");
        before = sent;
    }
    assert_eq!(send(&one, "x", 7).0, before);
    assert_eq!(send(&session(&path), "x", 7).0, before);
    let started = events(&path).iter().filter(|event| event.name() == "started").count();
    assert_eq!(started, 1, "the other took over what the first began");
}

#[test]
fn another_number_of_events_is_a_conflict() {
    let place = Place::new();
    let (whole, _) = some_log(&place);
    let path = place.at("some.jsonl");
    let count = events(&path).len() as u64;
    let log = SessionLog::at(&path);
    for expected in [0, count - 1, count + 1, u64::MAX] {
        assert_eq!(wait(log.append(expected, Arc::from([SessionEvent::Compacted]))), Err(JournalError::Conflict));
    }
    assert_eq!(fs::read(&path).unwrap(), whole);
    assert_eq!(wait(log.append(count, Arc::from([SessionEvent::Compacted]))), Ok(()));
    // The same log, whose file another wrote anew meanwhile.
    fs::write(&path, &whole).unwrap();
    assert_eq!(wait(log.append(count, Arc::from([SessionEvent::Rebased]))), Ok(()));
    assert_eq!(events(&path).last(), Some(&SessionEvent::Rebased));
}

#[cfg(unix)]
#[test]
fn a_log_that_is_locked_is_waited_for_until_it_is_dropped() {
    let place = Place::new();
    let path = place.at("session.jsonl");
    let said = Mutex::new(Vec::new());
    let both = Barrier::new(2);
    let held = SessionLog::at(&path).lock().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            both.wait();
            let _second = SessionLog::at(&path).lock().unwrap();
            said.lock().unwrap().push("second");
        });
        both.wait();
        wait(held.append(0, Arc::from([SessionEvent::Compacted]))).unwrap();
        assert_eq!(wait(held.load()).unwrap().len(), 1, "who holds it reads and writes");
        said.lock().unwrap().push("first");
        drop(held);
    });
    assert_eq!(*said.lock().unwrap(), ["first", "second"]);
}

#[test]
fn threads_that_share_a_session_and_its_log_store_all_that_they_said() {
    let place = Place::new();
    let path = place.at("session.jsonl");
    let session = session(&path);
    send(&session, "one", 1);
    let branch = |n: usize| [history(2), vec![json!({"role": "user", "content": format!("thread {n}")})]].concat();
    let ask = |session: &Session, n: usize| {
        wait(stack("x").assemble(json!({"messages": branch(n)}), Context::default().session(session.clone())))
    };
    let sent: Vec<Value> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                scope.spawn({
                    let session = &session;
                    move || ask(session, n)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let again = self::session(&path);
    for (n, sent) in sent.iter().enumerate() {
        assert_eq!(ask(&again, n), *sent);
    }
}
