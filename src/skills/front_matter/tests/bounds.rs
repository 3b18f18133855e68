//! Hostile front matter: refused, or read within a bound of work.

use super::*;
use proptest::strategy::ValueTree;

#[test]
fn what_is_out_of_proportion_is_refused() {
    let laughs = (0..9)
        .fold("a0: &a0 [x, x, x]\n".to_owned(), |all, n| format!("{all}a{}: &a{} [*a{n}, *a{n}, *a{n}, *a{n}, *a{n}]\n", n + 1, n + 1));
    let deep = (0..250).fold(String::new(), |all, depth| format!("{all}{}a:\n", " ".repeat(depth)));
    for (name, yaml) in [
        ("aliases", laughs),
        ("200 KB of [", "[".repeat(200_000)),
        ("60 KB of [", "[".repeat(60_000)),
        ("depth 2,000", format!("a: {}", "[".repeat(2_000))),
        ("depth in blocks", deep),
        ("a 60 KB key", format!("{}: x", "k".repeat(60_000))),
        ("too long", format!("a: {}", "x".repeat(70_000))),
    ] {
        for closing in ["---\n", "---\nbody\n---\n"] {
            assert_eq!(read(format!("---\n{yaml}\n{closing}").as_bytes()).unwrap_err().code, "front-matter-refused", "{name}");
        }
    }
}

#[test]
fn repairs_take_no_time_either() {
    let nested = (0..12).map(|depth| format!("{}a: b: c\n", "  ".repeat(depth))).collect::<Vec<_>>().concat();
    for (name, yaml) in [
        ("broken entries", "a: b: c\n".repeat(8_000)),
        ("broken items", format!("a:\n{}", "- *a b\n".repeat(9_000))),
        ("broken items in brackets", format!("a: [{}]", "*a b,".repeat(12_000))),
        ("anchors", format!("{}b: *", "a: &b\n".repeat(9_000))),
        ("strays", "a\n".repeat(30_000)),
        ("nested", nested.repeat(200)),
        ("keys twice", "a: b\n".repeat(6_000)),
        ("nested keys twice", format!("a:\n{}", " a: b\n".repeat(6_000))),
        ("tabs", format!("a:\n{}", "\tb: c\n".repeat(8_000))),
        ("quotes", format!("a: {}", "\"b\" ".repeat(14_000))),
        ("fences", format!("a: \"{}", "\n---\n".repeat(9_000))),
        ("brackets and commas", format!("a: {}{}", "[".repeat(60), "b,".repeat(30_000))),
        ("TOML brackets", format!("a = {}", "[".repeat(2_500))),
        ("TOML dots", format!("{}a = 1", "a.".repeat(30_000))),
        ("TOML tables", format!("[{}a]\na = 1", "a.".repeat(30_000))),
        ("TOML keys", (0..6_000).map(|key| format!("a{key} = 1")).collect::<Vec<_>>().join("\n")),
    ] {
        for fence in ["---", "+++"] {
            let start = std::time::Instant::now();
            let _ = read(format!("{fence}\n{yaml}\n{fence}\nbody").as_bytes());
            let took = start.elapsed();
            println!("{name} {fence}: {took:?}");
            // Some ten milliseconds; without optimisation, and on a slow machine, that may be a second or two.
            assert!(took.as_secs() < 10, "{name}: {took:?}");
        }
    }
}

