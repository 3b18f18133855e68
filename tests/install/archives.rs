//! Archives: what is taken out of good ones, and that nothing is of bad ones.

use super::zip_bytes::{Entry, zip, zip_that_says};
use crate::place::Place;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use tower_prompt::Environment;
use tower_prompt::skills::install::{Install, InstallError, InstallReport, Limits, Refusal, Source};

/// Installs an archive of these bytes into `work/to/skills`.
fn install(place: &Place, bytes: &[u8], with: impl Fn(Install) -> Install) -> Result<InstallReport, InstallError> {
    let archive = place.write("work/a.skill", bytes);
    with(Install::into(place.at("work/to/skills"))).run(&Source::Archive(archive), &Environment::new(place.at("work")))
}

/// All files and folders below, by their paths.
fn below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            found.push(entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned());
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

fn good() -> Entry {
    Entry::skill("good")
}

#[test]
fn a_skill_is_unpacked_as_it_is_but_for_what_a_mode_could_do() {
    let place = Place::new();
    let bytes = zip(&[
        good().deflated(),
        Entry::new("good/scripts/", "").mode(0o040_777),
        Entry::new("good/scripts/run.sh", "#!/bin/sh\n").deflated().mode(0o106_777),
        Entry::new("good/empty", "").mode(0),
        Entry::new("__MACOSX/good/._SKILL.md", "x"),
        Entry::new("good/.DS_Store", "x"),
    ]);
    let report = install(&place, &bytes, |install| install).unwrap();
    assert_eq!(report.installed[0].path, place.at("work/to/skills/good"));
    assert_eq!((report.installed[0].files, report.installed[0].replaced), (3, false));
    assert_eq!(report.diagnostics, []);
    let folder = place.at("work/to/skills");
    assert_eq!(below(&folder), ["good", "good/SKILL.md", "good/empty", "good/scripts", "good/scripts/run.sh"]);
    assert_eq!(fs::read(folder.join("good/SKILL.md")).unwrap(), good().content);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &str| fs::metadata(folder.join(path)).unwrap().permissions().mode();
        assert_eq!((mode("good/SKILL.md") & 0o7111, mode("good/scripts/run.sh") & 0o7100, mode("good/scripts") & 0o7000), (0, 0o100, 0));
    }
}

#[test]
fn archives_of_programs_that_write_streams_or_wide_numbers_are_read() {
    // Both by Python's zipfile: sizes behind the bytes, and an end for more entries than the common one counts.
    for bytes in [&include_bytes!("streamed.zip")[..], include_bytes!("wide.zip")] {
        let place = Place::new();
        assert_eq!(install(&place, bytes, |install| install).unwrap().installed[0].id.as_str(), "good");
        for end in 0..bytes.len() {
            assert!(install(&place, &bytes[..end], Install::replacing).is_err(), "{end}");
        }
    }
}

#[test]
fn a_skill_at_the_top_is_called_by_its_name_or_as_its_archive() {
    for (text, name) in [
        ("---\nname: good\ndescription: d\n---\nx", "good"),
        ("---\nid: own\nname: good\ndescription: d\n---\nx", "own"),
        ("---\nname: Good Skill\ndescription: d\n---\nx", "a"),
        ("---\ndescription: d\n---\nx", "a"),
        ("---\nname: ../../x\ndescription: d\n---\nx", "a"),
    ] {
        let place = Place::new();
        let report = install(&place, &zip(&[Entry::new("SKILL.md", text), Entry::new("b.md", "x")]), |install| install).unwrap();
        assert_eq!(report.installed[0].id.as_str(), name, "{text}");
        assert_eq!(below(&place.at("work/to/skills")), [name.to_owned(), format!("{name}/SKILL.md"), format!("{name}/b.md")]);
    }
}

