use super::*;
use crate::prompt::Diagnostic;
use crate::skill::{SkillId, SkillList, SkillManifest, SkillPermissionHints, SkillSource, SkillSourceKind, SkillSummary, SkillVisibility};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::future::ready;
use std::sync::{Arc, Mutex};
use tower::service_fn;

fn source() -> Arc<SkillSource> {
    Arc::new(SkillSource::new(SkillSourceKind::Plugin, "plugin:test"))
}
fn id(id: &str) -> SkillId {
    SkillId::new(id).unwrap()
}
fn skill(name: &str, description: &str) -> SkillSummary {
    SkillSummary::new(id(name), description, source())
}
fn list(skills: impl IntoIterator<Item = SkillSummary>) -> SkillList {
    SkillList { skills: skills.into_iter().collect(), diagnostics: Vec::new() }
}
fn manifest(name: &str) -> SkillManifest {
    let mut summary = skill(name, "d");
    summary.version = Some("1.10".into());
    summary.permissions = SkillPermissionHints { tools: vec!["Read".into()], categories: vec![] }.into();
    let other_fields = [("a".to_owned(), "b".to_owned())].into();
    SkillManifest { summary, other_fields, files: vec!["x.md".into()], more_files: 2, diagnostics: vec![Diagnostic::note("a", "b")] }
}
fn read(value: &Value) -> AnswerLine {
    read_answer(value.to_string().as_bytes(), &source()).unwrap()
}

#[test]
fn each_message_reads_as_it_was_written() {
    let requests = [
        SkillRequest::List,
        SkillRequest::Describe { skill: id("é a") },
        SkillRequest::Context(SkillContextRequest::new(id("a")).max_bytes(9)),
        SkillRequest::Context(SkillContextRequest::new(id("a"))),
        SkillRequest::Invoke(InvokeSkillRequest::new(id("a")).input("line\n\u{2028}\"")),
    ];
    for request in requests {
        let line = write_request(u64::MAX, &request).unwrap();
        assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "{line}");
        let again = read_request(line.as_bytes()).unwrap();
        assert_eq!((again.id, again.request.as_ref()), (u64::MAX, Ok(&request)));
        assert_eq!(serde_json::from_value::<SkillRequest>(serde_json::to_value(&request).unwrap()).unwrap(), request);
    }
    let mut context = SkillContextResponse::new("# A\n\tb");
    context.diagnostics.push(Diagnostic::warning("c", "m").at("p"));
    let answers = [
        Ok(SkillResponse::List(list([]))),
        Ok(SkillResponse::Describe { manifest: manifest("a").into() }),
        Ok(SkillResponse::Context(context)),
        Ok(SkillResponse::Invoke(InvokeSkillResponse::error("no"))),
        Err(SkillError::unknown_skill("a")),
    ];
    for answer in answers {
        let lines = write_answer(3, &answer);
        let again = read_answer(lines[0].as_bytes(), &source()).unwrap();
        assert_eq!((lines.len(), again.id, again.more, again.answer), (1, 3, false, answer.clone()));
        if let Ok(response) = answer {
            assert_eq!(serde_json::from_value::<SkillResponse>(serde_json::to_value(&response).unwrap()).unwrap(), response);
        }
    }
}

/// The lines of an answer, put together again.
fn together(lines: &[String]) -> SkillList {
    let mut whole = SkillList::default();
    for (at, line) in lines.iter().enumerate() {
        assert!(line.len() <= MAX_LIST_LINE_BYTES);
        let part = read_answer(line.as_bytes(), &source()).unwrap();
        assert_eq!(part.more, at + 1 < lines.len());
        let Ok(SkillResponse::List(part)) = part.answer else { panic!("{line}") };
        whole.skills.extend(part.skills);
        whole.diagnostics.extend(part.diagnostics);
    }
    whole
}

#[test]
fn a_long_list_takes_many_lines_and_a_skill_too_large_for_one_is_left_out() {
    let mut skills: Vec<_> = (0..500).map(|n| skill(&format!("s{n:03}"), &"d".repeat(1000))).collect();
    let lines = write_answer(1, &Ok(SkillResponse::List(list(skills.clone()))));
    assert!(lines.len() > 8 && together(&lines) == list(skills.clone()));

    skills.insert(7, skill("huge", &"d".repeat(MAX_LIST_LINE_BYTES)));
    let whole = together(&write_answer(1, &Ok(SkillResponse::List(list(skills.clone())))));
    assert_eq!((whole.skills.len(), whole.diagnostics.len()), (500, 1));
    assert!(whole.diagnostics[0].message.contains("`huge`"));
}

