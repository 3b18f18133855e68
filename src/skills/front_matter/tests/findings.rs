//! What is said of a file, and where: each finding with its line and column.

use super::*;

/// A file, what its fields are as JSON, and each finding as `line:column message`.
type Row = (&'static str, &'static str, &'static [&'static str]);

fn told(document: &Document) -> Vec<String> {
    let place = |found: &Diagnostic| (found.line.unwrap_or_default(), found.column.unwrap_or_default());
    document.diagnostics.iter().map(|found| format!("{}:{} {}", place(found).0, place(found).1, found.message)).collect()
}

fn check(rows: &[Row]) {
    for (file, fields, findings) in rows {
        let document = read(file.as_bytes()).unwrap();
        assert_eq!((&*json(&document), told(&document)), (*fields, findings.iter().map(ToString::to_string).collect()), "{file:?}");
    }
}

#[test]
fn each_finding_is_told_with_its_place_and_what_to_do() {
    check(&[
        (
            "---\nname: a\na stray line that is longer than forty characters, by far\nversion: 1: 2\n---\n",
            r#"{"name":"a","version":"1: 2"}"#,
            &[
                "3:1 `a stray line that is longer than forty c` belongs to no field and was left out; indent it, or quote the value before it",
                "4:10 `version`: an unquoted value holds `: `; it was read as plain text, quote the whole of it",
            ],
        ),
        (
            "---\nname: a\n  version: 1\n---\n",
            r#"{"name":"a","version":"1"}"#,
            &["3:3 `version` is indented under the text before it; it was read as a field of its own"],
        ),
        ("---\nname:a\n---\n", r#"{"name":"a"}"#, &["2:6 `name`: a blank must stand behind the colon"]),
        (
            "---\ndescription: use:\nid: b: c\n---\n",
            r#"{"description":"use:","id":"b: c"}"#,
            &[
                "2:14 `description`: an unquoted value holds `: `; it was read as plain text, quote the whole of it",
                "3:5 `id`: an unquoted value holds `: `; it was read as plain text, quote the whole of it",
            ],
        ),
        ("---\ntitle: a b #1: c\n---\n", r#"{"title":"a b"}"#, &[]),
        (
            "---\nid: [x] y\n---\n",
            r#"{"id":"[x] y"}"#,
            &["2:5 `id`: a value must not begin with `[` unquoted; it was read as plain text, quote the whole of it"],
        ),
        (
            "---\nname: a\nmetadata:\n  ok: fine\n  bad: a: b\n  deeper:\n    worse: c: d\n  tight:no\n   stray\n---\n",
            r#"{"name":"a","metadata":{"ok":"fine","bad":"a: b","deeper":{"worse":"c: d"}}}"#,
            &[
                "5:8 `bad`: an unquoted value holds `: `; it was read as plain text, quote the whole of it",
                "7:12 `worse`: an unquoted value holds `: `; it was read as plain text, quote the whole of it",
                "8:1 `tight:no` belongs to no field and was left out; indent it, or quote the value before it",
                "9:1 `stray` belongs to no field and was left out; indent it, or quote the value before it",
            ],
        ),
        (
            "---\nname: a\nmetadata:\n  version: 1\n    license: MIT\n  x: y: z\n---\n",
            r#"{"name":"a","metadata":{"version":"1","license":"MIT","x":"y: z"}}"#,
            &[
                "5:5 `license` is indented under the text before it; it was read as a field of its own",
                "6:6 `x`: an unquoted value holds `: `; it was read as plain text, quote the whole of it",
            ],
        ),
        ("---\n[name]\n---\n", "{}", &["2:1 `[name]` belongs to no field and was left out; indent it, or quote the value before it"]),
    ]);
}

#[test]
fn a_key_that_stands_twice_within_a_field_is_told_with_both_lines() {
    check(&[
        (
            "---\nname: a\nmetadata:\n  a: 1\n  b: 2\n  a: 3\nversion: 1\n---\n",
            r#"{"name":"a","metadata":{"a":"3","b":"2"},"version":"1"}"#,
            &["6:1 `a` stands twice, in lines 4 and 6; the last one counts"],
        ),
        (
            "---\nname: a\n# b\nx: {a: 1, a: 2}\n---\n",
            r#"{"name":"a","x":{"a":"2"}}"#,
            &["4:1 `a` stands twice in line 4; the last one counts"],
        ),
        (
            "---\nname: a\nx:\n  - a: 1\n    a: 2\n---\n",
            r#"{"name":"a","x":[{"a":"2"}]}"#,
            &["5:1 `a` stands twice, in lines 4 and 5; the last one counts"],
        ),
        ("+++\nname: a\nx: {a: 1, a: 2}\n+++\n", r#"{"name":"a","x":{"a":"2"}}"#, &["3:1 `a` stands twice in line 3; the last one counts"]),
        ("---\n\"na\\x6de\":\n  a: 1\n  a: 2\n---\n", r#"{"name":{"a":"2"}}"#, &["2:1 `a` stands twice in line 2; the last one counts"]),
    ]);
}

#[test]
fn a_list_of_which_an_item_is_no_yaml_keeps_the_others() {
    check(&[
        (
            "---\nkeywords:\n  - *x y\n  - ok\n  - a: b: c\n    more\n  - &a b\n  - !t c\n  - [x, y]\n  - k: v\n---\n",
            r#"{"keywords":["*x y","ok","a: b: c more","&a b","!t c",["x","y"],{"k":"v"}]}"#,
            &["2:10 `keywords`: a list's item that is no YAML was read as plain text; quote it"],
        ),
        (
            "---\nkeywords:\n  # said first\n  - @x\n  # said between\n  - |\n    # kept\n    a\n\n    - b\n---\n",
            r##"{"keywords":["@x","# kept\na\n- b"]}"##,
            &["2:10 `keywords`: a list's item that is no YAML was read as plain text; quote it"],
        ),
        (
            "---\nkeywords:\n  - @x\n  - k:\n      - some longer words in here\n---\n",
            r#"{"keywords":["@x",{"k":["some longer words in here"]}]}"#,
            &["2:10 `keywords`: a list's item that is no YAML was read as plain text; quote it"],
        ),
        (
            "---\nkeywords:\n- @x\n- two\n  lines\n---\n",
            r#"{"keywords":["@x","two lines"]}"#,
            &["2:10 `keywords`: a list's item that is no YAML was read as plain text; quote it"],
        ),
        (
            "---\nkeywords: [*x, b\"c, d\", [a, 'b'], {k: v}, \"e, f\", &g h]\n---\n",
            r#"{"keywords":["*x","b\"c","d\"",["a","b"],{"k":"v"},"e, f","&g h"]}"#,
            &["2:11 `keywords`: an item in brackets that is no YAML was read as plain text; quote it"],
        ),
        (
            "---\nkeywords: [a [b], @c]\n---\n",
            r#"{"keywords":["a [b]","@c"]}"#,
            &["2:11 `keywords`: an item in brackets that is no YAML was read as plain text; quote it"],
        ),
    ]);
}

#[test]
fn what_stands_below_a_field_is_what_it_looks_like() {
    check(&[
        (
            "---\nlicense: a: b\n  - c\n---\n",
            r#"{"license":"a: b - c"}"#,
            &["2:10 `license`: an unquoted value holds `: `; it was read as plain text, quote the whole of it"],
        ),
        (
            "---\ndescription:\n  - *x y\n---\n",
            r#"{"description":"- *x y"}"#,
            &["2:13 `description`: this is no YAML; it was read as plain text, quote the whole of it"],
        ),
        ("---\ndescription:\n  - a\n---\n", r#"{"description":["a"]}"#, &[]),
        (
            "---\ntitle:\n  @a\n---\n",
            r#"{"title":"@a"}"#,
            &["2:7 `title`: this is no YAML; it was read as plain text, quote the whole of it"],
        ),
        (
            "---\nm:\n  a: 1\n\tb: 2\n---\n",
            r#"{"m":{"a":"1","b":"2"}}"#,
            &["2:3 `m`: tabs are no indentation in YAML; they were read as blanks"],
        ),
        ("---\nname: x\ndescription: |\n\n  text\n---\n", r#"{"name":"x","description":"\ntext\n"}"#, &[]),
        (
            "---\nk0:\n  k1:\n    k2:\n      k3:\n        k4:\n          k5:\n            k6:\n              k7:\n                k8:\n                  k9:\n                    k: a: b\n---\n",
            r#"{"k0":{"k1":{"k2":{"k3":{"k4":{"k5":{"k6":{"k7":{"k8":"k9: k: a: b"}}}}}}}}}"#,
            &["10:20 `k8`: an unquoted value holds `: `; it was read as plain text, quote the whole of it"],
        ),
        ("---\nbase: &b hello\ncopy: *b\n---\n", r#"{"base":"hello","copy":"hello"}"#, &[]),
        ("+++\nname: a\ndescription: b\n+++\n", r#"{"name":"a","description":"b"}"#, &[]),
        (
            "+++\nname: b = c\ntitle = d: e\n= f\n+++\n",
            r#"{"name":"b = c","title":"d: e"}"#,
            &[
                "2:1 this is no TOML; it was read line by line",
                "3:8 `title`: an unquoted value holds `: `; it was read as plain text, quote the whole of it",
                "4:1 `= f` belongs to no field and was left out; indent it, or quote the value before it",
            ],
        ),
    ]);
}

#[test]
fn a_sign_of_a_comment_is_text_in_prose_alone_and_where_it_looks_like_text() {
    check(&[
        ("---\nlicense: MIT #2 of them\n---\n", r#"{"license":"MIT"}"#, &[]),
        ("---\ndescription: one # comment\n---\n", r#"{"description":"one"}"#, &[]),
        (
            "---\ndescription: two words # text\n---\n",
            r#"{"description":"two words # text"}"#,
            &["2:14 `description`: ` #` begins a comment in YAML; it was read as plain text, quote the whole of it"],
        ),
        ("---\ndescription: one  #comment\n---\n", r#"{"description":"one"}"#, &[]),
        (
            "---\ndescription: one #text\n---\n",
            r#"{"description":"one #text"}"#,
            &["2:14 `description`: ` #` begins a comment in YAML; it was read as plain text, quote the whole of it"],
        ),
        ("---\ndescription: \"a #1\" # comment\n---\n", r#"{"description":"a #1"}"#, &[]),
        (
            "---\ndescription:\n  some\n  words #1\n---\n",
            r#"{"description":"some words #1"}"#,
            &["2:13 `description`: ` #` begins a comment in YAML; it was read as plain text, quote the whole of it"],
        ),
    ]);
}

#[test]
fn a_field_that_looks_like_one_within_quotes_is_text_beside_a_broken_field_too() {
    let broken = "4:5 `id`: an unquoted value holds `: `; it was read as plain text, quote the whole of it";
    for (quoted, text) in [
        ("\"a\n  name: b\"", "a name: b"),
        ("\"\n  name: b\"", " name: b"),
        ("\"a\\\"\n  name: b\"", "a\" name: b"),
        ("'a''\n  name: b'", "a' name: b"),
    ] {
        let document = read(format!("---\ndescription: {quoted}\nid: x: y\n---\n").as_bytes()).unwrap();
        let front_matter = document.front_matter.as_ref().unwrap();
        assert_eq!(front_matter.entries.len(), 2, "{quoted:?}: {:?}", front_matter.entries);
        assert_eq!(front_matter.get("description").unwrap().value.as_text(), Some(text), "{quoted:?}");
        assert_eq!(told(&document), [broken], "{quoted:?}");
    }
}

#[test]
fn fields_in_a_list_are_read_behind_blank_lines_and_comments_too() {
    let in_a_list = "3:1 the fields stand in a list; they were read without the `-` before them";
    for before in ["\n", "# first\n"] {
        let document = read(format!("---\n{before}- name: x\n\n  description: y\n---\n").as_bytes()).unwrap();
        assert_eq!((&*json(&document), told(&document)), (r#"{"name":"x","description":"y"}"#, vec![in_a_list.to_owned()]));
    }
}

#[test]
fn what_stands_before_the_first_field_is_told_line_by_line() {
    let stray =
        |n: usize, text: &str| format!("{n}:1 `{text}` belongs to no field and was left out; indent it, or quote the value before it");
    let document = read(b"---\n# a comment\nstray\n  deeper\nname: a\n---\n").unwrap();
    assert_eq!((&*json(&document), told(&document)), (r#"{"name":"a"}"#, vec![stray(3, "stray"), stray(4, "deeper")]));
}

#[test]
fn a_fence_is_passed_over_only_within_a_value_that_holds_nothing_else() {
    for (file, fields, body) in [
        ("---\ndescription: 'open\n---\n## Body\nThe end'\n---\n", r#"{"description":"'open"}"#, "## Body\nThe end'\n---\n"),
        ("---\na: \"b\n---\n--- x\nc\"\n---\nbody", r#"{"a":"\"b"}"#, "--- x\nc\"\n---\nbody"),
        ("---\na: \"b\n---\n---x\nc\"\n---\nbody", r#"{"a":"\"b"}"#, "---x\nc\"\n---\nbody"),
        ("---\na: \"b\n---\nc\"\n---\nbody", r#"{"a":"b --- c"}"#, "body"),
        ("+++\na = \"\"\"b\nd = 1\n+++\nBody\n\"\"\"\n+++\nx", r#"{"a":"\"\"\"b","d":"1"}"#, "Body\n\"\"\"\n+++\nx"),
        ("---\na: 'b'\nc: d: e\n---\nIt's\n---\n", r#"{"a":"b","c":"d: e"}"#, "It's\n---\n"),
    ] {
        let document = read(file.as_bytes()).unwrap();
        assert_eq!((&*json(&document), document.body()), (fields, body), "{file:?}");
    }
}

#[test]
fn of_very_many_findings_the_first_are_told_and_the_others_counted() {
    let broken = (0..150).map(|n| format!("k{n}: a: b\n")).collect::<Vec<_>>().concat();
    let document = read(format!("---\nname: a\nfirst stray\n{broken}last stray\n---\n").as_bytes()).unwrap();
    let told = told(&document);
    assert_eq!(told.len(), MAX_DIAGNOSTICS + 1);
    assert!(told[0].starts_with("3:1 `first stray` belongs to no field") && told[1].starts_with("4:5 `k0`: "), "{told:?}");
    assert!(told[MAX_DIAGNOSTICS - 1].starts_with("102:6 `k98`: "), "{told:?}");
    assert_eq!(told[MAX_DIAGNOSTICS], "102:1 52 more findings below");
}

#[test]
fn fields_of_toml_have_their_places_and_stand_there_as_written() {
    let document = read("\n+++\na = 1\n  b = 2\n\n  x = [\n  1, 2]\n[t]\nc = 3\n+++\n".as_bytes()).unwrap();
    let front_matter = document.front_matter.unwrap();
    let places: Vec<_> = front_matter.entries.iter().map(|entry| (&*entry.key, entry.line, entry.column)).collect();
    assert_eq!(places, [("a", 3, 1), ("b", 4, 3), ("x", 6, 3), ("t", 8, 2)]);
    assert_eq!(front_matter.written(front_matter.get("x").unwrap()), "[ 1, 2]");
}