/// What takes time is what the YAML library is given, so that is counted, whatever the machine does besides.
#[test]
fn fences_are_tried_within_a_bound_of_work() {
    let mut random = proptest::test_runner::TestRunner::deterministic();
    let pieces = proptest::collection::vec(proptest::sample::select(&PIECES[..]), 1..12);
    let mut files: Vec<String> = (0..200)
        .map(|_| {
            let unit = pieces.new_tree(&mut random).unwrap().current().concat() + "\n---\n";
            format!("---\n{}", unit.repeat(16 * 1024 / unit.len()))
        })
        .collect();
    for head in ["a:\n b:\n", "a: b\n", "a: \"b\n", "a: [b\n", "m:\n  b: `\n"] {
        for body in ["---\n", "---\nx: \"\n", "---\n\"\n", "---\n# a\n"] {
            for (size, last) in [(8, "b: @\n"), (8, "b: \"@\n"), (32, "b: \"@\n"), (60, "b: @\n")] {
                files.push(format!("---\n{}{last}{}", head.repeat(size * 1024 / head.len()), body.repeat(100)));
            }
        }
    }
    let mut most = 0;
    for file in files {
        yaml::PARSED.set(0);
        let _ = read(file.as_bytes());
        let parsed = yaml::PARSED.get();
        most = most.max(parsed);
        // The first block, the entries that later fences stand in (as a whole, and up to the fence), and the block that is chosen with its entries.
        let bound = 3 * yaml::MAX_BYTES + 2 * MAX_TRIED_BYTES;
        assert!(parsed <= bound, "{parsed} bytes: {:?}", file.chars().take(200).collect::<String>());
    }
    println!("at most {most} bytes");
}

#[test]
fn what_took_longest_is_read_in_a_moment() {
    let fences = "---\nx\n".repeat(8);
    for (name, file) in [
        ("maps ahead of fences", format!("---\n{}b: @\n{fences}", "a:\n b:\n".repeat(4_600))),
        ("pairs ahead of fences", format!("---\n{}b: @\n{fences}", "a: b\n".repeat(6_500))),
        ("nested fields", format!("---\nm:\n{}---\n", "  b: `\n".repeat(3_900))),
        ("keys between the fences of TOML", format!("+++\n{}+++\n", "a:\n".repeat(21_000))),
        ("strays", format!("---\n{}---\n", "a\n".repeat(32_000))),
        ("indented fields", format!("---\n{}---\n", "a: b\n name: x\n".repeat(3_900))),
        ("blank lines and strays", format!("---\na: |\n{}  b\n{}---\n", "\n".repeat(20_000), "b\n".repeat(20_000))),
        ("capitals", format!("---\n{}---\n", (0..2048).map(|number| format!("{}: b\n", cased(number))).collect::<Vec<_>>().concat())),
        ("a list", format!("---\n{}---\n", "- a: b\n".repeat(9_000))),
    ] {
        let start = std::time::Instant::now();
        let read = read(file.as_bytes());
        let took = start.elapsed();
        println!("{name}: {took:?}");
        assert!(took.as_secs() < 5, "{name}: {took:?}");
        match read {
            Ok(document) => assert!(document.diagnostics.len() <= MAX_DIAGNOSTICS + 1, "{name}"),
            Err(error) => assert_eq!(error.code, "front-matter-refused", "{name}"),
        }
    }
}

/// `description` with capitals where this number has ones.
fn cased(number: usize) -> String {
    let cased = |(at, c): (usize, char)| if number >> at & 1 == 1 { c.to_ascii_uppercase() } else { c };
    "description".chars().enumerate().map(cased).collect()
}

#[test]
fn fields_that_are_to_be_repaired_are_bounded() {
    let field = ["a: @\n", "a:\n", "a: b #c\n", "a: |\n b\n"];
    for (field, head) in field.iter().flat_map(|field| ["", "`\n", "a: [", "{", "m:\n  b: `\n"].map(|head| (field, head))) {
        let file = |count: usize| format!("---\n{head}{}\na: `\n---\n", field.repeat(count));
        assert!(read(file(3_000).as_bytes()).is_ok(), "{head:?} {field:?}");
        assert_eq!(
            read(file(5_000).as_bytes()).map_err(|error| error.code.into_owned()),
            Err("front-matter-refused".into()),
            "{head:?} {field:?}"
        );
    }
    // Within another field too.
    let file = format!("---\nm:\n{}---\n", "  a: @\n".repeat(5_000));
    assert_eq!(read(file.as_bytes()).unwrap_err().code, "front-matter-refused");
}
