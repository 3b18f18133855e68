//! What a text says of skills, and what it does not.

use super::*;
use crate::skill::{SkillActivation, SkillSource, SkillSourceKind, SkillSummary};
use std::sync::Arc;

fn skill(id: &str, keywords: &[&str], patterns: &[&str]) -> Skill {
    let source = SkillSource::new(SkillSourceKind::Bundled, "test");
    let mut summary = SkillSummary::new(SkillId::new(id).unwrap(), "", source);
    let own = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
    summary.activation = SkillActivation { keywords: own(keywords), trigger_patterns: own(patterns), ..SkillActivation::default() }.into();
    Skill::new(summary, String::new())
}
fn found(keywords: &[&str], text: &str) -> bool {
    let found = Matcher::new(&[skill("zz-test-skill", keywords, &[])]).find(text);
    found.iter().flat_map(|found| &found.evidence).any(|evidence| evidence.kind == SkillEvidenceKind::Keyword)
}

#[test]
fn what_skills_declare_is_found_without_their_words() {
    let mut other = skill("zz-other", &[], &[]);
    Arc::make_mut(&mut other.summary).description = "Bakes sourdough bread.".into();
    let matcher = Matcher::new(&[skill("zz-rust", &["borrow checker"], &["error\\[E\\d+\\]"]), other]);
    let ids = |found: &[SkillMatch]| found.iter().map(|found| found.id.to_string()).collect::<Vec<_>>();
    for (text, declared, all) in [
        ("the borrow checker and sourdough bread", vec!["zz-rust"], vec!["zz-rust", "zz-other"]),
        ("error[E0502] in the bread", vec!["zz-rust"], vec!["zz-rust", "zz-other"]),
        ("sourdough bread", vec![], vec!["zz-other"]),
    ] {
        let found = matcher.find_declared(text, &[]);
        assert_eq!(ids(&found), declared, "{text}");
        assert_eq!(ids(&matcher.find(text)), all, "{text}");
        let is_strong = |matches: &[SkillMatch]| matches.iter().find(|found| found.id.as_str() == "zz-rust").map(|found| found.is_strong);
        assert_eq!(is_strong(&found), is_strong(&matcher.find(text)), "{text}");
    }
}

#[test]
fn a_name_of_one_word_means_the_skill_where_the_text_calls_it_one() {
    let matcher = Matcher::new(&[skill("review", &[], &[]), skill("docker", &[], &[])]);
    for (text, named) in [
        ("run the review skill", &["review"][..]),
        ("use the Docker skill, then the review-skill", &["docker", "review"]),
        ("load skill docker", &["docker"]),
        ("skill: review", &["review"]),
        ("use the `docker` skill", &["docker"]),
        ("review my docker file", &[]),
        ("my skill reviews", &[]),
        ("a preview skill", &[]),
        ("a skillful review", &[]),
    ] {
        let found = matcher.find(text);
        let mut ids: Vec<&str> = found
            .iter()
            .filter(|found| {
                found.evidence.iter().any(|evidence| evidence.kind == SkillEvidenceKind::Id && evidence.weight >= SUGGESTION_THRESHOLD)
            })
            .map(|found| found.id.as_str())
            .collect();
        ids.sort_unstable();
        assert_eq!(ids, named, "{text}");
        assert!(found.iter().all(|found| !found.is_strong), "{text}: no name activates a skill");
    }
}

