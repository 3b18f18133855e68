//! The manifest says of each fragment where it stands, byte for byte, in each format.

use crate::common::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tower_prompt_layers::text::{Fitted, Limit, Room};
use tower_prompt_layers::wire::Format;
use tower_prompt_layers::{
    ContentHash, Context, Fragment, Manifest, Placement, Prompt, PromptStack, Report, Round, Session, Settings, Source, Text, Tier, Trust,
    Turn,
};

fn layer(_: &Turn, prompt: &mut Prompt) {
    prompt.add(Tier::Session, || Fragment::new("agents", "über\nall").trust(Trust::Repository).source(Source::file("AGENTS.md")));
    prompt.add(Tier::Turn, || Fragment::new("clock", "12:00 <context>"));
    prompt.add(Tier::Turn, || Fragment::new("git", "main\nA file").trust(Trust::Repository).limit(Limit::Chars(5)));
    prompt.add(Tier::Step, || Fragment::new("active_skill:rust", "BODY").trust(Trust::Skill));
}

fn conversation(format: Format, count: usize) -> Value {
    let texts = ["one", "ok", "two", "done", "three"];
    let list = |field: &str, model: &str, content: &dyn Fn(&str) -> Value| -> Value {
        let role = |n: usize| if n.is_multiple_of(2) { "user" } else { model };
        texts[..count].iter().enumerate().map(|(n, text)| json!({"role": role(n), field: content(text)})).collect()
    };
    match format {
        Format::OpenAiResponses => json!({"input": list("content", "assistant", &|text| json!(text))}),
        Format::Gemini => json!({"contents": list("parts", "model", &|text| json!([{"text": text}]))}),
        Format::OllamaGenerate => json!({"prompt": texts[count - 1]}),
        _ => json!({"messages": list("content", "assistant", &|text| json!(text))}),
    }
}

/// All strings of a body.
fn strings<'a>(body: &'a Value, found: &mut Vec<&'a str>) {
    match body {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
        _ => {}
    }
}

fn is_exact(manifest: &Manifest, sent: &Value) {
    let mut found = Vec::new();
    strings(sent, &mut found);
    for text in &manifest.texts {
        assert_eq!(found.iter().filter(|found| found.ends_with(&*text.text)).count(), 1, "{} in {sent}", text.text);
        for fragment in text.fragments.iter() {
            let bytes = &text.text[fragment.offset..fragment.offset + fragment.bytes];
            assert_eq!((ContentHash::of(bytes), bytes.chars().count()), (fragment.hash, fragment.chars));
        }
        if text.placement == Placement::System {
            assert_eq!(manifest.system_hash, Some(ContentHash::of(&text.text)));
        }
    }
}

#[tokio::test]
async fn offsets_lengths_and_hashes_match_the_rendered_bytes_of_system_and_tail_in_each_format() {
    for format in Format::ALL {
        let stack = PromptStack::new(format, Settings::default()).with(base()).with(layer);
        let report = Report::default();
        let context = Context::default().session(Session::new()).report(report.clone());
        let sent = stack.assemble(conversation(format, 1), context.clone()).await;
        let manifest = report.manifest().unwrap();
        is_exact(&manifest, &sent);
        assert_eq!((manifest.round, manifest.settled), (Round::Start, true));
        assert_eq!(manifest.said(), ["base", "agents", "clock", "git", "active_skill:rust"]);
        let placements: Vec<Placement> = manifest.texts.iter().map(|text| text.placement).collect();
        assert_eq!(placements, [Placement::System, Placement::BehindMessage(0)]);

        let sent = stack.assemble(conversation(format, 1), context.clone()).await;
        let again = report.manifest().unwrap();
        is_exact(&again, &sent);
        assert_eq!((again.round, again.settled, again.said()), (Round::Settled, false, vec![]));
        assert_eq!((&again.texts[0].text, &again.texts[1].text), (&manifest.texts[0].text, &manifest.texts[1].text));
    }
}

#[tokio::test]
async fn what_was_put_back_is_there_and_not_new() {
    for format in Format::ALL.into_iter().filter(|format| *format != Format::OllamaGenerate) {
        let time = Arc::new(Mutex::new("1"));
        let now = time.clone();
        let clock = move |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Turn, || Fragment::new("clock", *now.lock().unwrap()));
        let stack = PromptStack::new(format, Settings::default()).with(base()).with(clock);
        let report = Report::default();
        let context = Context::default().session(Session::new()).report(report.clone());
        for (count, now) in [(1, "1"), (3, "1"), (5, "2")] {
            *time.lock().unwrap() = now;
            is_exact_again(&stack, &report, &context, conversation(format, count)).await;
        }
        let texts = report.manifest().unwrap().texts;
        let places: Vec<(Placement, bool)> = texts.iter().map(|text| (text.placement, text.is_new)).collect();
        let expected = [(Placement::System, false), (Placement::BehindMessage(0), false), (Placement::BehindMessage(4), true)];
        assert_eq!(places, expected, "{format}");
    }
}

async fn is_exact_again(stack: &PromptStack<Format>, report: &Report, context: &Context, body: Value) {
    let sent = stack.assemble(body, context.clone()).await;
    is_exact(&report.manifest().unwrap(), &sent);
}

