//! Values in their canonical form, and fields of small and large objects.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn any_value() -> impl Strategy<Value = Value> {
    let text = "[a-c \"\\\\\n\t\u{1}\u{7f}é😀/]{0,5}";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 20, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text, inner), 0..20).prop_map(|fields| Map::from_iter(fields).into()),
        ]
    })
}

fn plain_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), any::<i32>().prop_map(Value::from), "[a-c é{}:,]{0,5}".prop_map(Value::from)];
    leaf.prop_recursive(3, 16, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Value::from))
}

/// As serde writes it, with the fields in order.
fn ordered(value: &Value) -> String {
    fn order(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().map(|(key, value)| (key.clone(), order(value))).collect();
                fields.sort_by(|a, b| a.0.cmp(&b.0));
                Map::from_iter(fields).into()
            }
            Value::Array(items) => items.iter().map(order).collect(),
            plain => plain.clone(),
        }
    }
    order(value).to_string()
}

#[test]
fn marks_are_no_part_of_a_value() {
    let value = json!({"b": [{"cache_control": {"type": "ephemeral"}, "x": 1}], "a": {"thoughtSignature": "s"}, "thought_signature": 1});
    assert_eq!(canonical(&value), r#"{"a":{},"b":[{"x":1}]}"#);
}

#[test]
fn plain_arguments_are_known_without_a_value_of_them() {
    for (text, canonical) in [
        (r#"{"path": "src/lib.rs"}"#, Some(r#"{"path":"src/lib.rs"}"#)),
        (" {\n\t\"a\" : [ 1 , -20, true, null, {} , [ ] ] , \"b\": \"é, ]}\" }\r\n", Some(r#"{"a":[1,-20,true,null,{},[]],"b":"é, ]}"}"#)),
        ("{}", Some("{}")),
        (r#"{"b": 1, "a": 2}"#, None),
        (r#"{"a": 1, "a": 2}"#, None),
        (r#"{"a": "\n"}"#, None),
        (r#"{"a": 1.0}"#, None),
        (r#"{"a": -0}"#, None),
        (r#"{"cache_control": 1}"#, None),
        (r#"{"a": 1} {"#, None),
        (r#"{"a": 1,}"#, None),
        ("[1]", None),
        ("", None),
    ] {
        assert_eq!(plain::canonical(text).as_deref(), canonical, "{text}");
    }
    assert_eq!(plain::canonical(&format!("{{\"a\":{}{}}}", "[".repeat(40), "]".repeat(40))), None);
}

proptest! {
    #[test]
    fn what_is_found_to_be_plain_is_what_the_parser_makes_of_it(value in prop_oneof![any_value(), plain_value()], pretty in any::<bool>(), at in any::<prop::sample::Index>(),
        put_in in "[-{}\\[\\],:\" 0-9a\\\\\n\u{7f}]{0,2}") {
        let fields = json!({"a": value});
        let mut text = if pretty { serde_json::to_string_pretty(&fields).unwrap() } else { fields.to_string() };
        for torn in [false, true] {
            if torn {
                let at = (0..=at.index(text.len() + 1)).rev().find(|at| text.is_char_boundary(*at)).unwrap();
                text.insert_str(at, &put_in);
            }
            if let Some(plain) = plain::canonical(&text) {
                let parsed: Value = serde_json::from_str(&text).unwrap();
                prop_assert_eq!(plain, canonical(&parsed));
            }
        }
    }

    #[test]
    fn a_value_is_written_as_serde_writes_it_with_its_fields_in_order(value in any_value()) {
        prop_assert_eq!(canonical(&value), ordered(&value));
    }

    #[test]
    fn a_field_is_found_among_few_and_among_many(value in any_value(), name in "[a-c]{0,2}") {
        let mut changed = value.clone();
        prop_assert_eq!(field(&value, &name), value.get(&name));
        prop_assert_eq!(field_mut(&mut changed, &name).map(|field| &*field), value.get(&name));
    }
}
