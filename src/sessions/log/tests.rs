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
