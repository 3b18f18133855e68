//! How a code-backed skill is called, as its author writes it.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// Bytes of a usage.
const MAX_BYTES: usize = 4 * 1024;
/// Parameters of one.
const MAX_PARAMETERS: usize = 64;
/// Bytes of a name: what all providers take.
const MAX_NAME_BYTES: usize = 64;

/// `name(a, b?, n: number)`: parameters in order, `?` for those that may be left out, a kind behind `:` for those that are no text. What follows `->`
/// says what it gives back, and is for readers alone.
///
/// ```
/// use tower_prompt::tools::Usage;
///
/// let usage: Usage = "search(query, limit?: integer, tags: string[]) -> matches".parse()?;
/// assert_eq!(usage.to_string(), "search(query, limit?: integer, tags: string[])");
/// assert_eq!(usage.schema()["required"], serde_json::json!(["query", "tags"]));
/// # Ok::<(), tower_prompt::tools::UsageError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    name: String,
    parameters: Vec<Parameter>,
}

/// One parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub kind: ParameterKind,
    /// It may be left out.
    pub is_optional: bool,
}

/// What a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ParameterKind {
    /// `string`, and where nothing is said.
    Text,
    /// `number`.
    Number,
    /// `integer`.
    Integer,
    /// `boolean`.
    Boolean,
    /// `object`.
    Object,
    /// `string[]`.
    Texts,
    /// `number[]`.
    Numbers,
    /// `array`: of anything.
    Array,
    /// `any`.
    Any,
}

