//! **Same input, same bytes; a conversation only grows at its end.** Neither the order of files nor time nor threads change the system prompt; neither
//! a turn, a tool call, an activation, a changed file nor a retry rewrites a byte that was sent; and assembling an assembled request changes nothing.

use super::bodies::CONVERSATIONS;
use super::conversation::{Conversation, Sent};
use super::random::{any_world, bad_text};
use super::steps::{Step, take};
use super::world::some_time;
use crate::place::Place;
use proptest::prelude::*;
use std::fs;
use std::time::Duration;
use tower_prompt::Assembly;
use tower_prompt::layers::wire::Format;

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => bad_text().prop_map(Step::Say),
        3 => bad_text().prop_map(Step::Tool),
        2 => Just(Step::Retry),
        2 => (0..4_usize).prop_map(Step::Activate),
        1 => (0..4_usize).prop_map(Step::Deactivate),
        2 => bad_text().prop_map(Step::Instructions),
        1 => (0..4_usize, bad_text()).prop_map(|(n, text)| Step::Skill(n, text)),
        1 => (0..4_usize).prop_map(Step::Remove),
    ]
}

const CONFIG: &str =
    "skills.auto_activate = 'on'\nskills.max_context_bytes = 3000\nskills.prompt.max_bytes = 2500\nmodel.tool_output.context_chars = 60\n";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn two_runs_over_one_tree_give_one_hash(world in any_world(), seconds in 0..100_000_000_u64) {
        let (place, text) = (Place::new(), "the same words");
        world.put(&place, false);
        let first: Vec<Sent> = Format::ALL.iter().map(|format| Conversation::new(&place.assembly(CONFIG), *format).say(text)).collect();
        // The same files again, made in another order, at another time, read by several threads at once.
        for folder in ["work/skills", "work/deep"] {
            fs::remove_dir_all(place.at(folder)).unwrap();
        }
        world.put(&place, true);
        let environment = place.environment(CONFIG).clock(move || some_time() + Duration::from_secs(seconds));
        let again = Assembly::load(&environment, &place.workspace()).unwrap();
        let again: Vec<Sent> = std::thread::scope(|scope| {
            let run = |format: &Format| { let (again, format) = (again.clone(), *format); scope.spawn(move || Conversation::new(&again, format).say(text)) };
            let threads: Vec<_> = Format::ALL.iter().map(run).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (one, other) in first.iter().zip(&again) {
            prop_assert_eq!(one.system(), other.system());
            prop_assert!(one.manifest.system_hash.is_some() && one.manifest.system_hash == other.manifest.system_hash);
        }
    }

    #[test]
    fn a_conversation_only_grows_at_its_end(world in any_world(), steps in prop::collection::vec(any_step(), 1..16)) {
        for format in CONVERSATIONS {
            let place = Place::new();
            world.put(&place, false);
            let assembly = place.assembly(CONFIG);
            let mut talk = Conversation::new(&assembly, format);
            let mut before: Option<Sent> = None;
            for step in &steps {
                let Some(sent) = take(step, &mut talk, &place, &assembly, &world) else { continue };
                if let Some(before) = &before {
                    prop_assert!(sent.extends(before), "{} at {:?}:\n{:#}\n{:#}", format, step, before.body, sent.body);
                    if matches!(step, Step::Retry) {
                        prop_assert_eq!(&sent.body, &before.body, "a retry in {}", format);
                    }
                }
                // What was assembled already is assembled: a proxy behind a proxy, a host that keeps what it sent.
                prop_assert_eq!(&talk.send_body(sent.body.clone()).body, &sent.body, "assembled twice in {}", format);
                before = Some(sent);
            }
        }
    }

    #[test]
    fn a_conversation_that_no_one_named_grows_at_its_end_too(world in any_world(), words in prop::collection::vec(bad_text(), 1..6)) {
        use super::bodies::{Message, body, prefix};
        use super::conversation::wait;
        use tower_prompt::layers::Context;
        let place = Place::new();
        world.put(&place, false);
        let assembly = place.assembly(CONFIG);
        for format in CONVERSATIONS {
            let stack = assembly.stack(format);
            let (mut messages, mut before) = (Vec::new(), Vec::new());
            for (n, text) in words.iter().enumerate() {
                messages.push(Message::User(text.clone()));
                place.write("work/AGENTS.md", format!("{n} {text}"));
                let context = || Context::default().scope("caller");
                let sent = wait(stack.assemble(body(format, &messages), context()));
                prop_assert_eq!(&wait(stack.assemble(body(format, &messages), context())), &sent);
                let now = prefix(&sent);
                prop_assert!(now.starts_with(&before), "{}: {:#?}\n{:#?}", format, before, now);
                before = now;
                messages.push(Message::Assistant("Done.".into()));
            }
        }
    }
}
