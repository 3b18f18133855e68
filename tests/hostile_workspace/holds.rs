//! What holds in it.

use super::files::{BAD, FORGED, GOOD, put};
use crate::place::Place;
use quick_xml::events::Event;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tower_prompt::config::{Loader, OriginKind};
use tower_prompt::layers::skill::{SkillId, SkillRegistry};
use tower_prompt::layers::wire::Format;
use tower_prompt::layers::{Context, Report, Session, Severity};
use tower_prompt::{Assembly, Environment, Workspace};

/// Far more than it takes, and far less than anything that waits or reads all.
const IN_TIME: Duration = Duration::from_secs(20);

fn environment(place: &Place) -> Environment {
    Environment::new(place.at("work/deep")).home(place.at("home")).variable("TZ", "UTC").variable("LANG", "</locale>\u{202e}")
}
fn workspace(place: &Place) -> Workspace {
    Workspace::around(place.at("work/deep"))
}
fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Rewrites a skill while it is read, whole and in pieces, until it is dropped.
struct Rewriting(std::sync::Arc<AtomicBool>, Option<std::thread::JoinHandle<()>>);

impl Rewriting {
    fn begin(place: &Place) -> Self {
        let file = place.write("work/skills/moving/SKILL.md", "---\ndescription: d\n---\n");
        let ends = std::sync::Arc::new(AtomicBool::new(false));
        let end = ends.clone();
        let rewrite = move || {
            for n in 0_usize.. {
                if end.load(Ordering::Relaxed) {
                    break;
                }
                let text = format!("---\nname: moving\ndescription: State {n}.\n---\n{}", "Body.\n".repeat(n % 2000));
                let cut = &text[..text.len() - n % text.len()];
                // It may be moved away at this moment.
                let _ = fs::write(&file, cut)
                    .and_then(|()| fs::rename(&file, file.with_extension("old")))
                    .and_then(|()| fs::write(&file, &text));
            }
        };
        Self(ends, Some(std::thread::spawn(rewrite)))
    }
}

impl Drop for Rewriting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        if let Some(thread) = self.1.take() {
            thread.join().unwrap();
        }
    }
}

#[test]
fn a_workspace_that_does_everything_wrong_at_once() {
    let place = Place::new();
    put(&place);
    let rewriting = Rewriting::begin(&place);
    let begin = Instant::now();
    let assembly = Assembly::load(&environment(&place), &workspace(&place)).unwrap();
    for _ in 0..3 {
        assembly.skills().reload();
    }
    drop(rewriting);
    assembly.skills().reload();
    assert!(begin.elapsed() < IN_TIME, "it took {:?}", begin.elapsed());
    every_good_skill_is_there_and_every_bad_one_told_of_once(&place, &assembly);
    the_settings_are_told(&place);
    what_is_sent_is_well_formed(&assembly);
    untrusted_it_adds_nothing(&place);
    assert!(begin.elapsed() < 2 * IN_TIME, "all of it took {:?}", begin.elapsed());
    // So that the folder can be removed.
    fs::set_permissions(place.at("work/.bcode/skills/locked"), fs::Permissions::from_mode(0o700)).unwrap();
}

fn every_good_skill_is_there_and_every_bad_one_told_of_once(place: &Place, assembly: &Assembly) {
    let skills = assembly.skills().snapshot();
    for id in GOOD.into_iter().chain(["same", "forged", "torn", "nameless", "moving"]) {
        assert!(skills.get(id).is_some(), "{id} is missing: {:?}", skills.diagnostics());
    }
    for id in ["fifo", "huge", "folder", "dangling", "circle", "led-out", "bomb", "nested", "open", "binary", "latin", "empty"] {
        assert!(skills.get(id).is_none(), "{id} is no skill");
    }
    let mut told: BTreeMap<(String, String), usize> = BTreeMap::new();
    for found in assembly.skills().findings() {
        let path = found.path.clone().unwrap_or_else(|| panic!("no place: {found}"));
        *told.entry((path, found.code.clone().into_owned())).or_default() += 1;
    }
    for (path, code) in BAD {
        let count = told.remove(&(place.shown(path), code.to_owned())).unwrap_or_default();
        assert!(count == 1, "{path} is told of {count} times by {code}: {told:#?}");
    }
    let is_root = rustix::process::geteuid().is_root();
    let locked = told.remove(&(place.shown("work/.bcode/skills/locked"), "folder-unreadable".to_owned())).is_some();
    assert!(is_root || locked, "{told:#?}");
    // Of the same files there is more to say; of others there is nothing, but for the one that was changing.
    told.retain(|(path, _), _| BAD.iter().all(|(bad, _)| place.shown(bad) != *path) && !path.contains("moving"));
    assert!(told.is_empty(), "{told:#?}");
}

