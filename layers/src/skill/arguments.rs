//! Arguments: what a skill was invoked with, put where its body asks for it.

use std::borrow::Cow;

/// `body` with its placeholders replaced, in one pass: what stands in the arguments is never expanded again.
///
/// `$ARGS` and `$ARGUMENTS`, as whole tokens, become all of the arguments as they are; `$1` to `$9` become the words of the arguments (quotes hold a
/// word together), but only where the skill declares that it takes any (`declares`), and one without a value stays. Everything else with a `$` is
/// text: prices, shell, awk. The second value says whether a placeholder was there.
///
/// ```
/// use tower_prompt_layers::skill::substitute_arguments;
///
/// assert_eq!(substitute_arguments("Review $ARGUMENTS, not $ARGUMENTS_FILE.", "src/lib.rs", false).0, "Review src/lib.rs, not $ARGUMENTS_FILE.");
/// assert_eq!(substitute_arguments("From $1 to $2 for $3", "a \"b c\"", true).0, "From a to b c for $3");
/// assert_eq!(substitute_arguments("costs $5,000", "a b c d e", false).0, "costs $5,000");
/// ```
pub fn substitute_arguments<'a>(body: &'a str, arguments: &str, declares: bool) -> (Cow<'a, str>, bool) {
    let words = if declares { words(arguments) } else { Vec::new() };
    let (mut out, mut copied) = (String::new(), 0);
    for (at, _) in body.match_indices('$') {
        // One that is escaped, or that follows another, is no placeholder.
        if body[..at].ends_with(['$', '\\']) {
            continue;
        }
        let behind = &body[at + 1..];
        let token = behind.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let value = match token {
            "ARGS" | "ARGUMENTS" => Some(arguments),
            digit if digit.len() == 1 => {
                digit.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).and_then(|n| words.get(n)).map(String::as_str)
            }
            _ => None,
        };
        if let Some(value) = value {
            out.push_str(&body[copied..at]);
            out.push_str(value);
            copied = at + 1 + token.len();
        }
    }
    if copied == 0 {
        return (Cow::Borrowed(body), false);
    }
    out.push_str(&body[copied..]);
    (out.into(), true)
}

/// Words between blanks; quotes hold one together.
fn words(arguments: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in arguments.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_whole_tokens_are_placeholders() {
        for text in ["$ARGSX", "$ARGUMENTS_FILE", "$HOME", "$", "$$ARGS", "\\$ARGS", "$args", "$B$2", "awk '{print $1}'", "costs $5,000"] {
            assert_eq!(substitute_arguments(text, "x", false), (text.into(), false));
        }
        assert_eq!(substitute_arguments("($ARGS)", "x", false).0, "(x)");
    }

    #[test]
    fn what_stands_in_the_arguments_is_not_expanded() {
        let arguments = r"$ARGS $1 \0 $$";
        assert_eq!(substitute_arguments("a $ARGS b $ARGUMENTS", arguments, true).0, format!("a {arguments} b {arguments}"));
    }

    #[test]
    fn a_number_without_a_value_stays() {
        assert_eq!(substitute_arguments("$1 $2 $10 $0", "only", true).0, "only $2 $10 $0");
    }

    proptest! {
        #[test]
        fn a_body_without_a_placeholder_is_untouched(body in "[^$]*", arguments in any::<String>()) {
            prop_assert_eq!(substitute_arguments(&body, &arguments, true), (body.as_str().into(), false));
        }

        #[test]
        fn any_text_may_be_arguments(before in "[^$\\\\]*", arguments in any::<String>()) {
            let body = format!("{before}$ARGS.");
            prop_assert_eq!(substitute_arguments(&body, &arguments, false).0, format!("{before}{arguments}."));
        }
    }
}
