//! The front matter reader, on any bytes: it answers, it places what it reports inside the file, and what it reads is a skill that the catalog can
//! show.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::time::{Duration, Instant};
use tower_prompt::layers::skill::{SkillSource, SkillSourceKind};
use tower_prompt::skills::{describe, front_matter};

fuzz_target!(|bytes: &[u8]| {
    let begun = Instant::now();
    let read = front_matter::read(bytes);
    // Instrumented code is slow; what is looked for is time that grows out of all proportion.
    assert!(begun.elapsed() < Duration::from_secs(5), "{} bytes took {:?}", bytes.len(), begun.elapsed());
    let Ok(document) = read else { return };
    let lines = bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
    for diagnostic in &document.diagnostics {
        assert!(diagnostic.line.is_none_or(|line| line >= 1 && line as usize <= lines), "{diagnostic} of {lines} lines");
    }
    let source = SkillSource::new(SkillSourceKind::User, "fuzz");
    if let Ok(described) = describe(&document, "fuzz", source) {
        assert!(!described.summary.id.as_str().is_empty());
        assert!(!described.summary.name.is_empty());
    }
});
