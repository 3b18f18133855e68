//! **The host decides.** Every setting of `bcode.toml` can be made in code, each layer left out, replaced or put elsewhere.

use super::conversation::{Conversation, Sent, id};
use crate::place::Place;
use std::collections::BTreeSet;
use tower_prompt::Assembly;
use tower_prompt::config::{KEYS, Key, KeyKind, Loader};
use tower_prompt::layers::wire::Format;
use tower_prompt::layers::{AddLayer, Context, Contribute, Fragment, OpenLayer, Prompt, PromptStack, RenderLayer, Tier, Turn};

/// A value that is not the default, in TOML.
fn another(key: &Key) -> &'static str {
    match (key.path, &key.kind) {
        (_, KeyKind::Bool) => {
            if key.default == Some("true") {
                "false"
            } else {
                "true"
            }
        }
        (_, KeyKind::NonZero | KeyKind::OptionalNonZero) => "77",
        (_, KeyKind::OneOf(words)) => {
            words.iter().rev().find(|word| key.default != Some(&format!("'{word}'"))).copied().map(quoted).unwrap()
        }
        // A relative one hangs from the file that sets it.
        ("skills.sources.paths", _) => "['/word']",
        ("proxy.listen", _) => "'127.0.0.1:1'",
        ("proxy.upstream", _) => "'http://a.b'",
        ("proxy.store", _) => "'sqlite:sessions.db'",
        ("composition.active_profile", _) => "'base'",
        ("composition.layer_order", _) => "['defaults', 'config', 'profile:active']",
        ("composition.profiles.ID.extends", _) => "['base']",
        ("composition.profiles.ID.patch", _) => "{ skills = { enabled = false } }",
        (_, KeyKind::Array(KeyKind::RoutingRule)) => "[{ intent = 'x' }]",
        (_, KeyKind::Array(KeyKind::OneOf(_))) => "['brute']",
        (_, KeyKind::Array(_)) => "['word']",
        _ => "'word'",
    }
}

/// Words of the table, as TOML.
fn quoted(word: &'static str) -> &'static str {
    Box::leak(format!("'{word}'").into_boxed_str())
}

#[test]
fn each_setting_of_a_file_can_be_made_in_code_and_is_the_same() {
    for key in KEYS {
        let path = key.path.replace("NAME", "bash").replace("ID", "other");
        let value = another(key);
        let place = Place::new();
        let base = place.write("home/.config/bcode/bcode.toml", "[composition.profiles.base]\n");
        let (environment, workspace) = (place.environment(""), place.workspace());
        let untouched = Loader::new(&environment, &workspace).load().unwrap();
        let table: toml::Table = format!("value = {value}").parse().unwrap();
        let in_code = Loader::new(&environment, &workspace)
            .set(&*path, table["value"].clone())
            .load()
            .unwrap_or_else(|error| panic!("{path} = {value}: {error}"));
        drop(base);
        place.write("work/bcode.toml", format!("{path} = {value}\n"));
        let in_a_file = Loader::new(&environment, &workspace).load().unwrap();
        assert_eq!(format!("{:?}", in_code.config), format!("{:?}", in_a_file.config), "{path} = {value}: {:?}", in_a_file.findings);
        assert_ne!(format!("{:?}", in_code.config), format!("{:?}", untouched.config), "{path} = {value} changes nothing");
    }
}

fn place() -> Place {
    let place = Place::new();
    place.skill("one", "About gadgets.", "Body of one.");
    place.write("work/skills/two.md", "---\ndescription: d\nkeywords: [sprocket wheel]\n---\nBody of two.");
    place.write("work/AGENTS.md", "Rules.");
    place.write("work/INVARIANTS.md", "* One.");
    place
}

type With = Box<dyn Fn(PromptStack<Format>) -> PromptStack<Format>>;

/// Each layer of the usual stack, by the name that the manifest has for it.
fn layers(assembly: &Assembly) -> Vec<(&'static str, With)> {
    fn with<L: Contribute + Clone + 'static>(layer: L) -> With {
        Box::new(move |stack| stack.with(layer.clone()))
    }
    vec![
        ("SystemPromptLayer", with(assembly.system_prompt())),
        ("UserAuthorityLayer", with(assembly.user_authority().unwrap())),
        ("InvariantsLayer", with(assembly.invariants().unwrap())),
        ("SectionsLayer", with(assembly.sections())),
        ("SkillCatalogLayer", with(assembly.skill_catalog().unwrap())),
        ("SkillToolLayer", with(assembly.skill_tool_layer().unwrap())),
        ("ActiveSkillsLayer", with(assembly.active_skills())),
        ("SkillActivationLayer", with(assembly.skill_activation())),
        ("ToolOutputLayer", with(assembly.tool_output())),
    ]
}

fn said(stack: PromptStack<Format>, format: Format) -> Sent {
    let mut talk = Conversation::of(stack, format);
    talk.session.activate(id("one"), None);
    talk.say("The sprocket wheel is loose.")
}

/// Id and layer of each fragment.
fn fragments(sent: &Sent) -> BTreeSet<(String, String)> {
    sent.fragments().map(|(fragment, _)| (fragment.id.clone(), fragment.layer.clone())).collect()
}

