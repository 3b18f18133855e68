use super::*;
use proptest::prelude::*;
use std::time::Instant;

fn codes(text: &str, folder: &str, rules: RuleSet) -> Vec<String> {
    let shown = |found: Diagnostic| {
        let (line, column) = (found.line.unwrap_or_default(), found.column.unwrap_or_default());
        format!("{line}:{column} {}[{}]", found.severity, found.code)
    };
    validate(text.as_bytes(), folder, rules).into_iter().map(shown).collect()
}
/// What the specification finds in a file with these fields in the folder `a`.
fn fields(fields: &str) -> Vec<String> {
    codes(&format!("---\n{fields}\n---\nBody.\n"), "a", RuleSet::AgentSkills)
}
fn named(name: &str, folder: &str) -> Vec<String> {
    codes(&format!("---\nname: \"{name}\"\ndescription: d\n---\n"), folder, RuleSet::AgentSkills)
}

#[test]
fn a_name_has_lower_case_letters_and_digits_of_any_script_and_single_hyphens() {
    let (longest, longer) = ("中".repeat(64), "中".repeat(65));
    for name in
        ["a", "a-b-c", "7", "3000", "1a", "数据分析", "café", "cafe\u{301}", "навык", "straße", "ﬁx", "ｆｕｌｌ", "²", "ª", &longest]
    {
        assert_eq!(named(name, name), [""; 0], "{name}");
        assert_eq!(named(&format!("  {name} "), name), [""; 0], "{name}, trimmed");
        assert_eq!(named(name, &name.nfd()), [""; 0], "{name}, decomposed");
    }
    for (name, expected) in [
        ("", "name-missing"),
        ("  ", "name-missing"),
        (&longer, "name-length"),
        (&"e\u{301}".repeat(65), "name-length"),
        ("ﬃ".repeat(22).as_str(), "name-length"),
        ("Rust", "name-case"),
        ("İ", "name-case"),
        ("Ⓐ", "name-case"),
        ("a b", "name-characters"),
        ("a_b", "name-characters"),
        ("a.b", "name-characters"),
        ("a\u{200d}b", "name-characters"),
        ("🦀", "name-characters"),
        ("🅐", "name-characters"),
        ("हिन्दी", "name-characters"),
        ("a‐b", "name-characters"),
        ("-a", "name-hyphens"),
        ("a-", "name-hyphens"),
        ("a--b", "name-hyphens"),
        ("--A_", "name-case name-characters name-hyphens"),
    ] {
        let expected: Vec<String> = expected.split(' ').map(|code| format!("2:1 error[{code}]")).collect();
        assert_eq!(named(name, name), expected, "{name:?}");
    }
    assert_eq!(named("a", "b"), ["2:1 error[name-folder]"]);
    assert_eq!(named("ﬁx", "fix"), [""; 0]);
    assert_eq!(named("rust", "Rust"), ["2:1 error[name-folder]"]);
}

trait Decomposed {
    fn nfd(&self) -> String;
}
impl Decomposed for &str {
    fn nfd(&self) -> String {
        unicode_normalization::UnicodeNormalization::nfd(*self).collect()
    }
}

