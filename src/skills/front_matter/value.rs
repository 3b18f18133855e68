//! What a field of the front matter holds: texts as they are spelled, lists and maps. The common ground of YAML and TOML.

use serde_json::Value as Json;

/// A field's value. Scalars are texts as written: `1.10`, `yes` and `0x1F` stay what they look like.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Value {
    /// Nothing, `~` or `null`.
    #[default]
    Absent,
    /// A scalar.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A map in the order of the file; no key stands twice.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// The text, where it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
    /// The value of this key, where it is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Map(pairs) => pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }
    /// As one text: a scalar as it is, anything else as JSON.
    pub fn to_text(&self) -> String {
        match self {
            Self::Absent => String::new(),
            Self::Text(text) => text.clone(),
            other => Json::from(other).to_string(),
        }
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Absent => Json::Null,
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => Json::Array(items.iter().map(Json::from).collect()),
            Value::Map(pairs) => Json::Object(pairs.iter().map(|(key, value)| (key.clone(), Json::from(value))).collect()),
        }
    }
}
