//! The whole stack on real folders: random configuration, skills, instruction files, invariants and limits, and a conversation in any format, held to the
//! promises of README. Each byte is a choice, so that a fault found here is one that the properties of `tests/promises/` could have found.
//!
//! The first choice says which promise is tried: texts, limits and bytes of a conversation; that nothing breaks out; that what is not trusted adds
//! nothing; that no broken file stops anything.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use tower_prompt::Assembly;
use tower_prompt::config::{Config, KEYS, Key, KeyKind, Loader};
use tower_prompt::layers::skill::{CatalogFormat, CatalogMode, SkillRegistry};
use tower_prompt::layers::text::{EstimatedTokens, Limit, TokenCounter};
use tower_prompt::layers::wire::Format;
use tower_prompt::layers::{ContentHash, Fragment, LimitKind, Placement, Prompt, TextPlacement, Tier, Turn};

#[allow(dead_code, reason = "the promises use it all")]
#[path = "../../tests/promises/bodies.rs"]
mod bodies;
#[allow(dead_code, reason = "the promises use it all")]
#[path = "../../tests/promises/conversation.rs"]
mod conversation;
#[allow(dead_code, reason = "the promises use it all")]
#[path = "../../tests/promises/measured.rs"]
mod measured;
#[allow(dead_code, reason = "no git runs here")]
#[path = "../../tests/place/mod.rs"]
mod place;
#[path = "../../tests/promises/seen.rs"]
mod seen;
#[allow(dead_code, reason = "each request is sent again")]
#[path = "../../tests/promises/steps.rs"]
mod steps;
#[allow(dead_code, reason = "the promises use it all")]
#[path = "../../tests/promises/world.rs"]
mod world;

use bodies::all_text;
use conversation::{Conversation, Sent, id};
use measured::{Limits, is_a_block, is_a_catalog, sizes_hold};
use place::Place;
use seen::{skeleton, tame};
use steps::{Step, take};
use world::{PIECES, SkillText, World};

/// So that an input is quick to try.
const STEPS: usize = 6;

/// The bytes that are left; behind the last of them each choice is the first.
struct Choices(Vec<u8>);

