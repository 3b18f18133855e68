//! What README and the documents name is there: links, paths, and the tests, benches and examples in their commands.

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
