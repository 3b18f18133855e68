//! A model that has its lines by heart, in each format, whole and streamed; and a client that reads them strictly.

use crate::proxy::world::{Answer, Seen, Upstream};
use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Api {
    Chat,
    Responses,
    Anthropic,
    Gemini,
    /// Streamed as one array.
    GeminiArray,
    Ollama,
}

pub(super) const APIS: [Api; 6] = [Api::Chat, Api::Responses, Api::Anthropic, Api::Gemini, Api::GeminiArray, Api::Ollama];

/// How the client asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Way(pub(super) Api, /** it streams */ pub(super) bool);

pub(super) fn ways() -> impl Iterator<Item = Way> {
    APIS.into_iter().flat_map(|api| [Way(api, false), Way(api, true)])
}

/// A part of what the model says.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Part {
    Text(&'static str),
    /// Its id, the tool, the arguments.
    Call(&'static str, &'static str, Value),
}
pub(super) use Part::{Call, Text};

pub(super) fn skill(id: &'static str, name: &str) -> Part {
    Call(id, "skill", json!({"name": name}))
}

impl Way {
    pub(super) fn path(self) -> &'static str {
        match self {
            Self(Api::Chat, _) => "/v1/chat/completions",
            Self(Api::Responses, _) => "/v1/responses",
            Self(Api::Anthropic, _) => "/v1/messages",
            Self(Api::Gemini, true) => "/v1beta/models/m:streamGenerateContent?alt=sse",
            Self(Api::GeminiArray, true) => "/v1beta/models/m:streamGenerateContent",
            Self(Api::Gemini | Api::GeminiArray, false) => "/v1beta/models/m:generateContent",
            Self(Api::Ollama, _) => "/api/chat",
        }
    }
    pub(super) fn field(self) -> &'static str {
        match self.0 {
            Api::Responses => "input",
            Api::Gemini | Api::GeminiArray => "contents",
            _ => "messages",
        }
    }
    pub(super) fn user(self, text: &str) -> Value {
        match self.0 {
            Api::Gemini | Api::GeminiArray => json!({"role": "user", "parts": [{"text": text}]}),
            _ => json!({"role": "user", "content": text}),
        }
    }
    /// With these messages and a tool of the client's own.
    pub(super) fn request(self, messages: &[Value]) -> Value {
        let function = json!({"name": "ls", "description": "Lists.", "parameters": {"type": "object", "properties": {}}});
        let mut request = json!({self.field(): messages});
        match self.0 {
            Api::Chat | Api::Ollama => request["tools"] = json!([{"type": "function", "function": function}]),
            Api::Responses => request["tools"] = json!([{"type": "function", "name": "ls", "parameters": {"type": "object"}}]),
            Api::Anthropic => {
                request["tools"] = json!([{"name": "ls", "input_schema": {"type": "object"}}]);
                request["max_tokens"] = 100.into();
            }
            Api::Gemini | Api::GeminiArray => {
                request["tools"] = json!([{"functionDeclarations": [function]}]);
                return request;
            }
        }
        (request["model"], request["stream"]) = ("m".into(), self.1.into());
        request
    }
    /// What the client has of an answer, as its next request holds it, and the results of its calls.
    pub(super) fn echo(self, said: &Said) -> Vec<Value> {
        let (text, calls) = (&said.text, &said.calls);
        let results = |result: &dyn Fn(&(String, String, Value)) -> Value| calls.iter().map(result).collect::<Vec<_>>();
        match self.0 {
            Api::Chat => {
                let mut message = json!({"role": "assistant", "content": text});
                if !calls.is_empty() {
                    message["tool_calls"] = calls
                        .iter()
                        .map(|(id, name, arguments)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}))
                        .collect();
                }
                let results = results(&|(id, ..)| json!({"role": "tool", "tool_call_id": id, "content": "a.txt"}));
                [message].into_iter().chain(results).collect()
            }
            Api::Ollama => {
                let made: Vec<Value> =
                    calls.iter().map(|(_, name, arguments)| json!({"function": {"name": name, "arguments": arguments}})).collect();
                let message = json!({"role": "assistant", "content": text, "tool_calls": made});
                let results = results(&|(_, name, _)| json!({"role": "tool", "tool_name": name, "content": "a.txt"}));
                [message].into_iter().chain(results).collect()
            }
            Api::Responses => {
                let results = results(&|(id, ..)| json!({"type": "function_call_output", "call_id": id, "output": "a.txt"}));
                said.items.iter().cloned().chain(results).collect()
            }
            Api::Anthropic => {
                let message = json!({"role": "assistant", "content": said.items});
                let results = results(&|(id, ..)| json!({"type": "tool_result", "tool_use_id": id, "content": "a.txt"}));
                let results = (!results.is_empty()).then(|| json!({"role": "user", "content": results}));
                [message].into_iter().chain(results).collect()
            }
            Api::Gemini | Api::GeminiArray => {
                let message = json!({"role": "model", "parts": said.items});
                let results = results(&|(_, name, _)| json!({"functionResponse": {"name": name, "response": {"output": "a.txt"}}}));
                let results = (!results.is_empty()).then(|| json!({"role": "user", "parts": results}));
                [message].into_iter().chain(results).collect()
            }
        }
    }

    fn items(self, parts: &[Part], round: usize) -> Vec<Value> {
        let item = |(n, part): (usize, &Part)| match (self.0, part) {
            (Api::Responses, Text(text)) => {
                json!({"type": "message", "id": format!("msg_{round}_{n}"), "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]})
            }
            (Api::Responses, Call(id, name, arguments)) => {
                json!({"type": "function_call", "id": format!("fc_{round}_{n}"), "call_id": id, "name": name, "arguments": arguments.to_string()})
            }
            (Api::Anthropic, Text(text)) => json!({"type": "text", "text": text}),
            (Api::Anthropic, Call(id, name, arguments)) => json!({"type": "tool_use", "id": id, "name": name, "input": arguments}),
            (Api::Gemini | Api::GeminiArray, Text(text)) => json!({"text": text}),
            (Api::Gemini | Api::GeminiArray, Call(_, name, arguments)) => {
                json!({"functionCall": {"name": name, "args": arguments}, "thoughtSignature": format!("sig_{round}_{n}")})
            }
            (Api::Chat, Call(id, name, arguments)) => {
                json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
            }
            (Api::Ollama, Call(_, name, arguments)) => json!({"function": {"name": name, "arguments": arguments}}),
            (Api::Chat | Api::Ollama, Text(text)) => json!(text),
        };
        parts.iter().enumerate().map(item).collect()
    }

    /// The API's answer of a round; each costs ten tokens in and one out.
    pub(super) fn answer(self, parts: &[Part], round: usize) -> Response<Full<Bytes>> {
        let items = self.items(parts, round);
        let has_calls = parts.iter().any(|part| matches!(part, Call(..)));
        if self.1 { self.streamed(&items, has_calls, round) } else { self.whole(&items, has_calls, round) }
    }

    fn whole(self, items: &[Value], has_calls: bool, round: usize) -> Response<Full<Bytes>> {
        let (texts, calls): (Vec<Value>, Vec<Value>) = items.iter().cloned().partition(Value::is_string);
        let text: String = texts.iter().filter_map(Value::as_str).collect();
        let body = match self.0 {
            Api::Chat => {
                let mut message = json!({"role": "assistant", "content": text, "refusal": null});
                if has_calls {
                    message["tool_calls"] = calls.into();
                }
                json!({"id": format!("chat_{round}"), "object": "chat.completion", "choices": [{"index": 0, "message": message,
                    "finish_reason": if has_calls { "tool_calls" } else { "stop" }}], "usage": {"prompt_tokens": 10, "completion_tokens": 1}})
            }
            Api::Ollama => {
                let mut message = json!({"role": "assistant", "content": text});
                if has_calls {
                    message["tool_calls"] = calls.into();
                }
                json!({"model": "m", "message": message, "done": true, "done_reason": "stop", "prompt_eval_count": 10, "eval_count": 1})
            }
            Api::Responses => response(items, round),
            Api::Anthropic => json!({"id": format!("msg_{round}"), "type": "message", "role": "assistant", "content": items,
                "stop_reason": if has_calls { "tool_use" } else { "end_turn" }, "usage": {"input_tokens": 10, "output_tokens": 1}}),
            Api::Gemini | Api::GeminiArray => {
                json!({"candidates": [{"content": {"role": "model", "parts": items}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 1}, "responseId": format!("r_{round}")})
            }
        };
        Response::builder().header("content-type", "application/json").body(Full::from(body.to_string())).unwrap()
    }

    fn streamed(self, items: &[Value], has_calls: bool, round: usize) -> Response<Full<Bytes>> {
        let mut events: Vec<Value> = Vec::new();
        match self.0 {
            Api::Chat => chat_events(&mut events, items, has_calls, round),
            Api::Responses => responses_events(&mut events, items, round),
            Api::Anthropic => anthropic_events(&mut events, items, has_calls, round),
            Api::Gemini | Api::GeminiArray => {
                for (n, item) in items.iter().enumerate() {
                    let mut candidate = json!({"content": {"role": "model", "parts": [item]}});
                    if n + 1 == items.len() {
                        candidate["finishReason"] = "STOP".into();
                    }
                    events.push(json!({"candidates": [candidate], "responseId": format!("r_{round}"),
                        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 1}}));
                }
            }
            Api::Ollama => {
                for item in items {
                    match item {
                        Value::String(text) => {
                            for piece in halves(text) {
                                events.push(json!({"model": "m", "message": {"role": "assistant", "content": piece}, "done": false}));
                            }
                        }
                        call => events.push(
                            json!({"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": false}),
                        ),
                    }
                }
                events.push(json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
                    "prompt_eval_count": 10, "eval_count": 1}));
            }
        }
        let (kind, body) = match self.0 {
            Api::Ollama => ("application/x-ndjson", one_by_one(&events, |event| format!("{event}\n"))),
            Api::GeminiArray => ("application/json", Value::from(events).to_string()),
            Api::Chat => ("text/event-stream", one_by_one(&events, |event| format!("data: {event}\n\n")) + "data: [DONE]\n\n"),
            _ => {
                let name = |event: &Value| event["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
                ("text/event-stream", one_by_one(&events, |event| format!("{}data: {event}\n\n", name(event))))
            }
        };
        Response::builder().header("content-type", kind).body(Full::from(body)).unwrap()
    }
}

