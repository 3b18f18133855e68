use super::*;
use crate::layers::skill::SkillSourceKind;
use crate::skills::front_matter::read;

fn source() -> SkillSource {
    SkillSource::new(SkillSourceKind::User, "user")
}

/// The skill of a file in the folder `rust`.
fn of(file: &str) -> Described {
    describe(&read(file.as_bytes()).unwrap(), "rust", source()).unwrap()
}

/// The skill with these fields besides its description.
fn with(fields: &str) -> Described {
    of(&format!("---\ndescription: d\n{fields}\n---\nbody"))
}

fn codes(described: &Described) -> Vec<&str> {
    described.diagnostics.iter().map(|found| found.code.as_ref()).collect()
}

#[test]
fn spellings_are_kept() {
    for (written, name) in
        [("3000", "3000"), ("yes", "yes"), ("on", "on"), ("2024-01-01", "2024-01-01"), ("0x1F", "0x1F"), ("~", "rust"), ("", "rust")]
    {
        assert_eq!(with(&format!("name: {written}")).summary.name, name);
    }
    let skill = with("version: 1.10\nlicense: 0o7\ncompatibility: 1e3\nmetadata: {a: 1.0, b: yes}");
    let summary = skill.summary;
    assert_eq!(
        (summary.version.as_deref(), summary.license.as_deref(), summary.compatibility.as_deref()),
        (Some("1.10"), Some("0o7"), Some("1e3"))
    );
    assert_eq!(summary.metadata, BTreeMap::from([("a".into(), "1.0".into()), ("b".into(), "yes".into())]));
}

#[test]
fn tools_are_the_same_hints_in_every_spelling() {
    for key in ["allowed-tools", "allowed_tools", "allowedTools", "permissions:\n  tools"] {
        for written in ["Bash(git add:*), Read", "Bash(git add:*) Read", "[Bash(git add:*), Read]", "[\"Bash(git add:*)\", Read]"] {
            let skill = with(&format!("{key}: {written}"));
            assert_eq!(skill.summary.permissions.tools, ["Bash(git add:*)", "Read"], "{key}: {written}");
            assert_eq!(codes(&skill), [""; 0], "{key}: {written}");
        }
    }
    assert_eq!(with("allowed-tools:\n- A\n- B").summary.permissions.tools, ["A", "B"]);
    assert_eq!(with("allowed-tools: [Bash(a, b), C]").summary.permissions.tools, ["Bash(a, b)", "C"]);
    assert_eq!(with("allowed-tools: A, B").summary.permissions.tools, ["A", "B"]);
    assert_eq!(
        with("permissions:\n  categories: [filesystem.read]\norcbot:\n  permissions: [net]").summary.permissions.categories,
        ["filesystem.read", "net"]
    );
}

#[test]
fn switches_have_many_spellings() {
    for yes in ["true", "True", "yes", "on", "1", "\"true\"", "YES"] {
        assert!(with(&format!("disable-model-invocation: {yes}")).summary.hidden, "{yes}");
        assert!(with(&format!("disable_model_invocation: {yes}")).summary.hidden, "{yes}");
    }
    for no in ["false", "no", "off", "0", "'False'", "~"] {
        let summary = with(&format!("disable-model-invocation: {no}\nuser-invocable: {}", if no == "~" { "no" } else { no })).summary;
        assert_eq!((summary.hidden, summary.user_invocable), (false, false), "{no}");
    }
    let odd = with("disable-model-invocation: perhaps");
    assert_eq!((odd.summary.hidden, codes(&odd)), (false, vec!["field-type"]));
}