#[test]
fn what_is_too_large_for_a_line_is_an_error() {
    let body = "b".repeat(MAX_ANSWER_BYTES);
    let lines = write_answer(1, &Ok(SkillResponse::Context(SkillContextResponse::new(&*body))));
    let error = read_answer(lines[0].as_bytes(), &source()).unwrap().answer.unwrap_err();
    assert_eq!((lines.len(), error.code), (1, SkillErrorCode::TooLarge));
    let request = SkillRequest::Invoke(InvokeSkillRequest::new(id("a")).input(&*body));
    assert_eq!(write_request(1, &request).unwrap_err().code, SkillErrorCode::TooLarge);
    let long = json!({"api": API, "id": 1, "kind": "list", "skills": [], "more": true, "x": "x".repeat(MAX_LIST_LINE_BYTES)});
    let long = read(&long);
    assert_eq!((long.answer.unwrap_err().code, long.more), (SkillErrorCode::TooLarge, false));
}

#[test]
fn a_skill_needs_an_id_and_a_description_and_says_nothing_that_is_not_its_own_to_say() {
    let said = json!({"api": API, "id": 1, "kind": "list", "from": "the future", "skills": [
        {"id": "a", "description": "A", "version": null, "activation": null, "new_field": [1]},
        {"id": "b", "description": "B", "name": "Bee", "location": "/etc/passwd", "disabled": true, "visibility": "off",
         "source": {"kind": "repository", "label": "repo:skills", "path": "/"}, "resources": {"scripts": ["x"]}},
        {"id": "../c", "description": "C"},
        {"description": "no id"},
        "nothing",
        {"id": "d", "description": 7},
    ]});
    let Ok(SkillResponse::List(list)) = read(&said).answer else { panic!() };
    let mut bee = skill("b", "B");
    bee.name = "Bee".into();
    assert_eq!(list.skills, [skill("a", "A"), bee]);
    assert_eq!(list.skills[1].visibility, SkillVisibility::Auto);
    let codes: Vec<_> = list.diagnostics.iter().map(|found| &*found.code).collect();
    assert_eq!(
        codes,
        [
            "provider-skill-invalid",
            "provider-skill-invalid",
            "provider-skill-invalid",
            "provider-skill-invalid",
            "provider-location-ignored"
        ]
    );
    assert!(list.diagnostics[0].message.starts_with("skill 3 of the list of plugin:test is none: "));
}

#[test]
fn many_bad_skills_cost_few_diagnostics() {
    let said = json!({"api": API, "id": 1, "kind": "list", "skills": vec![Value::Null; 5000]});
    let Ok(SkillResponse::List(list)) = read(&said).answer else { panic!() };
    assert!(list.diagnostics.len() == 101 && list.diagnostics[100].message.starts_with("4900 more"));
}

#[test]
fn what_a_provider_notices_is_told_in_bounded_lines() {
    let said = json!({"api": API, "id": 1, "kind": "context", "body": "b", "first_line": 9, "diagnostics": [
        {"severity": "error", "code": "Not A Code\u{1b}", "message": format!("a\n\u{202e}b {}", "x".repeat(9000)), "path": "p\u{0}"}, 7]});
    let Ok(SkillResponse::Context(context)) = read(&said).answer else { panic!() };
    let [found] = &context.diagnostics[..] else { panic!("{context:?}") };
    assert_eq!((&*found.code, found.path.as_deref(), context.first_line), ("provider-said", Some("p"), None));
    assert!(found.message.starts_with("a b x") && found.message.len() < 600);
}

#[test]
fn another_version_and_an_unknown_kind_are_answered_with_an_error() {
    let request = |line: &Value| read_request(line.to_string().as_bytes()).unwrap();
    let code = |line| request(&line).request.unwrap_err().code;
    assert_eq!(code(json!({"api": "bcode.skill/v2", "id": 1, "kind": "list"})), SkillErrorCode::Version);
    assert_eq!(code(json!({"id": 1, "kind": "list"})), SkillErrorCode::Version);
    assert_eq!(code(json!({"api": API, "id": 1, "kind": "dance"})), SkillErrorCode::Unsupported);
    assert_eq!(code(json!({"api": API, "id": 1})), SkillErrorCode::Unsupported);
    assert_eq!(code(json!({"api": API, "id": 1, "kind": "describe"})), SkillErrorCode::Invalid);
    assert_eq!(code(json!({"api": API, "id": 1, "kind": "describe", "skill": "a/b"})), SkillErrorCode::Invalid);
    assert_eq!(request(&json!({"api": API, "id": 9, "kind": "list", "more": {"to": "come"}})).request, Ok(SkillRequest::List));

    let code = |line| read(&line).answer.unwrap_err().code;
    assert_eq!(code(json!({"api": "bcode.skill/v2", "id": 1, "kind": "list", "skills": []})), SkillErrorCode::Version);
    assert_eq!(code(json!({"api": API, "id": 1, "kind": "dance"})), SkillErrorCode::Invalid);
    assert_eq!(code(json!({"api": API, "id": 1, "kind": "list"})), SkillErrorCode::Invalid);
    assert_eq!(code(json!({"api": API, "id": 1, "kind": "error", "code": "new"})), SkillErrorCode::Failed);
    for nothing in ["", "7", "[]", "{}", "{\"id\":-1}", "{\"id\":1", "\u{feff}{\"id\":1}", &"[".repeat(10_000)] {
        assert!(read_answer(nothing.as_bytes(), &source()).is_err() && read_request(nothing.as_bytes()).is_err(), "{nothing:.20}");
    }
}