fn one_by_one(events: &[Value], line: impl Fn(&Value) -> String) -> String {
    events.iter().map(line).collect::<Vec<_>>().concat()
}

fn response(items: &[Value], round: usize) -> Value {
    json!({"id": format!("resp_{round}"), "object": "response", "status": "completed", "output": items,
        "usage": {"input_tokens": 10, "output_tokens": 1}})
}

/// In two pieces, as streams have it.
fn halves(text: &str) -> [&str; 2] {
    let middle = (text.len() / 2..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap();
    [&text[..middle], &text[middle..]]
}

fn chat_events(events: &mut Vec<Value>, items: &[Value], has_calls: bool, round: usize) {
    let mut chunk = |delta: Value, finish: Value| {
        events.push(json!({"id": format!("chat_{round}"), "object": "chat.completion.chunk", "created": 1000 + round, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}));
    };
    chunk(json!({"role": "assistant", "content": ""}), Value::Null);
    let mut index = 0;
    for item in items {
        if let Value::String(text) = item {
            halves(text).into_iter().for_each(|piece| chunk(json!({"content": piece}), Value::Null));
            continue;
        }
        let mut first = item.clone();
        (first["index"], first["function"]["arguments"]) = (index.into(), "".into());
        chunk(json!({"tool_calls": [first]}), Value::Null);
        for piece in halves(item["function"]["arguments"].as_str().unwrap()) {
            chunk(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}), Value::Null);
        }
        index += 1;
    }
    chunk(json!({}), (if has_calls { "tool_calls" } else { "stop" }).into());
    events.push(
        json!({"id": format!("chat_{round}"), "object": "chat.completion.chunk", "created": 1000 + round, "model": "m", "choices": [],
        "usage": {"prompt_tokens": 10, "completion_tokens": 1}}),
    );
}

