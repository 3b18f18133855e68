//! A configuration of any text: as a file that is found it never stops anything, each finding has a place in it, and what holds in the end is the same
//! once it is written out and read again. As something that the user names it is an error where, and only where, a finding is one.
//!
//! An input is a file, and behind a line `===` variables and settings in code, a line each: `BCODE_SKILLS__ENABLED=true`, `+skills.enabled=true`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tower_prompt::config::{Loaded, Loader, OriginKind};
use tower_prompt::layers::{Diagnostic, Severity};
use tower_prompt::{Environment, Workspace};

const BREAK: &[u8] = b"\n===\n";
/// Of each severity in one source, and one that counts the others.
const MOST_FINDINGS: usize = 101;

fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let folder = if Path::new("/dev/shm").is_dir() { "/dev/shm".into() } else { std::env::temp_dir() };
        let root = folder.join(format!("tower-prompt-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&root).expect("a folder for a while");
        root
    })
}

fn is_error(found: &Diagnostic) -> bool {
    found.severity == Severity::Error
}

/// Whether each finding is well-formed, and stands in this text where it has a place.
fn are_sound(findings: &[Diagnostic], text: &str) {
    let lines: Vec<&str> = text.split('\n').collect();
    for found in findings {
        assert!(!found.message.is_empty() && found.message.len() < 4_000, "{} bytes: {found}", found.message.len());
        assert!(!found.to_string().contains(char::is_control), "{found:?}");
        assert!(found.line.is_some() || found.column.is_none(), "{found}");
        let Some(line) = found.line else { continue };
        let stands = lines.get(line as usize - 1).unwrap_or_else(|| panic!("{found} of {} lines", lines.len()));
        assert!(found.column.is_none_or(|column| (1..=stands.chars().count() + 1).contains(&(column as usize))), "{found}: {stands:?}");
    }
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        assert!(findings.iter().filter(|found| found.severity == severity).count() <= MOST_FINDINGS + 20, "{severity}");
    }
}

/// All that was set, a row a line. A profile in which nothing is set has no row.
fn written_out(loaded: &Loaded) -> String {
    let set = loaded.values.rows().iter().filter(|row| row.origin.kind != OriginKind::Default);
    let rows = set.filter_map(|row| Some(format!("{} = {}\n", row.key, row.value.as_ref()?)));
    let first_segment = |key: &str| format!("{key} = 1").parse::<toml::Table>().ok()?.keys().next().cloned();
    let profiles = loaded.values.rows().iter().filter_map(|row| first_segment(row.key.strip_prefix("composition.profiles.")?));
    let with_rows: BTreeSet<String> = profiles.collect();
    let empty = loaded.config.composition.profiles.keys().filter(|id| !with_rows.contains(*id));
    // JSON texts are TOML too, but for one character.
    let quoted = |id: &String| serde_json::to_string(id).expect("it is text").replace('\u{7f}', "\\u007f");
    rows.chain(empty.map(|id| format!("composition.profiles.{} = {{}}\n", quoted(id)))).collect()
}

fn with_lines(environment: &Environment, lines: &str) {
    let workspace = Workspace::at(root());
    let (mut environment, mut settings) = (environment.clone(), Vec::new());
    for line in lines.lines().take(16) {
        let Some((name, value)) = line.split_once('=') else { continue };
        match name.strip_prefix('+') {
            Some(key) => settings.push((key, value)),
            // What it names would be read, and may be anything on this machine.
            None if name == "BCODE_CONFIG" || name.contains('\0') => {}
            None => environment = environment.variable(name, value),
        }
    }
    let load = || {
        settings.iter().fold(Loader::new(&environment, &workspace), |loader, (key, value)| {
            let parsed = format!("value = {value}").parse::<toml::Table>().ok().and_then(|mut table| table.remove("value"));
            loader.set(*key, parsed.unwrap_or_else(|| (*value).into()))
        })
    };
    match (load().load(), load().load()) {
        (Ok(one), Ok(other)) => assert!(one.config == other.config && one.findings == other.findings && one.values == other.values),
        (Err(one), Err(other)) => {
            assert_eq!(one.findings(), other.findings());
            assert!(one.findings().iter().any(is_error), "{one}");
            assert!(one.findings().iter().all(|found| !found.message.is_empty()), "{one}");
        }
        (one, other) => panic!("the same input, another outcome: {one:?}, {other:?}"),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let at = bytes.windows(BREAK.len()).position(|window| window == BREAK);
    let (file, lines) = at.map_or((bytes, &b""[..]), |at| (&bytes[..at], &bytes[at + BREAK.len()..]));
    let path = root().join("bcode.toml");
    std::fs::write(&path, file).expect("a file for a while");
    let (environment, workspace) = (Environment::new(root()), Workspace::at(root()));
    let load = || Loader::new(&environment, &workspace).load();
    let loaded = load().unwrap_or_else(|error| panic!("a file that is found stopped: {error}"));
    let again = load().expect("the same again");
    assert!(loaded.config == again.config && loaded.findings == again.findings && loaded.values == again.values);
    let lossy = String::from_utf8_lossy(file);
    let text = lossy.strip_prefix('\u{feff}').unwrap_or(&lossy);
    are_sound(&loaded.findings, text);
    assert!(loaded.findings.iter().all(|found| found.path.as_deref().is_none_or(|found| Path::new(found) == path)));

    // An environment has no variable with such a value.
    std::fs::remove_file(&path).expect("it is there");
    if let Ok(text) = str::from_utf8(file)
        && !text.is_empty()
        && !text.contains('\0')
    {
        let named = environment.clone().variable("BCODE_CONFIG_TOML", text);
        match Loader::new(&named, &workspace).load() {
            Ok(named) => assert!(named.config == loaded.config && named.findings.len() == loaded.findings.len()),
            Err(error) => {
                are_sound(error.findings(), text.strip_prefix('\u{feff}').unwrap_or(text));
                assert!(error.findings().iter().any(is_error) && loaded.findings.iter().any(is_error), "{error}");
            }
        }
    }
    let out = written_out(&loaded);
    if !out.is_empty() {
        let named = environment.clone().variable("BCODE_CONFIG_TOML", &out);
        let read = Loader::new(&named, &workspace).load().unwrap_or_else(|error| panic!("{error}\n{out}"));
        assert!(read.config == loaded.config, "written out it is another:\n{out}\n{:?}\n{:?}", read.config, loaded.config);
    }
    if let Ok(lines) = str::from_utf8(lines)
        && !lines.is_empty()
    {
        with_lines(&environment, lines);
    }
});