#[test]
fn a_keyword_is_a_run_of_whole_tokens() {
    for (keyword, text, matches) in [
        ("rust", "I trust you", false),
        ("ui", "the build", false),
        ("git", "a digit", false),
        ("log", "a dialog", false),
        ("hack", "Hacker News", false),
        ("rust", "Rust!", true),
        ("code review", "code-review", true),
        ("code review", "Code  review", true),
        ("code review", "code_review", true),
        ("/linear", "use /linear now", true),
        (".env", "read .env", true),
        ("c#", "in C#.", true),
        ("c++", "modern c++ code", true),
        ("objc", "in objc++ code", false),
        ("cargo", "cargo.toml", false),
        ("cargo", "use cargo.", true),
        ("分析", "请分析数据", true),
        ("straße", "STRASSE", true),
        ("οδός", "ΟΔΌΣ", true),
        ("caf\u{e9}", "cafe\u{301}!", true),
        ("навык", "Новый НАВЫК!", true),
        ("", "anything", false),
        ("  ", "any  thing", false),
        ("r", "use r", false),
    ] {
        assert_eq!(found(&[keyword], text), matches, "{keyword:?} in {text:?}");
    }
}

#[test]
fn one_word_suggests_and_two_activate() {
    let matcher = Matcher::new(&[skill("rust-debugging", &["rust", "cargo", "borrow checker"], &[])]);
    let strong = |text: &str| matcher.find(text).first().map(|found| found.is_strong);
    assert_eq!(strong("cargo fails"), Some(false));
    assert_eq!(strong("cargo and rust"), Some(true));
    assert_eq!(strong("the borrow checker"), Some(true));
    assert_eq!(strong("`cargo` and\n> rust"), Some(false));
    assert_eq!(strong("nothing"), None);
}

#[test]
fn what_stands_in_a_fence_or_behind_a_mark_is_quoted() {
    let matcher = Matcher::new(&[skill("zz-test-skill", &["cargo"], &[])]);
    for (text, quoted) in [("cargo", false), ("> cargo", true), ("```\ncargo\n```", true), ("~~~\ncargo", true), ("```\n```\ncargo", false)]
    {
        assert_eq!(matcher.find(text)[0].evidence[0].quoted, quoted, "{text:?}");
    }
}

#[test]
fn of_keywords_that_begin_alike_each_is_found() {
    for keywords in [["cargo", "cargotest"], ["js", "json"], ["go", "gomoduletidy"]] {
        assert!(found(&keywords[1..], keywords[1]) && found(&keywords, keywords[0]));
        let matcher = Matcher::new(&[skill("a", &keywords[..1], &[]), skill("b", &keywords[1..], &[])]);
        assert_eq!(ids(&matcher.find(keywords[1])), ["b"]);
    }
}

#[test]
fn of_a_long_text_three_parts_of_the_beginning_and_one_of_the_end_are_looked_at() {
    let matcher = Matcher::new(&[skill("a", &["cargo test"], &[])]);
    let found_at = |place: usize, length: usize| {
        let text = format!("{} cargo test {}", ".".repeat(place), ".".repeat(length - place));
        !matcher.find(&text).is_empty()
    };
    let kib = |n: usize| n * 1024;
    assert!(found_at(kib(40), kib(60)));
    assert_eq!([30, 47, 49, 70, 83, 85, 99].map(|place| found_at(kib(place), kib(100))), [true, true, false, false, false, true, true]);
    assert_eq!(beginning("分析", 4), "分", "at most so many bytes");
}

#[test]
fn what_a_cut_would_tear_is_left_out_at_both_ends() {
    assert_eq!(ends("分析分析", 4, 4), ("分", "析"));
    assert_eq!(ends("one two three four", 5, 6), ("one ", " four"));
}

#[test]
fn each_kind_of_evidence_has_its_weight_and_half_of_it_in_quotations() {
    let mut all = skill("zz-any", &["cargo", "borrow checker"], &["E\\d{4}"]);
    Arc::make_mut(&mut all.summary).activation.file_patterns = vec!["*.pdf".into()];
    let matcher = Matcher::new(&[all]);
    for (text, what, weight, quoted) in [
        ("cargo", "cargo", 0.5, false),
        ("> cargo", "cargo", 0.25, true),
        ("the borrow checker", "borrow checker", 0.8, false),
        ("`borrow checker`", "borrow checker", 0.4, true),
        ("E0502", "E\\d{4}", 1.0, false),
        ("open a.pdf", "*.pdf", 0.5, false),
    ] {
        let found = matcher.find_declared(text, &[]);
        let evidence: Vec<_> = found[0].evidence.iter().map(|found| (&*found.what, found.weight, found.quoted)).collect();
        assert_eq!(evidence, [(what, weight, quoted)], "{text}");
    }
    assert_eq!(format!("{matcher:?}"), "Matcher { skills: 1, .. }");
}

