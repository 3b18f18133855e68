//! Strict validation, on any bytes as a skill file under any folder's name, by all rules: the same input has the same findings, in the order of the
//! file, each at a place in it; and what the specification passes loads by every other reader of ours without an error.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use std::time::{Duration, Instant};
use tower_prompt::layers::Severity;
use tower_prompt::layers::skill::{SkillSource, SkillSourceKind};
use tower_prompt::skills::validation::{RuleSet, validate};
use tower_prompt::skills::{describe, front_matter};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    folder: Option<&'a str>,
    file: &'a [u8],
}

/// Where the folder's name shall be that of the file, as most are: what stands behind `name:`.
fn own_name(file: &[u8]) -> String {
    let text = String::from_utf8_lossy(file);
    let name = text.lines().find_map(|line| line.strip_prefix("name:")).unwrap_or_default();
    name.trim().trim_matches('"').chars().take(80).collect()
}

fuzz_target!(|input: Input| {
    let folder = input.folder.map_or_else(|| own_name(input.file), str::to_owned);
    // Ends of lines in UTF-16 are among these bytes too.
    let lines = input.file.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
    for rules in RuleSet::ALL {
        let begun = Instant::now();
        let found = validate(input.file, &folder, rules);
        // Instrumented code is slow; what is looked for is time that grows out of all proportion.
        assert!(begun.elapsed() < Duration::from_secs(10), "{} bytes took {:?}", input.file.len(), begun.elapsed());
        assert_eq!(found, validate(input.file, &folder, rules), "{rules}: the same input, the same findings");
        assert!(found.is_sorted_by_key(|found| (found.line, found.column)), "{rules}: {found:?}");
        for one in &found {
            assert!(one.line.is_none_or(|line| (1..=lines).contains(&(line as usize))), "{rules}: {one} of {lines} lines");
            assert!(one.column.is_none_or(|column| (1..=input.file.len() + 1).contains(&(column as usize))), "{rules}: {one}");
            assert!(one.line.is_some() || one.column.is_none(), "{rules}: {one}");
            assert!(!one.message.is_empty() && one.message.len() < 2_000 && one.path.is_none(), "{rules}: {one}");
        }
        let passes = found.iter().all(|found| found.severity == Severity::Note);
        if passes && rules != RuleSet::Bcode {
            // A name that our ids can't have is no matter of the specification.
            let document = front_matter::read(input.file).expect("what passes is read");
            let source = SkillSource::new(SkillSourceKind::User, "fuzz");
            match describe(&document, &folder, source) {
                Ok(described) => {
                    let worst = described.diagnostics.iter().map(|found| found.severity).max();
                    assert!(worst < Some(Severity::Error), "{rules}: {:?}", described.diagnostics);
                }
                Err(error) => assert_eq!(error.code, "id-invalid", "{rules}: {error}"),
            }
        }
    }
});
