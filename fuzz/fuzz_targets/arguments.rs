//! Arguments in a body: in one pass, so that nothing of them is expanded, and a body without a placeholder stays as it is.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use tower_prompt::layers::skill::substitute_arguments;

#[derive(Arbitrary, Debug)]
struct Input {
    pieces: Vec<Piece>,
    arguments: String,
    declares: bool,
}

#[derive(Arbitrary, Debug)]
enum Piece {
    Text(String),
    All,
    AllInFull,
    Word(u8),
    Dollar,
}

fuzz_target!(|input: Input| {
    let Input { pieces, arguments, declares } = &input;
    let mut body = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => body.push_str(text),
            Piece::All => body.push_str("$ARGS"),
            Piece::AllInFull => body.push_str("$ARGUMENTS"),
            Piece::Word(number) => body.push_str(&format!("${}", number % 12)),
            Piece::Dollar => body.push('$'),
        }
    }
    let (text, found) = substitute_arguments(&body, arguments, *declares);
    if !found {
        assert_eq!(text, body);
    }
    if !body.contains('$') {
        assert!(!found);
    }

    // The same with arguments that hold nothing to expand: they stand wherever the others do, and nothing else is moved.
    let mark = "\u{F0000}";
    let (marked, found_all) = substitute_arguments(&body, mark, false);
    if !body.contains(mark) {
        let (of_all, _) = substitute_arguments(&body, arguments, false);
        assert_eq!(marked.replace(mark, arguments), of_all, "in one pass");
        assert_eq!(found_all, marked.contains(mark));
    }

    // What stands between the places stays in its order.
    let mut rest = &*text;
    for kept in marked.split(mark).flat_map(|kept| kept.split('$').next()) {
        let at = rest.find(kept).expect("text before a placeholder is kept");
        rest = &rest[at + kept.len()..];
    }
});