#[test]
fn an_answer_to_something_else_is_none() {
    let describe = SkillRequest::Describe { skill: id("a") };
    assert!(SkillResponse::Describe { manifest: manifest("a").into() }.to(&describe).is_ok());
    assert!(SkillResponse::Describe { manifest: manifest("b").into() }.to(&describe).unwrap_err().message.contains("it described `b`"));
    assert!(SkillResponse::List(list([])).to(&describe).is_err());
}

#[test]
fn lines_are_read_one_by_one_and_never_further_than_they_may_be_long() {
    let mut from = &b"one\r\n\ntwo\nthree"[..];
    let mut next = || read_line(&mut from, 5).unwrap();
    assert_eq!(
        [next(), next(), next(), next(), next()],
        [Some(b"one".into()), Some(vec![]), Some(b"two".into()), Some(b"three".into()), None]
    );
    let mut long = &b"123456\n"[..];
    assert_eq!(read_line(&mut long, 5).unwrap_err().kind(), std::io::ErrorKind::InvalidData);
    let mut endless = std::io::BufReader::new(std::io::repeat(b'x'));
    assert!(read_line(&mut endless, 100_000).is_err());
}

/// A provider with these skills, whose answers come after `turns` other polls.
fn provider(skills: Vec<SkillSummary>, turns: usize) -> SharedProvider {
    SharedProvider::new(service_fn(move |request: SkillRequest| {
        let skills = skills.clone();
        async move {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            match request {
                SkillRequest::List => Ok(SkillResponse::List(list(skills))),
                SkillRequest::Context(SkillContextRequest { skill, .. }) => {
                    let found = skills.iter().find(|known| known.id == skill).ok_or_else(|| SkillError::unknown_skill(skill.as_str()))?;
                    Ok(SkillResponse::Context(SkillContextResponse::new(&*found.description)))
                }
                other => Err(SkillError::unsupported(other.kind())),
            }
        }
    }))
}
fn down() -> SharedProvider {
    SharedProvider::new(service_fn(|_: SkillRequest| ready(Err(SkillError::new(SkillErrorCode::Unavailable, "it ended")))))
}

#[tokio::test]
async fn the_first_of_two_skills_stands_whoever_answers_first() {
    let mut told = Vec::new();
    for turns in [(0, 5), (5, 0)] {
        let first = provider(vec![skill("b", "first"), skill("a", "first"), skill("a", "again")], turns.0);
        let second = provider(vec![skill("a", "second"), skill("c", "second")], turns.1);
        let merged = SharedProvider::new(MergedSkills::new([("first", first), ("second", second)]));
        let list = merged.list().await.unwrap();
        let context = merged.context(SkillContextRequest::new(id("a"))).await.unwrap();
        assert_eq!(context.body, "first");
        told.push(list);
    }
    assert_eq!(told[0], told[1]);
    let skills: Vec<_> = told[0].skills.iter().map(|skill| (skill.id.as_str(), &*skill.description)).collect();
    assert_eq!(skills, [("a", "first"), ("b", "first"), ("c", "second")]);
    let messages: Vec<_> = told[0].diagnostics.iter().map(|found| &*found.message).collect();
    assert_eq!(
        messages,
        ["skill `a` stands twice in the list of first; the first counts", "skill `a` of second is shadowed by that of first"]
    );
}

