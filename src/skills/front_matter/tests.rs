//! The rows of inputs that broke other systems, each by its name, and properties of the reader.

mod bounds;
mod findings;

use super::*;
use proptest::prelude::*;

/// A row: its name, the file, what its fields are as JSON, how the body begins, and the codes of its diagnostics.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

fn json(document: &Document) -> String {
    let entries = document.front_matter.as_ref().map(|front_matter| &front_matter.entries);
    let pairs = entries.into_iter().flatten().map(|entry| (entry.key.clone(), entry.value.clone())).collect();
    Value::Map(pairs).to_text()
}

fn check(rows: &[Row]) {
    for (name, file, fields, body, codes) in rows {
        let document = read(file.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(json(&document), *fields, "{name}: {file:?}");
        assert_eq!(document.body(), *body, "{name}");
        assert_eq!(
            document.diagnostics.iter().map(|found| found.code.as_ref()).collect::<Vec<_>>(),
            *codes,
            "{name}: {:?}",
            document.diagnostics
        );
        for found in &document.diagnostics {
            assert!(found.line.is_some() && found.column.is_some(), "{name}: {found}");
        }
        if let Some(beginning) = read_beginning(file.as_bytes()) {
            assert_eq!(beginning.unwrap().front_matter, document.front_matter, "{name}");
        }
    }
}

const REPAIRED: &[&str] = &["front-matter-repaired"];

#[test]
fn block_scalars_are_their_text() {
    check(&[
        (">", "---\nd: >\n  a\n  b\n\n  c\nx: y\n---\n", r#"{"d":"a b\nc\n","x":"y"}"#, "", &[]),
        ("|", "---\nd: |\n  a\n   b\n---\nbody", r#"{"d":"a\n b\n"}"#, "body", &[]),
        (">-", "---\nd: >-\n  a\n  b\n---\n", r#"{"d":"a b"}"#, "", &[]),
        ("|+", "---\nd: |+\n  a\n\n---\n", r#"{"d":"a\n\n"}"#, "", &[]),
        (">2-", "---\nd: >2-\n  a\n  b\n---\n", r#"{"d":"a b"}"#, "", &[]),
        ("--- in a block", "---\nd: |\n  a\n  ---\n  b\n---\nx", r#"{"d":"a\n---\nb\n"}"#, "x", &[]),
    ]);
}

#[test]
fn what_yaml_does_not_read_is_read_as_a_person_reads_it() {
    check(&[
        ("colon", "---\ndescription: Use when: x\nname: a\n---\n", r#"{"description":"Use when: x","name":"a"}"#, "", REPAIRED),
        ("hyphened key", "---\nargument-hint: a: b\n---\n", r#"{"argument-hint":"a: b"}"#, "", REPAIRED),
        ("backtick", "---\ndescription: `a` b\n---\n", r#"{"description":"`a` b"}"#, "", REPAIRED),
        ("at", "---\ndescription: @a b\n---\n", r#"{"description":"@a b"}"#, "", REPAIRED),
        ("star", "---\ndescription: *x* y\n---\n", r#"{"description":"*x* y"}"#, "", REPAIRED),
        ("braces", "---\ndescription: {{x}}\n---\n", r#"{"description":"{{x}}"}"#, "", REPAIRED),
        ("braces and text", "---\ndescription: {{x}} y\n---\n", r#"{"description":"{{x}} y"}"#, "", REPAIRED),
        ("brackets", "---\ndescription: [x] y\n---\n", r#"{"description":"[x] y"}"#, "", REPAIRED),
        ("quote", "---\ndescription: \"Foo\" and bar\n---\n", r#"{"description":"\"Foo\" and bar"}"#, "", REPAIRED),
        ("single quote", "---\ndescription: 'Foo' and bar\n---\n", r#"{"description":"'Foo' and bar"}"#, "", REPAIRED),
        ("tag", "---\ndescription: !important text\n---\n", r#"{"description":"!important text"}"#, "", REPAIRED),
        ("anchor", "---\ndescription: &more text\n---\n", r#"{"description":"&more text"}"#, "", REPAIRED),
        ("directive", "---\ndescription: %d\n---\n", r#"{"description":"%d"}"#, "", REPAIRED),
        ("dash", "---\ndescription: - a\n---\n", r#"{"description":"- a"}"#, "", REPAIRED),
        ("question", "---\ndescription: ? a\n---\n", r#"{"description":"? a"}"#, "", REPAIRED),
        ("two flows", "---\nargument-hint: [a] [b]\n---\n", r#"{"argument-hint":"[a] [b]"}"#, "", REPAIRED),
        ("> text", "---\ndescription: > text\n  more\nname: a\n---\n", r#"{"description":"text more","name":"a"}"#, "", REPAIRED),
        ("| text", "---\ndescription: | text\n---\n", r#"{"description":"text"}"#, "", REPAIRED),
        ("hash", "---\ndescription: handles C# and F # notation\n---\n", r#"{"description":"handles C# and F # notation"}"#, "", REPAIRED),
        ("issue", "---\ndescription: Fixes #12\n---\n", r#"{"description":"Fixes #12"}"#, "", REPAIRED),
        ("hash first", "---\ndescription: #1 of tools\n---\n", r##"{"description":"#1 of tools"}"##, "", REPAIRED),
        ("a comment", "---\ndescription: Text  # a comment\nversion: 1 # one\n---\n", r#"{"description":"Text","version":"1"}"#, "", &[]),
        ("hash below", "---\ndescription: Fixes\n  issue #12\n---\n", r#"{"description":"Fixes issue #12"}"#, "", REPAIRED),
        ("hash in a block", "---\ndescription: |\n  a #12\n---\n", r#"{"description":"a #12\n"}"#, "", &[]),
        ("uneven block", "---\ndescription: |\n    a: b\n  c\nname: d\n---\n", r#"{"description":"  a: b\nc\n","name":"d"}"#, "", REPAIRED),
        ("tabs in a block", "---\ndescription: >\n\ta\n\tb\nname: d\n---\n", r#"{"description":"a b\n","name":"d"}"#, "", REPAIRED),
        (
            "regex items",
            "---\nkeys:\n  - [a-z]+ x\n  - \"a\" or b\n  - 'c: d'\n---\n",
            r#"{"keys":["[a-z]+ x","\"a\" or b","c: d"]}"#,
            "",
            REPAIRED,
        ),
        (
            "URL",
            "---\nurl: http://x/y#z\ndescription: see http://x:80/ now\n---\n",
            r#"{"url":"http://x/y#z","description":"see http://x:80/ now"}"#,
            "",
            &[],
        ),
        ("JSON", "---\nmetadata: {\"a\": {\"b\": [\"c\"]}}\n---\n", r#"{"metadata":{"a":{"b":["c"]}}}"#, "", &[]),
        ("JSON on lines", "---\nmetadata:\n  {\n    \"a\": \"b\",\n  }\nname: c\n---\n", r#"{"metadata":{"a":"b"},"name":"c"}"#, "", &[]),
        ("no comma in brackets", "---\ntags: [a, b\nname: c\n---\n", r#"{"tags":"[a, b","name":"c"}"#, "", REPAIRED),
        ("list in a row", "---\nkeywords:\n- a\n- b: c: d\nname: e\n---\n", r#"{"keywords":["a","b: c: d"],"name":"e"}"#, "", REPAIRED),
        ("stray line", "---\nname: a\nstray text\ndescription: b\n---\n", r#"{"name":"a","description":"b"}"#, "", REPAIRED),
        ("tabs", "---\nmetadata:\n\ta: b\n\tc: d\n---\n", r#"{"metadata":{"a":"b","c":"d"}}"#, "", REPAIRED),
        ("nested", "---\nmetadata:\n  a: b: c\n  d: e\n---\n", r#"{"metadata":{"a":"b: c","d":"e"}}"#, "", REPAIRED),
        ("globs", "---\npaths:\n  - *.rs\n  - a\n---\n", r#"{"paths":["*.rs","a"]}"#, "", REPAIRED),
        ("globs in brackets", "---\npaths: [*.rs, \"a\"]\n---\n", r#"{"paths":["*.rs","a"]}"#, "", REPAIRED),
        (
            "continued",
            "---\ndescription: Use: this\n  and: that\n\n  too\n---\n",
            r#"{"description":"Use: this and: that\ntoo"}"#,
            "",
            REPAIRED,
        ),
        (
            "no blank",
            "---\nname:a\ndescription:b\n---\n",
            r#"{"name":"a","description":"b"}"#,
            "",
            &["front-matter-repaired", "front-matter-repaired"],
        ),
        ("wrong escape", "---\ndescription: \"C:\\d\"\n---\n", r#"{"description":"C:\\d"}"#, "", REPAIRED),
        (
            "quotes in quotes",
            "---\ndescription: \"He said \"hi\" to me\"\n---\n",
            r#"{"description":"He said \"hi\" to me"}"#,
            "",
            REPAIRED,
        ),
        ("quote never closed", "---\ndescription: \"a\nname: b\n---\nbody", r#"{"description":"\"a","name":"b"}"#, "body", REPAIRED),
    ]);
}

#[test]
fn what_shows_a_name_and_a_description_loads_with_them() {
    let both = r#"{"name":"x","description":"y"}"#;
    check(&[
        ("one blank too many", "---\nname: x\n description: y\n---\n", both, "", REPAIRED),
        ("in quotes", "---\nname: \"x\"\n  description: 'y'\n---\n", both, "", REPAIRED),
        ("then less", "---\n  name: x\ndescription: y\n---\n", both, "", REPAIRED),
        (
            "all but the first",
            "---\nname: x\n description: y\n license: MIT\nversion: 1\n---\n",
            r#"{"name":"x","description":"y","license":"MIT","version":"1"}"#,
            "",
            &["front-matter-repaired", "front-matter-repaired"],
        ),
        (
            "in the text of a field that is there",
            "---\ndescription: Use: this\n  name: that\nname: x\n---\n",
            r#"{"description":"Use: this name: that","name":"x"}"#,
            "",
            REPAIRED,
        ),
        ("within quotes", "---\ndescription: \"a\n  name: b\"\n---\n", r#"{"description":"a name: b"}"#, "", &[]),
        (
            "a text that is not indented",
            "---\nname: x\ndescription: |\nUse this\nNote: that\n\n- and\nlicense: MIT\n---\n",
            r#"{"name":"x","description":"Use this\nNote: that\n\n- and\n","license":"MIT"}"#,
            "",
            REPAIRED,
        ),
        ("folded", "---\ndescription: >-\nUse\nthis\nname: x\n---\n", r#"{"description":"Use this","name":"x"}"#, "", REPAIRED),
        (
            "which looks like a field",
            "---\ndescription: >\nUse when: it fails\nname: x\n---\n",
            r#"{"description":"Use when: it fails","name":"x"}"#,
            "",
            REPAIRED,
        ),
        ("an empty one", "---\ndescription: |\ncustom: x\n---\n", r#"{"description":"","custom":"x"}"#, "", &[]),
        ("capitals", "---\nName: x\nDESCRIPTION: y\n---\n", both, "", &["front-matter-repaired", "front-matter-repaired"]),
        ("capitals beside it", "---\nName: z\nname: x\ndescription: y\n---\n", r#"{"Name":"z","name":"x","description":"y"}"#, "", &[]),
        (
            "capitals without a blank",
            "---\nName:x\nDescription: an F # y\n---\n",
            r#"{"name":"x","description":"an F # y"}"#,
            "",
            &["front-matter-repaired"; 4],
        ),
        ("a list", "---\n- name: x\n  description: y\n---\n", both, "", REPAIRED),
        ("a list of fields", "---\n- name: x\n- description: y\n---\n", both, "", REPAIRED),
        (
            "a broken list",
            "---\n- name: x\n  description: y: z\n---\n",
            r#"{"name":"x","description":"y: z"}"#,
            "",
            &["front-matter-repaired"; 2],
        ),
        (
            "prose at the left edge",
            "---\ndescription: Line one\nLine two at left\n\nLine three\nname: x\n---\n",
            r#"{"description":"Line one Line two at left\nLine three","name":"x"}"#,
            "",
            REPAIRED,
        ),
        (
            "a stray line within a list",
            "---\nkeywords:\nstray\n- a\n- b\nname: x\n  more\nstray\n\n---\n",
            r#"{"keywords":["a","b"],"name":"x more"}"#,
            "",
            &["front-matter-repaired"; 2],
        ),
    ]);
    let nothing_left_out = read(b"---\ndescription: Line one\nLine two\n---\n").unwrap().diagnostics;
    assert!(nothing_left_out[0].message.contains("was read as part of the text"), "{}", nothing_left_out[0]);
}

#[test]
fn the_reason_of_a_repair_is_the_true_one() {
    for (file, reason) in [
        ("description: \"bad \\q esc\"", "`\\q` is no escape"),
        ("description: \"a \"b\" c\"", "stands within quotes"),
        ("description: \"a\u{7f}b\"", "U+007F is no character of YAML"),
        ("description: a \u{ffff}b", "U+FFFF is no character of YAML"),
        ("description: \"a\" b", "does not close at the end"),
        ("description: \"a\nname: b", "does not close at the end"),
        ("description: >\n    one\n  two", "are not indented alike"),
        ("description: > one\n  two", "text stands behind `>`"),
        ("version: >=3 # a: b: c\nname: a: b", "must not begin with `>`"),
        ("description: |\ntext", "is not indented"),
    ] {
        let found = read(format!("---\n{file}\n---\n").as_bytes()).unwrap().diagnostics;
        assert!(found[0].message.contains(reason), "{file:?}: {}", found[0]);
    }
}

#[test]
fn keys_that_stand_twice() {
    check(&[
        ("a key twice", "---\nname: a\nx: y\nname: b\n---\n", r#"{"name":"b","x":"y"}"#, "", REPAIRED),
        ("a nested key twice", "---\nmetadata:\n  a: 1\n  a: 2\n---\n", r#"{"metadata":{"a":"2"}}"#, "", REPAIRED),
    ]);
    let found = read(b"---\nname: a\nx: y\nname: b\n---\n").unwrap().diagnostics.remove(0);
    assert_eq!(found.to_string(), "warning[front-matter-repaired]: `name` stands twice, in lines 2 and 4; the last one counts");
    assert_eq!((found.line, found.column), (Some(4), Some(1)));
}

#[test]
fn line_ends_marks_and_encodings() {
    check(&[
        ("BOM", "\u{feff}---\na: b\n---\nbody", r#"{"a":"b"}"#, "body", &[]),
        ("BOM and CRLF", "\u{feff}---\r\na: b\r\nplatforms: [x]\r\n---\r\nbody\r\n", r#"{"a":"b","platforms":["x"]}"#, "body\r\n", &[]),
        ("CRLF", "---\r\na: |\r\n  b\r\n  c\r\n---\r\nbody\r\n", r#"{"a":"b\nc\n"}"#, "body\r\n", &[]),
        ("CR", "---\ra: b\rc: d\r---\rbody\r", r#"{"a":"b","c":"d"}"#, "body\r", &[]),
    ]);
    for little in [true, false] {
        let units = "\u{feff}---\nname: 中\n---\n😀".encode_utf16();
        let bytes: Vec<u8> = units.flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect();
        let document = read(&bytes).unwrap();
        assert_eq!((json(&document).as_str(), document.body()), (r#"{"name":"中"}"#, "😀"));
        assert_eq!(document.diagnostics[0].code, "file-utf16");
        assert_eq!(read(&bytes[..bytes.len() - 1]).unwrap_err().code, "file-not-utf8");
    }
    let error = read(b"---\nname: \xFF\n---\n").unwrap_err();
    assert_eq!((error.code.as_ref(), error.line, error.column), ("file-not-utf8", Some(2), Some(7)));
    assert!(error.message.contains("offset 10"), "{error}");
    assert_eq!(read(&[0; 64]).unwrap_err().code, "file-not-text");
}

#[test]
fn fences() {
    check(&[
        ("---x", "---\na: b\n---x\n---\nbody", r#"{"a":"b"}"#, "body", REPAIRED),
        ("----", "---\na: b\n----\n---\nbody", r#"{"a":"b"}"#, "body", REPAIRED),
        ("quoted ---", "---\na: \"b\n---\nc\"\n---\nbody", r#"{"a":"b --- c"}"#, "body", REPAIRED),
        ("end of file", "---\na: b\n---", r#"{"a":"b"}"#, "", &[]),
        ("loose alone", "---\na: b\n--- # Title\nx", r#"{"a":"b"}"#, " # Title\nx", REPAIRED),
        ("rule in the body", "---\na: b\n---\nx\n\n---\n\ny", r#"{"a":"b"}"#, "x\n\n---\n\ny", &[]),
        ("rule in the body of a broken file", "---\na: b: c\n---\nx\n\n---\n\ny", r#"{"a":"b: c"}"#, "x\n\n---\n\ny", REPAIRED),
        ("second block in the body", "---\na: b\n---\n---\nc: d\n---\n", r#"{"a":"b"}"#, "---\nc: d\n---\n", &[]),
        ("empty", "---\n---\nbody", "{}", "body", &[]),
        ("comments alone", "---\n# a\n---\nbody", "{}", "body", &[]),
        ("blanks behind fences", "---  \na: b\n--- \nbody", r#"{"a":"b"}"#, "body", &[]),
        ("blank lines before", "\n\n---\na: b\n---\n", r#"{"a":"b"}"#, "", &["front-matter-preceded"]),
        ("comment before", "<!-- x -->\n---\na: b\n---\n", r#"{"a":"b"}"#, "", &["front-matter-preceded"]),
        ("none", "# Title\n---\na: b\n---\n", "{}", "# Title\n---\na: b\n---\n", &[]),
        ("toml", "+++\na = \"b\"\nv = 1.10\n[t]\nd = 2024-01-01\n+++\nbody", r#"{"a":"b","v":"1.10","t":{"d":"2024-01-01"}}"#, "body", &[]),
        ("toml between ---", "---\na = \"b\"\nc = [1, 0x1F]\n---\n", r#"{"a":"b","c":["1","0x1F"]}"#, "", &["front-matter-toml"]),
        ("broken toml", "+++\nname = rust tools\nv = \"1\"\n+++\n", r#"{"name":"rust tools","v":"1"}"#, "", REPAIRED),
    ]);
    let error = read(b"---\nname: a\nbody").unwrap_err();
    assert_eq!((error.code.as_ref(), error.line), ("front-matter-unclosed", Some(1)));
    assert_eq!(read(b"---\na: b\n---\nx\ny").unwrap().body_line(), 4);
}

#[test]
fn a_fence_within_a_value_is_told_from_one_behind_an_open_quote() {
    check(&[
        (
            "an open quote, and one in the body",
            "---\nname: p2\ndescription: \"unclosed quote text\nlicense: MIT\n---\n# Body\nHe said it\"\n---\nmore\n",
            r#"{"name":"p2","description":"\"unclosed quote text","license":"MIT"}"#,
            "# Body\nHe said it\"\n---\nmore\n",
            REPAIRED,
        ),
        (
            "open in the last field",
            "---\nname: a\ndescription: 'open\n---\n\n## Body\nIt's\n---\n",
            r#"{"name":"a","description":"'open"}"#,
            "\n## Body\nIt's\n---\n",
            REPAIRED,
        ),
        (
            "fields in the body",
            "---\ndescription: \"open\n---\nTo do: this\nHe said it\"\n---\n",
            r#"{"description":"\"open"}"#,
            "To do: this\nHe said it\"\n---\n",
            REPAIRED,
        ),
        ("an open bracket", "---\ntags: [a,\n---\n# Body\nb]\n---\n", r#"{"tags":"[a,"}"#, "# Body\nb]\n---\n", REPAIRED),
        (
            "no open value before the fence",
            "---\nx: y: z\nname: a\n---\nbody \"b\"\n---\n",
            r#"{"x":"y: z","name":"a"}"#,
            "body \"b\"\n---\n",
            REPAIRED,
        ),
        (
            "another field is to be repaired",
            "---\ndescription: \"a\n---\n b\"\nargument-hint: x: y\n---\nbody",
            r#"{"description":"a --- b","argument-hint":"x: y"}"#,
            "body",
            &["front-matter-repaired", "front-matter-repaired"],
        ),
        (
            "a field before it",
            "---\nargument-hint: x: y\ndescription:\n  'a\n---\n---\n  b'\n---\nbody",
            r#"{"argument-hint":"x: y","description":"a --- --- b"}"#,
            "body",
            &["front-matter-repaired", "front-matter-repaired", "front-matter-repaired"],
        ),
        ("in a map", "---\nm:\n  a: \"b\n---\n  c\"\n---\nx", r#"{"m":{"a":"b --- c"}}"#, "x", REPAIRED),
        ("in TOML", "+++\na = \"\"\"b\n+++\nc\"\"\"\n+++\nx", r#"{"a":"b\n+++\nc"}"#, "x", REPAIRED),
        (
            "open in TOML",
            "+++\na = \"\"\"b\nd = 1\n+++\n# Body\n\"\"\"\n+++\nx",
            r#"{"a":"\"\"\"b","d":"1"}"#,
            "# Body\n\"\"\"\n+++\nx",
            &["front-matter-repaired", "front-matter-repaired"],
        ),
    ]);
    let found = read(b"---\na: \"b\n---\nc\"\n---\nbody").unwrap().diagnostics;
    assert_eq!((found[0].line, found[0].message.contains("stands within a value")), (Some(3), true));
}

#[test]
fn a_field_is_there_as_it_was_written() {
    let document = read(b"---\nargument-hint: [message]\nmore:\n  - a\n  - b\n---\n").unwrap();
    let front_matter = document.front_matter.unwrap();
    let written = |key| front_matter.written(front_matter.get(key).unwrap());
    assert_eq!((written("argument-hint"), written("more")), ("[message]".into(), "- a - b".into()));
}

/// Pieces that front matter is made of, for mutants that get past the first check.
const PIECES: [&str; 38] = [
    "---\n",
    "---",
    "+++\n",
    "\n",
    "\r\n",
    "\r",
    "name: a\n",
    "description: ",
    "description: >\n",
    "  text\n",
    "\t",
    "- ",
    ": ",
    " #",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "*a",
    "&a ",
    "!t ",
    "%",
    "@",
    "`",
    "|",
    "metadata:\n",
    "  k: v\n",
    "~",
    "1.10",
    "é",
    "\u{feff}",
    "<!--",
    "-->",
    "=",
    ",",
    "\\",
];

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
        let _ = read_beginning(&bytes);
    }

    #[test]
    fn mutated_front_matter_never_panics_and_a_beginning_says_the_same(pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..30), cut in 0_usize..200) {
        let file = format!("---\n{}", pieces.concat());
        let whole = read(file.as_bytes());
        if let Some(beginning) = read_beginning(&file.as_bytes()[..cut.min(file.len())]) {
            match (beginning, &whole) {
                (Ok(beginning), Ok(whole)) => {
                    prop_assert_eq!(&beginning.front_matter, &whole.front_matter);
                    prop_assert_eq!(&beginning.diagnostics, &whole.diagnostics);
                }
                (beginning, whole) => prop_assert!(false, "{beginning:?} against {whole:?}"),
            }
        }
        if let Ok(document) = whole {
            prop_assert!(file.ends_with(document.body()));
            for found in &document.diagnostics {
                let line = found.line.unwrap() as usize;
                prop_assert!(line <= file.lines().count() + file.matches('\r').count() + 1, "{found}");
            }
        }
    }

    #[test]
    fn plain_values_round_trip(key in "[a-z][a-z_-]{0,12}", value in "[A-Za-z0-9(][A-Za-z0-9 .,()/é中-]{0,60}[A-Za-z0-9)]") {
        prop_assume!(!matches!(value.to_lowercase().as_str(), "null"));
        let document = read(format!("---\n{key}: {value}\n---\nbody").as_bytes()).unwrap();
        let front_matter = document.front_matter.unwrap();
        prop_assert_eq!(front_matter.get(&key).unwrap().value.as_text(), Some(value.as_str()));
        prop_assert!(document.diagnostics.is_empty());
    }

    #[test]
    fn a_description_of_any_one_line_loads_whole(value in "[!-~][ -~]{0,60}[!-~]") {
        prop_assume!(!value.starts_with(['"', '\'', '|', '>', '#', '~', '&']) && !value.contains(" #") && !value.starts_with("!!"));
        // In brackets or behind a known alias it is YAML, and means something else.
        prop_assume!(!value.starts_with(['[', '{']));
        let document = read(format!("---\nname: a\ndescription: {value}\n---\n").as_bytes()).unwrap();
        let front_matter = document.front_matter.unwrap();
        prop_assert_eq!(front_matter.get("name").unwrap().value.as_text(), Some("a"));
        prop_assert_eq!(front_matter.get("description").unwrap().value.as_text(), Some(value.as_str()));
    }
}