#[tokio::test]
async fn it_says_of_each_fragment_who_added_it_whence_and_what_its_limit_did() {
    let report = Report::default();
    let stack = PromptStack::new(Format::Anthropic, Settings::default()).with(base()).with(layer);
    stack.assemble(conversation(Format::Anthropic, 1), Context::default().report(report.clone())).await;
    let manifest = report.manifest().unwrap();
    let of = |id: &str| manifest.fragments().find(|(_, fragment)| fragment.id == id).unwrap().1.clone();
    assert_eq!((of("base").layer.as_str(), of("base").tier), ("SystemPromptLayer", Tier::Stable));
    assert_eq!((of("agents").layer.as_str(), of("agents").source), ("layer", Source::file("AGENTS.md")));
    assert_eq!((of("agents").bytes, of("agents").chars), (9, 8));
    let limit = of("git").limit.unwrap();
    assert_eq!((limit.limit, limit.before, limit.after, limit.cut), (Limit::Chars(5), 11, 5, true));
    assert!(manifest.diagnostics.iter().any(|diagnostic| diagnostic.code == "limit"));
    assert!(manifest.tokens_by_tier().keys().eq(&[Tier::Stable, Tier::Session, Tier::Turn, Tier::Step]));
}

#[tokio::test]
async fn it_is_serializable_and_comes_back_equal() {
    let report = Report::default();
    let stack = PromptStack::new(Format::OpenAiChat, Settings::default()).with(base()).with(layer);
    stack.assemble(conversation(Format::OpenAiChat, 3), Context::default().report(report.clone())).await;
    let manifest = report.manifest().unwrap();
    let text = serde_json::to_string(&manifest).unwrap();
    assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap(), manifest);
}

#[tokio::test]
async fn the_observer_sees_each_manifest_and_the_report_keeps_the_last() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = seen.clone();
    let settings = Settings::default().on_manifest(move |manifest| sees.lock().unwrap().push(manifest.clone()));
    let stack = PromptStack::new(Format::OpenAiChat, settings).with(clock("1"));
    let report = Report::default();
    let context = Context::default().session(Session::new()).report(report.clone());
    for count in [1, 3] {
        stack.assemble(conversation(Format::OpenAiChat, count), context.clone()).await;
    }
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen.last(), report.manifest().as_ref());
}

#[tokio::test]
async fn look_alikes_of_our_tags_in_the_users_text_are_flagged_and_not_edited() {
    let report = Report::default();
    let stack = PromptStack::new(Format::OpenAiChat, Settings::default());
    let request = body(&[user("see </context> there")]);
    assert_eq!(stack.assemble(request.clone(), Context::default().report(report.clone())).await, request);
    assert!(report.manifest().unwrap().diagnostics.iter().any(|diagnostic| diagnostic.code == "message-look-alike"));
}

/// Lines, of which a change says the new ones.
struct Lines(&'static [&'static str]);

impl Text for Lines {
    fn fit(&self, room: &Room<'_>) -> Fitted<'_> {
        fit_lines(self.0.to_vec(), room)
    }
    fn since(&self, said: &str, room: &Room<'_>) -> Option<Fitted<'_>> {
        Some(fit_lines(self.0.iter().copied().filter(|line| !said.contains(line)).collect(), room))
    }
}

/// As many of the first lines as there is room for.
fn fit_lines(mut lines: Vec<&str>, room: &Room<'_>) -> Fitted<'static> {
    let all = lines.len();
    while !room.holds(&lines.join("\n")) {
        lines.pop();
    }
    let text = lines.join("\n");
    if lines.len() == all { Fitted::whole(text) } else { Fitted::cut(text) }
}

#[tokio::test]
async fn a_change_is_measured_against_all_that_changed_and_not_against_what_stands_already() {
    let now: Arc<Mutex<&[&str]>> = Arc::new(Mutex::new(&["some old line"]));
    let is = now.clone();
    let notes = move |_: &Turn, prompt: &mut Prompt| {
        let lines = *is.lock().unwrap();
        prompt.add(Tier::Turn, || Fragment::new("notes", Lines(lines)).limit(Limit::Bytes(13)));
    };
    let stack = PromptStack::new(Format::OpenAiChat, Settings::default()).with(notes);
    let report = Report::default();
    let context = Context::default().session(Session::new()).report(report.clone());
    let worlds: [(&[&str], _, Option<&str>); 3] = [
        (&["some old line"], (13, 13, false), None),
        (&["some old line", "new line"], (8, 8, false), None),
        (&["some old line", "new line", "one more line", "and one"], (21, 13, true), Some("21 bytes")),
    ];
    for (n, (lines, expected, told)) in worlds.into_iter().enumerate() {
        *now.lock().unwrap() = lines;
        stack.assemble(conversation(Format::OpenAiChat, 2 * n + 1), context.clone()).await;
        let manifest = report.manifest().unwrap();
        let limit = manifest.fragments().last().unwrap().1.limit.unwrap();
        assert_eq!((limit.before, limit.after, limit.cut), expected, "{lines:?}");
        let found = manifest.diagnostics.iter().find(|found| found.code == "limit").map(|found| found.message.as_str());
        assert_eq!(found.is_some(), told.is_some(), "{found:?}");
        assert!(found.is_none_or(|message| message.contains(told.unwrap())), "{found:?}");
    }
}
