//! **Limits hold.** The output of a limited thing, its marker and closing tags included, is never over its limit, and never cut inside a character, an
//! escape or a tag. What was left out is always in the manifest. Without a limit all text passes whole.

use super::bodies::{all_text, results};
use super::conversation::{Conversation, Sent, id};
use super::world::{World, any_world, bad_text};
use crate::place::Place;
use proptest::prelude::*;
use quick_xml::events::Event;
use tower_prompt::Assembly;
use tower_prompt::layers::text::{EstimatedTokens, Limit, TokenCounter, escape};
use tower_prompt::layers::wire::Format;
use tower_prompt::layers::{Fragment, Prompt, Tier, Turn};

/// Numbers of the configuration; none: no limit.
#[derive(Clone, Debug)]
struct Limits {
    catalog_bytes: Option<usize>,
    description_chars: Option<usize>,
    bodies_bytes: Option<usize>,
    instructions_chars: Option<usize>,
    invariants_chars: Option<usize>,
    output_chars: Option<usize>,
    lines: bool,
    /// Of a layer of the host's own, which may be nothing.
    own: Limit,
}

impl Limits {
    const NONE: Self = Self {
        catalog_bytes: None,
        description_chars: None,
        bodies_bytes: None,
        instructions_chars: None,
        invariants_chars: None,
        output_chars: None,
        lines: false,
        own: Limit::None,
    };

    fn toml(&self) -> String {
        let row = |key: &str, limit: Option<usize>| limit.map_or(String::new(), |limit| format!("{key} = {limit}\n"));
        [
            row("skills.prompt.max_bytes", self.catalog_bytes),
            row("skills.prompt.max_description_chars", self.description_chars),
            row("skills.max_context_bytes", self.bodies_bytes),
            row("system_prompt.repository_instructions_max_chars", self.instructions_chars),
            row("system_prompt.repository_invariants_max_chars", self.invariants_chars),
            row("model.tool_output.context_chars", self.output_chars),
            format!("skills.prompt.format = '{}'\n", if self.lines { "lines" } else { "xml" }),
            "skills.auto_activate = 'off'\n".to_owned(),
        ]
        .concat()
    }
}

fn any_limits() -> impl Strategy<Value = Limits> {
    let limit = |most: usize| prop::option::weighted(0.8, 1..most);
    let own = (0..400_usize, 0..3_usize).prop_map(|(n, unit)| [Limit::Bytes(n), Limit::Chars(n), Limit::Tokens(n)][unit]);
    let numbers = (limit(4000), limit(200), limit(3000), limit(2000), limit(1500), limit(300));
    (numbers, any::<bool>(), own).prop_map(|((catalog, description, bodies, instructions, invariants, output), lines, own)| Limits {
        catalog_bytes: catalog,
        description_chars: description,
        bodies_bytes: bodies,
        instructions_chars: instructions,
        invariants_chars: invariants,
        output_chars: output,
        lines,
        own,
    })
}

fn size(text: &str, limit: Limit) -> usize {
    match limit {
        Limit::Chars(_) => text.chars().count(),
        Limit::Tokens(_) => EstimatedTokens.count(text),
        _ => text.len(),
    }
}

/// The requests of one conversation: an opening with two skills in force, a tool's result, a third skill, another message.
fn conversation(assembly: &Assembly, format: Format, limits: &Limits, own: &str, output: &str) -> Vec<Sent> {
    let (limit, own) = (limits.own, own.to_owned());
    let stack = assembly.stack(format).with(move |_: &Turn, prompt: &mut Prompt| {
        prompt.add(Tier::Turn, || Fragment::new("own", own.clone()).limit(limit));
    });
    let mut talk = Conversation::of(stack, format);
    for n in 0..2 {
        talk.session.activate(id(&format!("skill-{n}")), None);
    }
    let mut sent = vec![talk.say("hi")];
    sent.push(talk.call_a_tool(output));
    talk.session.activate(id("skill-2"), None);
    sent.push(talk.call_a_tool(output));
    sent.push(talk.say("and now?"));
    sent
}

fn is_within(sent: &Sent, limits: &Limits, world: &World) -> Result<(), TestCaseError> {
    let within = |what: &str, size: usize, limit: Option<usize>| {
        prop_assert!(limit.is_none_or(|limit| size <= limit), "{} of {} over {:?}", size, what, limit);
        Ok(())
    };
    let bytes = |id: &str| sent.of(id).iter().map(|text| text.len()).sum::<usize>();
    let chars = |id: &str| sent.of(id).iter().map(|text| text.chars().count()).sum::<usize>();
    within("catalog", bytes("skill_catalog"), limits.catalog_bytes)?;
    within("bodies", bytes("active_skill:"), limits.bodies_bytes)?;
    within("instructions", chars("instructions:"), limits.instructions_chars)?;
    within("invariants", chars("repository_invariants"), limits.invariants_chars)?;
    within("own", sent.of("own").iter().map(|text| size(text, limits.own)).max().unwrap_or_default(), limits.own.amount())?;
    for result in results(&sent.body) {
        within("tool output", result.chars().count(), limits.output_chars)?;
    }
    for text in sent.of("skill_catalog") {
        is_a_catalog(text, limits, world)?;
    }
    for (path, text) in ["work/AGENTS.md", "work/deep/AGENTS.md"].iter().zip(&world.instructions) {
        let name = path.strip_prefix("work/").unwrap_or_default();
        for block in sent.of(&format!("instructions:{name}")) {
            is_a_block(block, "instructions", text)?;
        }
    }
    for text in sent.of("repository_invariants") {
        is_a_block(text, "repository_invariants", &world.invariants)?;
    }
    for text in sent.of("active_skill:") {
        prop_assert!(text.starts_with("<skill id=\"") && text.ends_with("\n</skill>"), "{}", text);
    }
    Ok(())
}