#[test]
fn the_nearest_sensible_reading() {
    let nested = with("metadata: {a: {b: c}, d: e}");
    assert_eq!(nested.summary.metadata.get("a"), Some(r#"{"b":"c"}"#));
    assert_eq!(codes(&nested), ["field-type"]);
    for written in ["[1]", "text"] {
        let skill = with(&format!("metadata: {written}"));
        assert_eq!((skill.summary.metadata.len(), codes(&skill), skill.other_fields.len()), (0, vec!["field-type"], 1), "{written}");
    }
    for written in ["activation: rust", "keywords: rust", "activation: [rust]", "triggers: rust", "activation: {keywords: rust}"] {
        let skill = with(written);
        assert_eq!(skill.summary.activation.keywords, ["rust"], "{written}");
        assert_eq!(codes(&skill), ["field-type"], "{written}");
    }
    let empty = with("keywords: [\"\", \"  \", a]");
    assert_eq!((empty.summary.activation.keywords.len(), codes(&empty)), (1, vec!["item-empty"]));
    let hint = with("argument-hint: [message]");
    assert_eq!((hint.summary.argument_hint.as_deref(), codes(&hint)), (Some("[message]"), vec!["field-type"]));
    assert_eq!(with("arguments: [{name: a, description: b}, c]").summary.arguments, ["a", "c"]);
    assert_eq!(with("arguments: a b").summary.arguments, ["a", "b"]);
    assert_eq!(of("---\ndescription:\n  Use when: x\n---\n").summary.description, "Use when: x");
}

#[test]
fn activation_and_orcbot() {
    let skill = with(
        "activation:\n  keywords: [a]\n  file_patterns: ['*.rs']\n  trigger_patterns: ['(']\n  odd: 1\norcbot:\n  autoActivate: true\n  requiredConfig: [KEY]\n  \
         requiredPackages: [jq]\n  triggerPatterns: ['x+']\nmodel: m\nthinking_effort: high",
    );
    let summary = &skill.summary;
    let mut activation = SkillActivation::default();
    activation.keywords = vec!["a".into()];
    activation.file_patterns = vec!["*.rs".into()];
    activation.trigger_patterns = vec!["(".into(), "x+".into()];
    activation.auto_activate = true;
    assert_eq!(summary.activation, activation);
    assert_eq!((&summary.requirements.packages[..], &summary.requirements.settings[..]), (&["jq".to_owned()][..], &["KEY".to_owned()][..]));
    assert_eq!((summary.execution.model.as_deref(), summary.execution.thinking_effort.as_deref()), (Some("m"), Some("high")));
    assert_eq!(skill.other_fields, BTreeMap::from([("activation.odd".to_owned(), "1".to_owned())]));
    assert_eq!(codes(&skill), ["field-unknown"]);
}

#[test]
fn names_and_ids() {
    let other = with("name: cargo");
    assert_eq!((other.summary.id.as_str(), other.summary.name.as_str(), codes(&other)), ("rust", "cargo", vec!["name-differs"]));
    let id = with("id: tool\nname: Tool");
    assert_eq!((id.summary.id.as_str(), id.summary.name.as_str(), codes(&id)), ("tool", "Tool", vec![]));
    let bad = with("id: a/b");
    assert_eq!((bad.summary.id.as_str(), codes(&bad)), ("rust", vec!["id-invalid"]));
    assert_eq!((bad.diagnostics[0].line, bad.diagnostics[0].column), (Some(3), Some(1)));
    let document = read(b"---\ndescription: d\n---\n").unwrap();
    assert_eq!(describe(&document, "off", source()).unwrap_err().code, "id-invalid");
}

#[test]
fn descriptions() {
    let long = "中".repeat(342);
    assert_eq!(of(&format!("---\ndescription: {long}\n---\n")).summary.description.chars().count(), 342);
    assert_eq!(of(&format!("---\ndescription: {}\n---\n", "x".repeat(1025))).summary.description.len(), 1025);
    let when = with("when_to_use: always");
    assert_eq!((when.summary.description.as_str(), codes(&when)), ("d always", vec![]));
    let missing = of("---\nname: rust\n---\n# Title\n\nFirst\nparagraph.\n\nSecond.");
    assert_eq!((missing.summary.description.as_str(), codes(&missing)), ("First paragraph.", vec!["description-missing"]));
    let none = of("# Title\n\n<!-- note\nmore -->\nFirst.\n");
    assert_eq!((none.summary.description.as_str(), codes(&none)), ("First.", vec!["front-matter-missing"]));
    let heading = of("# Title\n");
    assert_eq!(heading.summary.description, "Title");
    for nothing in ["", "---\nname: rust\n---\n", "---\nname: a\ndescription: ''\n---\n \n"] {
        assert_eq!(describe(&read(nothing.as_bytes()).unwrap(), "rust", source()).unwrap_err().code, "text-missing");
    }
}

#[test]
fn the_rest_is_kept_with_a_note() {
    let skill = with("tags: [a, b]\nauthor: me\npaths: [\"[z-a]\"]");
    let others: Vec<_> = skill.other_fields.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(others, [("author", "me"), ("paths", r#"["[z-a]"]"#), ("tags", r#"["a","b"]"#)]);
    assert_eq!(
        skill.diagnostics.iter().map(|found| (found.code.as_ref(), found.line)).collect::<Vec<_>>(),
        [("field-unknown", Some(3)), ("field-unknown", Some(4)), ("field-unknown", Some(5))]
    );
}