fn responses_events(events: &mut Vec<Value>, items: &[Value], round: usize) {
    let mut event = |mut event: Value| {
        event["sequence_number"] = events.len().into();
        events.push(event);
    };
    let empty = json!({"id": format!("resp_{round}"), "object": "response", "status": "in_progress", "output": []});
    event(json!({"type": "response.created", "response": empty}));
    event(json!({"type": "response.in_progress", "response": empty}));
    for (n, item) in items.iter().enumerate() {
        let id = &item["id"];
        event(
            json!({"type": "response.output_item.added", "output_index": n, "item": {"type": item["type"], "id": id, "name": item["name"]}}),
        );
        if let Some(text) = item["content"][0]["text"].as_str() {
            for piece in halves(text) {
                event(json!({"type": "response.output_text.delta", "item_id": id, "output_index": n, "content_index": 0, "delta": piece}));
            }
        } else {
            for piece in halves(item["arguments"].as_str().unwrap()) {
                event(json!({"type": "response.function_call_arguments.delta", "item_id": id, "output_index": n, "delta": piece}));
            }
        }
        event(json!({"type": "response.output_item.done", "output_index": n, "item": item}));
    }
    event(json!({"type": "response.completed", "response": response(items, round)}));
}

fn anthropic_events(events: &mut Vec<Value>, items: &[Value], has_calls: bool, round: usize) {
    events.push(
        json!({"type": "message_start", "message": {"id": format!("msg_{round}"), "type": "message", "role": "assistant", "content": [],
        "usage": {"input_tokens": 10, "output_tokens": 0}}}),
    );
    events.push(json!({"type": "ping"}));
    for (n, item) in items.iter().enumerate() {
        let (mut empty, text) = (item.clone(), item["text"].as_str());
        let arguments = item["input"].to_string();
        let (field, kind) = match text {
            Some(_) => ("text", "text_delta"),
            None => ("partial_json", "input_json_delta"),
        };
        match text {
            Some(_) => empty["text"] = "".into(),
            None => empty["input"] = json!({}),
        }
        events.push(json!({"type": "content_block_start", "index": n, "content_block": empty}));
        for piece in halves(text.unwrap_or(&arguments)) {
            events.push(json!({"type": "content_block_delta", "index": n, "delta": {"type": kind, field: piece}}));
        }
        events.push(json!({"type": "content_block_stop", "index": n}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": if has_calls { "tool_use" } else { "end_turn" }},
        "usage": {"output_tokens": 1}}));
    events.push(json!({"type": "message_stop"}));
}

