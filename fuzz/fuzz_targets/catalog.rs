//! The catalog under any limit: never over it, and well-formed XML with every skill in it or counted, or absent.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use quick_xml::events::Event;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::task::{Context as Cx, Poll, Waker};
use tower_prompt::layers::skill::{CatalogOptions, Skill, SkillId, SkillSource, SkillSourceKind, SkillSummary, Skills};
use tower_prompt::layers::wire::OllamaGenerate;
use tower_prompt::layers::{Context, PromptStack, Report, Settings, SkillCatalogLayer};

#[derive(Arbitrary, Debug)]
struct Input {
    skills: Vec<(String, String, String, Vec<String>)>,
    max_bytes: u16,
    max_description_chars: u8,
    keywords: bool,
}

/// Nothing waits here.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Cx::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("no layer of this stack waits"),
    }
}

fuzz_target!(|input: Input| {
    let skill = |(id, name, description, keywords): (String, String, String, Vec<String>)| {
        let source = SkillSource::new(SkillSourceKind::User, name.clone());
        let mut summary = SkillSummary::new(SkillId::new(&id).ok()?, description, source);
        summary.location = format!("/{name}/SKILL.md");
        summary.name = name;
        summary.activation.keywords = keywords;
        Some(Skill::new(summary, String::new()))
    };
    let skills = Skills::new(input.skills.into_iter().filter_map(skill), Vec::new());
    let mut options = CatalogOptions::default();
    options.max_bytes = NonZeroUsize::new(input.max_bytes.into());
    options.max_description_chars = NonZeroUsize::new(input.max_description_chars.into());
    options.include_keywords = input.keywords;
    let stack = PromptStack::new(OllamaGenerate, Settings::default().skills(skills.clone())).with(SkillCatalogLayer::new(options));
    let report = Report::default();
    let sent = ready(stack.assemble(serde_json::json!({"prompt": "hi"}), Context::default().report(report.clone())));
    let Some(text) = sent.get("system").and_then(|system| system.as_str()) else { return };
    if input.max_bytes > 0 {
        assert!(text.len() <= usize::from(input.max_bytes), "{} bytes over {}", text.len(), input.max_bytes);
    }
    let begin = text.find("<available_skills>").expect("a catalog has its list");
    let mut reader = quick_xml::Reader::from_str(&text[begin..]);
    let (mut shown, mut omitted) = (0, 0);
    loop {
        match reader.read_event().expect("it is well-formed") {
            Event::Start(tag) if tag.name().as_ref() == "skill" => shown += 1,
            Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == "omitted" => {
                let count = tag.try_get_attribute("count").expect("it is well-formed").expect("it is counted");
                omitted = count.value.parse().expect("it is a number");
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(shown + omitted, skills.len(), "{text}");
});