#[tokio::test]
async fn a_provider_that_fails_keeps_its_last_list_and_stops_no_other() {
    let is_up = Arc::new(Mutex::new(true));
    let up = Arc::clone(&is_up);
    let (good, bad) = (provider(vec![skill("a", "kept")], 0), down());
    let shaky = service_fn(move |request| {
        let answerer = if *up.lock().unwrap() { good.clone() } else { bad.clone() };
        async move { answerer.ask(request).await }
    });
    let merged = MergedSkills::new([
        ("down", down()),
        ("shaky", SharedProvider::new(shaky)),
        ("steady", provider(vec![skill("a", "x"), skill("b", "x")], 0)),
    ]);
    let merged = SharedProvider::new(merged);
    assert_eq!(merged.list().await.unwrap().skills, [skill("a", "kept"), skill("b", "x")]);
    *is_up.lock().unwrap() = false;
    let list = merged.list().await.unwrap();
    assert_eq!(list.skills, [skill("a", "kept"), skill("b", "x")]);
    let messages: Vec<_> = list.diagnostics.iter().map(|found| &*found.message).collect();
    assert_eq!(
        messages,
        [
            "the skill provider down: it ended",
            "the skill provider shaky: it ended; its last list stays",
            "skill `a` of steady is shadowed by that of shaky"
        ]
    );
    // The one that lists it is asked, and no other in its place.
    assert_eq!(merged.context(SkillContextRequest::new(id("a"))).await.unwrap_err().message, "it ended");
    assert_eq!(merged.context(SkillContextRequest::new(id("b"))).await.unwrap().body, "x");
}

#[tokio::test]
async fn a_skill_that_nobody_lists_is_looked_for_in_turn() {
    let merged = |providers| SharedProvider::new(MergedSkills::new(providers));
    let (a, b) = (provider(vec![skill("a", "a")], 0), provider(vec![skill("b", "b")], 0));
    let both = merged([("a", a.clone()), ("b", b)]);
    assert_eq!(both.context(SkillContextRequest::new(id("b"))).await.unwrap().body, "b");
    assert_eq!(both.context(SkillContextRequest::new(id("c"))).await.unwrap_err().code, SkillErrorCode::UnknownSkill);
    let one_down = merged([("down", down()), ("a", a)]);
    assert_eq!(one_down.context(SkillContextRequest::new(id("a"))).await.unwrap_err().code, SkillErrorCode::Unavailable, "it may be its");
}

#[test]
fn a_provider_answers_each_line_and_passes_over_what_is_none() {
    let input = format!("garbage\n\n{}{{\"api\":\"{API}\",\"id\":2,\"kind\":\"dance\"}}\n", write_request(1, &SkillRequest::List).unwrap());
    let mut output = Vec::new();
    serve(input.as_bytes(), &mut output, |_| Ok(SkillResponse::List(list([skill("a", "b")])))).unwrap();
    let lines: Vec<AnswerLine> =
        output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(|line| read_answer(line, &source()).unwrap()).collect();
    let told: Vec<_> = lines.iter().map(|line| (line.id, line.more, line.answer.is_ok())).collect();
    assert_eq!(told, [(1, true, true), (1, false, true), (2, false, false)]);
    let mut nothing = Vec::new();
    serve(&b""[..], &mut nothing, |_| Err(SkillError::unsupported("x"))).unwrap();
    assert!(nothing.is_empty());
}

/// JSON that is near enough to a message to be looked into.
fn message() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u32>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from)
    ];
    let word = prop_oneof![
        Just("api"),
        Just("id"),
        Just("kind"),
        Just("skills"),
        Just("skill"),
        Just("diagnostics"),
        Just("more"),
        Just("description"),
        Just("name"),
        Just("code"),
        Just("message"),
        Just("severity"),
        Just("body"),
        Just("text"),
        Just("activation"),
        Just("permissions"),
        Just("metadata"),
        Just("source")
    ];
    let value = leaf.prop_recursive(4, 48, 6, move |inner| {
        let map = prop::collection::vec((word.clone(), inner.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            map.prop_map(|pairs| Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())),
        ]
    });
    let kind = prop_oneof![Just("list"), Just("describe"), Just("context"), Just("invoke"), Just("error"), Just("other")];
    (value, kind, any::<bool>()).prop_map(|(mut value, kind, is_framed)| {
        if let (Value::Object(map), true) = (&mut value, is_framed) {
            map.insert("api".into(), API.into());
            map.insert("id".into(), 1.into());
            map.insert("kind".into(), kind.into());
        }
        value
    })
}

proptest! {
    #[test]
    fn no_line_makes_a_reader_panic(value in message(), bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        for line in [value.to_string().into_bytes(), bytes] {
            let _ = read_request(&line);
            if let Ok(AnswerLine { answer: Ok(response), .. }) = read_answer(&line, &source()) {
                for line in write_answer(1, &Ok(response)) {
                    prop_assert!(read_answer(line.as_bytes(), &source()).unwrap().answer.is_ok());
                }
            }
        }
    }
}