/// An upstream that says these rounds, one a request; behind the last it repeats that.
pub(super) async fn scripted(way: Way, rounds: Vec<Vec<Part>>) -> Upstream {
    let asked = AtomicUsize::new(0);
    Upstream::answering(move |_: &Seen| {
        let round = asked.fetch_add(1, Ordering::SeqCst);
        way.answer(&rounds[round.min(rounds.len() - 1)], round)
    })
    .await
}

/// What a client has of an answer.
#[derive(Default, Debug)]
pub(super) struct Said {
    pub(super) text: String,
    /// Ids, names, arguments.
    pub(super) calls: Vec<(String, String, Value)>,
    /// Blocks, parts or items, where the format has them.
    pub(super) items: Vec<Value>,
    pub(super) finish: String,
    /// Tokens in and out.
    pub(super) usage: (u64, u64),
    pub(super) id: String,
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
fn parsed(arguments: &Value) -> Value {
    serde_json::from_str(arguments.as_str().unwrap_or("{}")).unwrap_or_else(|error| panic!("{error}: {arguments}"))
}

impl Way {
    pub(super) fn read(self, answer: &Answer) -> Said {
        assert_eq!(answer.status, 200, "{answer:?}");
        let text = str::from_utf8(&answer.body).unwrap();
        let mut said = if self.1 { self.read_stream(text) } else { self.read_whole(&answer.json()) };
        if matches!(self.0, Api::Responses | Api::Anthropic | Api::Gemini | Api::GeminiArray) {
            said.take_items();
        }
        said
    }
    fn read_whole(self, body: &Value) -> Said {
        let mut said = Said { id: string(&body["id"]), ..Said::default() };
        let numbers = |one: &Value, two: &Value| (one.as_u64().unwrap(), two.as_u64().unwrap());
        match self.0 {
            Api::Chat | Api::Ollama => {
                let message = if self.0 == Api::Chat { &body["choices"][0]["message"] } else { &body["message"] };
                said.text = string(&message["content"]);
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    let function = &call["function"];
                    let arguments = if self.0 == Api::Chat { parsed(&function["arguments"]) } else { function["arguments"].clone() };
                    said.calls.push((string(&call["id"]), string(&function["name"]), arguments));
                }
                if self.0 == Api::Chat {
                    said.finish = string(&body["choices"][0]["finish_reason"]);
                    said.usage = numbers(&body["usage"]["prompt_tokens"], &body["usage"]["completion_tokens"]);
                } else {
                    said.finish = string(&body["done_reason"]);
                    said.usage = numbers(&body["prompt_eval_count"], &body["eval_count"]);
                }
            }
            Api::Responses => {
                said.items.clone_from(body["output"].as_array().unwrap());
                said.finish = string(&body["status"]);
                said.usage = numbers(&body["usage"]["input_tokens"], &body["usage"]["output_tokens"]);
            }
            Api::Anthropic => {
                said.items.clone_from(body["content"].as_array().unwrap());
                said.finish = string(&body["stop_reason"]);
                said.usage = numbers(&body["usage"]["input_tokens"], &body["usage"]["output_tokens"]);
            }
            Api::Gemini | Api::GeminiArray => {
                said.items = body["candidates"][0]["content"]["parts"].as_array().cloned().unwrap_or_default();
                said.finish = string(&body["candidates"][0]["finishReason"]);
                let usage = &body["usageMetadata"];
                said.usage = numbers(&usage["promptTokenCount"], &usage["candidatesTokenCount"]);
            }
        }
        said
    }
    fn read_stream(self, text: &str) -> Said {
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let events: Vec<Value> = match self.0 {
            Api::Ollama => text.lines().map(json).collect(),
            Api::GeminiArray => json(text).as_array().unwrap().clone(),
            _ => {
                let data = text.split("\n\n").filter(|event| !event.is_empty()).map(|event| {
                    let (name, data) = match event.strip_prefix("event: ") {
                        Some(named) => named.split_once('\n').unwrap(),
                        None => ("", event),
                    };
                    let data = data.strip_prefix("data: ").unwrap_or_else(|| panic!("{event}"));
                    (name, data)
                });
                let mut data: Vec<(&str, &str)> = data.collect();
                if self.0 == Api::Chat {
                    assert_eq!(data.pop(), Some(("", "[DONE]")));
                }
                for (name, data) in &data {
                    assert!(name.is_empty() || json(data)["type"] == *name, "{name} {data}");
                }
                data.into_iter().map(|(_, data)| json(data)).collect()
            }
        };
        match self.0 {
            Api::Chat => read_chat(&events),
            Api::Responses => read_responses(&events),
            Api::Anthropic => read_anthropic(&events),
            Api::Gemini | Api::GeminiArray => {
                let mut said = Said { id: string(&events[0]["responseId"]), ..Said::default() };
                for (n, event) in events.iter().enumerate() {
                    assert_eq!(event["responseId"], events[0]["responseId"]);
                    let candidate = &event["candidates"][0];
                    assert_eq!(candidate.get("finishReason").is_some(), n + 1 == events.len(), "{events:?}");
                    let parts = candidate["content"]["parts"].as_array().unwrap();
                    assert!(!parts.is_empty() || n + 1 == events.len());
                    said.items.extend(parts.iter().cloned());
                }
                let last = events.last().unwrap();
                said.finish = string(&last["candidates"][0]["finishReason"]);
                said.usage = (
                    last["usageMetadata"]["promptTokenCount"].as_u64().unwrap(),
                    last["usageMetadata"]["candidatesTokenCount"].as_u64().unwrap(),
                );
                said
            }
            Api::Ollama => {
                let mut whole = json!({"message": {"content": "", "tool_calls": []}});
                for (n, event) in events.iter().enumerate() {
                    assert_eq!(event["done"], n + 1 == events.len(), "{events:?}");
                    whole["message"]["content"] =
                        format!("{}{}", whole["message"]["content"].as_str().unwrap(), string(&event["message"]["content"])).into();
                    let calls = event["message"]["tool_calls"].as_array().into_iter().flatten();
                    whole["message"]["tool_calls"].as_array_mut().unwrap().extend(calls.cloned());
                }
                let last = events.last().unwrap();
                for field in ["done_reason", "prompt_eval_count", "eval_count"] {
                    whole[field] = last[field].clone();
                }
                self.read_whole(&whole)
            }
        }
    }
}

