use super::*;
use crate::blocking::tests::wait;

fn log(folder: &Path, bounds: Bounds) -> SessionLog {
    SessionLog { bounds, ..SessionLog::at(folder.join("session.jsonl")) }
}

#[test]
fn nothing_is_written_that_would_not_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), Bounds { file: 200, line: 100 });
    let event = |name: &str| serde_json::from_value::<SessionEvent>(serde_json::json!({"event": "skill_suggested", "id": name})).unwrap();
    let add = |expected, events: &[SessionEvent]| wait(log.append(expected, events.into()));
    let too_large =
        |added: Result<(), JournalError>| matches!(added, Err(JournalError::Failed(found)) if found.code == "session-too-large");
    assert_eq!(add(0, &[event("a")]), Ok(()));
    let before = std::fs::read(&log.path).unwrap();
    assert!(too_large(add(1, &[event("b"), event(&"c".repeat(100))])), "a line");
    assert!(too_large(add(1, &[event("b"), event("c")])), "the file");
    assert_eq!(std::fs::read(&log.path).unwrap(), before, "all or none");
    assert_eq!(add(1, &[event("b")]), Ok(()));
    assert_eq!(wait(log.load()).unwrap(), [event("a"), event("b")]);
}

#[test]
fn what_stands_in_a_text_stays_in_its_line() {
    let text = "a\nb\u{2028}\r\0\u{7f}\u{fffd}";
    let message = LoggedMessage::new(Speaker::User, text);
    let line = line::of_message(3, "now", &message).unwrap();
    assert!(!line.contains(&b'\n'));
    let (seq, content) = line::read(&line).unwrap();
    assert!(matches!(content, Content::Message(read) if read == message && seq == 3));
}

#[test]
fn messages_stand_beside_events_and_do_not_count_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), Bounds::default());
    let said = LoggedMessage::new;
    let messages = [said(Speaker::User, "u1"), said(Speaker::Assistant, "a1"), said(Speaker::User, "u2")];
    wait(log.append(0, [SessionEvent::Compacted].into())).unwrap();
    wait(log.add_messages(messages[..1].to_vec())).unwrap();
    wait(log.append(1, [SessionEvent::Rebased].into())).unwrap();
    wait(log.add_messages(messages[1..].to_vec())).unwrap();
    wait(log.add_messages(Vec::new())).unwrap();
    for log in [log.clone(), SessionLog::at(&*log.path)] {
        let contents = log.read().unwrap();
        assert_eq!(contents.messages, messages);
        assert_eq!(contents.events, [SessionEvent::Compacted, SessionEvent::Rebased]);
    }
}

fn suggested(name: &str) -> SessionEvent {
    serde_json::from_value(serde_json::json!({"event": "skill_suggested", "id": name})).unwrap()
}

#[test]
fn what_fills_a_bound_to_its_last_byte_is_written_and_read_and_a_byte_more_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let add = |log: &SessionLog, expected| wait(log.append(expected, [suggested("a")].into()));
    // A clock that stands still writes lines of one length.
    let log = |bounds| log(folder.path(), bounds).clock(|| SystemTime::UNIX_EPOCH);
    let unbounded = log(Bounds::default());
    add(&unbounded, 0).unwrap();
    let line = std::fs::metadata(&unbounded.path).unwrap().len();
    for (bounds, fitting) in
        [(Bounds { file: 2 * line, line }, 2), (Bounds { file: 2 * line - 1, line }, 1), (Bounds { file: 2 * line, line: line - 1 }, 0)]
    {
        std::fs::remove_file(&unbounded.path).unwrap();
        let log = log(bounds);
        let added: Vec<bool> = (0..3).map(|expected| add(&log, expected).is_ok()).collect();
        assert_eq!(added, [fitting > 0, fitting > 1, false], "{bounds:?}");
        assert_eq!(wait(log.load()).unwrap().len(), fitting, "{bounds:?}");
    }
}

#[test]
fn a_file_in_place_of_the_one_that_is_known_is_read_from_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let (log, other) = (log(folder.path(), Bounds::default()), SessionLog::at(folder.path().join("other.jsonl")));
    wait(log.append(0, [suggested("a")].into())).unwrap();
    wait(other.append(0, [suggested("a-longer-name"), suggested("b")].into())).unwrap();
    std::fs::rename(&other.path, &log.path).unwrap();
    assert_eq!(wait(log.append(1, [suggested("c")].into())), Err(JournalError::Conflict));
    assert_eq!(wait(log.append(2, [suggested("c")].into())), Ok(()));
    assert_eq!(wait(log.load()).unwrap(), ["a-longer-name", "b", "c"].map(suggested));
}

#[test]
fn a_fault_behind_what_was_added_is_told_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), Bounds::default());
    wait(log.append(0, [suggested("a"), suggested("b")].into())).unwrap();
    wait(log.append(2, [suggested("c")].into())).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(&log.path).unwrap();
    file.write_all(b"garbage\n").unwrap();
    let Err(JournalError::Failed(found)) = wait(log.append(3, [suggested("d")].into())) else { panic!("it was added") };
    assert!(found.message.contains("session.jsonl:4: "), "{}", found.message);
}

#[test]
fn a_line_that_lacks_its_end_alone_gets_it_and_no_other_does() {
    let folder = tempfile::tempdir().unwrap();
    // Each knows nothing of what was there before.
    let log = || log(folder.path(), Bounds::default());
    wait(log().append(0, [suggested("a"), suggested("b")].into())).unwrap();
    let whole = std::fs::read_to_string(&log().path).unwrap();
    std::fs::write(&log().path, whole.trim_end()).unwrap();
    for (expected, name) in [(2, "c"), (3, "d")] {
        wait(log().append(expected, [suggested(name)].into())).unwrap();
    }
    let text = std::fs::read_to_string(&log().path).unwrap();
    assert!(text.starts_with(&whole) && text.lines().count() == 4 && text.ends_with("}\n"), "{text}");
    assert_eq!(wait(log().load()).unwrap(), ["a", "b", "c", "d"].map(suggested));
}

#[test]
fn a_folder_is_no_log_whether_it_is_to_be_read_or_written() {
    let folder = tempfile::tempdir().unwrap();
    for is_written in [false, true] {
        assert!(matches!(file::open(folder.path(), is_written), Err(StoreError::NotAFile { .. })), "{is_written}");
    }
    assert!(matches!(file::open(&folder.path().join("missing/session.jsonl"), true), Err(StoreError::Io { .. })));
    let debugged = format!("{:?}", SessionLog::at(folder.path().join("session.jsonl")));
    assert!(debugged.starts_with("SessionLog") && debugged.contains("session.jsonl"), "{debugged}");
}
