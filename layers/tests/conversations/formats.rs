//! How each API writes a conversation, as its documentation says, with our texts behind the messages that they stand behind.

use crate::messages::{Own, Sent};
use serde_json::{Map, Value, json};
use tower_prompt_layers::wire::{Conversation, Edits, Format, GAP, Wire};

/// The wire that a body's model names, so that one conversation can go on over another.
#[derive(Clone, Copy)]
pub(crate) struct ByModel;

impl ByModel {
    fn of(request: &Value) -> Format {
        request["model"].as_str().and_then(|model| model.parse().ok()).expect("each body names its format")
    }
}

impl Wire<Value> for ByModel {
    fn read(&self, request: &Value) -> Conversation {
        Self::of(request).read(request)
    }
    fn write(&self, request: Value, edits: &Edits) -> Value {
        Self::of(&request).write(request, edits)
    }
}

/// The body of a request. `ours` is our system prompt, where it stands in it.
pub(crate) fn render(format: Format, own_system: Option<&str>, ours: Option<&str>, list: &[Sent]) -> Value {
    let system = system(own_system, ours);
    let mut body = json!({"model": format.as_str()});
    match format {
        Format::OpenAiResponses => {
            let items: Vec<Value> = list.iter().flat_map(responses).collect();
            match list {
                [Sent(Own::User { texts, is_string: true, .. }, None)] => body["input"] = json!(texts[0]),
                _ => body["input"] = items.into(),
            }
            if let Some(system) = system {
                body["instructions"] = system.join(GAP).into();
            }
        }
        Format::Anthropic => {
            body["messages"] = merged(list, anthropic, "content");
            match system {
                Some(texts) if ours.is_none() => body["system"] = texts.join(GAP).into(),
                Some(texts) => body["system"] = texts.iter().map(|text| block(text)).collect(),
                None => {}
            }
        }
        Format::Gemini => {
            body["contents"] = merged(list, gemini, "parts");
            // Empty parts of the caller's are the caller's.
            let empty = own_system.filter(|own| own.is_empty() && ours.is_some());
            if let Some(texts) = system.map(|texts| texts.into_iter().chain(empty).collect::<Vec<_>>()) {
                body["systemInstruction"] = json!({"parts": texts.iter().map(|text| json!({"text": text})).collect::<Vec<_>>()});
            }
        }
        _ => {
            let system = system.map(|texts| json!({"role": "system", "content": texts.join(GAP)}));
            let write = if format == Format::Ollama { ollama } else { openai };
            body["messages"] = system.into_iter().chain(list.iter().flat_map(write)).collect();
        }
    }
    body
}

/// The caller's system text behind ours, unless ours stands in front of it already. None where neither is there.
fn system<'a>(own: Option<&'a str>, ours: Option<&'a str>) -> Option<Vec<&'a str>> {
    let texts = match (own, ours) {
        (Some(own), Some(ours)) if own == ours || own.starts_with(&format!("{ours}{GAP}")) => vec![own],
        (Some(""), Some(ours)) => vec![ours],
        (own, ours) => ours.into_iter().chain(own).collect(),
    };
    (!texts.is_empty()).then_some(texts)
}

