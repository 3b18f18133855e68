//! Matching by what skills of anyone declare: keywords, regular expressions and globs of any text against any message; and what a model answers that is
//! asked in its place. It ends in time, it is the same again, it names skills that there are, and what is ignored is told.
//!
//! An input is lines, each with a letter: `i` begins a skill with this id, `n` is its name, `d` its description, `k` a keyword, `p` a pattern, `g` a glob,
//! `f` a file of the host's, `m` a line of the message, `a` one of the model's answer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tower_prompt::layers::SkillQuestion;
use tower_prompt::layers::skill::{Matcher, Skill, SkillId, SkillSource, SkillSummary, Skills, trigger_pattern_fault};

#[derive(Default)]
struct Input {
    skills: Vec<SkillSummary>,
    files: Vec<String>,
    message: String,
    answer: String,
}

fn read(text: &str) -> Input {
    let source: SkillSource = serde_json::from_value(json!({"kind": "user", "label": "user:skills"})).expect("it is one");
    let mut input = Input::default();
    for line in text.split('\n') {
        let Some(kind) = line.chars().next().filter(char::is_ascii) else { continue };
        let rest = line[1..].strip_prefix(' ').unwrap_or(&line[1..]);
        match kind {
            'i' => input.skills.extend(SkillId::new(rest).map(|id| SkillSummary::new(id, "", source.clone()))),
            'f' => input.files.push(rest.to_owned()),
            'm' => input.message.extend([rest, "\n"]),
            'a' => input.answer.extend([rest, "\n"]),
            _ => {
                let Some(skill) = input.skills.last_mut() else { continue };
                match kind {
                    'n' => rest.clone_into(&mut skill.name),
                    'd' => rest.clone_into(&mut skill.description),
                    'k' => skill.activation.keywords.push(rest.to_owned()),
                    'p' => skill.activation.trigger_patterns.push(rest.to_owned()),
                    'g' => skill.activation.file_patterns.push(rest.to_owned()),
                    _ => {}
                }
            }
        }
    }
    input
}

fuzz_target!(|text: &str| {
    let Input { skills, files, message, answer } = read(text);
    let begun = Instant::now();
    let skills = Skills::new(skills.into_iter().map(|summary| Skill::new(summary, String::new())), Vec::new());
    let matcher = Matcher::new(skills.iter());
    let found = matcher.find_with_files(&message, &files);
    let declared = matcher.find_declared(&message, &files);
    // Instrumented code is slow; what is looked for is time that grows out of all proportion.
    assert!(begun.elapsed() < Duration::from_secs(10), "{} bytes took {:?}", text.len(), begun.elapsed());
    assert_eq!(Matcher::new(skills.iter()).find_with_files(&message, &files), found, "the same again");
    assert_eq!(found.iter().map(|found| &found.id).collect::<BTreeSet<_>>().len(), found.len(), "each once");
    assert!(found.len() <= 24 && found.is_sorted_by(|one, next| one.score > next.score || one.score == next.score && one.id < next.id));
    for one in &found {
        let skill = skills.get(one.id.as_str()).expect("a skill that there is");
        assert!(one.score.is_finite() && one.score > 0.0 && !one.evidence.is_empty(), "{one:?}");
        assert!(one.evidence.iter().all(|evidence| evidence.weight > 0.0 && !evidence.what.is_empty()), "{one:?}");
        assert!(!one.is_strong || declared.iter().any(|declared| declared.id == one.id && declared.is_strong) || declared.len() == 24);
        assert!(skill.summary.is_for_the_model());
    }
    assert!(declared.iter().all(|one| skills.get(one.id.as_str()).is_some()) && declared.len() <= 24);
    for skill in skills.iter() {
        for pattern in &skill.summary.activation.trigger_patterns {
            let is_told = || matcher.diagnostics().iter().any(|told| told.message.contains(skill.summary.id.as_str()));
            assert!(trigger_pattern_fault(pattern).is_none() || is_told(), "{pattern:?}: {:?}", matcher.diagnostics());
        }
    }

    let candidates = skills.iter().map(|skill| skill.summary.clone()).collect();
    let question = SkillQuestion::new(&*message, candidates);
    // At most 200 lines, of an id and 200 characters, and 8000 characters of the message, of which each may be escaped.
    assert!(question.prompt().len() < 1_000 + 200 * (255 + 200 * 6) + 8_000 * 6);
    let named = question.read_answer(&answer);
    assert_eq!(question.read_answer(&answer), named);
    assert!(named.iter().flatten().all(|id| skills.get(id.as_str()).is_some()));
});
