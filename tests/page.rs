//! The page that shows a request: all of it, byte for byte, whatever stands in it.

use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tower_prompt::layers::text::{Limit, escape};
use tower_prompt::layers::wire::Format;
use tower_prompt::layers::{
    AnchorKey, Context, Diagnostic, Fragment, Manifest, Prompt, PromptStack, Report, Session, Settings, Source, Tier, Trust, Turn,
};
use tower_prompt::page;

/// An element with all text in it.
#[derive(Clone, Default, Debug)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
}

impl Element {
    fn is(&self, name: &str, class: &str) -> bool {
        self.name == name && self.attributes.get("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
    }
}

fn unescaped(text: &str) -> String {
    quick_xml::escape::unescape(text).unwrap().into_owned()
}

/// The elements of a page in the order in which they end, by another's reading of it: it is well-formed.
#[track_caller]
fn elements(html: &str) -> Vec<Element> {
    let mut reader = Reader::from_str(html);
    let (mut open, mut all): (Vec<Element>, Vec<Element>) = (Vec::new(), Vec::new());
    loop {
        let event = reader.read_event().expect("it is well-formed");
        match &event {
            Event::Start(tag) | Event::Empty(tag) => {
                let name = unescaped(tag.name().as_ref());
                let attribute = |one: quick_xml::events::attributes::Attribute<'_>| (unescaped(one.key.as_ref()), unescaped(&one.value));
                let attributes = tag.attributes().map(|one| attribute(one.expect("it is well-formed"))).collect();
                let element = Element { name, attributes, text: String::new() };
                if matches!(event, Event::Empty(_)) { all.push(element) } else { open.push(element) }
            }
            Event::Text(text) => open.iter_mut().for_each(|element| element.text.push_str(&unescaped(text))),
            Event::GeneralRef(name) => {
                let text = unescaped(&format!("&{};", &**name));
                open.iter_mut().for_each(|element| element.text.push_str(&text));
            }
            Event::End(_) => all.extend(open.pop()),
            Event::Eof => break,
            Event::DocType(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(open.is_empty());
    all
}

/// Nothing of it runs, and nothing of it comes from outside or leads there.
#[track_caller]
fn is_harmless(elements: &[Element]) {
    let names = [
        "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "p", "b", "i", "em", "strong", "span", "div", "dl",
        "dt", "dd", "a", "nav", "details", "summary", "ul", "ol", "li", "label", "input", "main", "section", "code", "pre", "footer",
    ];
    for Element { name, attributes, text } in elements {
        assert!(names.contains(&&**name), "<{name}>");
        for (attribute, value) in attributes {
            assert!(!attribute.starts_with("on") && attribute != "src", "{attribute}");
            assert!(attribute != "href" || value.starts_with('#'), "{value}");
            assert!(attribute != "style" || value.strip_prefix("flex-grow:").is_some_and(|n| n.parse::<u64>().is_ok()), "{value}");
        }
        assert!(name != "style" || !(text.contains("url(") || text.contains("@import")));
    }
    assert!(
        elements.iter().any(|element| element.attributes.get("content").is_some_and(|policy| policy.starts_with("default-src 'none'")))
    );
}

/// What a reader sees of a text.
fn seen(text: &str) -> String {
    let is_hidden = |c: char| c == '\r' || (escape::is_invisible(c) && c != '\n' && c != '\t');
    text.chars().map(|c| if is_hidden(c) { format!("U+{:04X}", c as u32) } else { c.to_string() }).collect()
}

/// Each fragment stands in it whole, in its order.
#[track_caller]
fn shows(html: &str, manifest: &Manifest) -> Vec<Element> {
    let elements = elements(html);
    is_harmless(&elements);
    let bodies: Vec<&str> = elements.iter().filter(|element| element.is("pre", "body")).map(|element| &*element.text).collect();
    let expected =
        manifest.texts.iter().flat_map(|text| text.fragments.iter().map(|fragment| format!("\n{}", seen(text.fragment(fragment)))));
    let mut bodies = bodies.into_iter();
    for expected in expected {
        assert!(bodies.any(|body| body == expected), "{expected}");
    }
    let ids: Vec<String> =
        elements.iter().filter(|element| element.is("details", "fragment")).map(|one| one.attributes["id"].clone()).collect();
    assert_eq!(ids, (1..=manifest.fragments().count()).map(|n| format!("f{n}")).collect::<Vec<_>>());
    elements
}

const HOSTILE: &str =
    "</pre></details></section><script>alert(1)</script><img src=x onerror=alert(1)> \"' --> ]]> &amp; \u{202e}\u{200b}\u{feff}\r\n\u{0}x";

/// What a layer says, which the test changes.
fn stack(format: Format, said: &Arc<Mutex<String>>) -> PromptStack<Format> {
    let said = said.clone();
    let layer = move |_: &Turn, prompt: &mut Prompt| {
        let text = said.lock().unwrap().clone();
        prompt.add(Tier::Stable, || Fragment::new("base", "BASE"));
        prompt.add(Tier::Session, || Fragment::new(text.clone(), text.clone()).trust(Trust::Repository).source(Source::file(text.clone())));
        prompt.add(Tier::Turn, || Fragment::new("clock", text.clone()).limit(Limit::Chars(60)));
        prompt.diagnose(Diagnostic::warning("odd", text.clone()).at(text.clone()).line(3));
    };
    PromptStack::new(format, Settings::default()).with(layer)
}

fn conversation(format: Format, texts: &[&str]) -> Value {
    let role = |n: usize, model: &str| if n.is_multiple_of(2) { "user".to_owned() } else { model.to_owned() };
    let list = |field: &str, model: &str, content: &dyn Fn(&str) -> Value| -> Value {
        texts.iter().enumerate().map(|(n, text)| json!({"role": role(n, model), field: content(text)})).collect()
    };
    match format {
        Format::OpenAiResponses => json!({"instructions": "OWN", "input": list("content", "assistant", &|text| json!(text))}),
        Format::Gemini => {
            json!({"systemInstruction": {"parts": [{"text": "OWN"}]}, "contents": list("parts", "model", &|text| json!([{"text": text}]))})
        }
        Format::OllamaGenerate => json!({"system": "OWN", "prompt": texts[texts.len() - 1]}),
        Format::Anthropic => json!({"system": "OWN", "messages": list("content", "assistant", &|text| json!(text))}),
        _ => {
            let mut messages = list("content", "assistant", &|text| json!(text));
            messages.as_array_mut().unwrap().insert(0, json!({"role": "system", "content": "OWN"}));
            json!({"messages": messages})
        }
    }
}

async fn send(stack: &PromptStack<Format>, session: &Session, body: Value) -> (Value, Manifest) {
    let report = Report::default();
    let sent = stack.assemble(body, Context::default().session(session.clone()).report(report.clone())).await;
    (sent, report.manifest().unwrap())
}

fn callers(elements: &[Element]) -> Vec<&str> {
    let own = elements.iter().filter(|element| element.is("details", "own"));
    own.filter_map(|element| element.text.split_once("\n\n").map(|(_, text)| text.trim_end())).collect()
}

#[tokio::test]
async fn in_each_format_all_fragments_stand_in_it_and_the_callers_words_between() {
    for format in Format::ALL {
        let said = Arc::new(Mutex::new("one".to_owned()));
        let (stack, session) = (stack(format, &said), Session::new());
        let talk = ["first words", "an answer", "second words"];
        let mut last = None;
        for count in [1, 3] {
            let (sent, manifest) = send(&stack, &session, conversation(format, &talk[..count])).await;
            *said.lock().unwrap() = "two".to_owned();
            let elements = shows(&page::html(&manifest, &sent, last.as_ref()), &manifest);
            let expected = if format == Format::OllamaGenerate { &talk[count - 1..count] } else { &talk[..count] };
            assert_eq!(callers(&elements), [&["OWN"], expected].concat(), "{format}");
            assert!(!elements.iter().any(|element| element.text == "not found in the body"), "{format}");
            last = Some(manifest);
        }
    }
}

#[tokio::test]
async fn hostile_text_does_not_break_out_of_it() {
    for format in Format::ALL {
        let said = Arc::new(Mutex::new(HOSTILE.to_owned()));
        let (stack, session) = (stack(format, &said), Session::new());
        let (sent, manifest) = send(&stack, &session, conversation(format, &[HOSTILE])).await;
        let html = page::html(&manifest, &sent, None);
        let elements = shows(&html, &manifest);
        assert_eq!(callers(&elements).last().unwrap().trim(), seen(HOSTILE).trim(), "{format}");
        assert!(!html.contains("<script") && !html.contains("<img"), "{format}");
    }
}

proptest! {
    #[test]
    fn any_text_is_shown(text in any::<String>(), words in any::<String>()) {
        let said = Arc::new(Mutex::new(text));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let stack = stack(Format::OpenAiChat, &said);
        let (sent, manifest) = runtime.block_on(send(&stack, &Session::new(), conversation(Format::OpenAiChat, &[&words])));
        shows(&page::html(&manifest, &sent, None), &manifest);
    }
}

#[tokio::test]
async fn what_changed_since_the_request_before_is_shown() {
    let said = Arc::new(Mutex::new("one".to_owned()));
    let (stack, session) = (stack(Format::OpenAiChat, &said), Session::with_key(AnchorKey::public()));
    let (_, first) = send(&stack, &session, conversation(Format::OpenAiChat, &["a"])).await;
    *said.lock().unwrap() = "two".to_owned();
    session.rebase();
    let (sent, second) = send(&stack, &session, conversation(Format::OpenAiChat, &["a", "b", "c"])).await;
    let elements = shows(&page::html(&second, &sent, Some(&first)), &second);
    let panel = elements.iter().find(|element| element.is("section", "broken")).expect("it says that the prefix broke");
    assert!(panel.text.contains("we changed the system prompt from byte 6 on, in two"), "{}", panel.text);
    assert!(panel.text.contains("removed one in the system prompt") && panel.text.contains("added clock"), "{}", panel.text);

    // Alone it says what the session knows.
    let elements = shows(&page::html(&second, &sent, None), &second);
    assert!(elements.iter().any(|element| element.is("section", "broken")));
}

#[tokio::test]
async fn what_was_cut_and_what_was_noticed_is_shown() {
    let said = Arc::new(Mutex::new("word ".repeat(40)));
    let (sent, manifest) = send(&stack(Format::Anthropic, &said), &Session::new(), conversation(Format::Anthropic, &["hi"])).await;
    let elements = shows(&page::html(&manifest, &sent, None), &manifest);
    let panel = |title: &str| elements.iter().find(|one| one.is("section", "panel") && one.text.starts_with(title)).unwrap().text.clone();
    assert!(panel("What was cut").contains("of 200, limit 60 characters"), "{}", panel("What was cut"));
    assert!(panel("What was noticed").contains("odd"));
    assert!(elements.iter().any(|element| element.is("em", "cut") && element.text.contains("of 200 characters")));
}

#[tokio::test]
async fn a_body_of_another_request_and_a_manifest_that_lies_are_shown_all_the_same() {
    let said = Arc::new(Mutex::new("one".to_owned()));
    let (_, manifest) = send(&stack(Format::OpenAiChat, &said), &Session::new(), conversation(Format::OpenAiChat, &["a"])).await;
    for body in [json!(null), json!([]), json!({"messages": [1, "x", {"content": {"a": 1}}]}), json!({"input": 7})] {
        shows(&page::html(&manifest, &body, None), &manifest);
    }
    let mut lies = serde_json::to_value(&manifest).unwrap();
    for text in lies["texts"].as_array_mut().unwrap() {
        for fragment in text["fragments"].as_array_mut().unwrap() {
            (fragment["offset"], fragment["bytes"], fragment["tokens"]) = (json!(usize::MAX), json!(usize::MAX), json!(usize::MAX));
        }
    }
    for tier in ["stable", "session"] {
        lies["totals"][tier]["tokens"] = json!(usize::MAX);
    }
    let lies: Manifest = serde_json::from_value(lies).unwrap();
    for (now, before) in [(&manifest, &lies), (&lies, &manifest), (&lies, &lies)] {
        is_harmless(&elements(&page::html(now, &json!({}), Some(before))));
    }
}

#[tokio::test]
async fn tools_are_told_with_their_layer_their_size_and_why_one_is_left_out() {
    use tower_prompt::layers::wire::ToolDefinition;
    let hostile = "</code><script>alert(1)</script>";
    let layer = move |_: &Turn, prompt: &mut Prompt| {
        for (name, description) in [("clock", "Tells the time."), (hostile, "x"), ("clock", "Again.")] {
            prompt.add_tool(ToolDefinition::new(name, description, json!({"type": "object"})));
        }
    };
    let report = Report::default();
    let stack = PromptStack::new(Format::Anthropic, Settings::default()).with(layer);
    let request = json!({"messages": [{"role": "user", "content": "hi"}]});
    let sent = stack.assemble(request, Context::default().report(report.clone())).await;
    let manifest = report.manifest().unwrap();
    let html = page::html(&manifest, &sent, None);
    let all = elements(&html);
    let list = all.iter().find(|element| element.is("ul", "tools")).unwrap();
    let rows: Vec<&str> = list.text.lines().filter(|line| !line.is_empty()).collect();
    assert!(rows[0].starts_with("clock by "), "{rows:?}");
    assert!(rows[0].contains(&format!("{} tokens", manifest.tools[0].tokens)) && !rows[0].contains("left out"), "{rows:?}");
    assert!(rows[1].starts_with(hostile) && rows[1].ends_with("left out not all providers take this name"), "{rows:?}");
    assert!(rows[2].ends_with("left out a layer ahead proposed a tool of this name"), "{rows:?}");
    assert!(!all.iter().any(|element| element.name == "script"));
    let facts = all.iter().find(|element| element.is("dl", "facts")).unwrap();
    assert!(facts.text.contains("tools") && facts.text.contains("1 tool"), "{}", facts.text);

    let mut before = manifest.clone();
    before.tools = Vec::new().into();
    let changed = page::html(&manifest, &sent, Some(&before));
    assert!(changed.contains("the tool <code>clock</code>, 0 → "), "{changed}");
}