impl Said {
    fn take_items(&mut self) {
        for item in &self.items {
            self.text.push_str(item["text"].as_str().or(item["content"][0]["text"].as_str()).unwrap_or_default());
            let call = match item["type"].as_str().unwrap_or_default() {
                "function_call" => Some((&item["call_id"], &item["name"], parsed(&item["arguments"]))),
                "tool_use" => Some((&item["id"], &item["name"], item["input"].clone())),
                _ => item.get("functionCall").map(|call| (&call["id"], &call["name"], call["args"].clone())),
            };
            self.calls.extend(call.map(|(id, name, arguments)| (string(id), string(name), arguments)));
        }
    }
}

fn read_chat(events: &[Value]) -> Said {
    let mut said = Said { id: string(&events[0]["id"]), ..Said::default() };
    let mut calls: Vec<(String, String, String)> = Vec::new();
    let (mut roles, mut finished) = (0, 0);
    for event in events {
        assert_eq!((&event["id"], &event["created"]), (&events[0]["id"], &events[0]["created"]));
        if let Some(usage) = event["usage"].as_object() {
            assert_eq!(finished, 1);
            said.usage = (usage["prompt_tokens"].as_u64().unwrap(), usage["completion_tokens"].as_u64().unwrap());
        }
        let Some(choice) = event["choices"].get(0) else { continue };
        assert_eq!(finished, 0, "{events:?}");
        let delta = &choice["delta"];
        roles += usize::from(delta.get("role").is_some());
        said.text.push_str(delta["content"].as_str().unwrap_or_default());
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(piece["index"].as_u64().unwrap()).unwrap();
            assert!(index <= calls.len());
            if index == calls.len() {
                calls.push((string(&piece["id"]), string(&piece["function"]["name"]), String::new()));
            }
            calls[index].2.push_str(piece["function"]["arguments"].as_str().unwrap());
        }
        if let Some(finish) = choice["finish_reason"].as_str() {
            (said.finish, finished) = (finish.to_owned(), 1);
        }
    }
    assert_eq!((roles, finished), (1, 1), "{events:?}");
    said.calls = calls.into_iter().map(|(id, name, arguments)| (id, name, parsed(&arguments.into()))).collect();
    said
}

