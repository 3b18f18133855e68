use super::*;
use proptest::prelude::*;

fn read(text: &str) -> InvariantCatalog {
    InvariantCatalog::read(Document::new(text))
}
fn texts(catalog: &InvariantCatalog) -> Vec<&str> {
    catalog.iter().map(|invariant| invariant.text).collect()
}
fn codes(catalog: &InvariantCatalog) -> Vec<(&str, Option<u32>)> {
    catalog.diagnostics().map(|found| (&*found.code, found.line)).collect()
}

const DOCUMENT: &str = "\
# Invariants

These hold always.

## Storage ##

Of tables:

* **One writer.** A table has one writer.

  Others ask it.

- No title here
### Keys
* **Stable.** Keys never change:
  - not in a migration,
  - not in a test.
And that is that.

## Output
* Tabs.
";

#[test]
fn sections_bullets_and_what_belongs_to_them() {
    let catalog = read(DOCUMENT);
    let storage = Some("Storage");
    let rows: Vec<_> = catalog.iter().map(|one| (one.number, one.section, one.subsection, one.title(), one.text)).collect();
    assert_eq!(
        rows,
        [
            (1, storage, None, Some("One writer."), "* **One writer.** A table has one writer.\n\n  Others ask it."),
            (2, storage, None, None, "- No title here"),
            (
                3,
                storage,
                Some("Keys"),
                Some("Stable."),
                "* **Stable.** Keys never change:\n  - not in a migration,\n  - not in a test.\nAnd that is that."
            ),
            (4, Some("Output"), None, None, "* Tabs."),
        ]
    );
    assert_eq!((catalog.get(0), catalog.get(5)), (None, None));
    assert!(codes(&catalog).is_empty());
}

#[test]
fn titles_stand_once_where_they_change() {
    let catalog = read("* a\n## S\n* b\n* c\n### T\n* d\n## U\n### T\n* e\n");
    assert_eq!(catalog.excerpt(&[1, 3, 4, 5, 9]), "* a\n\n## S\n* c\n\n### T\n* d\n\n## U\n\n### T\n* e\n");
    assert!(catalog.numbered().starts_with("[1] * a\n\n## S\n[2] * b\n[3] * c\n"));
}

#[test]
fn line_ends_are_of_any_kind() {
    for end in ["\n", "\r\n", "\r"] {
        let catalog = read(&format!("\u{feff}## S{end}* a{end}  b{end}{end}* **T.** c{end}"));
        assert_eq!(texts(&catalog), [format!("* a{end}  b"), "* **T.** c".to_owned()], "{end:?}");
        assert_eq!(catalog.get(2).map(|one| (one.section, one.title())), Some((Some("S"), Some("T."))), "{end:?}");
    }
}

#[test]
fn without_headings_or_without_bullets() {
    assert_eq!(texts(&read("- a\n- b")), ["- a", "- b"]);
    for text in ["", "\n \n", "Prose alone.\n", "## Heading\n", "* * *\n---\n**bold**\n-\n"] {
        assert!(read(text).is_empty(), "{text:?}");
    }
}

#[test]
fn in_code_and_comments_nothing_begins() {
    assert_eq!(texts(&read("* a\n\n  ```md\n  ## no\n  * no\n  ```\n* b")), ["* a\n\n  ```md\n  ## no\n  * no\n  ```", "* b"]);
    assert_eq!(texts(&read("* a\n```\n* no\n````\n* b")), ["* a\n```\n* no\n````", "* b"]);
    assert_eq!(texts(&read("* ~~~\n  * no\n  ~~~\n* b")), ["* ~~~\n  * no\n  ~~~", "* b"]);
    assert_eq!(texts(&read("<!--\n* no\n-->\n* b <!-- c -->\n* d")), ["* b <!-- c -->", "* d"]);
    assert_eq!(texts(&read("* a\n  ```\n* b\n* c")), ["* a\n  ```", "* b", "* c"], "code that does not end ends with its bullet");
}

#[test]
fn code_that_never_ends_is_told_with_its_line() {
    let catalog = read("* a\n\n```\n* no\n");
    assert_eq!(texts(&catalog), ["* a\n\n```\n* no"]);
    assert_eq!(codes(&catalog), [("invariants-unclosed", Some(3))]);
    assert_eq!(codes(&read("* a\n<!-- b\n* no")), [("invariants-unclosed", Some(2))]);
}

#[test]
fn a_rule_of_asterisks_is_no_bullet() {
    assert_eq!(texts(&read("  * **\n* * \n* * \n")), ["* *", "* *"]);
}

#[test]
fn huge_documents_take_one_pass() {
    for piece in ["* a\n", "  - a\n", "## a\n", "```\n", "<!--\n", "* ```\n", "\t", "#", "* * ", "\u{3042}"] {
        let text = piece.repeat((1 << 20) / piece.len());
        assert!(read(&text).len() <= text.len() / 4, "{piece:?}");
    }
    let title = "x".repeat(1 << 20);
    let catalog = read(&format!("## {title}\n* a\n* b"));
    assert!(catalog.excerpt(&[1, 2]).len() < title.len() + 100);
}

fn line() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "* ", "- ", "  ", " ", "\t", "#", "## ", "### ", "```", "~~~", "<!--", "-->", "**", "a", "é", "分", "---", "\u{feff}", "\u{a0}",
    ]);
    (prop::collection::vec(parts, 0..6), prop::sample::select(vec!["\n", "\r\n", "\r", "\n\n"]))
        .prop_map(|(parts, end)| parts.concat() + end)
}

proptest! {
    #[test]
    fn no_text_is_lost_and_each_invariant_is_a_slice(lines in prop::collection::vec(line(), 0..24)) {
        let text = lines.concat();
        let catalog = read(&text);
        let mut end = 0;
        for (number, invariant) in (1..).zip(catalog.iter()) {
            prop_assert_eq!(invariant.number, number);
            prop_assert!(invariant.text.starts_with(['*', '-']) && invariant.text == invariant.text.trim_end());
            // By its address: the same words may stand elsewhere too.
            let begin = invariant.text.as_ptr().addr() - catalog.document().text.as_ptr().addr();
            prop_assert!(begin >= end && text[begin..].starts_with(invariant.text), "a slice of the document, in order");
            // Between two there are headings, what stands behind headings, and blanks.
            let between = text[end..begin].trim();
            prop_assert!(number == 1 || between.is_empty() || between.starts_with('#'), "{:?}", between);
            prop_assert!(invariant.title().is_none_or(|title| invariant.text.contains(title)));
            end = begin + invariant.text.len();
        }
        let rest = text[end..].trim();
        prop_assert!(catalog.is_empty() || rest.is_empty() || rest.starts_with('#'), "{:?}", rest);
    }

    #[test]
    fn any_text_is_read(text in any::<String>()) {
        let catalog = read(&text);
        prop_assert_eq!(catalog.iter().count(), catalog.len());
        prop_assert!(catalog.excerpt(&(1..=catalog.len()).collect::<Vec<_>>()).len() <= catalog.numbered().len());
    }

    #[test]
    fn bullets_alone_come_back_as_they_are(items in prop::collection::vec("[*-] [a-zé*`]{0,5}[a-z](\n  [a-z]{1,4}){0,2}", 1..8)) {
        let catalog = read(&items.join("\n\n"));
        prop_assert_eq!(texts(&catalog), items);
    }
}
