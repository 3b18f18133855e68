//! Our tool's definition in a request: where it may stand, and how it goes.

use crate::layers::wire::Format;
use serde_json::{Value, json};

fn list<'a>(request: &'a Value, field: &str) -> &'a [Value] {
    request.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The caller has tools of its own, the provider's among them.
pub(super) fn has_tools(request: &Value) -> bool {
    ["tools", "functions"].iter().any(|field| !list(request, field).is_empty())
}

/// Its answer can be answered here: it is one, and comes while the client waits.
pub(super) fn has_one_answer(request: &Value) -> bool {
    let config = request.get("generationConfig").or_else(|| request.get("generation_config")).unwrap_or(&Value::Null);
    let candidates = config.get("candidateCount").or_else(|| config.get("candidate_count"));
    let is_one = |number: Option<&Value>| number.is_none_or(|number| number.is_null() || *number == 1);
    is_one(request.get("n")) && is_one(candidates) && request.get("background").is_none_or(|background| *background != true)
}

/// The lists that definitions stand in.
fn definitions(request: &mut Value) -> impl Iterator<Item = &mut Vec<Value>> {
    let fields = request.as_object_mut().into_iter().flat_map(serde_json::Map::iter_mut);
    fields.filter(|(name, _)| matches!(name.as_str(), "tools" | "functions")).filter_map(|(_, list)| list.as_array_mut())
}

const DECLARATIONS: [&str; 2] = ["functionDeclarations", "function_declarations"];

fn is_of(definition: &Value, name: &str) -> bool {
    [Some(definition), definition.get("function")].into_iter().flatten().any(|holder| holder.get("name").is_some_and(|known| known == name))
}

/// Whether a request offers the tool.
pub(super) fn offers(request: &Value, name: &str) -> bool {
    let is_declared = |tool: &Value| DECLARATIONS.iter().any(|field| list(tool, field).iter().any(|one| is_of(one, name)));
    ["tools", "functions"].iter().flat_map(|field| list(request, field)).any(|tool| is_of(tool, name) || is_declared(tool))
}

/// Takes the tool out of a request, and with it what it alone stands in.
pub(super) fn withdraw(request: &mut Value, name: &str) {
    for tools in definitions(request) {
        tools.retain_mut(|tool| {
            for field in DECLARATIONS {
                let Some(declared) = tool.get_mut(field).and_then(Value::as_array_mut) else { continue };
                let before = declared.len();
                declared.retain(|one| !is_of(one, name));
                if declared.is_empty() && before > 0 && tool.as_object().is_some_and(|fields| fields.len() == 1) {
                    return false;
                }
            }
            !is_of(tool, name)
        });
    }
    if let Some(fields) = request.as_object_mut() {
        fields.retain(|field, value| !(matches!(field.as_str(), "tools" | "functions") && value.as_array().is_some_and(Vec::is_empty)));
    }
}

/// The model shall answer without the tool. Where it is the only one it stays defined, since the history holds calls of it.
pub(super) fn forbid(format: Format, request: &mut Value, name: &str, has_others: bool) {
    let choice = match format {
        Format::OpenAiChat | Format::OpenAiResponses => json!("none"),
        Format::Anthropic => json!({"type": "none"}),
        Format::Gemini if !has_others => {
            let field = if request.get("tool_config").is_some() { "tool_config" } else { "toolConfig" };
            request[field] = json!({"functionCallingConfig": {"mode": "NONE"}});
            return;
        }
        _ => return withdraw(request, name),
    };
    if has_others {
        withdraw(request, name);
    } else {
        request["tool_choice"] = choice;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_goes_again_whole() {
        for (came, offered) in [
            (json!({}), json!({"tools": [{"type": "function", "function": {"name": "skill"}}]})),
            (json!({"tools": [{"name": "ls"}]}), json!({"tools": [{"name": "ls"}, {"name": "skill"}]})),
            (json!({"functions": [{"name": "ls"}]}), json!({"functions": [{"name": "ls"}, {"name": "skill"}]})),
            (json!({}), json!({"tools": [{"functionDeclarations": [{"name": "skill"}]}]})),
            (
                json!({"tools": [{"function_declarations": [{"name": "ls"}]}]}),
                json!({"tools": [{"function_declarations": [{"name": "ls"}, {"name": "skill"}]}]}),
            ),
        ] {
            let mut request = offered.clone();
            assert!(offers(&request, "skill") && !offers(&came, "skill"));
            withdraw(&mut request, "skill");
            assert_eq!(request, came, "{offered}");
        }
    }

    #[test]
    fn several_answers_are_left_alone() {
        for one in [json!({}), json!({"n": 1}), json!({"n": null}), json!({"generationConfig": {"candidateCount": 1}, "background": false})]
        {
            assert!(has_one_answer(&one), "{one}");
        }
        for several in [json!({"n": 2}), json!({"generation_config": {"candidate_count": 2}}), json!({"background": true})] {
            assert!(!has_one_answer(&several), "{several}");
        }
    }
}
