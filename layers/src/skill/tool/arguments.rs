//! What the model calls the skill tool with: the schema that it is told, and a reading that forgives what can be understood.

use crate::wire::canonical_json;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The doc comments are what the model reads.
#[derive(Clone, PartialEq, Eq, Default, Debug, JsonSchema)]
pub(super) struct Arguments {
    /// What to do: `invoke` loads a skill's instructions, `list` names the skills, `read_resource` reads a file that a skill brings, `deactivate` puts
    /// down a skill that you loaded.
    #[schemars(extend("default" = "invoke"))]
    #[schemars(default)]
    pub(super) operation: Operation,
    /// The skill's id; `list` alone goes without.
    #[schemars(extend("type" = "string"))]
    pub(super) name: Option<String>,
    /// For `invoke`: what the skill is to be applied to, as text.
    #[schemars(extend("type" = "string"))]
    pub(super) input: Option<String>,
    /// For `read_resource`: the file's path, relative to the skill's folder.
    #[schemars(extend("type" = "string"))]
    pub(super) path: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, JsonSchema, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum Operation {
    #[default]
    Invoke,
    List,
    ReadResource,
    Deactivate,
}

impl Arguments {
    /// As JSON Schema, without what providers make nothing of.
    pub(super) fn schema() -> Value {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = true;
        });
        let mut schema = settings.into_generator().into_root_schema_for::<Self>();
        schema.remove("title");
        schema.remove("description");
        let mut schema: Value = schema.into();
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for property in properties.into_iter().flat_map(|properties| properties.values_mut()) {
            // A comment's lines are none of the text's.
            if let Some(Value::String(description)) = property.get_mut("description") {
                *description = description.replace('\n', " ");
            }
        }
        schema
    }

    /// Arguments as a response brings them: an object, or a text that holds one. An error says what is wrong, as the model reads it.
    pub(super) fn read(arguments: &Value) -> Result<Self, String> {
        match arguments {
            Value::Null => Ok(Self::default()),
            Value::Object(fields) => Self::of_fields(fields),
            Value::String(text) if text.trim().is_empty() => Ok(Self::default()),
            Value::String(text) => match serde_json::from_str(text) {
                Ok(Value::Object(fields)) => Self::of_fields(&fields),
                // Encoded twice.
                Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
                    Ok(Value::Object(fields)) => Self::of_fields(&fields),
                    _ => Err("The arguments are a text, where an object is wanted.".to_owned()),
                },
                Ok(other) => Err(format!("The arguments are {}, where an object is wanted.", kind(&other))),
                Err(error) => Err(format!("The arguments are no JSON: {error}.")),
            },
            other => Err(format!("The arguments are {}, where an object is wanted.", kind(other))),
        }
    }

    fn of_fields(fields: &Map<String, Value>) -> Result<Self, String> {
        let operation = match text(fields, "operation")?.as_deref() {
            // Invoked is activated: some say the one, and some the other.
            None | Some("invoke" | "activate") => Operation::Invoke,
            Some("list") => Operation::List,
            Some("read_resource") => Operation::ReadResource,
            Some("deactivate") => Operation::Deactivate,
            Some(other) => {
                let shown = super::shown(other);
                return Err(format!("There is no operation {shown}; `operation` is `invoke`, `list`, `read_resource` or `deactivate`."));
            }
        };
        let input = match fields.get("input") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            // A skill's arguments are a text; of what is structured the one that the next request's view of the call has too.
            Some(other) => Some(canonical_json(other)),
        };
        // The catalog calls it an id.
        let name = text(fields, "name")?.map_or_else(|| text(fields, "id"), |name| Ok(Some(name)))?;
        Ok(Self { operation, name, input, path: text(fields, "path")? })
    }
}

/// A field's text; an empty one is as good as none.
fn text(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        // Ids may look like numbers.
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(format!("`{name}` is {}, where a text is wanted.", kind(other))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_schema_is_what_is_read() {
        let schema = Arguments::schema();
        assert_eq!(schema["type"], "object");
        let properties = schema["properties"].as_object().unwrap();
        assert!(!Arguments::schema().to_string().contains("\\n"), "each description is a line");
        assert_eq!(properties.keys().collect::<Vec<_>>(), ["operation", "name", "input", "path"]);
        assert_eq!(schema["properties"]["operation"]["enum"], json!(["invoke", "list", "read_resource", "deactivate"]));
        assert!(properties.values().all(|property| property["type"] == "string" && property["description"].is_string()), "{schema}");
        assert_eq!(schema.get("required"), None);
        for operation in ["invoke", "list", "read_resource", "deactivate", "activate"] {
            assert!(Arguments::read(&json!({"operation": operation})).is_ok());
        }
    }

    #[test]
    fn what_can_be_understood_is() {
        let named = |name: &str| Ok(Arguments { name: Some(name.to_owned()), ..Arguments::default() });
        for arguments in [
            json!({"name": "rust"}),
            json!({"id": "rust"}),
            json!({"id": "sql", "name": "rust"}),
            json!({"id": "rust", "name": null}),
            json!(r#"{"name": "rust"}"#),
            json!(r#""{\"name\": \"rust\"}""#),
            json!({"name": " rust ", "operation": null, "input": null, "path": "", "more": [1]}),
        ] {
            assert_eq!(Arguments::read(&arguments), named("rust"), "{arguments}");
        }
        assert_eq!(Arguments::read(&json!({"name": 3000})), named("3000"));
        assert_eq!(Arguments::read(&json!({"input": {"a": [1]}})).unwrap().input.as_deref(), Some(r#"{"a":[1]}"#));
        assert_eq!(
            Arguments::read(&json!({"input": {"b": 1, "a": {"d": 2, "c": 3}}})).unwrap().input.as_deref(),
            Some(r#"{"a":{"c":3,"d":2},"b":1}"#)
        );
        for nothing in [json!(null), json!({}), json!(""), json!("{}")] {
            assert_eq!(Arguments::read(&nothing), Ok(Arguments::default()));
        }
    }

    #[test]
    fn what_can_not_says_why() {
        for (arguments, why) in [
            (json!("{\"name\": "), "no JSON"),
            (json!("rust"), "no JSON"),
            (json!([1]), "are a list"),
            (json!("7"), "are a number"),
            (json!({"name": ["a"]}), "`name` is a list"),
            (json!({"operation": "load"}), "no operation `load`"),
            (json!({"path": true}), "`path` is true or false"),
        ] {
            let said = Arguments::read(&arguments).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