#[test]
fn names_that_an_archive_may_not_hold_install_nothing() {
    use Refusal::{Absolute, Backslash, Control, Drive, LeadsOut, Link, NotText, Reserved, Special, Twice};
    let link = |name: &str| Entry::new(name, "/etc/passwd").mode(0o120_777);
    for (bad, refusal) in [
        (vec![Entry::new("../evil.md", "x")], LeadsOut),
        (vec![Entry::new("good/../../evil.md", "x")], LeadsOut),
        (vec![Entry::new("/tmp/evil.md", "x")], Absolute),
        (vec![Entry::new("C:/evil.md", "x")], Drive),
        (vec![Entry::new("C:\\evil.md", "x")], Backslash),
        (vec![Entry::new("good\\..\\evil.md", "x")], Backslash),
        (vec![Entry::new("good/nul.md", "x")], Reserved),
        (vec![Entry::new("good/a\0b", "x")], Control),
        (vec![Entry::new(b"good/a\xff", "x")], NotText),
        (vec![link("good/link")], Link),
        (vec![link("out"), Entry::new("out/evil.md", "x")], Link),
        (vec![Entry::new("good/pipe", "").mode(0o010_644)], Special),
        (vec![Entry::new("good/device", "").mode(0o060_644)], Special),
        (vec![good()], Twice),
        (vec![Entry::new("good/skill.md", "x")], Refusal::Twin("good/SKILL.md".into())),
        (vec![Entry::new("GOOD/other.md", "x")], Refusal::Twin("good".into())),
        (vec![Entry::new("good/SKILL.md/x", "x")], Twice),
    ] {
        let place = Place::new();
        let name = String::from_utf8_lossy(&bad[0].name).into_owned();
        let error = install(&place, &zip(&[vec![good()], bad].concat()), Install::replacing).unwrap_err();
        assert!(matches!(&error, InstallError::Refused { refusal: is, .. } if *is == refusal), "{name}: {error}");
        assert_eq!(below(&place.at("work")), ["a.skill", "to"], "{name}");
    }
}

#[test]
fn an_archive_that_says_two_things_installs_nothing() {
    let lying = |change: fn(&mut Entry)| {
        let mut entry = Entry::new("good/file", "some bytes that are many").deflated();
        change(&mut entry);
        zip(&[good(), entry])
    };
    let whole = zip(&[good(), Entry::new("good/file", "x")]);
    let inner = Entry::new("good/inner", "within");
    // Its bytes hold a second entry, header and all.
    let outer = Entry::new("good/outer", inner.local());
    let at = u32::try_from(good().local().len() + outer.local().len() - inner.local().len()).unwrap();
    let mut overlapping = zip(&[good(), outer.clone(), Entry { offset: Some(at), ..inner }]);
    let cases = [
        ("encrypted", lying(|entry| entry.flags = 1)),
        ("strongly encrypted", lying(|entry| entry.flags = 1 << 6)),
        ("another method", lying(|entry| entry.method = Some(12))),
        ("not deflated", lying(|entry| (entry.deflated, entry.method) = (false, Some(8)))),
        ("smaller than it says", lying(|entry| entry.size = Some(25))),
        ("larger than it says", lying(|entry| entry.size = Some(3))),
        ("far larger than it says", lying(|entry| (entry.content, entry.size) = (vec![0; 1 << 20], Some(0)))),
        ("another checksum", lying(|entry| entry.checksum = Some(7))),
        ("two names", lying(|entry| entry.local_name = Some(b"good/FILE".to_vec()))),
        ("no header", lying(|entry| entry.offset = Some(3))),
        ("beyond the end", lying(|entry| entry.offset = Some(u32::MAX - 1))),
        ("bytes behind", lying(|entry| entry.behind = b"hidden".to_vec())),
        ("a folder of bytes", zip(&[good(), Entry::new("good/folder/", "bytes")])),
        ("overlapping", std::mem::take(&mut overlapping)),
        ("more entries than it says", zip_that_says(&[good(), Entry::new("good/file", "x")], 1)),
        ("fewer entries than it says", zip_that_says(&[good()], 2)),
        ("bytes in front", [b"x", &whole[..]].concat()),
        ("no end", whole[..whole.len() - 1].to_vec()),
        ("no middle", [&whole[..40], &whole[60..]].concat()),
        ("nothing", Vec::new()),
        ("no zip", b"PK but not so".to_vec()),
    ];
    for (what, bytes) in cases {
        let place = Place::new();
        let error = install(&place, &bytes, Install::replacing).map(|report| report.installed).unwrap_err();
        assert!(matches!(error, InstallError::Refused { .. } | InstallError::Archive { .. }), "{what}: {error}");
        assert_eq!(below(&place.at("work")), ["a.skill", "to"], "{what}: {error}");
    }
    assert!(install(&Place::new(), &whole, |install| install).is_ok());
}

#[test]
fn bombs_go_off_nowhere() {
    let place = Place::new();
    let zeros = |name: &str, mega: usize| Entry::new(name, vec![0; mega << 20]).deflated();
    let many: Vec<Entry> = (0..20_001).map(|n| Entry::new(format!("good/{n}"), "")).collect();
    for (what, bytes) in [
        ("one file", zip(&[good(), zeros("good/zeros", 33)])),
        ("out of proportion", zip(&[good(), zeros("good/zeros", 2)])),
        ("many", zip(&[vec![good()], many].concat())),
    ] {
        let error = install(&place, &bytes, |install| install).unwrap_err();
        assert!(matches!(&error, InstallError::Refused { refusal: Refusal::TooMuch(_), .. }), "{what}: {error}");
        assert_eq!(below(&place.at("work")), ["a.skill", "to"], "{what}");
    }
    let mut limits = Limits::default();
    limits.archive_bytes = 100;
    let error = install(&place, &zip(&[good()]), |install| install.limits(limits.clone())).unwrap_err();
    assert!(error.to_string().contains("over 100 bytes in its archive"), "{error}");
}