/// Well-formed, each skill in it or counted, each description within its limit.
fn is_a_catalog(text: &str, limits: &Limits, world: &World) -> Result<(), TestCaseError> {
    if limits.lines {
        return Ok(());
    }
    let list = text.find("<available_skills>").map(|at| &text[at..]);
    let mut reader = quick_xml::Reader::from_str(list.expect("a catalog has its list"));
    let (mut shown, mut omitted, mut chars, mut in_description) = (0, 0, 0, false);
    loop {
        match reader.read_event().map_err(|error| TestCaseError::fail(format!("{error}: {text}")))? {
            Event::Start(tag) if tag.name().as_ref() == "skill" => shown += 1,
            Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == "omitted" => {
                let count = tag.try_get_attribute("count").unwrap().expect("it is counted");
                omitted = count.value.parse::<usize>().unwrap();
            }
            Event::Start(tag) if tag.name().as_ref() == "description" => (chars, in_description) = (0, true),
            Event::End(tag) if tag.name().as_ref() == "description" => {
                in_description = false;
                prop_assert!(limits.description_chars.is_none_or(|max| chars <= max), "{} characters: {}", chars, text);
            }
            Event::Text(text) if in_description => chars += text.chars().count(),
            Event::GeneralRef(_) if in_description => chars += 1,
            Event::Eof => break,
            _ => {}
        }
    }
    prop_assert_eq!(shown + omitted, world.skills.len(), "{}", text);
    Ok(())
}

/// A block with a beginning of this prose in it, which tears no escape.
fn is_a_block(block: &str, tag: &str, prose: &str) -> Result<(), TestCaseError> {
    let inner = block.strip_suffix(&format!("\n</{tag}>")).and_then(|block| block.strip_prefix(&format!("<{tag}")));
    let Some((_, inner)) = inner.and_then(|inner| inner.split_once('\n')) else {
        return Err(TestCaseError::fail(format!("no whole block of {tag}: {block}")));
    };
    let whole = escape::prose(prose, &[tag]);
    let is_marker = |line: &str| line.starts_with('[') && line.contains(" bytes cut");
    let kept = inner.rsplit_once('\n').filter(|(_, last)| is_marker(last)).map_or(inner, |(kept, _)| kept);
    let kept = if is_marker(kept) { "" } else { kept };
    prop_assert!(whole.starts_with(kept), "{:?} is no beginning of {:?}", kept, whole);
    let before = kept.rfind('&').map(|at| &whole[at..]);
    let reference = before
        .and_then(|rest| rest.find(';').map(|end| &rest[..=end]))
        .filter(|text| text.len() > 2 && text[1..text.len() - 1].chars().all(|c| c.is_ascii_alphanumeric() || c == '#'));
    prop_assert!(reference.is_none_or(|reference| kept.contains(reference)), "torn: {:?}", kept);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn nothing_is_over_its_limit_or_torn_and_what_was_cut_is_told(
        world in any_world(), limits in any_limits(), own in bad_text(), output in bad_text(),
    ) {
        let (place, output) = (Place::new(), output.repeat(3));
        world.put(&place, false);
        let assembly = place.assembly(&limits.toml());
        for format in Format::ALL {
            for sent in conversation(&assembly, format, &limits, &own, &output) {
                is_within(&sent, &limits, &world)?;
                for (fragment, _) in sent.fragments().filter(|(fragment, _)| fragment.limit.is_some_and(|limit| limit.before > limit.after)) {
                    prop_assert!(fragment.limit.is_some_and(|limit| limit.cut), "{:?}", fragment);
                }
            }
            // At the start: what there is stands there, or it is told why not.
            let first = &conversation(&assembly, format, &limits, &own, &output)[0];
            for expected in ["skill_catalog", "instructions:AGENTS.md", "instructions:deep/AGENTS.md", "repository_invariants", "active_skill:skill-0", "own"] {
                let cut = first.fragments().find(|(fragment, _)| fragment.id == expected).map(|(fragment, _)| fragment.limit.is_some_and(|limit| limit.cut));
                let is_told = first.told("limit").iter().any(|message| message.starts_with(&format!("`{expected}` was ")));
                prop_assert_eq!(is_told, cut != Some(false), "{} in {}: {:?}", expected, format, first.manifest.diagnostics);
            }
        }
    }

    #[test]
    fn without_a_limit_all_text_passes_whole(world in any_world(), own in bad_text(), output in bad_text()) {
        let place = Place::new();
        world.put(&place, false);
        let assembly = place.assembly(&Limits::NONE.toml());
        for format in Format::ALL {
            for sent in conversation(&assembly, format, &Limits::NONE, &own, &output) {
                prop_assert!(sent.told("limit").is_empty() && sent.told("budget").is_empty());
                prop_assert!(results(&sent.body).iter().all(|result| *result == output));
                let (system, all) = (sent.system(), all_text(&sent.body));
                let prose = world.instructions.iter().chain([&world.invariants, &world.skills[0].body]);
                for whole in prose.map(|text| escape::prose(text.trim(), &[]).into_owned()) {
                    prop_assert!(system.contains(&whole), "{:?} is not in {:?}", whole, system);
                }
                for skill in &world.skills {
                    let described = format!("<description>{}</description>", escape::text(&skill.description));
                    prop_assert!(system.contains(&described), "{:?} is not in {:?}", described, system);
                }
                // In a block that Render itself puts around it, a text closes none: the one sign that changes.
                let signs = |text: &str| text.replace('(', "<");
                prop_assert!(signs(&all).contains(&signs(own.trim_end())), "{}", all);
            }
        }
    }
}