#[test]
fn a_keyword_is_bounded_as_it_is_written_and_as_it_is_looked_for() {
    let blanks = |bytes: usize| format!("ab{}cd", " ".repeat(bytes - 4));
    for (keyword, fault) in [
        ("k".repeat(256), None),
        ("k".repeat(257), Some("long")),
        (blanks(1024), None),
        (blanks(1025), Some("long")),
        (format!("a{}", " ".repeat(300)), Some("short")),
        ("ab".to_owned(), None),
    ] {
        let all = [skill("zz-any", &[&keyword], &[])];
        let told = Matcher::ignored(&all);
        assert_eq!(told, Matcher::new(&all).diagnostics());
        assert_eq!(told.len(), usize::from(fault.is_some()), "{}: {told:?}", keyword.len());
        assert!(fault.is_none_or(|fault| told[0].message.contains(fault)), "{told:?}");
    }
}

#[test]
fn what_skills_share_is_common_from_a_number_on_and_from_a_part_of_all() {
    for (share, all, is_common) in [(256, 300, false), (257, 300, true), (257, 2_056, false), (258, 2_056, true)] {
        let skills: Vec<Skill> = (0..all).map(|n| skill(&format!("x{n}"), if n < share { &["gizmo"] } else { &[] }, &[])).collect();
        assert_eq!(Matcher::ignored(&skills).len(), usize::from(is_common), "{share} of {all}");
    }
}

#[test]
fn two_dozens_are_told_whole() {
    let all: Vec<Skill> = (0..24).map(|n| skill(&format!("x{n}"), &["gizmo"], &[])).collect();
    assert_eq!(Matcher::new(&all).find_declared("a gizmo", &[]).len(), 24);
}

#[test]
fn words_of_a_keyword_that_has_several_are_looked_for_too() {
    let matcher = Matcher::new(&[skill("zz-any", &["sourdough starter", "deep-dish", "gizmo"], &[])]);
    let words = |text: &str| {
        let found = matcher.find(text);
        let words = found.iter().flat_map(|found| &found.evidence).filter(|found| found.kind == SkillEvidenceKind::Word);
        words.map(|found| found.what.clone()).collect::<Vec<_>>()
    };
    assert_eq!((words("sourdough"), words("a dish"), words("gizmo")), (vec!["sourdough".to_owned()], vec!["dish".to_owned()], vec![]));
}

#[test]
fn all_file_patterns_together_are_bounded() {
    let mut all = skill("zz-any", &[], &[]);
    let pattern = |n: usize| format!("{n:04}{}", "a".repeat(252));
    Arc::make_mut(&mut all.summary).activation.file_patterns = (0..1025).map(pattern).collect();
    let told = Matcher::ignored(&[all]);
    assert!(told.len() == 1 && told[0].message.ends_with("all file patterns take over 256 KiB"), "{told:?}");
}

#[test]
fn trigger_patterns_are_bounded_one_by_one_and_together() {
    assert!(trigger_pattern_fault("(?:ab){10000}").is_some());
    let patterns: Vec<String> = (0..8).map(|n| format!("{n}(?:ab){{1500}}")).collect();
    let all = skill("zz-any", &[], &patterns.iter().map(String::as_str).collect::<Vec<_>>());
    let told: Vec<String> = Matcher::ignored(&[all]).into_iter().map(|found| found.message).collect();
    assert_eq!(told, ["4 of 8 trigger patterns are ignored: compiled, they take over 1 MiB"]);
}

