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

proptest! {
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
