//! The JSON Schema of `bcode.toml`, made of the table of keys: for editors, and for whoever checks a file without this program.
//!
//! Draft 7, which taplo and the editors' TOML modes read. Tables of other programs are allowed beside ours, unknown keys in ours are not. Where the
//! loader looks at more than a schema can say (whether a profile exists, that ids are equal in their normal form), the loader says it.

use super::keys::{FILE, Key, KeyKind, Shape, TableShape, TextForm};
use super::table::table_doc;
use serde_json::{Map, Value, json};

/// The schema, as `config schema` prints it.
///
/// ```
/// let schema = tower_prompt::config::schema();
/// let catalog = &schema["properties"]["skills"]["properties"]["prompt"]["properties"]["catalog"];
/// assert_eq!(catalog["enum"], serde_json::json!(["off", "names_only", "summary"]));
/// ```
pub fn schema() -> Value {
    let file = table(&FILE);
    let own = |name: &&&str| **name != "composition";
    let mut of_patch: Map<String, Value> =
        FILE.named.keys().filter(own).map(|name| ((*name).to_owned(), json!({"$ref": format!("#/properties/{name}")}))).collect();
    // A table like the whole file, and what composes is the file's own.
    of_patch.insert("composition".to_owned(), false.into());
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "bcode.toml",
        "description": "Configuration of prompt assembly. Tables of other programs may stand beside these.",
        "definitions": {"patch": {"type": "object", "properties": of_patch}},
    });
    for (name, value) in file {
        schema[name] = value;
    }
    schema
}

fn table(shape: &TableShape) -> Map<String, Value> {
    let properties: Map<String, Value> = shape.named.iter().map(|(name, shape)| ((*name).to_owned(), of(shape))).collect();
    let mut schema = Map::new();
    // In the place of a shared table another program may have a value.
    if shape.path.is_empty() || !shape.is_shared() {
        schema.insert("type".to_owned(), json!("object"));
    }
    if let Some(doc) = table_doc(&shape.path) {
        schema.insert("description".to_owned(), doc.into());
    }
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), properties.into());
    }
    match &shape.by_id {
        Some(by_id) => {
            schema.insert("additionalProperties".to_owned(), of(by_id));
        }
        None if !shape.is_shared() => {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        None => {}
    }
    if let Some(ids) = ids(&shape.path) {
        schema.insert("propertyNames".to_owned(), ids);
    }
    schema
}

/// What the ids in this table are.
fn ids(path: &str) -> Option<Value> {
    match path {
        "skills.overrides" | "skills.matching.patterns" => Some(kind(&KeyKind::SkillId)),
        "composition.profiles" => Some(kind(&KeyKind::ProfileId)),
        _ => None,
    }
}

fn of(shape: &Shape) -> Value {
    match shape {
        Shape::Table(shape) => table(shape).into(),
        Shape::Key(key) => described(key),
    }
}

fn described(key: &Key) -> Value {
    let mut schema = kind(&key.kind);
    schema["description"] = key.doc.into();
    if let Some(default) = key.default_value() {
        schema["default"] = serde_json::to_value(default).unwrap_or_default();
    }
    schema
}

fn kind(kind: &KeyKind) -> Value {
    match kind {
        KeyKind::Bool => json!({"type": "boolean"}),
        // Of another dialect than JSON Schema's.
        KeyKind::Text | KeyKind::Pattern => json!({"type": "string"}),
        KeyKind::Form(form) => json!({"type": "string", "pattern": pattern(*form)}),
        KeyKind::NonZero | KeyKind::OptionalNonZero => json!({"type": "integer", "minimum": 1, "maximum": i64::MAX}),
        KeyKind::OneOf(words) => json!({"enum": words}),
        KeyKind::SkillId => {
            // Of invisible characters a schema can say no more than that controls are not allowed.
            let pattern =
                r"^\s*[^\s/\\\u0000-\u001f\u007f-\u009f](?:[^/\\\u0000-\u001f\u007f-\u009f]*[^\s/\\\u0000-\u001f\u007f-\u009f])?\s*$";
            json!({"type": "string", "pattern": pattern, "not": {"pattern": r"^\s*(active|off)\s*$"}})
        }
        KeyKind::ProfileId => json!({"type": "string", "pattern": r"\S", "not": {"pattern": r"^\s*[Aa][Cc][Tt][Ii][Vv][Ee]\s*$"}}),
        KeyKind::Layer => json!({"type": "string", "pattern": r"^\s*(defaults|config|profile:\s*\S.*)\s*$"}),
        KeyKind::Path => json!({"type": "string", "pattern": r"\S"}),
        KeyKind::RoutingRule => json!({
            "type": "object",
            "properties": {
                "intent": {"type": "string"},
                "prefer": self::kind(&KeyKind::Array(&KeyKind::Text)),
                "avoid": self::kind(&KeyKind::Array(&KeyKind::Text)),
            },
            "required": ["intent"],
            "additionalProperties": false,
        }),
        KeyKind::Array(of) => json!({"type": "array", "items": self::kind(of)}),
        KeyKind::Patch => json!({"$ref": "#/definitions/patch"}),
    }
}

fn pattern(form: TextForm) -> &'static str {
    match form {
        TextForm::NotBlank => r"\S",
        TextForm::Address => {
            r"^(\[\S*\]|[^:\[\]/@\s]+):0*([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$"
        }
        TextForm::Url => r"^https?://[^/?#\s][^\s]*$",
        // The loader also finds a password in the query.
        TextForm::Store => r"^(sqlite:/*[^/\s][^\u0000-\u001f\u007f-\u009f]*|postgres(ql)?://([^:/@?\s]*@)?[^@/?\s]*([/?][^@\s]*)?)$",
        TextForm::HeaderName => r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
    }
}