#[test]
fn file_patterns_are_bounded_too() {
    let mut skill = skill("a", &[], &[]);
    let longest = format!("{}.rs", "a".repeat(253));
    Arc::make_mut(&mut skill.summary).activation.file_patterns = vec![longest.clone(), format!("a{longest}"), String::new()];
    let matcher = Matcher::new(&[skill]);
    assert_eq!(matcher.find_with_files("", &[longest])[0].evidence.len(), 1);
    let told: Vec<&str> = matcher.diagnostics().iter().map(|found| found.message.rsplit(": ").next().unwrap()).collect();
    assert_eq!(told, ["it is longer than 256 bytes", "it is empty"]);
}

#[test]
fn patterns_are_bounded_and_the_bad_ones_ignored() {
    let matcher = Matcher::new(&[skill("a", &["", "x"], &["(", "(a{1000}){1000}", " ", "panicked at"])]);
    assert!(matcher.find("thread main PANICKED AT src").first().unwrap().is_strong);
    let codes: Vec<&str> = matcher.diagnostics().iter().map(|found| &*found.code).collect();
    assert_eq!(codes, ["keyword-ignored", "keyword-ignored", "pattern-ignored", "pattern-ignored", "pattern-ignored"]);
    assert!(matcher.find("any words at all").is_empty(), "what is blank stands in all texts");
}

#[test]
fn what_is_too_long_for_a_word_is_left_out_at_once() {
    let long = "a-".repeat(30_000);
    let mut named = skill("a", &[&long], &[]);
    Arc::make_mut(&mut named.summary).name.clone_from(&long);
    let start = std::time::Instant::now();
    let matcher = Matcher::new(&[named]);
    assert!(start.elapsed().as_secs() < 5);
    assert!(matcher.diagnostics().len() == 1 && matcher.diagnostics()[0].message.len() < 200);
}

#[test]
fn hidden_skills_are_not_found() {
    let mut hidden = skill("a", &["rust"], &[]);
    Arc::make_mut(&mut hidden.summary).hidden = true;
    assert!(Matcher::new(&[hidden]).find("rust").is_empty());
}

