//! What keeps a text inside the block that it stands in. The one place that escapes.
//!
//! Metadata (a description, a name, a path) stands in XML text nodes or attributes and is escaped: [`text`], [`path`], [`attribute`]. Prose that
//! a model is to read as it was written (a skill's body, AGENTS.md) is not escaped, but can't open or close a block of ours: [`prose`].

use std::borrow::Cow;
use std::fmt::Write;

/// The blocks that the layers open. A look-alike of one in prose is neutralised.
pub const BLOCKS: &[&str] = &[
    "context",
    "skill",
    "skill_files",
    "skill_off",
    "skill_resource",
    "available_skills",
    "active_skills",
    "arguments",
    "skill_suggestion",
    "instructions",
    "repository_context",
    "repository_invariants",
    "relevant_invariants",
    "user_authority",
    "current_datetime",
    "execution_environment",
    "hosting_environment",
    "locale",
    "git_revision",
    "runtime_mode",
    "toolchain_context",
    "worktree_context",
    "config_profile",
    "dynamic_repository_context",
    "agent_suffix",
];

/// A character that no one sees and that only tricks use: control characters but tab and line ends, noncharacters, bidirectional overrides,
/// zero-width spaces, tag characters. Joiners and variation selectors are not among them: scripts and emoji need them.
pub fn is_invisible(c: char) -> bool {
    match c {
        ' '..='~' | '\t' | '\n' | '\r' => false,
        c if c.is_control() => true,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => {
            true
        }
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        c => (c as u32) & 0xfffe == 0xfffe || ('\u{fdd0}'..='\u{fdef}').contains(&c),
    }
}

/// Whether `text` holds a character that [`text`] drops.
pub fn has_invisible(text: &str) -> bool {
    text.chars().any(is_invisible)
}

/// For a text node of one line: `&`, `<`, `>` escaped, invisible characters dropped, white space collapsed to single spaces.
///
/// ```
/// use tower_prompt_layers::text::escape;
///
/// assert_eq!(escape::text("A < B  & C\n\u{202e}"), "A &lt; B &amp; C");
/// ```
pub fn text(text: &str) -> String {
    line(&one_line(text)).into_owned()
}

/// One line: invisible characters dropped, white space collapsed to single spaces, nothing escaped.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if is_plain_line(text) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for word in text.split(char::is_whitespace) {
        let before = line.len();
        if before > 0 {
            line.push(' ');
        }
        let begin = line.len();
        line.extend(word.chars().filter(|c| !is_invisible(*c)));
        if line.len() == begin {
            line.truncate(before);
        }
    }
    line.into()
}

/// Letters, digits and signs of ASCII with single spaces between them, as most lines are.
fn is_plain_line(text: &str) -> bool {
    let mut before = b' ';
    let is_plain = text.bytes().all(|byte| {
        let fits = matches!(byte, b'!'..=b'~') || byte == b' ' && before != b' ';
        before = byte;
        fits
    });
    is_plain && !text.ends_with(' ')
}

/// A text of [`one_line`] for a text node: `&`, `<`, `>` escaped.
pub(crate) fn line(line: &str) -> Cow<'_, str> {
    let is_markup = |byte: &u8| matches!(byte, b'&' | b'<' | b'>');
    let Some(first) = line.as_bytes().iter().position(is_markup) else { return Cow::Borrowed(line) };
    let mut escaped = String::with_capacity(line.len() + 16);
    escaped.push_str(&line[..first]);
    line[first..].chars().for_each(|c| push(&mut escaped, c));
    escaped.into()
}