impl Choices {
    fn below(&mut self, n: usize) -> usize {
        if n > 1 { usize::from(self.0.pop().unwrap_or_default()) % n } else { 0 }
    }
    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
    /// Words and what might break a block, and now and then the bytes as they are. Never empty.
    fn text(&mut self) -> String {
        let mut text = String::from("Word ");
        for _ in 0..self.below(12) {
            match self.below(PIECES.len() + 4) {
                0 => text.push_str(&self.raw()),
                1 => text.push_str(&"long".repeat(self.below(256))),
                2 => text.extend(char::from_u32(
                    u32::from_le_bytes([self.below(256) as u8, self.below(256) as u8, self.below(17) as u8, 0]).max(1),
                )),
                3 => text.push_str(&format!("<{}>", self.pick(tower_prompt::layers::text::escape::BLOCKS))),
                n => text.push_str(PIECES[n - 4]),
            }
        }
        text + "."
    }
    fn raw(&mut self) -> String {
        let count = self.below(24);
        let bytes: Vec<u8> = (0..count).map(|_| self.below(256) as u8).collect();
        // A file with a NUL in it is no text, and is refused as such.
        String::from_utf8_lossy(&bytes).replace('\0', "")
    }
    fn prose(&mut self) -> String {
        let lines = 1 + self.below(5);
        (0..lines).map(|_| self.text()).collect::<Vec<_>>().join("\n")
    }
    fn world(&mut self) -> World {
        let count = 2 + self.below(4);
        let skill = |n: usize| SkillText {
            id: format!("skill-{n}"),
            name: self.text(),
            description: self.text(),
            keyword: self.text(),
            body: self.prose(),
        };
        let skills = (0..count).map(skill).collect();
        let bullets: Vec<String> = (0..self.below(4)).map(|_| self.text()).collect();
        World { skills, instructions: [self.prose(), self.prose()], invariants: format!("## Section\n* {}", bullets.join("\n* ")) }
    }
    fn step(&mut self) -> Step {
        match self.below(10) {
            0..=2 => Step::Say(self.text()),
            3 | 4 => Step::Tool(self.prose()),
            5 => Step::Activate(self.below(6)),
            6 => Step::Deactivate(self.below(6)),
            7 => Step::Instructions(self.prose()),
            8 => Step::Skill(self.below(6), self.text()),
            _ => Step::Remove(self.below(6)),
        }
    }
    /// In TOML, right or wrong.
    fn value(&mut self, kind: &KeyKind) -> String {
        match kind {
            KeyKind::Bool => self.pick(&["true", "false"]).to_owned(),
            KeyKind::NonZero | KeyKind::OptionalNonZero => {
                let number = self.pick(&[0, 1, 2, 5, 20, 60, 150, 400, 1_000, 3_000, 100_000]);
                (number + self.below(16)).to_string()
            }
            KeyKind::OneOf(words) => format!("'{}'", self.pick(words)),
            KeyKind::Array(of) => {
                let items: Vec<String> = (0..self.below(3)).map(|_| self.value(of)).collect();
                format!("[{}]", items.join(", "))
            }
            KeyKind::SkillId => format!("'skill-{}'", self.below(6)),
            KeyKind::Pattern => self.pick(&["'word'", "'prose|omitted'", "'(a{9}){9}'", "'['"]).to_owned(),
            KeyKind::ProfileId => "'base'".to_owned(),
            KeyKind::Layer => self.pick(&["'defaults'", "'config'", "'profile:active'", "'profile:base'"]).to_owned(),
            KeyKind::Path => self.pick(&["'skills'", "'more'", "'..'", "'~/x'"]).to_owned(),
            KeyKind::RoutingRule => "{ intent = 'word' }".to_owned(),
            KeyKind::Patch => "{ skills = { prompt = { max_bytes = 300 } } }".to_owned(),
            _ => serde_json::to_string(&self.text()).expect("it is text").replace('\u{7f}', " "),
        }
    }
    /// So many keys of the table that are such.
    fn config(&mut self, most: usize, is_such: impl Fn(&Key) -> bool) -> String {
        let keys: Vec<&Key> = KEYS.iter().filter(|key| is_such(key)).collect();
        let mut lines = String::new();
        for _ in 0..self.below(most + 1) {
            let key = self.pick(&keys);
            let path =
                key.path.replace("composition.profiles.ID", "composition.profiles.base").replace("ID", "skill-1").replace("NAME", "ls");
            lines.push_str(&format!("{path} = {}\n", self.value(&key.kind)));
        }
        lines
    }
}

fn limits(config: &Config, own: Limit) -> Limits {
    let number = |limit: Option<std::num::NonZeroUsize>| limit.map(std::num::NonZeroUsize::get);
    Limits {
        catalog_bytes: number(config.skills.prompt.max_bytes),
        description_chars: number(config.skills.prompt.max_description_chars),
        bodies_bytes: number(config.skills.max_context_bytes),
        instructions_chars: number(config.system_prompt.repository_instructions_max_chars),
        invariants_chars: number(config.system_prompt.repository_invariants_max_chars),
        output_chars: number(config.model.tool_output.context_chars),
        lines: config.skills.prompt.format == CatalogFormat::Lines,
        own,
    }
}

