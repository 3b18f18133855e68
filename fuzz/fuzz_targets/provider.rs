//! What a provider prints: lines that are bounded, answers or errors, and what is taken over of an answer can be written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use tower_prompt::layers::skill::provider::{
    AnswerLine, MAX_LIST_LINE_BYTES, SkillResponse, read_answer, read_line, read_request, write_answer, write_request,
};
use tower_prompt::layers::skill::{SkillSource, SkillSourceKind};

const LONGEST: usize = 4096;

fuzz_target!(|bytes: &[u8]| {
    let source = Arc::new(SkillSource::new(SkillSourceKind::Plugin, "plugin:fuzz"));
    let mut from = bytes;
    let mut read = 0;
    // An error ends it: a line too long.
    while let Ok(Some(line)) = read_line(&mut from, LONGEST) {
        assert!(line.len() <= LONGEST && !line.contains(&b'\n'));
        read += line.len();
        if let Ok(request) = read_request(&line)
            && let Ok(asked) = request.request
        {
            let again = write_request(request.id, &asked).expect("it came from a short line");
            assert_eq!(read_request(again.as_bytes()).map(|again| (again.id, again.request)), Ok((request.id, Ok(asked))));
        }
        let Ok(AnswerLine { id, answer, .. }) = read_answer(&line, &source) else { continue };
        if let Ok(SkillResponse::List(list)) = &answer {
            assert!(list.skills.iter().all(|skill| skill.source == source && skill.location.is_empty() && !skill.disabled));
        }
        let lines = write_answer(id, &answer);
        assert!(answer.is_err() || lines.iter().all(|line| line.len() <= MAX_LIST_LINE_BYTES));
        for line in lines {
            assert_eq!(line.matches('\n').count(), 1);
            let again = read_answer(line.as_bytes(), &source).expect("what was written is a line");
            assert_eq!((again.id, again.answer.is_ok()), (id, answer.is_ok()));
        }
    }
    assert!(read <= bytes.len());
});
