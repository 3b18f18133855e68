//! Tool definitions of ours: one form for all formats, written as each takes it, behind the caller's own.
//!
//! | format | stands |
//! | --- | --- |
//! | OpenAI Chat, Ollama chat | in `tools`, as a `function`; in `functions`, where the caller has those and no `tools` |
//! | OpenAI Responses | in `tools`, flat, not strict: optional arguments are left out |
//! | Anthropic | in `tools`, with an `input_schema` |
//! | Gemini | in the last `functionDeclarations`, with the part of JSON Schema that the API knows |
//!
//! A name that the request has already is left to whoever put it there, ours in a request that was assembled before among them.

mod calls;
mod gemini_schema;

pub use calls::{ResponseCall, ToolAnswer, ToolCalls, UnansweredCalls};
pub use gemini_schema::gemini_schema;

use super::Format;
use super::json::{field, field_mut, list};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A tool that a host answers: what the model is told of it.
///
/// ```
/// use serde_json::json;
/// use tower_prompt_layers::wire::{Format, ToolDefinition};
///
/// let tool = ToolDefinition::new("clock", "Tells the time.", json!({"type": "object", "properties": {}}));
/// assert_eq!(tool.written(Format::Anthropic).unwrap()["input_schema"]["type"], "object");
/// assert_eq!(tool.written(Format::OllamaGenerate), None);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// By which the model calls it: letters, digits, `_` and `-`, as all providers take them.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub parameters: Value,
}

impl ToolDefinition {
    /// With these arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self { name: name.into(), description: description.into(), parameters }
    }
    /// As requests of this format hold it; `None` where the format has no tools. Gemini's stands in `functionDeclarations`.
    pub fn written(&self, format: Format) -> Option<Value> {
        let Self { name, description, parameters } = self;
        Some(match format {
            Format::OpenAiChat | Format::Ollama => json!({"type": "function", "function": self.plain()}),
            Format::OpenAiResponses => {
                json!({"type": "function", "name": name, "description": description, "parameters": parameters, "strict": false})
            }
            Format::Anthropic => json!({"name": name, "description": description, "input_schema": parameters}),
            Format::Gemini => json!({"name": name, "description": description, "parameters": gemini_schema(parameters)}),
            Format::OllamaGenerate => return None,
        })
    }
    /// Whether all providers take the name.
    pub fn has_usable_name(&self) -> bool {
        let is_usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        self.name.len() <= 64 && self.name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && self.name.chars().all(is_usable)
    }
    fn plain(&self) -> Value {
        json!({"name": self.name, "description": self.description, "parameters": self.parameters})
    }
    /// As formats hold it that put the least around it.
    pub(crate) fn json(&self) -> String {
        self.plain().to_string()
    }
}

/// In either spelling of Gemini's API.
pub(super) const DECLARATIONS: [&str; 2] = ["functionDeclarations", "function_declarations"];

/// The names of all tools of a request, the provider's own among them.
pub(super) fn names(request: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for tool in ["tools", "functions"].into_iter().flat_map(|field| list(request, field)) {
        let declared = DECLARATIONS.into_iter().flat_map(|field| list(tool, field));
        let holders = [Some(tool), field(tool, "function"), field(tool, "custom")].into_iter().flatten().chain(declared);
        names.extend(holders.filter_map(|holder| Some(field(holder, "name")?.as_str()?.to_owned())));
    }
    names
}

/// Adds tools of ours behind the caller's.
pub(super) fn add(request: &mut Value, definitions: &[ToolDefinition], format: Format) {
    let taken = if definitions.is_empty() { Vec::new() } else { names(request) };
    let new: Vec<&ToolDefinition> = definitions.iter().filter(|definition| !taken.contains(&definition.name)).collect();
    let Some(fields) = request.as_object_mut().filter(|_| !new.is_empty()) else { return };
    let is_of_functions =
        format == Format::OpenAiChat && fields.get("tools").is_none_or(Value::is_null) && fields.contains_key("functions");
    let (field, written): (&str, Vec<Value>) = if is_of_functions {
        ("functions", new.iter().map(|definition| definition.plain()).collect())
    } else {
        ("tools", new.iter().filter_map(|definition| definition.written(format)).collect())
    };
    if written.is_empty() {
        return;
    }
    let tools = fields.entry(field).or_insert_with(|| json!([]));
    if tools.is_null() {
        *tools = json!([]);
    }
    // What is no list the provider refuses, with or without us.
    let Some(tools) = tools.as_array_mut() else { return };
    if format == Format::Gemini {
        declare(tools, written);
    } else {
        tools.extend(written);
    }
}