#[test]
fn what_was_there_before_stays_where_an_archive_is_refused() {
    let place = Place::new();
    let old = place.write("work/to/skills/good/SKILL.md", "---\nname: good\ndescription: old\n---\n");
    let text = fs::read(&old).unwrap();
    for bytes in [zip(&[good(), Entry::new("../x", "x")]), zip(&[Entry::new("good/other.md", "no skill")]), b"no zip".to_vec()] {
        install(&place, &bytes, Install::replacing).unwrap_err();
        assert_eq!(
            (below(&place.at("work/to/skills")), fs::read(&old).unwrap()),
            (vec!["good".into(), "good/SKILL.md".into()], text.clone())
        );
    }
    assert!(matches!(install(&place, &zip(&[good()]), |install| install).unwrap_err(), InstallError::Exists(paths) if paths.len() == 1));
    assert!(install(&place, &zip(&[good()]), Install::replacing).unwrap().installed[0].replaced);
    assert_eq!(fs::read(&old).unwrap(), good().content);
}

#[test]
fn the_program_says_what_it_did_and_what_it_refuses() {
    let place = Place::new();
    let strange = Entry::new("Odd/SKILL.md", "---\nname: other\ndescription: d\n---\nx");
    place.write("work/a.skill", zip(&[good(), strange, Entry::new("broken/SKILL.md", "---\nopen")]));
    let run = place.run(&["skills", "install", "a.skill"]);
    let path = place.shown("home/.config/bcode/skills");
    assert_eq!((run.code, &*run.stdout), (1, &*format!("{path}/Odd\n{path}/good\n")), "one of the three is broken: {}", run.stderr);
    for said in ["broken/SKILL.md", "Odd/SKILL.md:2:", "Installed good (1 file", "read it before you use it"] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    assert!(!run.stderr.contains(".staging"), "{}", run.stderr);
    assert!(place.run(&["skills", "list"]).data().contains("user-config:skills"));
    assert!(place.run(&["skills", "install", "a.skill", "--only", "good"]).failure().contains("--force replaces"));
    let report = place.run(&["skills", "install", "a.skill", "--only", "good", "--force", "--json"]).json();
    assert_eq!((&report["installed"][0]["id"], &report["installed"][0]["replaced"]), (&"good".into(), &true.into()));
    assert_eq!(report["found"].as_array().unwrap().len(), 2);
    let unknown = place.run(&["skills", "install", "a.skill", "--only", "godo", "--to", "else"]);
    assert!(unknown.failure().contains("did you mean `good`?") && !place.at("work/else").exists(), "{}", unknown.stderr);
    place.write("work/bad.zip", zip(&[good(), Entry::new("\u{1b}[2J../../x", "x")]));
    let refused = place.run(&["skills", "install", "bad.zip", "--to", "else"]);
    assert!(refused.failure().contains("refused") && !refused.stderr.contains('\u{1b}'), "{}", refused.stderr);
    assert_eq!(place.run(&["skills", "install"]).code, 2);
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn no_name_is_written_outside(names in prop::collection::vec("(\\.\\./|\\./|/|[ab]/|[ab]|[\\\\:]|SKILL\\.md|\\PC){1,6}", 1..4), mode in prop::sample::select(vec![0o100_644, 0o120_777, 0o040_755])) {
        let place = Place::new();
        let entries: Vec<Entry> = names.iter().map(|name| Entry::new(name, "---\ndescription: d\n---\nx").mode(mode)).collect();
        let before = children(&place.at("work"));
        let installed = install(&place, &zip(&[vec![good()], entries].concat()), |install| install);
        let mut expected = [before, vec![place.at("work/a.skill"), place.at("work/to")]].concat();
        expected.sort();
        prop_assert_eq!(children(&place.at("work")), expected);
        let skills = place.at("work/to/skills");
        prop_assert_eq!(children(&place.at("work/to")), if installed.is_ok() { vec![skills.clone()] } else { Vec::new() });
        let mut paths: Vec<PathBuf> = installed.into_iter().flat_map(|report| report.installed).map(|skill| skill.path).collect();
        paths.sort();
        prop_assert_eq!(children(&skills), paths);
    }
}
