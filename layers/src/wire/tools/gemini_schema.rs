//! JSON Schema in the part of it that Gemini's API knows.

use serde_json::{Map, Value, json};

/// What the API takes of a schema; anything else it refuses.
const KNOWN: [&str; 18] = [
    "title",
    "description",
    "nullable",
    "enum",
    "format",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "default",
];
/// Formats of texts and of numbers that it takes.
const FORMATS: [&str; 6] = ["enum", "date-time", "int32", "int64", "float", "double"];
/// Schemas stand in schemas so deep; one that names itself ends there, as any value.
const MAX_DEPTH: usize = 16;
/// Schemas of one tool, so that definitions that name one another many times end.
const MAX_SCHEMAS: usize = 1024;

/// A tool's JSON Schema as Gemini's API takes it: references are followed, alternatives are `anyOf`, a type that may be null is `nullable`, a constant
/// is an `enum` of one, and what the API does not know is left out.
///
/// ```
/// use serde_json::json;
/// use tower_prompt_layers::wire::gemini_schema;
///
/// let schema = json!({"$schema": "..", "type": "object", "properties": {"a": {"type": ["string", "null"]}}, "additionalProperties": false});
/// assert_eq!(gemini_schema(&schema), json!({"type": "object", "properties": {"a": {"type": "string", "nullable": true}}}));
/// ```
pub fn gemini_schema(schema: &Value) -> Value {
    Reading { root: schema, left: MAX_SCHEMAS }.schema(schema, 0)
}

struct Reading<'a> {
    root: &'a Value,
    left: usize,
}

impl<'a> Reading<'a> {
    fn schema(&mut self, schema: &'a Value, depth: usize) -> Value {
        let Some(schema) = schema.as_object().filter(|_| depth < MAX_DEPTH && self.left > 0) else { return json!({}) };
        self.left -= 1;
        if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|name| self.root.pointer(name.strip_prefix('#')?)) {
            let mut target = self.schema(target, depth + 1);
            // What stands beside the reference is said of this use of it.
            if let (Some(target), Some(description)) = (target.as_object_mut(), schema.get("description")) {
                target.insert("description".into(), description.clone());
            }
            return target;
        }
        let mut known = Map::new();
        Self::types(schema, &mut known);
        for (name, value) in schema.iter().filter(|(name, _)| KNOWN.contains(&name.as_str())) {
            let value = match name.as_str() {
                "items" => self.schema(value, depth + 1),
                "properties" => {
                    let Some(properties) = value.as_object() else { continue };
                    properties.iter().map(|(name, schema)| (name.clone(), self.schema(schema, depth + 1))).collect::<Map<_, _>>().into()
                }
                "format" if !value.as_str().is_some_and(|format| FORMATS.contains(&format)) => continue,
                "enum" => match texts(value) {
                    Some(texts) => texts,
                    None => continue,
                },
                _ => value.clone(),
            };
            known.insert(name.clone(), value);
        }
        if let Some(constant) = schema.get("const").and_then(Value::as_str) {
            known.insert("enum".into(), json!([constant]));
            known.entry("type").or_insert_with(|| "string".into());
        }
        self.alternatives(schema, &mut known, depth);
        known.into()
    }

    fn types(schema: &Map<String, Value>, known: &mut Map<String, Value>) {
        let is_null = |kind: &&Value| kind.as_str() == Some("null");
        match schema.get("type") {
            Some(Value::Array(kinds)) => {
                let mut others = kinds.iter().filter(|kind| !is_null(kind));
                match (others.next(), others.next()) {
                    (Some(kind), None) => drop(known.insert("type".into(), kind.clone())),
                    (Some(_), Some(_)) => {
                        let kinds = kinds.iter().filter(|kind| !is_null(kind)).map(|kind| json!({"type": kind}));
                        known.insert("anyOf".into(), kinds.collect());
                    }
                    _ => {}
                }
                if kinds.iter().any(|kind| is_null(&kind)) {
                    known.insert("nullable".into(), true.into());
                }
            }
            Some(kind) => drop(known.insert("type".into(), kind.clone())),
            None => {}
        }
    }

    fn alternatives(&mut self, schema: &'a Map<String, Value>, known: &mut Map<String, Value>, depth: usize) {
        let all = ["anyOf", "oneOf"].into_iter().find_map(|field| schema.get(field)?.as_array());
        let Some(all) = all else { return };
        let is_null = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "null");
        if all.iter().any(is_null) {
            known.insert("nullable".into(), true.into());
        }
        let mut others: Vec<Value> = all.iter().filter(|schema| !is_null(schema)).map(|schema| self.schema(schema, depth + 1)).collect();
        match (others.len(), others.pop()) {
            // One alone is no alternative.
            (1, Some(Value::Object(only))) => {
                for (name, value) in only {
                    known.entry(name).or_insert(value);
                }
            }
            (0, _) | (_, None) => {}
            (_, Some(last)) => {
                others.push(last);
                known.insert("anyOf".into(), others.into());
            }
        }
    }
}

/// Values of an `enum` are texts here.
fn texts(values: &Value) -> Option<Value> {
    let texts: Vec<Value> = values.as_array()?.iter().filter(|value| value.is_string()).cloned().collect();
    (!texts.is_empty()).then(|| texts.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_api_refuses_is_said_in_its_words_or_left_out() {
        for (schema, known) in [
            (json!({"type": "object", "additionalProperties": false, "title": "T"}), json!({"type": "object", "title": "T"})),
            (
                json!({"$ref": "#/$defs/a", "description": "D", "$defs": {"a": {"type": "string", "description": "of a"}}}),
                json!({"type": "string", "description": "D"}),
            ),
            (
                json!({"oneOf": [{"const": "a", "description": "A."}, {"const": "b"}]}),
                json!({"anyOf": [{"description": "A.", "enum": ["a"], "type": "string"}, {"enum": ["b"], "type": "string"}]}),
            ),
            (
                json!({"anyOf": [{"type": "integer", "format": "uint8"}, {"type": "null"}], "description": "D"}),
                json!({"description": "D", "nullable": true, "type": "integer"}),
            ),
            (json!({"type": ["string", "integer", "null"]}), json!({"anyOf": [{"type": "string"}, {"type": "integer"}], "nullable": true})),
            (json!({"type": "integer", "enum": [1, 2]}), json!({"type": "integer"})),
            (json!(true), json!({})),
            (
                json!({"items": {"type": "string", "format": "uri", "examples": ["x"]}, "type": "array"}),
                json!({"type": "array", "items": {"type": "string"}}),
            ),
        ] {
            assert_eq!(gemini_schema(&schema), known, "{schema}");
        }
    }

    #[test]
    fn a_schema_that_names_itself_ends() {
        let both = json!({"$defs": {"a": {"type": "object", "properties": {"l": {"$ref": "#/$defs/a"}, "r": {"$ref": "#/$defs/a"}}}},
            "$ref": "#/$defs/a"});
        assert!(gemini_schema(&both).to_string().len() < 100_000);
        assert_eq!(gemini_schema(&json!({"$ref": "#"})), json!({}));
    }
}