fn block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A user message that speaks beside results stands in one message with them.
fn merged(list: &[Sent], write: fn(&Sent) -> (&'static str, Value), content: &str) -> Value {
    let mut messages: Vec<Value> = Vec::new();
    for sent in list {
        let beside = matches!(sent.0, Own::User { beside_results: true, .. });
        match (write(sent), messages.last_mut().map(|before| &mut before[content])) {
            ((_, Value::Array(new)), Some(Value::Array(before))) if beside => before.extend(new),
            ((role, new), _) => messages.push(json!({"role": role, content: new})),
        }
    }
    messages.into()
}

fn anthropic(Sent(own, ours): &Sent) -> (&'static str, Value) {
    let mut blocks: Vec<Value> = match own {
        Own::User { texts, is_string: true, beside_results: false, .. } if ours.is_none() => return ("user", json!(texts[0])),
        Own::User { texts, image, .. } => {
            let image = image.then(|| json!({"type": "image", "source": {"type": "base64", "data": ""}}));
            texts.iter().map(|text| block(text)).chain(image).collect()
        }
        Own::Answer { text, calls } => {
            let text = (!text.is_empty()).then(|| block(text));
            text.into_iter().chain(calls.iter().map(|id| json!({"type": "tool_use", "id": id, "name": "ls", "input": {}}))).collect()
        }
        Own::Results { calls, content } => {
            calls.iter().map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": content})).collect()
        }
    };
    blocks.extend(ours.as_deref().map(block));
    (if own.is_place() { "user" } else { "assistant" }, blocks.into())
}

fn gemini(Sent(own, ours): &Sent) -> (&'static str, Value) {
    let mut parts: Vec<Value> = match own {
        Own::User { texts, image, .. } => {
            let image = image.then(|| json!({"inlineData": {"mimeType": "image/png", "data": ""}}));
            texts.iter().map(|text| json!({"text": text})).chain(image).collect()
        }
        Own::Answer { text, calls } => {
            let text = (!text.is_empty()).then(|| json!({"text": text}));
            let call = json!({"functionCall": {"name": "ls", "args": {}}, "thoughtSignature": "c2ln"});
            text.into_iter().chain(calls.iter().map(|_| call.clone())).collect()
        }
        Own::Results { calls, content } => {
            calls.iter().map(|_| json!({"functionResponse": {"name": "ls", "response": {"output": content}}})).collect()
        }
    };
    parts.extend(ours.iter().map(|text| json!({"text": text})));
    (if own.is_place() { "user" } else { "model" }, parts.into())
}

fn openai(Sent(own, ours): &Sent) -> Vec<Value> {
    match own {
        Own::User { texts, is_string: true, .. } => {
            let content = [&texts[..], ours.as_slice()].concat().join(GAP);
            vec![json!({"role": "user", "content": content})]
        }
        Own::User { texts, image, .. } => {
            let image = image.then(|| json!({"type": "image_url", "image_url": {"url": "data:"}}));
            let parts = texts.iter().map(|text| block(text)).chain(image).chain(ours.as_deref().map(block));
            vec![json!({"role": "user", "content": parts.collect::<Vec<_>>()})]
        }
        Own::Answer { text, calls } => {
            let call = |id: &String| json!({"id": id, "type": "function", "function": {"name": "ls", "arguments": "{}"}});
            vec![with_calls(json!({"role": "assistant", "content": text}), calls.iter().map(call).collect())]
        }
        Own::Results { calls, content } => {
            let results = calls.iter().map(|id| json!({"role": "tool", "tool_call_id": id, "content": content}));
            results.chain(ours.iter().map(|ours| json!({"role": "user", "content": ours}))).collect()
        }
    }
}

/// Content is always a string, and results name their tool alone.
fn ollama(Sent(own, ours): &Sent) -> Vec<Value> {
    match own {
        Own::User { texts, image, .. } => {
            let words = texts.first().map(String::as_str).unwrap_or_default();
            let content = [Some(words), ours.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(GAP);
            let mut message = json!({"role": "user", "content": content});
            if *image {
                message["images"] = json!(["aW1n"]);
            }
            vec![message]
        }
        Own::Answer { text, calls } => {
            let call = json!({"function": {"name": "ls", "arguments": {}}});
            vec![with_calls(json!({"role": "assistant", "content": text}), calls.iter().map(|_| call.clone()).collect())]
        }
        Own::Results { calls, content } => {
            let results = calls.iter().map(|_| json!({"role": "tool", "tool_name": "ls", "content": content}));
            results.chain(ours.iter().map(|ours| json!({"role": "user", "content": ours}))).collect()
        }
    }
}

fn with_calls(mut message: Value, calls: Vec<Value>) -> Value {
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn responses(Sent(own, ours): &Sent) -> Vec<Value> {
    let input = |text: &str| json!({"type": "input_text", "text": text});
    match own {
        Own::User { texts, is_string: true, .. } if ours.is_none() => vec![json!({"role": "user", "content": texts[0]})],
        Own::User { texts, image, .. } => {
            let image = image.then(|| json!({"type": "input_image", "image_url": "data:"}));
            let parts = texts.iter().map(|text| input(text)).chain(image).chain(ours.as_deref().map(input));
            vec![json!({"role": "user", "content": parts.collect::<Vec<_>>()})]
        }
        Own::Answer { text, calls } => {
            let text = (!text.is_empty()).then(|| json!({"role": "assistant", "content": text}));
            let call = |id: &String| json!({"type": "function_call", "call_id": id, "name": "ls", "arguments": "{}"});
            text.into_iter().chain(calls.iter().map(call)).collect()
        }
        Own::Results { calls, content } => {
            let results = calls.iter().map(|id| json!({"type": "function_call_output", "call_id": id, "output": content}));
            results.chain(ours.iter().map(|ours| json!({"role": "user", "content": [input(ours)]}))).collect()
        }
    }
}

/// What means the same to the provider is made the same: a content that is one text and a string, a string input and a message of it, a system prompt in
/// one block or two, with marks or without.
pub(crate) fn plain(mut body: Value) -> Value {
    without_marks(&mut body);
    if let Some(blocks) = body.get("system").and_then(Value::as_array) {
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        body["system"] = texts.join(GAP).into();
    }
    if let Some(input) = body.get_mut("input").filter(|input| input.is_string()) {
        *input = json!([{"role": "user", "content": input.take()}]);
    }
    for list in ["messages", "input"] {
        for message in body.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(fields) = message.as_object_mut().filter(|fields| fields.get("type").is_some_and(|kind| kind == "message")) {
                fields.shift_remove("type");
            }
            let Some(content) = message.get_mut("content") else { continue };
            if let Some([only]) = content.as_array().map(Vec::as_slice)
                && let Some(text @ Value::String(_)) = only.get("text")
            {
                *content = text.clone();
            }
        }
    }
    body
}

fn without_marks(body: &mut Value) {
    match body {
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            fields.values_mut().for_each(without_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(without_marks),
        _ => {}
    }
}

/// A request in the order in which the provider hashes it: the system prompt, then message by message, part by part.
pub(crate) fn units(body: &Value) -> Vec<Value> {
    let mut units = Vec::new();
    let body = &plain(body.clone());
    for system in ["instructions", "system"] {
        units.extend(body.get(system).into_iter().flat_map(parts));
    }
    units.extend(body.get("systemInstruction").into_iter().flat_map(|system| parts(&system["parts"])));
    for message in ["messages", "input", "contents"].iter().flat_map(|list| body[*list].as_array().into_iter().flatten()) {
        let (content, rest): (Map<_, _>, _) = message
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.clone(), value.clone()))
            .partition(|(key, _)| key == "content" || key == "parts");
        units.push(Value::Object(rest));
        units.extend(content.values().flat_map(parts));
    }
    units
}

fn parts(content: &Value) -> Vec<Value> {
    let bare = |part: &Value| part.get("text").filter(|text| text.is_string()).unwrap_or(part).clone();
    content.as_array().map_or_else(|| vec![content.clone()], |parts| parts.iter().map(bare).collect())
}

/// What the first request may say of our system prompt: the whole text in its place, or that without the caller's.
pub(crate) fn possible_ours(out: &Value, own: Option<&str>) -> Vec<String> {
    let out = &plain(out.clone());
    let places = ["/instructions", "/system", "/systemInstruction/parts/0/text", "/messages/0/content"];
    let text = places.iter().find_map(|place| out.pointer(place)?.as_str()).unwrap_or_default();
    let ours = own.and_then(|own| text.strip_suffix(own)?.strip_suffix(GAP));
    [Some(text), ours].into_iter().flatten().map(str::to_owned).collect()
}

/// What may be our text at the end: the newest text that ends in a block, from each of its last blocks on.
pub(crate) fn last_texts(out: &Value) -> Vec<String> {
    let is_ours = |text: &&str| text.ends_with("</context>");
    let units = units(out);
    let Some(last) = units.iter().filter_map(Value::as_str).rfind(is_ours) else { return Vec::new() };
    last.rmatch_indices("<context origin=\"").take(4).map(|(start, _)| last[start..].to_owned()).collect()
}