/// What the manifest says is what was sent.
fn is_as_told(sent: &Sent) {
    let (manifest, all) = (&sent.manifest, all_text(&sent.body));
    for text in &manifest.texts {
        // A long system prompt is parted where the provider keeps its prefix.
        let is_parted = text.placement == Placement::System && text.fragments.iter().all(|said| all.contains(text.fragment(said)));
        assert!(all.contains(&*text.text) || is_parted, "{:?} is not in {}", text.text, sent.body);
        let mut behind = 0;
        let mut between = String::new();
        for fragment in text.fragments.iter() {
            let said = text.text.get(fragment.offset..fragment.end()).unwrap_or_else(|| panic!("{fragment:?} of {:?}", text.text));
            assert!(fragment.offset >= behind, "{fragment:?}");
            between.push_str(&text.text[behind..fragment.offset]);
            behind = fragment.end();
            assert_eq!((fragment.bytes, fragment.chars, fragment.hash), (said.len(), said.chars().count(), ContentHash::of(said)));
            assert_eq!(fragment.tokens, EstimatedTokens.count(said));
            // The host's own texts speak of blocks as they like.
            if said.starts_with('<') && fragment.id != "user_authority" {
                is_whole(&fragment.id, said);
            }
            let Some(limit) = fragment.limit else { continue };
            assert!(limit.before <= limit.after || limit.cut, "{fragment:?}");
            let is_told = || sent.told("limit").iter().any(|message| message.starts_with(&format!("`{}` was ", fragment.id)));
            assert!(!(text.is_new && limit.cut && limit.kind == LimitKind::Own) || is_told(), "{fragment:?}: {:?}", manifest.diagnostics);
        }
        between.push_str(&text.text[behind..]);
        let tags = skeleton(&between);
        assert!(tags.chunks(2).all(|pair| pair == ["context", "/context"]), "{tags:?}: {:?}", text.text);
    }
    let total = manifest.texts.iter().flat_map(|text| text.fragments.iter()).map(|fragment| fragment.bytes).sum::<usize>();
    assert_eq!(manifest.totals.values().map(|total| total.bytes).sum::<usize>(), total);
    assert!(manifest.diagnostics.iter().all(|found| !found.code.is_empty() && !found.message.is_empty()));
}

/// Its blocks lie in each other, and those of others are not in it.
fn is_whole(id: &str, said: &str) {
    let tags = skeleton(said);
    let mut open = Vec::new();
    for tag in &tags {
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{id}: {tags:?}: {said}"),
            None => open.push(tag),
        }
    }
    assert!(open.is_empty(), "{id}: {tags:?}: {said}");
    let has_several = ["skill_catalog", "active_skill", "skill_suggestion"].iter().any(|begin| id.starts_with(begin));
    assert!(has_several || tags.len() <= 2, "{id}: {tags:?}: {said}");
}

/// The beginning of a conversation, of which more is known.
fn is_a_beginning(sent: &Sent, limits: &Limits, world: &World, assembly: &Assembly) {
    let config = assembly.config();
    let check = |outcome: Result<(), String>| outcome.unwrap_or_else(|fault| panic!("{fault}\n{}", sent.body));
    if config.skills.prompt.catalog == CatalogMode::Summary {
        let skills = assembly.skills().snapshot();
        let shown = skills.iter().filter(|skill| skill.summary.is_in_the_catalog()).count();
        sent.of("skill_catalog").iter().for_each(|text| check(is_a_catalog(text, limits, shown)));
    }
    for (name, text) in ["AGENTS.md", "deep/AGENTS.md"].iter().zip(&world.instructions) {
        sent.of(&format!("instructions:{name}")).iter().for_each(|block| check(is_a_block(block, "instructions", text)));
    }
    sent.of("repository_invariants").iter().for_each(|text| check(is_a_block(text, "repository_invariants", &world.invariants)));
}

fn talk(choices: &mut Choices, format: Format) {
    let (place, world) = (Place::new(), choices.world());
    world.put(&place, false);
    let config = choices.config(10, |key| !key.path.starts_with("proxy."));
    place.write("work/bcode.toml", &config);
    let (own_text, amount) = (choices.text(), choices.below(400));
    let own = choices.pick(&[Limit::None, Limit::Bytes(amount), Limit::Chars(amount), Limit::Tokens(amount)]);
    let mut assembly = Assembly::load(&place.environment(""), &place.workspace()).unwrap_or_else(|error| panic!("{error}\n{config}"));
    if choices.below(2) == 1 {
        assembly = assembly.answer_skill_tool();
    }
    let limits = limits(assembly.config(), own);
    let stack = assembly.stack(format).with(move |_: &Turn, prompt: &mut Prompt| {
        prompt.add(Tier::Turn, || Fragment::new("own", own_text.clone()).limit(own));
    });
    let mut talk = Conversation::of(stack, format);
    for n in 0..choices.below(3) {
        talk.session.activate(id(&format!("skill-{n}")), Some("word").filter(|_| n == 1));
    }
    let grows = assembly.config().context.placement == TextPlacement::Append && format != Format::OllamaGenerate;
    let mut before: Option<Sent> = None;
    for _ in 0..STEPS {
        let step = if before.is_none() { Step::Say(choices.text()) } else { choices.step() };
        if let Some(sent) = take(&step, &mut talk, &place, &assembly, &world) {
            is_as_told(&sent);
            sizes_hold(&sent, &limits).unwrap_or_else(|fault| panic!("{fault}\n{config}\n{}", sent.body));
            match &before {
                Some(before) => {
                    assert!(!grows || sent.extends(before), "{format} at {step:?}:\n{config}\n{:#}\n{:#}", before.body, sent.body)
                }
                None => is_a_beginning(&sent, &limits, &world, &assembly),
            }
            match choices.below(3) {
                0 => assert_eq!(talk.send().body, sent.body, "a retry in {format}"),
                1 => assert_eq!(talk.send_body(sent.body.clone()).body, sent.body, "assembled twice in {format}: {config}"),
                _ => {}
            }
            before = Some(sent);
        }
        if choices.0.is_empty() {
            break;
        }
    }
}

