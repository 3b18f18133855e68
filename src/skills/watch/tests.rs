use super::*;
use crate::skills::DiscoveryOptions;
use notify::event::{CreateKind, Flag};
use std::sync::mpsc::channel;

fn listener(heard: &Arc<Heard>) -> Listener {
    Listener { heard: heard.clone(), roots: vec!["/w/skills".into()], others: vec!["/store".into()] }
}

#[test]
fn what_is_heard_says_whether_to_look_and_whether_to_watch_anew() {
    let event = |kind: EventKind, path: &str| Ok(notify::Event::new(kind).add_path(path.into()));
    let created = EventKind::Create(CreateKind::Any);
    let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
    let cases = [
        // The system's queue was full: whatever it was, it may have been here.
        ("overflow", Ok(notify::Event::new(EventKind::Other).set_flag(Flag::Rescan)), (true, true)),
        ("failure", Err(notify::Error::generic("lost")), (true, true)),
        ("inside", event(created, "/w/skills/a/SKILL.md"), (true, false)),
        ("where a link leads", event(written, "/store/a.md"), (true, false)),
        ("the root", event(created, "/w/skills"), (true, true)),
        ("above", event(created, "/w"), (true, true)),
        ("beside", event(created, "/w/other"), (false, false)),
        ("read", event(EventKind::Access(AccessKind::Read), "/w/skills/a/SKILL.md"), (false, false)),
    ];
    for (name, event, expected) in cases {
        let heard = Arc::<Heard>::default();
        listener(&heard).hear(event);
        let noise = heard.now();
        assert_eq!((noise.changed, noise.moved), expected, "{name}");
    }
}

/// A watch that hears nothing by itself, of an empty folder in which `one` was made since.
fn deaf(folder: &Path, deaf: Vec<Diagnostic>, told: impl FnMut(Watched) + Send + 'static) -> (Arc<Heard>, JoinHandle<()>) {
    let root = Root::new(folder, crate::layers::skill::SkillSourceKind::Configured, "configured:0");
    let skills = FolderSkills::in_roots(vec![root], &DiscoveryOptions::default());
    std::fs::create_dir(folder.join("one")).unwrap();
    std::fs::write(folder.join("one/SKILL.md"), "---\ndescription: d\n---\n").unwrap();
    let heard = Arc::<Heard>::default();
    let ears = Ears { _watcher: None, deaf };
    let mut watching = Watching { skills, heard: heard.clone(), ears, told, said: Vec::new() };
    (heard, std::thread::spawn(move || watching.run()))
}

#[test]
fn where_nothing_is_heard_there_is_a_look_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, told) = channel();
    let not_watched = Diagnostic::warning("folder-not-watched", "no watches left");
    let (heard, thread) = deaf(folder.path(), vec![not_watched.clone()], move |watched| drop(sender.send(watched)));
    assert!(matches!(told.recv(), Ok(Watched::Unwatched(found)) if found == not_watched));
    assert!(matches!(told.recv(), Ok(Watched::Changed(skills)) if skills.get("one").is_some()));
    // And again, though nothing is heard.
    std::fs::remove_dir_all(folder.path().join("one")).unwrap();
    assert!(matches!(told.recv(), Ok(Watched::Changed(skills)) if skills.is_empty()));
    heard.now().is_over = true;
    heard.something.notify_all();
    thread.join().unwrap();
}

#[test]
fn lost_events_are_looked_for_and_watched_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, told) = channel();
    let (heard, thread) = deaf(folder.path(), Vec::new(), move |watched| drop(sender.send(watched)));
    assert!(matches!(told.recv(), Ok(Watched::Changed(skills)) if skills.len() == 1));
    listener(&heard).hear(Ok(notify::Event::new(EventKind::Other).set_flag(Flag::Rescan)));
    // By now, or soon, there are ears: a change is heard.
    std::fs::remove_dir_all(folder.path().join("one")).unwrap();
    assert!(matches!(told.recv(), Ok(Watched::Changed(skills)) if skills.is_empty()));
    heard.now().is_over = true;
    heard.something.notify_all();
    thread.join().unwrap();
}
