use super::*;
use proptest::prelude::*;

fn room(limit: Limit) -> Room<'static> {
    Room::UNLIMITED.with(limit)
}
fn any_limit() -> impl Strategy<Value = Limit> {
    (0..3_usize, 0..400_usize).prop_map(|(unit, n)| [Limit::Bytes(n), Limit::Chars(n), Limit::Tokens(n)][unit])
}
/// Words, lines, clusters and odd characters.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof!["[a-z ]{0,20}", Just("\n".to_owned()), "👨‍👩‍👧‍👦|🇩🇪|e\u{301}|中文|é|\u{0}", any::<String>()];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_cut_text_never_exceeds_its_room(text in any_text(), limit in any_limit(), edge in 0..3_usize) {
        let edge = [Edge::Character, Edge::Word, Edge::Line][edge];
        let room = room(limit);
        let fitted = cut(&text, edge, &room);
        prop_assert!(room.holds(&fitted.text), "{:?} over {limit}", fitted.text);
        prop_assert_eq!(fitted.is_cut, !room.holds(&text));
        prop_assert!(fitted.is_cut || fitted.text == text);
    }

    #[test]
    fn what_is_kept_is_a_beginning(text in any_text(), limit in any_limit()) {
        let kept = prefix(&text, &room(limit));
        prop_assert!(text.starts_with(kept) && room(limit).holds(kept));
    }

    #[test]
    fn a_prefix_in_characters_is_as_long_as_clusters_allow(text in "[a-z ]{0,80}", n in 0..100_usize) {
        prop_assert_eq!(prefix(&text, &room(Limit::Chars(n))).len(), n.min(text.len()));
    }

    #[test]
    fn a_shortened_text_counts_its_ellipsis(text in any_text(), n in 0..60_usize) {
        prop_assert!(shorten(&text, n).chars().count() <= n);
    }

    #[test]
    fn a_larger_room_never_says_less(text in "[a-z\n é中]{0,200}", n in 0..100_usize, more in 0..50_usize) {
        let kept = |n: usize| prefix(&text, &room(Limit::Bytes(n))).len();
        prop_assert!(kept(n) <= kept(n + more));
    }
}

#[test]
fn a_room_tells_its_limit() {
    for (limit, amount) in [(Limit::None, None), (Limit::Bytes(1), Some(1)), (Limit::Chars(2), Some(2)), (Limit::Tokens(3), Some(3))] {
        assert_eq!((room(limit).limit(), limit.amount()), (limit, amount));
    }
}

#[test]
fn a_limit_reads_as_a_person_would_say_it() {
    let said = [Limit::None, Limit::Bytes(1000), Limit::Chars(20), Limit::Tokens(3)].map(|limit| limit.to_string());
    assert_eq!(said, ["no limit", "1000 bytes", "20 characters", "3 tokens"]);
    assert_eq!(format!("{:?}", room(Limit::Chars(20))), "Chars(20)");
}

#[test]
fn a_large_text_is_fitted_in_few_attempts() {
    let (text, attempts) = ("x".repeat(1 << 20), std::cell::Cell::new(0));
    let build = |kept: &str| {
        attempts.set(attempts.get() + 1);
        kept.to_owned()
    };
    let kept = fit_around(&text, Edge::Character, &room(Limit::Bytes(600_000)), build).unwrap();
    assert_eq!(kept.len(), 600_000);
    assert!(attempts.get() <= 2 * 20, "{} attempts", attempts.get());
}

#[test]
fn a_cut_falls_on_a_character_boundary() {
    let text = format!("{}é", "x".repeat(499));
    assert_eq!(prefix(&text, &room(Limit::Bytes(500))).len(), 499);
}

#[test]
fn clusters_are_not_torn() {
    let family = "👨‍👩‍👧‍👦";
    for (text, n, kept) in [
        (format!("ab{family}"), family.len() + 1, "ab"),
        (family.to_owned(), family.len() - 1, ""),
        ("ab🇩🇪🇫🇷".to_owned(), 14, "ab🇩🇪"),
        ("abe\u{301}".to_owned(), 3, "ab"),
    ] {
        assert_eq!(prefix(&text, &room(Limit::Bytes(n))), kept);
    }
}

#[test]
fn escapes_are_not_torn() {
    let room = |n: usize| room(Limit::Bytes(n));
    for (n, kept) in [(1, "a"), (2, "a"), (4, "a"), (5, "a&lt;"), (6, "a&lt;b")] {
        assert_eq!(prefix("a&lt;b", &room(n)), kept);
    }
    assert_eq!(prefix("R&D and more", &room(3)), "R&D");
    assert_eq!(prefix("&#1114111;x", &room(9)), "");
    assert_eq!(prefix("a&;b", &room(2)), "a&", "`&;` names nothing");
    assert_eq!(prefix("&abcdefghi;x", &room(5)), "&abcd", "longer than any reference");
}

#[test]
fn a_cluster_without_end_is_cut_between_characters() {
    let text = format!("e{}", "\u{301}".repeat(5000));
    assert_eq!(prefix(&text, &room(Limit::Bytes(3000))).len(), 2999);
    assert_eq!(Edge::Character.before(&text, 3000), 2999, "no further back than it has to be");
    // From here on its beginning is in sight, and its end is not.
    for at in [11, 101, 201] {
        assert_eq!(behind(&text, at - 1), at, "no further behind either");
        assert_eq!(behind(&text, at), at);
    }
}

#[test]
fn a_marker_that_does_not_fit_is_left_out() {
    assert_eq!(cut("a long text", Edge::Word, &room(Limit::Bytes(4))).text, "a lo");
    assert_eq!(cut("a long text", Edge::Word, &room(Limit::Bytes(0))).text, "");
}

#[test]
fn words_and_lines_stay_whole() {
    assert_eq!(shorten("analyse data and reports", 17), "analyse data and…");
    assert_eq!(shorten("analyse data and reports", 15), "analyse data…");
    let lines = "one line\nanother line\nand a third line of the text\n";
    assert_eq!(cut(lines, Edge::Line, &room(Limit::Bytes(40))).text, "one line\nanother line\n[29 bytes cut]");
}
