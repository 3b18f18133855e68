//! The few things of Markdown that tell where an invariant begins and ends, line by line.

/// Columns ahead of what is not blank, a tab up to the next multiple of four; and what follows.
pub(super) fn indented(line: &str) -> (usize, &str) {
    let content = line.trim_start_matches([' ', '\t']);
    let blanks = &line[..line.len() - content.len()];
    (blanks.chars().fold(0, |column, c| if c == '\t' { column / 4 * 4 + 4 } else { column + 1 }), content)
}

/// `## Title`: its level and its title.
pub(super) fn heading(content: &str) -> Option<(usize, &str)> {
    let behind = content.trim_start_matches('#');
    let level = content.len() - behind.len();
    let is_heading = (1..=6).contains(&level) && (behind.is_empty() || behind.starts_with([' ', '\t']));
    let title = behind.trim();
    // Marks that close it are no part of it, but `C#` is.
    let open = title.trim_end_matches('#');
    let title = if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { title };
    is_heading.then_some((level, title))
}

/// `* text`, `- text`: the columns up to the text, which is more than blanks, and the text.
pub(super) fn bullet(content: &str) -> Option<(usize, &str)> {
    let behind = content.strip_prefix(['*', '-'])?;
    let (blanks, text) = indented(behind);
    // Text that stands farther off is code in the bullet, which begins behind one blank.
    (blanks > 0 && !text.trim_end().is_empty() && !is_break(content)).then_some((1 + if blanks > 4 { 1 } else { blanks }, text))
}

/// `* * *` and `---` are lines across the page.
fn is_break(content: &str) -> bool {
    let mark = content.chars().next().filter(|mark| matches!(mark, '*' | '-' | '_'));
    let marks = || content.chars().filter(|c| !c.is_whitespace());
    mark.is_some_and(|mark| marks().all(|c| c == mark) && marks().nth(2).is_some())
}

/// Lines that are no Markdown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verbatim {
    /// Up to a line of at least so many of this mark.
    Fence { mark: char, length: usize },
    /// Up to `-->`.
    Comment,
}

impl Verbatim {
    /// What begins with this line and doesn't end in it.
    pub(super) fn begins(content: &str) -> Option<Self> {
        if let Some(comment) = content.strip_prefix("<!--") {
            return (!comment.contains("-->")).then_some(Self::Comment);
        }
        let mark = content.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let behind = content.trim_start_matches(mark);
        let length = content.len() - behind.len();
        (length >= 3 && !(mark == '`' && behind.contains('`'))).then_some(Self::Fence { mark, length })
    }
    pub(super) fn ends(self, content: &str) -> bool {
        match self {
            Self::Comment => content.contains("-->"),
            Self::Fence { mark, length } => {
                let behind = content.trim_start_matches(mark);
                content.len() - behind.len() >= length && behind.trim().is_empty()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_told_from_tags_and_from_their_closing_marks() {
        for (line, found) in [
            ("## Storage", Some((2, "Storage"))),
            ("###\tKeys ##  ", Some((3, "Keys"))),
            ("## About C#", Some((2, "About C#"))),
            ("##", Some((2, ""))),
            ("## #", Some((2, ""))),
            ("##Storage", None),
            ("####### Seven", None),
            ("#1 is fixed", None),
        ] {
            assert_eq!(heading(line), found, "{line:?}");
        }
    }

    #[test]
    fn bullets_are_told_from_breaks_and_emphasis() {
        for (line, found) in [
            ("* a", Some((2, "a"))),
            ("-   a", Some((4, "a"))),
            ("-\ta", Some((5, "a"))),
            ("*      code", Some((2, "code"))),
            ("**bold** a", None),
            ("* * *", None),
            ("- - - -", None),
            ("---", None),
            ("- -", Some((2, "-"))),
            ("-", None),
            ("*   ", None),
            ("-a", None),
            ("+ a", None),
        ] {
            assert_eq!(bullet(line), found, "{line:?}");
        }
    }
}
