//! A zip file of any bytes: nothing is written outside of the folder that is installed into, whatever comes of it is whole, and what is refused leaves
//! nothing behind.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::{Path, PathBuf};
use tower_prompt::Environment;
use tower_prompt::skills::install::{Install, Limits, Source};

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fuzz_target!(|bytes: &[u8]| {
    let place = std::env::temp_dir().join(format!("tower-prompt-fuzz-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(place.join("outer")).expect("a folder for a while");
    let archive = place.join("a.zip");
    std::fs::write(&archive, bytes).expect("a file for a while");
    let folder = place.join("outer/skills");
    let mut limits = Limits::default();
    (limits.entries, limits.bytes, limits.file_bytes, limits.ratio_from) = (16, 4_096, 2_048, 1_024);
    let installed = Install::into(&folder).limits(limits).run(&Source::Archive(archive.clone()), &Environment::new(&place));
    assert_eq!(entries(&place), [archive, place.join("outer")]);
    match installed {
        Err(_) => assert_eq!(entries(&place.join("outer")), [PathBuf::new(); 0]),
        Ok(report) => {
            assert_eq!(entries(&place.join("outer")), [folder.clone()]);
            let mut paths: Vec<PathBuf> = report.installed.iter().map(|skill| skill.path.clone()).collect();
            paths.sort();
            assert_eq!(entries(&folder), paths);
            assert!(report.installed.iter().map(|skill| skill.bytes).sum::<u64>() <= 4_096);
        }
    }
});
