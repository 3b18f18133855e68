//! Logs that break off, are damaged, or never were logs.

use super::*;
use proptest::prelude::*;

#[test]
fn a_log_cut_at_any_byte_replays_up_to_there() {
    let place = Place::new();
    let (whole, _) = some_log(&place);
    let all = events(&place.at("some.jsonl"));
    let path = place.at("cut.jsonl");
    for cut in 0..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let contents = wait(SessionLog::at(&path).load()).unwrap();
        // A line is whole with its last brace.
        let lines =
            whole[..cut].split(|byte| *byte == b'\n').filter(|line| line.ends_with(b"}") && serde_json::from_slice::<Value>(line).is_ok());
        assert_eq!(contents, all[..lines.count()], "cut at {cut}");
        assert_eq!(fs::read(&path).unwrap(), whole[..cut], "reading changes nothing");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_conversation_goes_on_behind_any_cut(cut in any::<proptest::sample::Index>(), zeros in 0_usize..3) {
        let place = Place::new();
        let (whole, _) = some_log(&place);
        let cut = cut.index(whole.len() + 1);
        // A file system may fill up with zeros what it did not come to write.
        let path = place.write("cut.jsonl", [&whole[..cut], &vec![0; zeros * 512]].concat());
        let (session, found) = open(&path).unwrap();
        prop_assert!(found.iter().all(|code| code == "session-log-torn"), "{:?}", found);
        let (sent, codes) = send(&session, "four", 4);
        prop_assert!(!codes.contains(&"session-not-stored".to_owned()), "{:?}", codes);
        let (again, found) = open(&path).unwrap();
        prop_assert!(found.is_empty(), "what broke off made way: {:?}", found);
        prop_assert_eq!(send(&again, "five", 4).0, sent);
    }
}

#[test]
fn what_is_no_log_or_a_broken_one_is_an_error_with_its_line_and_stays_as_it_is() {
    let place = Place::new();
    let (whole, _) = some_log(&place);
    let whole = String::from_utf8(whole).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let with = |n: usize, line: &str| {
        let mut all: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        line.clone_into(&mut all[n]);
        (all.join("\n") + "\n").into_bytes()
    };
    let not_utf8 = {
        let mut bytes = with(1, "x");
        let at = bytes.windows(3).position(|window| window == b"\nx\n").unwrap();
        bytes[at + 1] = 0xff;
        bytes
    };
    let newer = lines[0].replace("\"version\":1", "\"version\":2");
    assert_ne!(newer, lines[0]);
    for (bytes, line, reason) in [
        (with(1, "garbage"), 2, "this is no JSON: expected value at line 1 column 1"),
        (with(2, "{\"seq\":2,\"time\":\"2026-"), 3, "this is no JSON"),
        (with(1, "[1]"), 2, "this is no line of a session's log"),
        (with(1, "{\"level\":\"info\"}"), 2, "it has no number `seq`"),
        (with(1, "{\"seq\":-1}"), 2, "it has no number `seq`"),
        (with(1, ""), 3, "number 2, where 1 was expected"),
        (with(1, "{\"seq\":1,\"event\":\"dreamt\"}"), 2, "perhaps of a later version: unknown variant `dreamt`"),
        (with(1, "{\"seq\":1,\"event\":\"text_anchored\"}"), 2, "missing field"),
        (with(1, "{\"seq\":1,\"message\":{\"role\":\"judge\",\"text\":\"\"}}"), 2, "unknown variant `judge`"),
        (not_utf8, 2, "this is no JSON"),
        (with(1, &"[".repeat(100_000)), 2, "this is no JSON: recursion limit"),
        (b"Dear diary".to_vec(), 1, "this is no JSON"),
        (b"{\"a\": 1}\n".to_vec(), 1, "it has no number `seq`"),
        (b"\xff\xfe\x00".to_vec(), 1, "this is no JSON"),
        (with(0, &newer), 0, "the events are of version 2"),
        (lines[1].replace("\"seq\":1", "\"seq\":0").into_bytes(), 0, "does not tell how the session was made"),
    ] {
        let path = place.write("broken.jsonl", &bytes);
        let error = open(&path).unwrap_err();
        let message = error.to_string();
        let place = if line == 0 { format!("{}: ", path.display()) } else { format!("{}:{line}: ", path.display()) };
        assert!(message.starts_with(&place) && message.contains(reason), "{message}");
        let appended = wait(SessionLog::at(&path).append(0, Arc::from([SessionEvent::Compacted])));
        assert!(line == 0 || matches!(&appended, Err(JournalError::Failed(found)) if found.message == message), "{appended:?}");
        assert!(appended.is_err() && fs::read(&path).unwrap() == bytes);
    }
}

#[test]
fn a_gigabyte_a_folder_and_a_place_that_is_not_there_say_so() {
    let place = Place::new();
    let huge = place.write("huge.jsonl", "");
    fs::OpenOptions::new().write(true).open(&huge).unwrap().set_len(1 << 30).unwrap();
    let error = open(&huge).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { bytes: 1_073_741_824, max: 268_435_456, .. }), "{error}");
    let long = place.write("long.jsonl", "");
    fs::OpenOptions::new().write(true).open(&long).unwrap().set_len(200 << 20).unwrap();
    assert!(open(&long).unwrap_err().to_string().contains("a line of more than 67108864 bytes"));
    assert!(matches!(open(&place.at("")).unwrap_err(), StoreError::NotAFile { .. }));
    for path in ["", "missing/session.jsonl", "long.jsonl/session.jsonl"] {
        let appended = wait(SessionLog::at(place.at(path)).append(0, Arc::from([SessionEvent::Compacted])));
        assert!(matches!(&appended, Err(JournalError::Failed(found)) if found.message.contains(path)), "{appended:?}");
    }
    let session = session(&place.at("missing/session.jsonl"));
    let (sent, codes) = send(&session, "one", 1);
    assert_eq!((sent.len(), codes), (2, vec!["session-not-stored".to_owned()]), "the request goes out all the same");
    fs::create_dir(place.at("missing")).unwrap();
    send(&session, "two", 2);
    assert_eq!(send(&open(&place.at("missing/session.jsonl")).unwrap().0, "x", 1).0, sent, "and is stored with the next");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let place = Place::new();
    let path = place.at("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(matches!(open(&path).unwrap_err(), StoreError::NotAFile { .. }));
}

#[test]
fn a_file_that_is_empty_is_a_new_session() {
    let place = Place::new();
    let path = place.write("new.jsonl", "");
    let session = session(&path);
    let (sent, _) = send(&session, "one", 1);
    assert_eq!(send(&open(&path).unwrap().0, "two", 1).0, sent);
}

#[test]
fn lines_that_came_twice_count_once() {
    let place = Place::new();
    let (whole, sent) = some_log(&place);
    let path = place.write("twice.jsonl", [&whole[..], &whole[..]].concat());
    let (session, found) = open(&path).unwrap();
    assert_eq!(found, ["session-log-doubled"]);
    assert_eq!(send(&session, "x", 3).0, sent);
    assert_eq!(events(&path), events(&place.at("some.jsonl")));
    send(&session, "x", 4);
    assert_eq!(events(&path).len(), events(&place.at("some.jsonl")).len() + 1);
}
