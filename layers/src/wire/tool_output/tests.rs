use super::*;
use proptest::prelude::*;
use serde_json::json;

fn bound(max: usize) -> ToolOutputBound {
    ToolOutputBound { max_chars: NonZeroUsize::new(max), ..ToolOutputBound::default() }
}
fn cut(mut result: Value, max: usize) -> Value {
    bound(max).cut_result(&mut result);
    result
}

fn any_result() -> impl Strategy<Value = Value> {
    let text = || "[a-z\n中]{0,40}";
    let part = prop_oneof![
        text().prop_map(|text| json!({"type": "text", "text": text})),
        Just(json!({"type": "image", "data": "0123456789"})),
        (text(), text()).prop_map(|(out, err)| json!({"stdout": out, "stderr": err})),
    ];
    prop_oneof![
        text().prop_map(Value::from),
        proptest::collection::vec(part, 0..6).prop_map(Value::from),
        text().prop_map(|text| json!({"result": text})),
        (text(), 0..9).prop_map(|(text, code)| json!({"stdout": text, "code": code, "inner": {"list": [text, code]}})),
    ]
}

proptest! {
    #[test]
    fn a_result_is_never_over_its_bound_and_cut_once(result in any_result(), max in 1..80_usize) {
        let once = cut(result.clone(), max);
        prop_assert!(result_chars(&once) <= max, "{once}");
        prop_assert_eq!(&cut(once.clone(), max), &once);
        prop_assert_eq!(once == result, result_chars(&result) <= max);
    }

    #[test]
    fn media_stay(result in any_result(), max in 1..80_usize) {
        let images = |result: &Value| result.as_array().map(|parts| parts.iter().filter(|part| part["type"] == "image").count());
        if result.is_array() {
            prop_assert_eq!(images(&cut(result.clone(), max)), images(&result));
        }
    }

    #[test]
    fn json_arguments_are_never_cut(text in any::<String>(), max in 1..20_usize) {
        let bound = ToolOutputBound { max_malformed_argument_chars: NonZeroUsize::new(max), ..ToolOutputBound::default() };
        prop_assert_eq!(bound.malformed_arguments(&json!({"text": text}).to_string()), None);
        if let Some(cut) = bound.malformed_arguments(&format!("{{{text}")) {
            prop_assert!(cut.chars().count() <= max);
        }
    }
}

#[test]
fn head_and_tail_stay_and_say_where_the_whole_is() {
    let text = format!("first line\n{}last line\n", "between\n".repeat(100));
    let archived = ToolOutputBound { archive: Some(Arc::new(|_: &str| Some("/tmp/1.txt".to_owned()))), ..bound(120) };
    let sent = archived.result(&text).unwrap();
    assert!(sent.starts_with("first line\n") && sent.ends_with("last line\n"), "{sent}");
    assert!(sent.contains("characters cut; the whole is in /tmp/1.txt]"), "{sent}");
    assert!(bound(30).result(&text).unwrap().contains("[8"));
    let no_room_for_a_location = ToolOutputBound { archive: archived.archive, ..bound(40) };
    assert!(no_room_for_a_location.result(&text).unwrap().contains("characters cut]"));
}

#[test]
fn parts_are_cut_as_one_text() {
    let texts = |n: usize| json!({"type": "text", "text": n.to_string().repeat(50)});
    let sent = cut(json!([texts(1), {"type": "image"}, texts(2), texts(3)]), 60);
    let expected = json!([
        {"type": "text", "text": "1".repeat(20) + "[110 characters cut]"},
        {"type": "image"},
        {"type": "text", "text": "3".repeat(20)},
    ]);
    assert_eq!(sent, expected);
}

#[test]
fn texts_of_documents_and_search_results_count() {
    let text = "t".repeat(60);
    let document = json!([{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}}]);
    let found = json!([{"type": "search_result", "source": "https://a.b", "title": "T", "content": [{"type": "text", "text": text}]}]);
    for result in [document, found] {
        let sent = cut(result, 40);
        assert_eq!(result_chars(&sent), 40);
        assert!(sent.to_string().contains("characters cut]"), "{sent}");
    }
    let image = json!([{"type": "image", "source": {"type": "base64", "data": text}}]);
    assert_eq!(cut(image.clone(), 40), image);
}

#[test]
fn json_in_json_is_a_text() {
    let bound = ToolOutputBound { max_malformed_argument_chars: NonZeroUsize::new(40), ..ToolOutputBound::default() };
    let twice = Value::from(json!({"path": "p".repeat(60)}).to_string()).to_string();
    assert_eq!(bound.malformed_arguments(&twice).map(|cut| cut.chars().count()), Some(40));
}

#[test]
fn what_is_no_text_stays() {
    for result in [json!(null), json!(17), json!([]), json!({}), json!([{"type": "image"}])] {
        assert_eq!(cut(result.clone(), 1), if result == json!({}) { json!({"output": "{"}) } else { result });
    }
}