/// As much of everything, with tame words in it, has the same blocks.
fn nothing_breaks_out(choices: &mut Choices, format: Format) {
    let mut world = choices.world();
    // Arguments stand in the body where it asks for them, else in a block of their own.
    world.skills[0].body = world.skills[0].body.replace('$', "");
    world.skills[1].body = world.skills[1].body.replace('$', "") + "\n$ARGS\n";
    let (bad, good) = (Place::new(), Place::new());
    world.put(&bad, false);
    tame(&world).put(&good, false);
    let is_such = |key: &Key| {
        [
            "system_prompt.sections.",
            "skills.prompt.include",
            "skills.prompt.format",
            "skills.prompt.catalog",
            "context.placement",
            "context.repo",
        ]
        .iter()
        .any(|begin| key.path.starts_with(begin))
    };
    // Of two lines for one key neither would count.
    let mut lines: Vec<String> = choices.config(6, is_such).lines().map(str::to_owned).collect();
    lines.sort();
    lines.dedup_by_key(|line| line.split(' ').next().unwrap_or_default().to_owned());
    let config = lines.join("\n") + "\nskills.auto_activate = 'off'\n";
    let (suffix, arguments, result) = (choices.text(), choices.text(), choices.text());
    let suffix_line = |suffix: &str| {
        format!("system_prompt.agent_suffix = {}\n", serde_json::to_string(suffix).expect("it is text").replace('\u{7f}', " "))
    };
    let skeletons = |place: &Place, suffix: &str| {
        place.write("work/bcode.toml", format!("{config}{}", suffix_line(suffix)));
        let mut talk = Conversation::new(&Assembly::load(&place.environment(""), &place.workspace()).expect("it never stops"), format);
        talk.session.activate(id("skill-0"), Some(&arguments));
        let first = talk.say("hi");
        talk.session.activate(id("skill-1"), Some(&arguments));
        let sent = [first, talk.call_a_tool(&result), talk.say("and now?")];
        let of = |sent: &Sent| sent.manifest.texts.iter().map(|text| skeleton(&text.text)).collect::<Vec<_>>();
        (sent.iter().map(of).collect::<Vec<_>>(), sent)
    };
    let ((bad, sent), (good, _)) = (skeletons(&bad, &suffix), skeletons(&good, "word"));
    assert_eq!(bad, good, "{format}: {config}: {:#}", sent[0].body);
}

fn untrusted_adds_nothing(choices: &mut Choices, format: Format) {
    let (place, world) = (Place::new(), choices.world());
    place.write("home/.config/bcode/skills/own/SKILL.md", "---\ndescription: The user's own.\n---\nBody.");
    let config = choices.config(10, |key| !key.path.starts_with("proxy."));
    let said = choices.text();
    let requests = || {
        let assembly =
            Assembly::load(&place.environment("skills.commands = true"), &place.workspace().untrusted()).expect("it never stops");
        let mut talk = Conversation::new(&assembly.answer_skill_tool(), format);
        talk.session.activate(id("skill-0"), None);
        [talk.say(&said).body, talk.call_a_tool("out").body, talk.say("/skill skill-0").body]
    };
    let bare = requests();
    world.put(&place, false);
    for file in ["work/bcode.toml", "work/.bcode/bcode.toml"] {
        place.write(file, &config);
    }
    for root in ["work/.bcode/skills", "work/.agents/skills", "work/.claude/skills"] {
        place.write(&format!("{root}/evil/SKILL.md"), world.skills[0].file());
    }
    place.write("work/CLAUDE.md", &world.instructions[0]);
    assert_eq!(requests(), bare, "{format}: {config}");
}

