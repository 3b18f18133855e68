//! Whether a text starts one program with words that can be told, in a shell of POSIX.

/// The words of a plain command: one program with its arguments. `None` for anything that a shell would do more with: several commands, pipes,
/// redirections, substitutions, variables, braces, comments, line ends, or quotes that don't close.
pub(super) fn words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.trim_matches([' ', '\t']).chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        // Within double quotes these are still obeyed.
                        '$' | '`' | '\\' | '!' if c == '"' => return None,
                        '\n' | '\r' => return None,
                        inside => word.push(inside),
                    }
                }
            }
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '$' | '`' | '\\' | '#' | '!' => return None,
            c if c.is_whitespace() || c.is_control() => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    // A variable for a program is none of its words, and may change what it does.
    let is_assignment = words.first().is_none_or(|first| first.is_empty() || first.contains('='));
    (!is_assignment).then_some(words)
}

/// The words of a pattern, and whether others may follow: `git log:*`, `git log *` or `git log`. `None` where a star stands elsewhere.
pub(super) fn pattern(pattern: &str) -> Option<(Vec<&str>, bool)> {
    let (named, is_open) = match pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *")) {
        Some(named) => (named, true),
        None => (pattern, false),
    };
    let words: Vec<&str> = named.split_whitespace().collect();
    (!words.is_empty() && !named.contains('*')).then_some((words, is_open))
}

/// Whether the pattern's words are the first of the command's, or all of them.
pub(super) fn begins(words: &[String], (pattern, is_open): &(Vec<&str>, bool)) -> bool {
    words.len() >= pattern.len()
        && (*is_open || words.len() == pattern.len())
        && words.iter().zip(pattern).all(|(word, named)| word == named)
}
