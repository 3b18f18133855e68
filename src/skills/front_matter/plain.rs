//! Nearly all front matter is plain: a field a line, quoted or not, perhaps a text in a block, a short list or a flat map. Of that the value is taken
//! straight from the lines, in a tenth of the library's time. Whatever could mean anything else is left to the library; a property test holds
//! the two equal.

use super::Entry;
use super::value::Value;

/// More than this is not plain: what is in proportion needs no guard then.
const MAX_BYTES: usize = 2 * 1024;
const MAX_KEY_BYTES: usize = 128;

/// The entries of a plain block, of which nothing is to be said; `None` for any other. `line` is that of its first line in the file.
pub(super) fn read(block: &str, line: usize) -> Option<Vec<Entry>> {
    if block.len() > MAX_BYTES
        || !block.ends_with('\n')
        || !(block.bytes().fold(0, |other, byte| other | u8::from(!is_plain_ascii(byte))) == 0 || block.chars().all(is_plain))
    {
        return None;
    }
    let mut lines = block.split_terminator('\n').peekable();
    let mut entries: Vec<Entry> = Vec::new();
    let (mut number, mut start) = (line, 0);
    while let Some(first) = lines.next() {
        let (key, value) = pair(first)?;
        let mut below = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with(' ')) {
            below.push(line);
        }
        let end = start + first.len() + 1 + below.iter().map(|line| line.len() + 1).sum::<usize>();
        let written = start + first.len() - value.len()..end;
        let value = match (value, &*below) {
            ("", []) => Value::Absent,
            ("", below) => collection(below)?,
            (style @ ("|" | "|-" | ">" | ">-"), below) => block_scalar(style, below)?,
            (value, []) => scalar(value)?,
            _ => return None,
        };
        if entries.iter().any(|entry| entry.key == key) {
            return None;
        }
        entries.push(Entry { key: key.to_owned(), value, line: number, column: 1, written });
        number += 1 + below.len();
        start = end;
    }
    Some(entries)
}

fn is_plain_ascii(byte: u8) -> bool {
    matches!(byte, b'\n' | b' '..=b'~')
}

/// Characters that are no line end, blank or mark to any version of YAML.
fn is_plain(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{A0}'..='\u{2027}' | '\u{202A}'..='\u{D7FF}' | '\u{E000}'..='\u{FEFE}' | '\u{FF00}'..='\u{FFEF}' | '\u{10000}'..)
}

/// Key and value of a line, the value without blanks of any kind around it.
fn pair(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = key.len() <= MAX_KEY_BYTES
        && key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let value = if value.is_empty() { "" } else { value.strip_prefix(' ').filter(|value| is_trimmed(value))? };
    is_key.then_some((key, value))
}

fn is_trimmed(text: &str) -> bool {
    !text.is_empty() && text.trim() == text
}

fn scalar(value: &str) -> Option<Value> {
    let inside = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(text) = inside('"') {
        return (!text.contains(['"', '\\'])).then(|| Value::Text(text.to_owned()));
    }
    if let Some(text) = inside('\'') {
        return (!text.contains('\'')).then(|| Value::Text(text.to_owned()));
    }
    let is_plain = value.starts_with(|c: char| c.is_ascii_alphanumeric() || !c.is_ascii())
        && !value.ends_with(':')
        && !holds_an_indicator(value.as_bytes())
        && !value.eq_ignore_ascii_case("null");
    is_plain.then(|| Value::Text(value.to_owned()))
}

/// Whether `: ` or ` #` is in it. All of it is looked at, without a branch, since that is done many bytes at a time.
fn holds_an_indicator(text: &[u8]) -> bool {
    let are = |a: u8, b: u8, pair: &[u8; 2]| u8::from(a == pair[0]) & u8::from(b == pair[1]);
    let pairs = text.iter().zip(text.iter().skip(1));
    pairs.fold(0, |found, (a, b)| found | are(*a, *b, b": ") | are(*a, *b, b" #")) != 0
}

/// Lines of one indentation that are all items, or all pairs.
fn collection(lines: &[&str]) -> Option<Value> {
    let indentation = indentation(lines)?;
    let mut lines = lines.iter().map(|line| &line[indentation..]).peekable();
    if lines.peek()?.starts_with("- ") {
        let items = lines.map(|line| scalar(line.strip_prefix("- ").filter(|item| is_trimmed(item))?));
        return items.collect::<Option<Vec<Value>>>().map(Value::List);
    }
    let mut pairs: Vec<(String, Value)> = Vec::new();
    for line in lines {
        let (key, value) = pair(line)?;
        if pairs.iter().any(|(before, _)| before == key) {
            return None;
        }
        pairs.push((key.to_owned(), if value.is_empty() { Value::Absent } else { scalar(value)? }));
    }
    Some(Value::Map(pairs))
}

