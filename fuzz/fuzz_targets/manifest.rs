//! A manifest of any text, as `explain --previous` takes it, and a body to show it with: what is read is written as it was read, differs in nothing from
//! itself, can be told apart from any other, and makes a page that is well-formed and runs nothing.
//!
//! An input is a manifest, and behind lines `===` another one and a body.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quick_xml::events::Event;
use serde_json::Value;
use tower_prompt::layers::Manifest;
use tower_prompt::page;

const BREAK: &str = "\n===\n";

/// What could run, or show something else.
const UNSAFE: [&str; 2] = ["script", "iframe"];

fn is_a_page(html: &str) {
    let mut reader = quick_xml::Reader::from_str(html.strip_prefix("<!DOCTYPE html>\n").expect("it begins so"));
    let mut open = Vec::new();
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {html}")) {
            Event::Start(tag) => {
                is_safe(&tag);
                open.push(tag.name().as_ref().to_owned());
            }
            Event::Empty(tag) => is_safe(&tag),
            Event::End(tag) => assert_eq!(open.pop().as_deref(), Some(tag.name().as_ref()), "{html}"),
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty(), "{html}");
}

fn is_safe(tag: &quick_xml::events::BytesStart<'_>) {
    assert!(!UNSAFE.contains(&tag.name().as_ref()), "{tag:?}");
    for attribute in tag.attributes() {
        let attribute = attribute.unwrap_or_else(|error| panic!("{error}: {tag:?}"));
        assert!(!attribute.key.as_ref().starts_with("on"), "{tag:?}");
        assert!(attribute.key.as_ref() != "href" || attribute.value.starts_with('#'), "{tag:?}");
    }
}

fn is_written_as_it_was_read(manifest: &Manifest) {
    let written = serde_json::to_string(manifest).expect("it is written");
    let again: Manifest = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert!(again == *manifest, "{written}");
    let diff = manifest.diff(&again);
    assert_eq!(diff, manifest.diff(manifest));
    let _ = diff.to_string();
    // These sum up what the file says.
    let _ = (manifest.tokens(), manifest.tokens_by_tier(), manifest.said(), manifest.fragments().count());
    for text in &manifest.texts {
        text.fragments.iter().for_each(|fragment| assert!(text.fragment(fragment).len() <= text.text.len()));
    }
}

fuzz_target!(|text: &str| {
    let parts: Vec<&str> = text.splitn(3, BREAK).collect();
    let manifest = |n: usize| parts.get(n).and_then(|part| serde_json::from_str::<Manifest>(part).ok());
    let (previous, current) = (manifest(0), manifest(1));
    previous.iter().chain(&current).for_each(is_written_as_it_was_read);
    let body: Value = parts.get(2).and_then(|part| serde_json::from_str(part).ok()).unwrap_or_default();
    let Some(current) = current.as_ref().or(previous.as_ref()) else { return };
    if let Some(previous) = &previous {
        assert_eq!(current.diff(previous), current.diff(previous));
        assert!(!current.diff(previous).to_string().is_empty());
    }
    let html = page::html(current, &body, previous.as_ref());
    assert_eq!(page::html(current, &body, previous.as_ref()), html);
    is_a_page(&html);
});