#[test]
fn the_surest_comes_first_and_says_why() {
    let matcher = Matcher::new(&[skill("b", &["rust"], &[]), skill("a", &["rust", "cargo test"], &[]), skill("c", &["rust"], &[])]);
    let found = matcher.find("cargo test in rust");
    assert_eq!(found.iter().map(|found| found.id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(found[0].evidence[0].what, "cargo test");
}

fn described(id: &str, description: &str) -> Skill {
    let mut skill = skill(id, &[], &[]);
    Arc::make_mut(&mut skill.summary).description = description.into();
    skill
}
fn ids(found: &[SkillMatch]) -> Vec<&str> {
    found.iter().filter(|found| found.score >= SUGGESTION_THRESHOLD).map(|found| found.id.as_str()).collect()
}

#[test]
fn words_of_names_and_descriptions_find_a_skill_and_none_is_strong() {
    let all = [
        described("pdf-toolkit", "Merges and splits PDF files, extracts tables and fills in forms. Not for Word documents."),
        described("meal-planner", "Plan weekly meals and recipes around allergies; writes the grocery list."),
        described("zh-report", "根据工作记录生成周报。"),
        described("quiet", "Helps with things."),
    ];
    let matcher = Matcher::new(&all);
    for (text, fits) in [
        ("merge these pdfs", vec!["pdf-toolkit"]),
        ("splitting a pdf", vec!["pdf-toolkit"]),
        ("a grocery list for this week, I have an alergy", vec!["meal-planner"]),
        ("根据这些记录写一份周报", vec!["zh-report"]),
        ("今天天气怎么样", vec![]),
        ("what does this function do?", vec![]),
        ("help me with the list of things", vec![]),
        ("", vec![]),
    ] {
        let found = matcher.find(text);
        assert_eq!(ids(&found), fits, "{text:?}: {found:?}");
        assert!(found.iter().all(|found| !found.is_strong));
    }
    let found = &matcher.find("merge this into a word doc, or pdf")[0];
    let against = found.evidence.iter().find(|evidence| evidence.weight < 0.0).unwrap();
    assert_eq!((against.kind, &*against.what), (SkillEvidenceKind::Word, "word"));
    let sum: f32 = found.evidence.iter().map(|evidence| evidence.weight).sum();
    assert!((sum - found.score).abs() < 1e-4, "{found:?}");
}

/// The score of the only skill.
fn score(skill: Skill, text: &str) -> f32 {
    Matcher::new(&[skill]).find(text).first().map_or(0.0, |found| found.score)
}

#[test]
fn a_word_weighs_by_where_it_stands_and_how_surely_it_is_meant() {
    for (text, worth) in [
        // A rare word of a name is just short of a suggestion, two are one.
        ("the gizmos", 0.375),
        ("the kit and a gizmo", 1.0),
        ("a gizmmo", 0.375 * 0.7),
        ("> gizmo", 0.375 / 2.0),
        ("```\ngizmo\n```", 0.375 / 2.0),
        ("~~~\ngizmo\n~~~\na gizmo", 0.375),
    ] {
        let score = score(skill("gizmo-kit", &[], &[]), text);
        assert!((score - worth).abs() < 1e-3, "{text:?}: {score}");
    }
    assert!(score(skill("gizmo-kit", &[], &[]), "a gizmo of zyzzyva and quux") < 0.375 * 0.8);
}

#[test]
fn a_text_is_explained_by_what_its_words_mean() {
    let score = |text: &str| score(skill("gizmo-kit", &[], &[]), text);
    // A mistyped word explains less of a text than one that stands there.
    let ratio = score("gizmmo zyzzyva") / score("gizmo zyzzyva");
    assert!(ratio < 0.7 && ratio > 0.5, "{ratio}");
    // One that many tasks share leaves less unexplained than a rare one.
    let (alone, beside_generic, beside_rare) = (score("gizmo"), score("gizmo file"), score("gizmo zyzzyva"));
    assert!(alone > beside_generic && beside_generic > beside_rare, "{alone} {beside_generic} {beside_rare}");
}

#[test]
fn a_thing_is_found_by_its_other_names() {
    let kubernetes = || described("kubernetes-kit", "Runs clusters. Knows k8s.");
    let worth = 0.375 * 0.75;
    for text in ["k8s", "kubectl"] {
        let score = score(skill("kubernetes-kit", &[], &[]), text);
        assert!((score - worth).abs() < 1e-3, "{text}: {score}");
    }
    // Said by both names, it counts once, by the weightier.
    let found = &Matcher::new(&[kubernetes()]).find("k8s")[0];
    let sum: f32 = found.evidence.iter().map(|evidence| evidence.weight).sum();
    assert!(found.evidence.len() == 1 && (sum - found.score).abs() < 1e-4 && (sum - worth).abs() < 0.1, "{found:?}");
}

#[test]
fn a_word_that_many_skills_say_counts_for_less() {
    let of = |say: usize, among: usize| {
        let all: Vec<Skill> = (0..among).map(|n| described(&format!("x{n}"), if n < say { "Turns a gizmo." } else { "Turns." })).collect();
        Matcher::new(&all).find("gizmo").first().map_or(0.0, |found| found.score)
    };
    let (rare, known, common) = (of(1, 40), of(5, 40), of(40, 40));
    assert!(rare > known * 1.1 && known > common * 1.1 && known > 0.0, "{rare} {known} {common}");
    // Among more skills the same five are fewer.
    assert!(of(5, 400) > known * 1.02, "{} {known}", of(5, 400));
}

#[test]
fn what_very_many_skills_declare_or_say_tells_nothing() {
    let all: Vec<Skill> = (0..600).map(|n| skill(&format!("skill-x{n}"), &["gizmo"], &[])).collect();
    let matcher = Matcher::new(&all);
    assert_eq!(matcher.find("a gizmo").len(), 0);
    assert_eq!(matcher.diagnostics().iter().filter(|found| found.code == "keyword-common").count(), 1);

    let mut all: Vec<Skill> = (0..600).map(|n| skill(&format!("skill-x{n}"), &[], &[])).collect();
    all.iter_mut().for_each(|skill| Arc::make_mut(&mut skill.summary).name = "Helper".into());
    let matcher = Matcher::new(&all);
    assert!(matcher.find_declared("the helper skill", &[]).is_empty() && matcher.diagnostics().is_empty(), "nobody declared that");
}

#[test]
fn no_more_than_two_dozens_are_told_and_the_surest_of_them() {
    let all: Vec<Skill> = (0..250).map(|n| skill(&format!("x{n}"), &["gizmo", if n == 200 { "gadget" } else { "other" }], &[])).collect();
    let found = Matcher::new(&all).find("a gizmo and a gadget");
    assert_eq!((found.len(), found[0].id.as_str(), found[0].is_strong), (24, "x200", true));
}

#[test]
fn hostile_skills_and_texts_cost_no_more_than_others() {
    let long = "a b-c_d ".repeat(40_000);
    let mut hostile = described("a", &long);
    let summary = Arc::make_mut(&mut hostile.summary);
    summary.name.clone_from(&long);
    summary.activation.keywords = vec![long.clone(), "(".repeat(200), "\u{0}".into(), "\u{300}\u{300}".into()];
    summary.activation.file_patterns =
        vec!["{a,b}".repeat(50), "*".repeat(250), "[!".into(), String::new(), "**/".repeat(80), long.clone()];
    let begun = std::time::Instant::now();
    let matcher = Matcher::new(&[hostile]);
    for text in [&*long, &"a".repeat(1 << 20), &"```\n".repeat(100_000), &"`".repeat(100_000), &"ﷺ".repeat(50_000), &"分".repeat(100_000)]
    {
        matcher.find_with_files(text, &["a/".repeat(400), "*".repeat(1_000), long.clone()]);
    }
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_keyword_matches_where_it_stands_alone_in_any_script(keyword in "\\p{L}[\\p{L}\\p{N}]{1,8}", around in "[ .,;:!?()\n]{1,3}") {
            prop_assert!(found(&[&keyword], &format!("{around}{keyword}{around}")), "{keyword:?}");
        }

        #[test]
        fn a_keyword_does_not_match_inside_a_word(
            keyword in "[a-zа-яά-ώ]{2,8}",
            before in "[a-zа-яά-ώ0-9]{0,3}",
            behind in "[a-zа-яά-ώ0-9]{0,3}",
        ) {
            let word = format!("{before}{keyword}{behind}");
            let alone = Folded::of(&word).text == Folded::of(&keyword).text;
            // The id of the test's skill is far from all of these.
            prop_assert_eq!(found(&[&keyword], &format!("x {word} y")), alone, "{:?} in {:?}", keyword, word);
        }

        #[test]
        fn any_text_and_any_skill_are_survived_and_scores_are_their_evidence(text in "\\PC{0,200}", description in "\\PC{0,200}", keyword in "\\PC{0,20}") {
            let mut any = described("some-skill", &description);
            Arc::make_mut(&mut any.summary).activation.keywords = vec![keyword];
            for found in Matcher::new(&[any]).find(&text) {
                let sum: f32 = found.evidence.iter().map(|evidence| evidence.weight).sum();
                prop_assert!((sum - found.score).abs() < 1e-3, "{:?}", found);
            }
        }
    }
}