fn no_broken_file_stops_anything(choices: &mut Choices, format: Format) {
    const FILES: [&str; 6] = ["skills/skill-0/SKILL.md", "AGENTS.md", "INVARIANTS.md", "bcode.toml", ".bcode/bcode.toml", "deep/AGENTS.md"];
    let (place, world) = (Place::new(), choices.world());
    world.put(&place, false);
    place.write("work/bcode.toml", "[skills]\nauto_activate = 'off'\n[skills.prompt]\nmax_description_chars = 1000\n");
    place.write("work/.bcode/bcode.toml", "[system_prompt]\nagent_suffix = 'SUFFIX'\n");
    place.skill("good", "Stays whole.", "Body of the good one.");
    for _ in 0..=choices.below(3) {
        let path = place.at("work").join(choices.pick(&FILES));
        let Ok(mut bytes) = std::fs::read(&path) else { continue };
        let at = choices.below(256) * (bytes.len() + 1) / 256;
        let end = (at + choices.below(64)).min(bytes.len());
        let piece = if choices.below(2) == 0 {
            choices.text()
        } else {
            choices.pick(&["[", "&a [*a,*a]", "\t", "\0", "---\n", "*x", "{{", "\r"]).repeat(60)
        };
        match choices.below(8) {
            0 => bytes.truncate(at),
            1 => bytes = (0..choices.below(64)).map(|_| choices.below(256) as u8).collect(),
            2 => {
                let _ = std::fs::remove_file(&path).and_then(|()| std::fs::create_dir(&path));
                continue;
            }
            _ => drop(bytes.splice(at..end, piece.bytes())),
        }
        std::fs::write(&path, bytes).expect("a file for a while");
    }
    let (environment, workspace) = (place.environment(""), place.workspace());
    let loaded = Loader::new(&environment, &workspace).load().unwrap_or_else(|error| panic!("a file that is found stopped: {error}"));
    assert!(loaded.findings.iter().all(|found| found.path.is_some()), "{:?}", loaded.findings);
    // What is broken in them may say something else that is right.
    let shows = loaded.config.system_prompt.sections.skill_catalog && loaded.config.skills.prompt.catalog == CatalogMode::Summary;
    let shows = shows
        && loaded.config.skills.prompt.max_bytes.is_none()
        && loaded.config.skills.prompt.max_description_chars.is_none_or(|max| max.get() > 20);
    let assembly = Assembly::new(loaded.config, &environment, &workspace);
    let skills = assembly.skills().snapshot();
    assert!(skills.diagnostics().iter().all(|found| found.path.is_some()), "{:?}", skills.diagnostics());
    let mut talk = Conversation::new(&assembly, format);
    talk.session.activate(id("good"), None);
    talk.session.activate(id("skill-0"), None);
    let said = talk.say("the user's own words");
    is_as_told(&said);
    let system = said.system();
    assert!(system.contains("Body of the good one.") && system.contains("<user_authority>"), "{system}");
    assert!(!shows || system.contains("<description>Stays whole.</description>"), "{system}");
    assert!(all_text(&said.body).contains("the user's own words"));
}

fuzz_target!(
    init: {
        if Path::new("/dev/shm").is_dir() {
            let _ = tempfile::env::override_temp_dir(Path::new("/dev/shm"));
        }
    },
    |bytes: &[u8]| {
        let mut choices = Choices(bytes.iter().rev().copied().collect());
        let promise = choices.below(8);
        let format = choices.pick(&Format::ALL);
        match promise {
            0 => nothing_breaks_out(&mut choices, format),
            1 => untrusted_adds_nothing(&mut choices, format),
            2 => no_broken_file_stops_anything(&mut choices, format),
            _ => talk(&mut choices, format),
        }
    }
);