fn read_responses(events: &[Value]) -> Said {
    let mut items: Vec<Value> = Vec::new();
    for (n, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], n, "{events:?}");
        let kind = event["type"].as_str().unwrap();
        assert_eq!(kind == "response.created", n == 0);
        assert_eq!(kind == "response.completed", n + 1 == events.len());
        match event["output_index"].as_u64() {
            Some(index) if kind == "response.output_item.added" => assert_eq!(index, items.len() as u64, "{events:?}"),
            Some(index) if kind == "response.output_item.done" => {
                assert_eq!(index, items.len() as u64);
                items.push(event["item"].clone());
            }
            Some(index) => assert_eq!(index, items.len() as u64),
            None => {}
        }
    }
    let response = &events.last().unwrap()["response"];
    assert_eq!(*response["output"].as_array().unwrap(), items);
    let usage = (response["usage"]["input_tokens"].as_u64().unwrap(), response["usage"]["output_tokens"].as_u64().unwrap());
    Said { id: string(&response["id"]), items, finish: string(&response["status"]), usage, ..Said::default() }
}

fn read_anthropic(events: &[Value]) -> Said {
    let mut said = Said { id: string(&events[0]["message"]["id"]), ..Said::default() };
    let (mut open, mut text) = (false, String::new());
    for (n, event) in events.iter().enumerate() {
        let kind = event["type"].as_str().unwrap();
        assert_eq!(kind == "message_start", n == 0, "{events:?}");
        assert_eq!(kind == "message_stop", n + 1 == events.len());
        if let Some(index) = event["index"].as_u64() {
            let at = said.items.len() as u64;
            assert_eq!(index, if kind == "content_block_start" { at } else { at - 1 }, "{events:?}");
        }
        match kind {
            "content_block_start" => {
                assert!(!std::mem::replace(&mut open, true));
                said.items.push(event["content_block"].clone());
                text.clear();
            }
            "content_block_delta" => {
                text.push_str(event["delta"]["text"].as_str().or(event["delta"]["partial_json"].as_str()).unwrap());
            }
            "content_block_stop" => {
                assert!(std::mem::replace(&mut open, false));
                let last = said.items.last_mut().unwrap();
                if last["type"] == "text" {
                    last["text"] = text.as_str().into();
                } else {
                    last["input"] = parsed(&text.as_str().into());
                }
            }
            "message_delta" => {
                said.finish = string(&event["delta"]["stop_reason"]);
                let start = &events[0]["message"]["usage"]["input_tokens"];
                let input = event["usage"].get("input_tokens").unwrap_or(start);
                said.usage = (input.as_u64().unwrap(), event["usage"]["output_tokens"].as_u64().unwrap());
            }
            _ => {}
        }
    }
    said
}