#[test]
fn each_layer_can_be_left_out_and_the_others_say_what_they_said() {
    let place = place();
    let assembly = place.assembly("").answer_skill_tool();
    for format in Format::ALL {
        let all = layers(&assembly);
        let stack_of = |skip: Option<&str>| {
            let bare = PromptStack::new(format, assembly.settings());
            all.iter().filter(|(name, _)| Some(*name) != skip).fold(bare, |stack, (_, with)| with(stack))
        };
        let whole = said(stack_of(None), format);
        assert_eq!(fragments(&whole), fragments(&said(assembly.stack(format), format)), "the usual stack is these layers");
        for (name, _) in &all {
            let without = said(stack_of(Some(name)), format);
            let others = fragments(&whole).into_iter().filter(|(_, layer)| layer != name).collect::<BTreeSet<_>>();
            assert_eq!(fragments(&without), others, "{name} in {format}");
            assert_eq!(whole.manifest.added_tools().next().is_none(), format == Format::OllamaGenerate, "{format}");
            assert_eq!(
                without.manifest.added_tools().next().is_none(),
                *name == "SkillToolLayer" || format == Format::OllamaGenerate,
                "{name} {format}"
            );
        }
    }
}

#[test]
fn the_order_of_layers_is_the_order_of_their_fragments() {
    let place = place();
    let assembly = place.assembly("").answer_skill_tool();
    for format in Format::ALL {
        let all = layers(&assembly);
        let bare = || PromptStack::new(format, assembly.settings());
        let forward = said(all.iter().fold(bare(), |stack, (_, with)| with(stack)), format);
        let backward = said(all.iter().rev().fold(bare(), |stack, (_, with)| with(stack)), format);
        for tier in [Tier::Stable, Tier::Session] {
            let order = |sent: &Sent| {
                let mut layers: Vec<String> =
                    sent.fragments().filter(|(fragment, _)| fragment.tier == tier).map(|(fragment, _)| fragment.layer.clone()).collect();
                layers.dedup();
                layers
            };
            let mut turned = order(&backward);
            turned.reverse();
            assert_eq!(order(&forward), turned, "{tier:?} in {format}");
        }
        assert_eq!(fragments(&forward), fragments(&backward), "{format}");
    }
}

#[test]
fn a_layer_of_the_hosts_own_stands_in_for_any_fragment() {
    let place = place();
    let assembly = place.assembly("");
    for format in Format::ALL {
        let usual = said(assembly.stack(format), format);
        let stable: Vec<String> =
            usual.fragments().filter(|(fragment, _)| fragment.tier <= Tier::Session).map(|(fragment, _)| fragment.id.clone()).collect();
        assert!(stable.len() > 6, "{stable:?}");
        for id in stable {
            let (own, tier) = (id.clone(), usual.fragments().find(|(fragment, _)| fragment.id == id).unwrap().0.tier);
            let mine = move |_: &Turn, prompt: &mut Prompt| prompt.add(tier, || Fragment::new(own.clone(), "The host's own."));
            let bare = PromptStack::new(format, assembly.settings()).with(mine);
            let stack = layers(&place.assembly("").answer_skill_tool()).iter().fold(bare, |stack, (_, with)| with(stack));
            let said = said(stack, format);
            assert_eq!(
                said.fragments().filter(|(fragment, text)| fragment.id == id && *text == "The host's own.").count(),
                1,
                "{id} in {format}"
            );
            assert_eq!(said.ids().iter().filter(|of| **of == id).count(), 1, "{id} stands once");
        }
    }
}

#[test]
fn by_hand_and_by_a_stack_the_bytes_are_the_same() {
    use serde_json::{Value, json};
    use std::convert::Infallible;
    use tower::{Layer, ServiceBuilder, ServiceExt, service_fn};
    let place = place();
    let assembly = place.assembly("");
    for format in Format::ALL {
        let body = || super::bodies::body(format, &[super::bodies::Message::User("hi".into())]);
        let own = |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Session, || Fragment::new("own", "The host's own."));
        let settings = assembly.settings().context(Context::default().session(tower_prompt::layers::Session::new()));
        let by_hand = ServiceBuilder::new()
            .layer(OpenLayer::new(format, &settings))
            .layer(assembly.system_prompt())
            .layer(assembly.user_authority().unwrap())
            .layer(AddLayer(own))
            .layer(RenderLayer::new(format))
            .service(service_fn(|request: Value| async move { Ok::<_, Infallible>(request) }));
        let settings = assembly.settings().context(Context::default().session(tower_prompt::layers::Session::new()));
        let stack = PromptStack::new(format, settings).with(assembly.system_prompt()).with(assembly.user_authority().unwrap()).with(own);
        let stacked = stack.layer(service_fn(|request: Value| async move { Ok::<_, Infallible>(request) }));
        let sent = |mut body: Value| {
            // The key of a conversation's cache is its own.
            body.as_object_mut().map(|fields| fields.insert("prompt_cache_key".to_owned(), json!(null)));
            body
        };
        let (one, other) = (super::conversation::wait(by_hand.oneshot(body())), super::conversation::wait(stacked.oneshot(body())));
        assert_eq!(sent(one.unwrap()), sent(other.unwrap()), "{format}");
    }
}