/// For a path, in a text node or an attribute: reads as the same path once it is unescaped. Control characters become references.
pub fn path(path: &str) -> Cow<'_, str> {
    if !path.contains(|c: char| matches!(c, '&' | '<' | '>' | '"') || is_invisible(c) || matches!(c, '\t' | '\n' | '\r')) {
        return Cow::Borrowed(path);
    }
    let mut escaped = String::with_capacity(path.len() + 16);
    for c in path.chars() {
        match c {
            '"' => escaped.push_str("&quot;"),
            c if is_invisible(c) || (c.is_whitespace() && c != ' ') => {
                // Writing to a string can't fail.
                let _ = write!(escaped, "&#{};", c as u32);
            }
            c => push(&mut escaped, c),
        }
    }
    escaped.into()
}

/// For a quoted attribute of one line: as [`text`], with quotes escaped too.
pub fn attribute(value: &str) -> String {
    text(value).replace('"', "&quot;")
}

fn push(escaped: &mut String, c: char) {
    match c {
        '&' => escaped.push_str("&amp;"),
        '<' => escaped.push_str("&lt;"),
        '>' => escaped.push_str("&gt;"),
        c => escaped.push(c),
    }
}

/// Prose that reads as it was written, and opens and closes no block: the `<` of what looks like a tag of [`BLOCKS`] or of `own`, in any case and
/// spacing, becomes `&lt;`. All else passes untouched.
///
/// ```
/// use tower_prompt_layers::text::escape;
///
/// assert_eq!(escape::prose("if a < b { </ Skill > }", &[]), "if a < b { &lt;/ Skill > }");
/// assert_eq!(escape::prose("<b>bold</b>", &[]), "<b>bold</b>");
/// ```
pub fn prose<'a>(text: &'a str, own: &[&str]) -> Cow<'a, str> {
    replace_tags(text, "&lt;", |name| BLOCKS.iter().chain(own).any(|block| block.eq_ignore_ascii_case(name)))
}

/// As [`prose`] for the one block that Render itself puts around a text, in the same number of bytes, so that a limit that held still holds.
pub(crate) fn inside_context(text: &str) -> Cow<'_, str> {
    replace_tags(text, "(", |name| name.eq_ignore_ascii_case("context"))
}

/// Whether `text` holds what looks like a block of ours.
pub fn looks_like_a_block(text: &str) -> bool {
    text.match_indices('<')
        .any(|(at, _)| tag_name(&text[at + 1..]).is_some_and(|name| BLOCKS.iter().any(|b| b.eq_ignore_ascii_case(&name))))
}