/// Several lists of declarations are refused now and then.
fn declare(tools: &mut Vec<Value>, declarations: Vec<Value>) {
    let list = tools.iter_mut().rev().find_map(|tool| {
        let name = DECLARATIONS.into_iter().find(|name| field(tool, name).is_some_and(Value::is_array))?;
        field_mut(tool, name)?.as_array_mut()
    });
    match list {
        Some(list) => list.extend(declarations),
        None => tools.push(Map::from_iter([(DECLARATIONS[0].to_owned(), declarations.into())]).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool() -> ToolDefinition {
        ToolDefinition::new("skill", "Loads.", json!({"type": "object"}))
    }
    fn added(format: Format, mut request: Value) -> Value {
        add(&mut request, &[tool()], format);
        let once = request.clone();
        add(&mut request, &[tool()], format);
        assert_eq!(request, once, "{format}: added again");
        request
    }

    #[test]
    fn each_format_has_it_behind_the_callers_tools() {
        let wrapped = json!({"type": "function", "function": {"name": "skill", "description": "Loads.", "parameters": {"type": "object"}}});
        let plain = json!({"name": "skill", "description": "Loads.", "parameters": {"type": "object"}});
        for (format, came, sent) in [
            (Format::OpenAiChat, json!({}), json!({"tools": [wrapped]})),
            (Format::OpenAiChat, json!({"tools": null}), json!({"tools": [wrapped]})),
            (
                Format::OpenAiChat,
                json!({"tools": [{"type": "function", "function": {"name": "ls"}}]}),
                json!({"tools": [{"type": "function", "function": {"name": "ls"}}, wrapped]}),
            ),
            (Format::OpenAiChat, json!({"functions": [{"name": "ls"}]}), json!({"functions": [{"name": "ls"}, plain]})),
            (Format::OpenAiChat, json!({"tools": "ls"}), json!({"tools": "ls"})),
            (Format::Ollama, json!({"tools": []}), json!({"tools": [wrapped]})),
            (Format::OllamaGenerate, json!({"prompt": "hi"}), json!({"prompt": "hi"})),
            (
                Format::OpenAiResponses,
                json!({"tools": [{"type": "web_search"}]}),
                json!({"tools": [
                {"type": "web_search"},
                {"type": "function", "name": "skill", "description": "Loads.", "parameters": {"type": "object"}, "strict": false}]}),
            ),
            (
                Format::Anthropic,
                json!({"tools": [{"type": "bash_20250124", "name": "bash"}]}),
                json!({"tools": [
                {"type": "bash_20250124", "name": "bash"},
                {"name": "skill", "description": "Loads.", "input_schema": {"type": "object"}}]}),
            ),
            (Format::Gemini, json!({}), json!({"tools": [{"functionDeclarations": [plain]}]})),
            (
                Format::Gemini,
                json!({"tools": [{"function_declarations": [{"name": "ls"}]}]}),
                json!({"tools": [{"function_declarations": [{"name": "ls"}, plain]}]}),
            ),
        ] {
            assert_eq!(added(format, came.clone()), sent, "{format} {came}");
        }
    }

    #[test]
    fn a_name_that_is_there_stays_whose_it_is() {
        for (format, came) in [
            (Format::OpenAiChat, json!({"tools": [{"type": "custom", "custom": {"name": "skill"}}]})),
            (Format::OpenAiChat, json!({"functions": [{"name": "skill"}]})),
            (Format::OpenAiResponses, json!({"tools": [{"type": "function", "name": "skill"}]})),
            (Format::Anthropic, json!({"tools": [{"type": "skill_20260101", "name": "skill"}]})),
            (Format::Gemini, json!({"tools": [{"function_declarations": [{"name": "skill"}]}]})),
        ] {
            assert_eq!(added(format, came.clone()), came, "{format}");
        }
    }
}
