//! **Limits hold.** The output of a limited thing, its marker and closing tags included, is never over its limit, and never cut inside a character, an
//! escape or a tag. What was left out is always in the manifest. Without a limit all text passes whole.

use super::bodies::{all_text, results};
use super::conversation::{Conversation, Sent, id};
use super::measured::{Limits, is_a_block, is_a_catalog, sizes_hold};
use super::random::{any_world, bad_text};
use super::world::World;
use crate::place::Place;
use proptest::prelude::*;
use tower_prompt::Assembly;
use tower_prompt::layers::text::{Limit, escape};
use tower_prompt::layers::wire::Format;
use tower_prompt::layers::{Fragment, Prompt, Tier, Turn};

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

/// The requests of one conversation: an opening with two skills in force, a tool's result, a third skill, another message, skills in
/// place of others.
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
    // In place of one that is switched off, and that one anew.
    talk.session.deactivate(&id("skill-0"));
    talk.session.activate(id("skill-3"), None);
    sent.push(talk.say("and then?"));
    talk.session.deactivate(&id("skill-1"));
    talk.session.activate(id("skill-0"), None);
    sent.push(talk.call_a_tool(output));
    sent
}

fn is_within(sent: &Sent, limits: &Limits, world: &World) -> Result<(), String> {
    sizes_hold(sent, limits)?;
    for text in sent.of("skill_catalog") {
        is_a_catalog(text, limits, world.skills.len())?;
    }
    for (name, text) in ["AGENTS.md", "deep/AGENTS.md"].iter().zip(&world.instructions) {
        for block in sent.of(&format!("instructions:{name}")) {
            is_a_block(block, "instructions", text)?;
        }
    }
    for text in sent.of("repository_invariants") {
        is_a_block(text, "repository_invariants", &world.invariants)?;
    }
    let is_whole = |text: &&str| text.starts_with("<skill id=\"") && text.ends_with("\n</skill>");
    sent.of("active_skill:").iter().find(|text| !is_whole(text)).map_or(Ok(()), |torn| Err((*torn).to_owned()))
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
                is_within(&sent, &limits, &world).map_err(TestCaseError::fail)?;
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