/// A text in lines of one indentation, without empty ones: there is nothing to it but the line ends.
fn block_scalar(style: &str, lines: &[&str]) -> Option<Value> {
    let indentation = indentation(lines)?;
    let lines: Vec<&str> = lines.iter().map(|line| &line[indentation..]).collect();
    let mut text = lines.join(if style.starts_with('>') { " " } else { "\n" });
    if !style.ends_with('-') {
        text.push('\n');
    }
    Some(Value::Text(text))
}

/// That of all lines, none of which is blank.
fn indentation(lines: &[&str]) -> Option<usize> {
    let of = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let first = of(lines.first()?);
    lines.iter().all(|line| of(line) == first && !line.ends_with(' ')).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::super::entries::{Findings, of_yaml};
    use super::super::{Format, yaml};
    use super::*;
    use proptest::prelude::*;

    /// All of it: values, places, and that nothing is to be said.
    fn same(text: &str) -> bool {
        read(text, 2)
            .is_none_or(|entries| yaml::guard(text).is_ok() && of_yaml(text, 2) == Ok((Format::Yaml, entries, Findings::default())))
    }

    #[test]
    fn what_public_files_look_like_is_plain() {
        let text = "name: a-b\ndescription: Use when: no\n";
        assert_eq!(read(text, 2), None);
        let text = "name: a-b\nversion: 1.10\ndescription: >-\n  Words, and (more)\n  of them: here\nlicense: \"MIT # 2\"\nmetadata:\n  author: 'me: I'\n  empty:\ntags:\n  - a\n  - b#c\nnone:\nallowed-tools: Read, Bash(git:*)\nhidden: true\n";
        let expected = r#"{"name":"a-b","version":"1.10","description":"Words, and (more) of them: here","license":"MIT # 2","metadata":{"author":"me: I","empty":null},"tags":["a","b#c"],"none":null,"allowed-tools":"Read, Bash(git:*)","hidden":"true"}"#;
        let pairs = read(text, 2).unwrap().into_iter().map(|entry| (entry.key, entry.value)).collect();
        assert_eq!(Value::Map(pairs).to_text(), expected);
        assert!(same(text));
    }

    #[test]
    fn what_is_written_in_any_script_is_plain_and_what_is_out_of_proportion_is_not() {
        let sized = |bytes: usize| format!("a: {}\n", "b".repeat(bytes - "a: \n".len()));
        let keyed = |bytes: usize| format!("{}: b\n", "k".repeat(bytes));
        for (text, is_plain) in [
            ("a: 根据 é\n".to_owned(), true),
            ("description:\n  - a\n  - b\n".to_owned(), true),
            (sized(MAX_BYTES), true),
            (sized(MAX_BYTES + 1), false),
            (keyed(MAX_KEY_BYTES), true),
            (keyed(MAX_KEY_BYTES + 1), false),
            ("1a: b\n".to_owned(), false),
            ("a: b: c: d\n".to_owned(), false),
            ("a: b # c # d\n".to_owned(), false),
            ("a:\n  b: c # d # e\n".to_owned(), false),
        ] {
            assert_eq!(read(&text, 2).is_some(), is_plain, "{text:?}");
            assert!(same(&text), "{text:?}");
        }
    }

    #[test]
    fn what_once_might_have_differed() {
        for text in [
            "null: a\n",
            "a: NULL\n",
            "a: nULL\n",
            "true: a\n",
            "a: 0x1F\n",
            "a: 1_000\n",
            "a: 2024-01-01\n",
            "a: 1e3\n",
            "a: .inf\n",
            "a: a:\n",
            "a: b\n\n",
            "a: |\n  b\n",
            "a: |\n  # b\n",
            "a: >\n  - b\n  c\n",
            "a: >\n\n  b\n",
            "a:\n  - null\n",
            "a:\n  - b: c\n",
            "a:\n  b\n",
            "a:\n - b\nc: d\n",
            "a: b\n  c\n",
            "a: \"b\"\n  c\n",
            "a: 'b''c'\n",
            "a: \"\"\n",
            "a: ''\n",
            "a: '\n",
            "a: \"\n",
            "a: \u{85}b\n",
            "a: b\u{2028}c: d\n",
            "a: \u{FEFF}b\n",
            "a: \u{A0}\n",
            "a: b\na: c\n",
            "a: \u{1F600}\n",
            "a: b\tc\n",
            "a: [b]\n",
            "a: b # c\n",
            "a: b#c\n",
            "a:b\n",
            "---\na: b\n",
            "a: b\n...\n",
            "a: |2\n  b\n",
            "a: b\r\n",
            "a: |\n  b\n c\n",
            "a: |\n  ---\nb: c\n",
            "=: a\n",
            "a: =\n",
            "a: <<\n",
            "<<: a\n",
            "y: n\n",
            "a:\n  <<: b\n",
            "a: 12:30:45\n",
            "a: 0o7\n",
            "a: 0b1\n",
            "a: 1.\n",
            "",
            "\n",
            "a:\n\nb: c\n",
            "a: |-\nb: c\n",
            "a: >\n",
            "a: 99999999999999999999999999999999999999999999\n",
            "a: ---\n",
            "a: b: \n",
            "a: b ::c\n",
            "a:\n  b: c\n  b: d\n",
        ] {
            assert!(same(text), "{text:?}: {:?}, {:?}", read(text, 2), of_yaml(text, 2));
        }
    }

    /// Lines that are plain, or nearly.
    fn lines() -> impl Strategy<Value = Vec<String>> {
        let key = "(name|description|when_to_use|metadata|a|null|true|y|no|b-c|d_1|1|é|<<|=)";
        let value = "(null|NULL|~|true|yes|1\\.10|0x1F|1e3|-1|\\.nan|[a-zé中0-9 ,.:#'\"\\\\&*!|>%@`\\[\\]{}?=~_/-]{0,12})";
        let line = prop_oneof![
            4 => (key, value).prop_map(|(key, value)| format!("{key}: {value}")),
            2 => (key, prop_oneof!["\"[a-z :#']{0,8}\"", "'[a-z :#\"]{0,8}'", "[|>][-+2]?"]).prop_map(|(key, value)| format!("{key}: {value}")),
            1 => key.prop_map(|key| format!("{key}:")),
            2 => (" {1,4}", key, value).prop_map(|(blanks, key, value)| format!("{blanks}{key}: {value}")),
            2 => (" {0,3}", value).prop_map(|(blanks, value)| format!("{blanks}- {value}")),
            2 => (" {1,3}", value).prop_map(|(blanks, value)| format!("{blanks}{value}")),
            1 => "[ \t\u{85}\u{a0}\u{2028}\u{feff}#-]{0,3}",
        ];
        proptest::collection::vec(line, 0..8)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn plain_text_is_what_the_library_reads(lines in lines(), end in "\n?") {
            let text = lines.join("\n") + &end;
            prop_assert!(same(&text), "{:?}: {:?}, {:?}", text, read(&text, 2), of_yaml(&text, 2));
        }

        #[test]
        fn mutated_plain_text_is_what_the_library_reads(
            lines in proptest::collection::vec("(name: [a-z]{1,5}|description: (>-|\\|)\n  [a-z:]{1,5} [a-z]{1,5}\n  [a-z#]{1,3}|metadata:\n  [a-z]{1,3}: \"[0-9.]{1,4}\"|tags:\n  - [a-z]{1,3}\n  - '[a-z:# ]{1,3}'|k: \"[a-z:# ]{0,9}\")", 1..5),
            edits in proptest::collection::vec((any::<prop::sample::Index>(), 0..3_u8, "[ \n\t:#'\"\\\\>|\\[{&*!%~0-9a-z\u{85}\u{2029}é-]"), 0..4),
        ) {
            let mut text = lines.join("\n") + "\n";
            for (index, edit, with) in edits {
                let at = text.char_indices().map(|(at, _)| at).nth(index.index(text.chars().count().max(1))).unwrap_or(0);
                let next = at + text[at..].chars().next().map_or(0, char::len_utf8);
                text.replace_range(at..if edit == 0 { at } else { next }, if edit == 1 { "" } else { &with });
            }
            prop_assert!(same(&text), "{:?}: {:?}, {:?}", text, read(&text, 2), of_yaml(&text, 2));
        }
    }
}