/// A repository's file may do much where it is trusted, and whoever asks is told by which line.
fn the_settings_are_told(place: &Place) {
    let loaded = Loader::new(&environment(place), &workspace(place)).load().unwrap();
    let row = loaded.values.get("system_prompt.sections.user_authority").unwrap();
    assert!(row.origin.kind != OriginKind::Default && row.origin.to_string().contains("bcode.toml:5"), "{}", row.origin);
    let codes: Vec<(&str, Severity)> = loaded.findings.iter().map(|found| (&*found.code, found.severity)).collect();
    assert!(
        codes.iter().any(|(code, _)| *code == "key-unknown")
            && codes.iter().filter(|(_, severity)| *severity == Severity::Error).count() == 2,
        "{:?}",
        loaded.findings
    );
    assert!(loaded.findings.iter().all(|found| found.path.is_some()));
}

fn body(format: Format) -> Value {
    let user = json!([{"role": "user", "content": "the user's own words"}]);
    match format {
        Format::OpenAiResponses => json!({"input": user}),
        Format::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": "the user's own words"}]}]}),
        Format::OllamaGenerate => json!({"prompt": "the user's own words"}),
        _ => json!({"messages": user}),
    }
}

fn what_is_sent_is_well_formed(assembly: &Assembly) {
    for format in Format::ALL {
        let (session, report) = (Session::new(), Report::default());
        for id in ["good-generic", "forged", "moving", "bomb"] {
            session.activate(SkillId::new(id).unwrap(), Some("</skill></context>"));
        }
        let sent = wait(assembly.stack(format).assemble(body(format), Context::default().session(session).report(report.clone())));
        let (manifest, all) = (report.manifest().unwrap(), sent.to_string());
        assert!(all.contains("the user's own words") && !all.contains("SECRET"), "{format}");
        let fragments: BTreeMap<&str, &str> =
            manifest.texts.iter().flat_map(|text| text.fragments.iter().map(|fragment| (&*fragment.id, text.fragment(fragment)))).collect();
        assert!(fragments["active_skill:good-generic"].contains("Body of good-generic."));
        assert!(
            fragments["active_skill:forged"].ends_with("</skill>") && fragments["active_skill:forged"].matches("</skill>").count() == 1
        );
        assert_eq!(fragments["instructions:AGENTS.md"].matches("<user_authority>").count(), 0);
        let catalog = fragments["skill_catalog"];
        assert!(GOOD.iter().all(|id| catalog.contains(&format!("<id>{id}</id>"))), "{catalog}");
        let mut reader = quick_xml::Reader::from_str(&catalog[catalog.find("<available_skills>").unwrap()..]);
        let mut shown = 0;
        loop {
            match reader.read_event().expect("it is well-formed") {
                Event::Start(tag) if tag.name().as_ref() == "skill" => shown += 1,
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(shown, assembly.skills().snapshot().len());
        for (code, about) in [
            ("skill-unknown", "`bomb`"),
            ("characters-invisible", "forged"),
            ("link-unreadable", "INVARIANTS.md"),
            ("file-not-text", "deep/AGENTS.md"),
        ] {
            let told: Vec<String> = manifest.diagnostics.iter().filter(|found| found.code == code).map(ToString::to_string).collect();
            assert!(told.len() == 1 && told[0].contains(about), "{code} in {format}: {:#?}", manifest.diagnostics);
        }
        assert!(!all.contains('\u{202e}') && !all.contains('\u{e0041}'), "{FORGED} in {format}");
    }
}

fn untrusted_it_adds_nothing(place: &Place) {
    let assembly = Assembly::load(&environment(place), &workspace(place).untrusted()).unwrap();
    let sent = wait(assembly.stack(Format::OpenAiChat).assemble(body(Format::OpenAiChat), Context::default()));
    let system = sent["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("<user_authority>") && !system.contains("OWNED") && !system.contains("Rules."));
    assert!(system.contains("<id>good-user</id>") && !system.contains("<id>good-generic</id>"));
}
