//! A word without its English endings, so that `transcribes` and `transcription` are one. It need not be a word, only the same for what belongs
//! together; other scripts and words with digits stay as they are.

/// Endings by their last letter, the longest first, and how many letters must be left.
fn endings(last: u8) -> &'static [(&'static str, usize)] {
    match last {
        b's' => &[
            ("izations", 4),
            ("isations", 4),
            ("ations", 4),
            ("ements", 4),
            ("nesses", 4),
            ("ments", 4),
            ("ities", 4),
            ("ables", 4),
            ("ness", 4),
            ("ings", 4),
            ("ives", 4),
            ("ions", 4),
            ("izes", 4),
            ("ises", 5),
            ("ers", 3),
            ("ors", 4),
            ("ies", 3),
            ("als", 4),
            ("es", 3),
            ("s", 3),
        ],
        b'n' => &[("ization", 4), ("isation", 4), ("ation", 4), ("ion", 4)],
        b't' => &[("ement", 4), ("ment", 4)],
        b'y' => &[("ity", 4), ("ly", 4), ("y", 4)],
        b'e' => &[("able", 4), ("ible", 4), ("ive", 4), ("ize", 4), ("ise", 5), ("e", 4)],
        b'g' => &[("izing", 4), ("ising", 5), ("ing", 3)],
        b'r' => &[("er", 4), ("or", 4)],
        b'd' => &[("ized", 4), ("ised", 5), ("ied", 3), ("ed", 3)],
        b'l' => &[("ational", 4), ("al", 4)],
        _ => &[],
    }
}

/// `word` is in lower case.
pub(super) fn stem(word: &mut String) {
    if word.len() < 4 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return;
    }
    // `testings`: two endings at most, or words that have nothing to do with each other meet.
    for _ in 0..2 {
        let endings = endings(word.as_bytes()[word.len() - 1]);
        let Some((ending, _)) = endings.iter().find(|(ending, least)| comes_off(word, ending, *least)) else { return };
        word.truncate(word.len() - ending.len());
        let bytes = word.as_bytes();
        match *ending {
            "ies" | "ied" | "y" => word.push('i'),
            // `planning`
            "ing" | "ings" | "ed" | "er" | "ers" if doubled(bytes) => word.truncate(word.len() - 1),
            _ => {}
        }
    }
}

fn comes_off(word: &str, ending: &str, least: usize) -> bool {
    let Some(rest) = word.strip_suffix(ending).filter(|rest| rest.len() >= least) else { return false };
    let last = rest.as_bytes()[rest.len() - 1];
    match ending {
        // `class`, `status`; `pdfs` has no vowel.
        "s" => !matches!(last, b's' | b'u'),
        "es" => matches!(last, b's' | b'x' | b'z' | b'h' | b'o' | b'i'),
        _ => rest.bytes().any(|letter| matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')),
    }
}

fn doubled(word: &[u8]) -> bool {
    matches!(word, [_, .., a, b] if word.len() > 3 && a == b && !matches!(b, b'l' | b's'))
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn forms_of_a_word_meet_and_others_stay_apart() {
        let stemmed = |word: &str| {
            let mut word = word.to_owned();
            stem(&mut word);
            word
        };
        for (a, b) in [
            ("planning", "plans"),
            ("transcribes", "transcribe"),
            ("queries", "query"),
            ("deployments", "deploy"),
            ("optimization", "optimizing"),
            ("normalise", "normalised"),
            ("pdfs", "pdf"),
            ("migrations", "migration"),
            ("invoices", "invoice"),
            ("boxes", "box"),
            ("agreement", "agree"),
            ("deployment", "deploys"),
            ("computational", "computation"),
            ("regional", "region"),
            ("testing", "tests"),
            ("notes", "note"),
        ] {
            assert_eq!(stemmed(a), stemmed(b), "{a} {b}");
        }
        for (a, b) in
            [("class", "clan"), ("status", "stat"), ("string", "str"), ("rust", "trust"), ("port", "portfolio"), ("parties", "parts")]
        {
            assert_ne!(stemmed(a), stemmed(b), "{a} {b}");
        }
        for word in ["sql", "e0502", "данные", "c++", ""] {
            assert_eq!(stemmed(word), word);
        }
    }
}
