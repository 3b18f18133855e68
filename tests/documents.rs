//! What README and the documents name is there: links, paths, the tests, benches and examples in their commands, and the codes of diagnostics.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn documents() -> Vec<(PathBuf, String)> {
    let in_docs = fs::read_dir("docs").unwrap().map(|entry| entry.unwrap().path());
    let top = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(PathBuf::from);
    let texts = in_docs.filter(|path| path.extension().is_some_and(|end| end == "md")).chain(top);
    texts.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// What stands between these in a text.
fn between<'a>(text: &'a str, open: &'a str, close: char) -> impl Iterator<Item = &'a str> {
    text.split(open).skip(1).filter_map(move |rest| rest.split_once(close).map(|(inner, _)| inner))
}

#[test]
fn relative_links_lead_somewhere() {
    let mut count = 0;
    for (document, text) in documents() {
        for link in between(&text, "](", ')').filter(|link| !link.contains("://") && !link.starts_with('#')) {
            let file = document.parent().unwrap().join(link.split('#').next().unwrap());
            assert!(file.exists(), "{}: {link}", document.display());
            count += 1;
        }
    }
    assert!(count > 20, "{count} links");
}

#[test]
fn paths_in_this_repository_are_there() {
    const TOPS: [&str; 8] = ["src/", "layers/", "tests/", "docs/", "examples/", "benches/", "fuzz/", ".ci/"];
    let mut count = 0;
    for (document, text) in documents() {
        for line in text.lines() {
            for path in line.split('`').skip(1).step_by(2).filter(|path| TOPS.iter().any(|top| path.starts_with(top))) {
                let is_plain = !path.contains([' ', '*', '…']) && !path.contains("corpus");
                assert!(!is_plain || Path::new(path).exists(), "{}: {path}", document.display());
                count += usize::from(is_plain);
            }
        }
    }
    assert!(count > 40, "{count} paths");
}

#[test]
fn what_commands_name_is_there() {
    let is_there = |folder: &str, name: &str| {
        let folder = Path::new(folder);
        folder.join(format!("{name}.rs")).exists() || folder.join(name).join("main.rs").exists()
    };
    let mut count = 0;
    for (document, text) in documents() {
        for (flag, folders) in [("--test ", &["tests", "layers/tests"][..]), ("--bench ", &["benches"]), ("--example ", &["examples"])] {
            for rest in text.split(flag).skip(1) {
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let stands_for_any = name.is_empty() || name == "NAME";
                assert!(stands_for_any || folders.iter().any(|folder| is_there(folder, &name)), "{}: {flag}{name}", document.display());
                count += usize::from(!stands_for_any);
            }
        }
    }
    assert!(count > 20, "{count} names");
}

type Codes = BTreeMap<String, BTreeSet<String>>;

const SEVERITIES: [&str; 3] = ["note", "warning", "error"];

/// Diagnostics that are said again with another severity, where no constructor stands: validation by rules raises some (`as_error` in
/// `src/skills/validation/mod.rs`), and a workspace's file that is no text is lowered (`decoded` in `src/files.rs`).
const SAID_OTHERWISE: [(&str, &str); 5] = [
    ("front-matter-preceded", "error"),
    ("front-matter-repaired", "error"),
    ("file-utf16", "error"),
    ("file-not-utf8", "warning"),
    ("file-not-text", "warning"),
];

fn is_code(text: &str) -> bool {
    !text.is_empty() && text.split('-').all(|word| !word.is_empty() && word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9')))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// A source without its comments, and without the module of tests at its end.
fn code_of(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n");
    let is_tests =
        |(at, _): &(usize, &str)| lines[*at..].lines().nth(1).is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'));
    let end = lines.match_indices("#[cfg(test)]\n").find(is_tests).map_or(lines.len(), |(at, _)| at);
    lines[..end].to_owned()
}

/// The codes in the sources, which are written in two forms: `Diagnostic::warning("code", …)`, where the severity is known, and
/// `Diagnostic::new(severity, "code", …)`, where it may be any. A code that is no literal there, or that is put in later, fails.
fn codes_in_sources() -> Codes {
    let mut files = Vec::new();
    for folder in ["src", "layers/src"] {
        sources(Path::new(folder), &mut files);
    }
    // What makes them does not count.
    files.retain(|path| !path.ends_with("layers/src/prompt/diagnostic.rs"));
    let mut codes = Codes::new();
    for path in files {
        let text = code_of(&path);
        assert!(!text.contains(".code = "), "{}: a code that is put in later is not found; make the diagnostic with it", path.display());
        for (form, severities) in [("note", &["note"][..]), ("warning", &["warning"]), ("error", &["error"]), ("new", &SEVERITIES)] {
            for rest in text.split(&format!("Diagnostic::{form}(")).skip(1) {
                let rest = if form == "new" { rest.split_once(',').unwrap().1 } else { rest };
                let code = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split_once("\",")).map(|(code, _)| code);
                let line = rest.lines().next().unwrap_or_default();
                let code = code.filter(|code| is_code(code)).unwrap_or_else(|| panic!("{}: no code in `{form}({line}`", path.display()));
                codes.entry(code.to_owned()).or_default().extend(severities.iter().map(ToString::to_string));
            }
        }
    }
    for (code, severity) in SAID_OTHERWISE {
        let is_new = codes.get_mut(code).unwrap_or_else(|| panic!("no `{code}`")).insert(severity.to_owned());
        assert!(is_new, "`{code}` is made as {severity} too, and needs no row in SAID_OTHERWISE");
    }
    codes
}

/// The codes in the tables of `docs/diagnostics.md`. One may stand under several headings, with the severities that it has there.
fn codes_in_the_page() -> Codes {
    let text = fs::read_to_string("docs/diagnostics.md").unwrap();
    let mut codes = Codes::new();
    for (heading, section) in text.split("\n## ").skip(1).map(|section| section.split_once('\n').unwrap()) {
        let mut seen = BTreeSet::new();
        for row in section.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
            let [code, severities, happened, to_do] = cells[..] else { panic!("{heading}: not four cells: {row}") };
            let code = code.trim_matches('`');
            assert!(is_code(code) && happened.ends_with('.') && to_do.ends_with('.'), "{heading}: {row}");
            assert!(seen.insert(code), "{heading}: `{code}` stands twice");
            for severity in severities.split(", ") {
                assert!(SEVERITIES.contains(&severity), "{heading}: `{code}` has the severity {severity:?}");
                codes.entry(code.to_owned()).or_default().insert(severity.to_owned());
            }
        }
    }
    codes
}

#[test]
fn every_code_of_a_diagnostic_stands_in_its_page_with_its_severities() {
    let (sources, page) = (codes_in_sources(), codes_in_the_page());
    // Else the forms above find nothing any more.
    assert!(sources.len() >= 120, "{} codes in the sources", sources.len());
    let (in_sources, in_page): (BTreeSet<_>, BTreeSet<_>) = (sources.keys().collect(), page.keys().collect());
    let missing: Vec<_> = in_sources.difference(&in_page).collect();
    let stale: Vec<_> = in_page.difference(&in_sources).collect();
    assert!(missing.is_empty() && stale.is_empty(), "docs/diagnostics.md lacks {missing:?}, and has {stale:?}, which the sources do not");
    for (code, severities) in &sources {
        assert_eq!(&page[code], severities, "`{code}`: its severities in docs/diagnostics.md, and in the sources");
    }
}