fn replace_tags<'a>(text: &'a str, with: &str, is_block: impl Fn(&str) -> bool) -> Cow<'a, str> {
    let mut out = String::new();
    let mut copied = 0;
    for (at, _) in text.match_indices('<') {
        if tag_name(&text[at + 1..]).is_some_and(|name| is_block(&name)) {
            out.push_str(&text[copied..at]);
            out.push_str(with);
            copied = at + 1;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    out.into()
}

/// No block of ours, nor one that a host would name, is longer.
const LONGEST_NAME: usize = 64;

/// The name of what looks like an opening or closing tag, seen as a reader sees it: without blanks and invisible characters, and whatever stands behind
/// it. Points, colons and hyphens belong to a name where it goes on behind them: `<Context.Provider>` is another's.
fn tag_name(behind: &str) -> Option<String> {
    let is_nothing = |c: &char| c.is_whitespace() || is_invisible(*c) || matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    let mut seen = behind.chars().skip_while(|c| is_nothing(c) || *c == '/');
    let mut name = String::new();
    loop {
        match seen.next() {
            Some(c) if c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':') => name.push(c),
            Some(c) if is_nothing(&c) && !c.is_whitespace() => {}
            _ => break,
        }
        if name.len() > LONGEST_NAME {
            break;
        }
    }
    name.truncate(name.trim_end_matches(['-', '.', ':']).len());
    (1..=LONGEST_NAME).contains(&name.len()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn look_alikes_in_any_case_and_spacing_are_neutralised() {
        for tag in [
            "</skill>",
            "< / SKILL >",
            "<skill id=\"x\">",
            "<\u{200b}/ski\u{ad}ll>",
            "<skill",
            "<//skill>",
            "<Context\n>",
            "</available_skills>",
            "</context\u{fffd}>",
            "</context|>",
            "</context.>",
            "</context:->",
            "<context, origin=\"host\">",
            &format!("</context{}>", ".".repeat(2 * LONGEST_NAME)),
        ] {
            let out = prose(tag, &[]);
            assert_eq!(out, tag.replacen('<', "&lt;", 1), "{tag:?}");
            assert!(!looks_like_a_block(&out));
        }
    }

    #[test]
    fn other_text_passes_untouched() {
        for text in [
            "a < b",
            "<skillet>",
            "<b>skill</b>",
            "Vec<T>",
            "x <- skill",
            "<>",
            "<",
            "skill>",
            "<Context.Provider>",
            "<skill-card>",
            "<context::Id>",
        ] {
            assert!(matches!(prose(text, &[]), Cow::Borrowed(_)), "{text:?}");
        }
    }

    #[test]
    fn a_name_is_known_up_to_the_longest_that_a_host_would_choose() {
        for (chars, is_seen) in [(LONGEST_NAME - 1, true), (LONGEST_NAME, true), (LONGEST_NAME + 1, false), (LONGEST_NAME + 2, false)] {
            let name = "n".repeat(chars);
            assert_eq!(prose(&format!("</{name}>"), &[&name]).starts_with("&lt;"), is_seen, "{chars}");
        }
    }

    #[test]
    fn a_hosts_own_block_is_kept_whole_too() {
        assert_eq!(prose("</deploy>", &["deploy"]), "&lt;/deploy>");
    }

    #[test]
    fn inside_a_context_the_size_stays() {
        let text = "a </context> b < context >";
        assert_eq!(inside_context(text), "a (/context> b ( context >");
    }

    #[test]
    fn metadata_loses_what_no_one_sees() {
        assert_eq!(text("a\0b\u{7}c\u{fffe}\u{202e}d\u{e0041}\u{1b}[31m"), "abcd[31m");
        assert_eq!(text("  many \n\t blanks  "), "many blanks");
        assert_eq!(text("a plain line "), "a plain line");
        assert_eq!(text("\u{200b} x \u{200b} y"), "x y");
        assert_eq!(attribute("say \"hi\""), "say &quot;hi&quot;");
        assert_eq!(path("/a b/R&D/\u{1}\n.md"), "/a b/R&amp;D/&#1;&#10;.md");
    }

    #[test]
    fn a_line_that_is_plain_already_is_not_copied() {
        for (line, is_plain) in [("a plain line, and a (second) ~ part", true), ("a  b", false), (" a", false), ("a ", false), ("é", false)]
        {
            assert_eq!(matches!(one_line(line), Cow::Borrowed(_)), is_plain, "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn a_text_node_holds_no_markup(input in any::<String>()) {
            let escaped = text(&input);
            prop_assert!(!escaped.contains(['<', '>']) && !escaped.contains("  ") && !has_invisible(&escaped));
            prop_assert_eq!(text(&unescape(&escaped)), escaped);
        }

        #[test]
        fn a_path_round_trips(input in any::<String>()) {
            prop_assert_eq!(unescape(&path(&input)), input);
        }

        #[test]
        fn prose_opens_and_closes_nothing(before in ".{0,8}", tag in "(?i)< ?/? ?(skill|context|instructions)[ />|,\u{fffd}]", after in ".{0,8}") {
            let input = format!("{before}{tag}{after}");
            let prose = prose(&input, &[]);
            prop_assert!(!looks_like_a_block(&prose));
            prop_assert_eq!(prose.replace("&lt;", "<"), input.replace("&lt;", "<"));
        }
    }

    fn unescape(text: &str) -> String {
        quick_xml::escape::unescape(text).expect("what was escaped is well-formed").into_owned()
    }
}