#[test]
fn each_rule_of_the_specification_has_its_code_and_place() {
    let described = |length: usize| format!("name: a\ndescription: {}", "中".repeat(length));
    let compatible = |length: usize| format!("name: a\ndescription: d\ncompatibility: {}", "中".repeat(length));
    let (longest, longer, widest, wider) = (described(1024), described(1025), compatible(500), compatible(501));
    let with = |field: &str| format!("name: a\ndescription: d\n{field}");
    let cases: Vec<(String, &[&str])> = vec![
        ("name: a\ndescription: d".into(), &[]),
        (with("license: MIT\ncompatibility: any\nmetadata:\n  version: 1.10\n  on: yes\nallowed-tools: Read Bash(git:*)"), &[]),
        (String::new(), &["1:1 error[name-missing]", "1:1 error[description-missing]"]),
        ("description: d".into(), &["1:1 error[name-missing]"]),
        ("description: d\nname:".into(), &["3:1 error[name-missing]"]),
        ("description: d\nname: ~".into(), &["3:1 error[name-missing]"]),
        ("description: d\nname: [a]".into(), &["3:1 error[name-type]"]),
        ("description: d\nname:\n  a: b".into(), &["3:1 error[name-type]"]),
        ("name: a".into(), &["1:1 error[description-missing]"]),
        ("name: a\ndescription: \" \"".into(), &["3:1 error[description-missing]"]),
        ("name: a\ndescription:\n  - d".into(), &["3:1 error[description-type]"]),
        (longest, &[]),
        (longer, &["3:1 error[description-length]"]),
        (widest, &[]),
        (wider, &["4:1 error[compatibility-length]"]),
        (with("compatibility: \"\""), &["4:1 error[compatibility-length]"]),
        (with("compatibility:"), &["4:1 error[compatibility-length]"]),
        (with("compatibility: [a]"), &["4:1 error[compatibility-type]"]),
        (with("license: [a]"), &["4:1 error[license-type]"]),
        (with("metadata:"), &[]),
        (with("metadata: {a: b}"), &[]),
        (with("metadata: [a]"), &["4:1 error[metadata-type]"]),
        (with("metadata:\n  a: {b: c}\n  d: [e]\n  f: g"), &["4:1 error[metadata-value-type]", "4:1 error[metadata-value-type]"]),
        (with("allowed-tools: [Read]"), &["4:1 error[allowed-tools-type]"]),
        (with("version: 1\nmodel: x"), &["4:1 error[field-unknown]", "5:1 error[field-unknown]"]),
        (with("name: a"), &["4:1 error[front-matter-repaired]"]),
        ("name: a\ndescription: use when: x".into(), &["3:14 error[front-matter-repaired]"]),
        (
            "zzz: 1\nname: B\nmetadata: 1\ndescription: []".into(),
            &[
                "2:1 error[field-unknown]",
                "3:1 error[name-case]",
                "3:1 error[name-folder]",
                "4:1 error[metadata-type]",
                "5:1 error[description-type]",
            ],
        ),
    ];
    for (text, expected) in cases {
        let found = fields(&text);
        // The column of a repair is the reader's business.
        let found: Vec<String> =
            found.into_iter().map(|found| found.replace("3:1 error[front-matter-repaired]", "3:14 error[front-matter-repaired]")).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn the_front_matter_is_there_and_first_and_yaml() {
    let good = "---\nname: a\ndescription: d\n---\nBody.\n";
    for (text, expected) in [
        (good.to_owned(), &[][..]),
        (good.replace('\n', "\r\n"), &[]),
        (format!("\u{feff}{good}"), &[]),
        ("Text alone.\n".into(), &["1:1 error[front-matter-missing]"]),
        (String::new(), &["1:1 error[front-matter-missing]"]),
        ("---\nname: a\n".into(), &["1:1 error[front-matter-unclosed]"]),
        (format!("\n{good}"), &["2:1 error[front-matter-preceded]"]),
        ("+++\nname = \"a\"\ndescription = \"d\"\n+++\n".into(), &["1:1 error[front-matter-toml]"]),
        ("---\nname = \"a\"\ndescription = \"d\"\n---\n".into(), &["2:1 error[front-matter-toml]"]),
        ("---\nname: a\ndescription: d\n----\n".into(), &["4:1 error[front-matter-repaired]"]),
    ] {
        assert_eq!(codes(&text, "a", RuleSet::AgentSkills), expected, "{text:?}");
    }
}

#[test]
fn a_long_body_is_advice() {
    let with = |body: &str| format!("---\nname: a\ndescription: d\n---\n{body}");
    for (body, expected) in [
        ("x\n".repeat(500), &[][..]),
        ("x\r\n".repeat(501), &["5:1 note[body-lines]"]),
        ("word ".repeat(10_000), &["5:1 note[body-tokens]"]),
        ("数据分析\n".repeat(2_000), &["5:1 note[body-lines]", "5:1 note[body-tokens]"]),
    ] {
        for rules in [RuleSet::AgentSkills, RuleSet::Bcode, RuleSet::Brute] {
            assert_eq!(codes(&with(&body), "a", rules), expected, "{rules}");
        }
    }
}

#[test]
fn each_system_has_its_rules() {
    use RuleSet::{AgentSkills, Bcode, Brute, Orcbot};
    let nothing = &[][..];
    for (field, rules, expected) in [
        ("keywords: [rust]\nversion: 1.10\nuser-invocable: false", Bcode, nothing),
        ("keywords: rust", Bcode, &["4:1 warning[field-type]"]),
        ("trigger_patterns: [a]", Bcode, &["4:1 note[field-unknown]"]),
        ("activation:\n  trigger_patterns: ['(']", Bcode, &["4:1 warning[pattern-ignored]"]),
        ("disable-model-invocation: true\nactivation:\n  trigger_patterns: ['(']", Bcode, &["5:1 warning[pattern-ignored]"]),
        ("keywords: [r]", Bcode, &["4:1 warning[keyword-ignored]"]),
        ("allowedTools: [Read, Edit]", Orcbot, nothing),
        ("allowedTools:\n  a: b", Orcbot, &["4:1 error[allowed-tools-type]"]),
        (
            "orcbot:\n  autoActivate: true\n  requiredPackages: [jq]\n  requiredConfig: [KEY]\n  permissions: [net]\n  triggerPatterns: ['a+']",
            Orcbot,
            nothing,
        ),
        ("orcbot:", Orcbot, nothing),
        ("orcbot: true", Orcbot, &["4:1 error[orcbot-type]"]),
        ("orcbot:\n  autoActivate: maybe\n  permissions: net", Orcbot, &["4:1 error[orcbot-field-type]", "4:1 error[orcbot-field-type]"]),
        ("orcbot:\n  other: 1", Orcbot, &["4:1 warning[orcbot-field-unknown]"]),
        ("orcbot:\n  triggerPatterns: ['(', 'ok']", Orcbot, &["4:1 warning[pattern-ignored]"]),
        ("version: 1", Orcbot, &["4:1 error[field-unknown]"]),
        ("orcbot: {}", AgentSkills, &["4:1 error[field-unknown]"]),
        ("version: 1", Brute, &["4:1 warning[field-unknown]"]),
    ] {
        let text = format!("---\nname: a\ndescription: Does what is asked.\n{field}\n---\n");
        assert_eq!(codes(&text, "a", rules), expected, "{rules}: {field}");
    }
    let unnamed = "---\ndescription: 123456789\n---\n";
    assert_eq!(codes(unnamed, "a", Brute), nothing);
    assert_eq!(codes(unnamed, "a", Bcode), nothing);
    assert_eq!(codes(unnamed, "a", Orcbot), ["1:1 error[name-missing]", "2:1 error[description-short]"]);
    assert_eq!(codes("---\nname: B\ndescription: d\n---\n", "a", Brute), ["2:1 error[name-case]", "2:1 error[name-folder]"]);
    assert_eq!(codes("Text.\n", "a", Bcode), ["1:1 warning[front-matter-missing]"]);
    assert_eq!(codes("", "a", Bcode), ["0:0 error[text-missing]"]);
}

#[test]
fn a_slip_of_the_pen_is_told_the_right_field() {
    let found = validate(b"---\nname: a\ndescription: d\nlicence: MIT\nallowed_tools: Read\n---\n", "a", RuleSet::AgentSkills);
    assert!(found[0].message.contains("the nearest is `license`"), "{}", found[0]);
    assert!(found[1].message.contains("the nearest is `allowed-tools`"), "{}", found[1]);
    for key in ["tags", "size", "date", "author"] {
        let found = validate(format!("---\nname: a\ndescription: d\n{key}: x\n---\nbody\n").as_bytes(), "a", RuleSet::AgentSkills);
        assert!(found.iter().any(|found| found.message.ends_with("fields of your own go into `metadata`")), "{key}: {found:?}");
    }
    let found = validate(b"---\nname: a\ndescription: d\nmetadata: {a: {b: c}}\n---\nbody\n", "a", RuleSet::AgentSkills);
    assert!(found.iter().any(|found| found.message == "`metadata`: `a` must be a text, not a list or a map"), "{found:?}");
}

#[test]
fn rule_sets_have_names() {
    for rules in RuleSet::ALL {
        assert_eq!(rules.to_string().parse(), Ok(rules));
    }
    assert!("claude".parse::<RuleSet>().unwrap_err().to_string().contains("`claude`"));
}

#[test]
fn hostile_files_are_judged_at_once_and_in_few_words() {
    let front = |fields: &str| format!("---\nname: a\ndescription: d\n{fields}\n---\n");
    let cases = [
        front(&(0..8_000).map(|n| format!("k{n}: x")).collect::<Vec<_>>().join("\n")),
        front(&format!("metadata:\n{}", (0..4_000).map(|n| format!("  k{n}: [x]")).collect::<Vec<_>>().join("\n"))),
        front(&format!("orcbot:\n  triggerPatterns: [{}]", "'(a{1000}){1000}', ".repeat(2_000))),
        front(&format!("orcbot:\n  triggerPatterns: [{}]", "'(', ".repeat(9_000))),
        front(&"[".repeat(60_000)),
        format!("---\nname: {}\ndescription: d\n---\n", "A-".repeat(30_000)),
        format!("---\n{}: x\n---\n", "k".repeat(900)),
        "---\n".repeat(50_000),
        "x\n".repeat(120_000),
    ];
    for text in cases {
        for rules in RuleSet::ALL {
            let start = Instant::now();
            let found = validate(text.as_bytes(), "a", rules);
            assert!(start.elapsed().as_secs() < 10, "{rules}: {:?} for {}", start.elapsed(), &text[..40]);
            assert!(found.iter().all(|found| found.message.len() < 2_000), "{rules}: {}", &text[..40]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_bytes_are_judged(bytes in proptest::collection::vec(any::<u8>(), 0..400), name in ".{0,20}") {
        for rules in RuleSet::ALL {
            validate(&bytes, &name, rules);
        }
    }

    #[test]
    fn any_fields_are_judged_in_the_order_of_the_file(
        fields in proptest::collection::vec("(name|description|metadata|license|orcbot|compatibility|allowed-tools|x): (a|[A-Z]{1,3}|\\[a\\]|\\{a: \\[b\\]\\}||~|\"\")", 0..8),
        name in "[aA-]{0,4}",
    ) {
        let text = format!("---\n{}\n---\n", fields.join("\n"));
        for rules in RuleSet::ALL {
            let found = validate(text.as_bytes(), &name, rules);
            prop_assert!(found.is_sorted_by_key(|found| (found.line, found.column)), "{:?}", found);
            prop_assert_eq!(&found, &validate(text.as_bytes(), &name, rules));
        }
    }

    #[test]
    fn a_name_of_letters_is_valid_in_its_folder_alone(name in "[a-zа-яё一-龥0-9]{1,30}(-[a-z0-9]{1,30})?", other in "[a-z]{3}") {
        let text = format!("---\nname: \"{name}\"\ndescription: Does what is asked.\n---\n");
        for rules in RuleSet::ALL {
            prop_assert_eq!(validate(text.as_bytes(), &name, rules), []);
            prop_assert_eq!(validate(text.as_bytes(), &other, rules).is_empty(), name == other);
        }
    }
}
