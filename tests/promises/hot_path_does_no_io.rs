//! **The hot path does no I/O that it need not.** A turn in an unchanged workspace parses nothing and reads no skill again: the system tells which files
//! are opened while it goes on. A retry and a tool round open nothing at all.

use super::bodies::CONVERSATIONS;
use super::conversation::{Conversation, id};
use super::random::any_world;
use crate::place::Place;
use proptest::prelude::*;
use std::fs;

#[cfg(target_os = "linux")]
mod opened {
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use std::collections::{BTreeMap, BTreeSet};
    use std::mem::MaybeUninit;
    use std::path::{Path, PathBuf};

    /// Tells which files below a folder were opened or read since it was asked last.
    pub(super) struct Opened {
        system: rustix::fd::OwnedFd,
        folders: BTreeMap<i32, PathBuf>,
    }

    impl Opened {
        pub(super) fn below(root: &Path) -> Self {
            let mut opened = Self { system: init(CreateFlags::NONBLOCK).unwrap(), folders: BTreeMap::new() };
            opened.watch(root);
            opened
        }
        fn watch(&mut self, folder: &Path) {
            let watch = add_watch(&self.system, folder, WatchFlags::OPEN | WatchFlags::ACCESS).unwrap();
            self.folders.insert(watch, folder.to_owned());
            let inner = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            inner.filter(|path| path.is_dir()).for_each(|folder| self.watch(&folder));
        }
        /// Files and folders, by their paths.
        pub(super) fn take(&self) -> BTreeSet<PathBuf> {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut events = Reader::new(&self.system, &mut buffer);
            let mut paths = BTreeSet::new();
            while let Ok(event) = events.next() {
                let folder = self.folders.get(&event.wd()).expect("an event is of a folder that is watched, or lost");
                paths.insert(event.file_name().map_or_else(|| folder.clone(), |name| folder.join(name.to_str().unwrap())));
            }
            paths
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn of_skills_nothing_is_opened_again_and_of_a_retry_and_a_tool_round_nothing_at_all() {
    let place = Place::new();
    for n in 0..20 {
        place.skill(&format!("skill-{n}"), "What it does.", "Body.");
    }
    place.write("work/AGENTS.md", "Rules.");
    place.write("work/INVARIANTS.md", "* One.");
    place.write("home/.config/bcode/bcode.toml", "skills.prompt.include_keywords = true");
    for format in CONVERSATIONS {
        let assembly = place.assembly("");
        let mut talk = Conversation::new(&assembly, format);
        talk.session.activate(id("skill-3"), None);
        let opened = opened::Opened::below(&place.at(""));
        talk.say("hi");
        let skill = |n: usize| place.at(format!("work/skills/skill-{n}/SKILL.md"));
        let first = opened.take();
        assert!(first.contains(&skill(3)) && first.contains(&place.at("work/AGENTS.md")), "it tells what is opened: {first:?}");
        assert!(!first.contains(&skill(4)), "of a skill that is not in force no body is read: {first:?}");

        talk.call_a_tool("out");
        talk.send();
        assert_eq!(opened.take(), [].into(), "a tool round and a retry in {format}");

        talk.say("and now?");
        let files = ["work/AGENTS.md", "work/INVARIANTS.md"].map(|file| place.at(file));
        let later = opened.take();
        assert!(later.iter().all(|path| files.contains(path)), "a turn in {format}: {later:?}");

        talk.session.activate(id("skill-5"), None);
        talk.call_a_tool("out");
        let activated = opened.take();
        assert!(
            activated.iter().all(|path| path.starts_with(place.at("work/skills/skill-5"))) && activated.contains(&skill(5)),
            "{activated:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    #[test]
    fn what_is_gone_from_the_disk_is_not_missed_until_the_skills_are_read_again(world in any_world(), turns in 1..4_usize) {
        let (place, format) = (Place::new(), CONVERSATIONS[turns % CONVERSATIONS.len()]);
        world.put(&place, false);
        let assembly = place.assembly("skills.auto_activate = 'off'");
        let stacks = [assembly.stack(format), assembly.stack(format)];
        let [mut one, mut other] = stacks.map(|stack| Conversation::of(stack, format));
        for talk in [&mut one, &mut other] {
            talk.session.activate(id("skill-0"), None);
            talk.say("hi");
        }
        let expected: Vec<_> = (0..turns).map(|_| [one.say("on").body, one.call_a_tool("out").body, one.send().body]).collect();
        fs::remove_dir_all(place.at("work/skills")).unwrap();
        let sent: Vec<_> = (0..turns).map(|_| [other.say("on").body, other.call_a_tool("out").body, other.send().body]).collect();
        // The key of a conversation's cache is its own.
        let without_keys = |bodies: Vec<[serde_json::Value; 3]>| {
            bodies.into_iter().flatten().map(|mut body| { body.as_object_mut().map(|fields| fields.shift_remove("prompt_cache_key")); body }).collect::<Vec<_>>()
        };
        prop_assert_eq!(without_keys(sent), without_keys(expected));
    }
}