impl ParameterKind {
    const ALL: [(Self, &'static str); 9] = [
        (Self::Text, "string"),
        (Self::Number, "number"),
        (Self::Integer, "integer"),
        (Self::Boolean, "boolean"),
        (Self::Object, "object"),
        (Self::Texts, "string[]"),
        (Self::Numbers, "number[]"),
        (Self::Array, "array"),
        (Self::Any, "any"),
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find(|(kind, _)| *kind == self).map_or("", |(_, written)| written)
    }
    fn schema(self) -> Value {
        match self {
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Self::Numbers => json!({"type": "array", "items": {"type": "number"}}),
            Self::Array => json!({"type": "array", "items": {}}),
            Self::Any => json!({}),
            _ => json!({"type": self.as_str()}),
        }
    }
    fn takes(self, value: &Value) -> bool {
        let all = |is_such: fn(&Value) -> bool| value.as_array().is_some_and(|items| items.iter().all(is_such));
        match self {
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Integer => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
            Self::Boolean => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::Texts => all(Value::is_string),
            Self::Numbers => all(Value::is_number),
            Self::Array => value.is_array(),
            Self::Any => true,
        }
    }
}

/// Why a text is no usage, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{usage}` is no usage such as `name(a, b?, n: number)`: at byte {at}, {reason}")]
#[non_exhaustive]
pub struct UsageError {
    /// The beginning of the text.
    pub usage: String,
    /// The byte of the text.
    pub at: usize,
    /// What is wrong there, and what is allowed.
    pub reason: String,
}

impl Usage {
    /// The name by which it is called.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// In their order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
    /// The JSON Schema of its arguments.
    pub fn schema(&self) -> Value {
        let properties: Map<String, Value> = self.parameters.iter().map(|it| (it.name.clone(), it.kind.schema())).collect();
        let required: Vec<&str> = self.parameters.iter().filter(|it| !it.is_optional).map(|it| &*it.name).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    /// The arguments of a call: an object, or a text that holds one; nothing counts as none. An error is for the model to read, and says what to do.
    pub fn arguments(&self, given: &Value) -> Result<Map<String, Value>, String> {
        let read: Value;
        let given = match given {
            Value::String(text) if text.trim().is_empty() => &Value::Null,
            Value::String(text) => {
                read = serde_json::from_str(text)
                    .map_err(|reason| format!("the arguments are no JSON ({reason}); call it as {self}, with a JSON object"))?;
                &read
            }
            other => other,
        };
        let mut given = match given {
            Value::Null => Map::new(),
            Value::Object(given) => given.clone(),
            _ => return Err(format!("the arguments are no JSON object; call it as {self}")),
        };
        let mut faults = Vec::new();
        for Parameter { name, kind, is_optional } in &self.parameters {
            match given.get(name) {
                Some(Value::Null) if *is_optional => drop(given.remove(name)),
                None if *is_optional => {}
                None => faults.push(format!("`{name}` is missing")),
                Some(value) if kind.takes(value) => {}
                Some(_) => faults.push(format!("`{name}` must be {}", kind.as_str())),
            }
        }
        let is_known = |name: &String| self.parameters.iter().any(|parameter| parameter.name == *name);
        let unknown: Vec<String> = given.keys().filter(|name| !is_known(name)).take(8).map(|name| format!("`{}`", shown(name))).collect();
        if !unknown.is_empty() {
            faults.push(format!("there is no parameter {}", unknown.join(", ")));
        }
        if faults.is_empty() { Ok(given) } else { Err(format!("{}; call it as {self}", faults.join(", "))) }
    }
}

/// What a model made up may be long.
fn shown(name: &str) -> String {
    crate::layers::text::shorten(name, 64).into_owned()
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        for (number, Parameter { name, kind, is_optional }) in self.parameters.iter().enumerate() {
            f.write_str(if number > 0 { ", " } else { "" })?;
            f.write_str(name)?;
            f.write_str(if *is_optional { "?" } else { "" })?;
            if *kind != ParameterKind::Text {
                write!(f, ": {}", kind.as_str())?;
            }
        }
        f.write_str(")")
    }
}

impl FromStr for Usage {
    type Err = UsageError;
    fn from_str(text: &str) -> Result<Self, UsageError> {
        let mut reader = Reader { text, at: 0 };
        if text.len() > MAX_BYTES {
            return Err(reader.fault(format!("it is over {MAX_BYTES} bytes")));
        }
        let name = reader.name("the name")?;
        reader.expect("(")?;
        let mut parameters = Vec::new();
        let mut names = BTreeSet::new();
        while !reader.take(")") {
            if !parameters.is_empty() {
                reader.expect(",")?;
            }
            reader.skip_blanks();
            let at = reader.at;
            let parameter = reader.parameter()?;
            if !names.insert(parameter.name.clone()) {
                return Err(Reader { text, at }.fault(format!("there are two parameters `{}`", parameter.name)));
            }
            parameters.push(parameter);
            if parameters.len() > MAX_PARAMETERS {
                return Err(reader.fault(format!("there are over {MAX_PARAMETERS} parameters")));
            }
        }
        if !reader.take("->") && !reader.rest().is_empty() {
            return Err(reader.fault("nothing may follow but `-> RESULT`"));
        }
        Ok(Self { name, parameters })
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&mut self) -> &'a str {
        self.skip_blanks();
        &self.text[self.at..]
    }
    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }
    fn take(&mut self, token: &str) -> bool {
        let is_there = self.rest().starts_with(token);
        self.at += if is_there { token.len() } else { 0 };
        is_there
    }
    fn expect(&mut self, token: &str) -> Result<(), UsageError> {
        if self.take(token) { Ok(()) } else { Err(self.fault(format!("`{token}` is expected"))) }
    }
    fn name(&mut self, what: &str) -> Result<String, UsageError> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).unwrap_or(rest.len());
        // `->` belongs to no name.
        let name = rest[..end].trim_end_matches('-');
        if name.is_empty() || name.len() > MAX_NAME_BYTES || name.starts_with('-') {
            return Err(self.fault(format!("{what} is expected: at most {MAX_NAME_BYTES} letters, digits, `_` and `-`")));
        }
        self.at += name.len();
        Ok(name.to_owned())
    }
    fn parameter(&mut self) -> Result<Parameter, UsageError> {
        let name = self.name("a parameter's name, or `)`,")?;
        let mut is_optional = self.take("?");
        let mut kind = ParameterKind::Text;
        if self.take(":") {
            let rest = self.rest();
            // The longest first: `string[]` begins with `string`.
            let written = ParameterKind::ALL.into_iter().filter(|(_, written)| rest.starts_with(written));
            let Some((known, written)) = written.max_by_key(|(_, written)| written.len()) else {
                let all = ParameterKind::ALL.map(|(_, written)| written).join(", ");
                return Err(self.fault(format!("a kind is expected: {all}")));
            };
            self.at += written.len();
            kind = known;
            is_optional |= self.take("?");
        }
        Ok(Parameter { name, kind, is_optional })
    }
    fn fault(&self, reason: impl Into<String>) -> UsageError {
        UsageError { usage: shown(self.text), at: self.at, reason: reason.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn usage(text: &str) -> Usage {
        text.parse().unwrap()
    }

    #[test]
    fn a_usage_is_read_and_written() {
        for (text, written) in [
            ("f()", "f()"),
            (" f ( a , b? , n:number ) ", "f(a, b?, n: number)"),
            (
                "get-it(a?:integer,b:boolean?,c:object,d:array,e:any) -> all of it",
                "get-it(a?: integer, b?: boolean, c: object, d: array, e: any)",
            ),
            ("f(a: string, b: string[], c: number[])", "f(a, b: string[], c: number[])"),
        ] {
            assert_eq!(usage(text).to_string(), written);
            assert_eq!(usage(written), usage(text));
        }
    }

    #[test]
    fn what_is_no_usage_is_told_with_its_place() {
        for (text, at, reason) in [
            ("", 0, "the name is expected"),
            ("f", 1, "`(` is expected"),
            ("f(", 2, "a parameter's name, or `)`, is expected"),
            ("f(a b)", 4, "`,` is expected"),
            ("f(a, a)", 5, "there are two parameters `a`"),
            ("f(a: text)", 5, "a kind is expected: string, number,"),
            ("f(a) and more", 5, "nothing may follow but `-> RESULT`"),
            ("größe(a)", 2, "`(` is expected"),
            ("f(...rest)", 2, "a parameter's name"),
        ] {
            let error = text.parse::<Usage>().unwrap_err();
            assert!(error.at == at && error.reason.starts_with(reason), "{text:?}: {error}");
        }
        let long = format!("f({})", (0..65).map(|n| format!("a{n}")).collect::<Vec<_>>().join(","));
        assert!(long.parse::<Usage>().unwrap_err().reason.contains("over 64 parameters"));
        assert!(" ".repeat(5_000).parse::<Usage>().unwrap_err().to_string().len() < 300);
    }

    #[test]
    fn arguments_are_held_to_the_usage() {
        let usage = usage("f(a, n?: integer, all?: string[])");
        let read = |given: Value| usage.arguments(&given).map(|read| Value::Object(read).to_string());
        assert_eq!(read(json!({"a": "x", "n": null})), Ok(r#"{"a":"x"}"#.to_owned()));
        assert_eq!(read(json!(r#"{"a": "x", "n": 2.0}"#)), Ok(r#"{"a":"x","n":2.0}"#.to_owned()));
        for (given, fault) in [
            (json!(null), "`a` is missing; call it as f(a, n?: integer, all?: string[])"),
            (json!(""), "`a` is missing;"),
            (json!({"a": 1, "n": 1.5, "all": ["x", 1]}), "`a` must be string, `n` must be integer, `all` must be string[];"),
            (json!({"a": "", "b": 1}), "there is no parameter `b`;"),
            (json!("{"), "the arguments are no JSON (EOF"),
            (json!([1]), "the arguments are no JSON object;"),
            (json!({"a": null}), "`a` must be string;"),
        ] {
            let told = read(given.clone()).unwrap_err();
            assert!(told.starts_with(fault), "{given}: {told}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fall(text in "[a-z(),?:\\[\\]> -]{0,40}|\\PC{0,40}") {
            if let Ok(usage) = text.parse::<Usage>() {
                let written = usage.to_string();
                prop_assert_eq!(written.parse::<Usage>().unwrap(), usage);
            }
        }
    }
}
