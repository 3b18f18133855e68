//! What a text costs in tokens: by estimate, or by a counter that the host gives.

/// Counts the tokens of a text as a model's tokenizer would. Pure, and the same for the same text; called while a session is locked.
pub trait TokenCounter: Send + Sync {
    /// How many tokens; 0 for an empty text.
    fn count(&self, text: &str) -> usize;
}

/// Estimates tokens from the scripts that a text is written in, without a vocabulary.
///
/// Each character has a weight in hundredths of a token, by how finely the tokenizers of current models split its script: about 4.5 Latin letters
/// make a token, a Chinese character is nearly one by itself, an emoji two. The sum is rounded up, so a longer text never counts for less.
///
/// ```
/// use tower_prompt_layers::text::{EstimatedTokens, TokenCounter};
///
/// assert_eq!(EstimatedTokens.count(""), 0);
/// assert_eq!(EstimatedTokens.count("the quick brown fox"), 4);
/// assert_eq!(EstimatedTokens.count("数据分析"), 4);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct EstimatedTokens;

impl TokenCounter for EstimatedTokens {
    fn count(&self, text: &str) -> usize {
        // Most texts are of few scripts; a table is several times as fast as looking for the range of each character.
        let of = |c: char| usize::from(ASCII.get(c as usize).copied().unwrap_or_else(|| hundredths(c)));
        let sum: usize = if text.is_ascii() {
            text.bytes().map(|byte| usize::from(ASCII[usize::from(byte & 0x7f)])).sum()
        } else {
            text.chars().map(of).sum()
        };
        sum.div_ceil(100)
    }
}

/// The weights of ASCII.
const ASCII: [u8; 128] = {
    let mut weights = [0; 128];
    let mut byte: u8 = 0;
    while byte < 128 {
        weights[byte as usize] = hundredths(byte as char);
        byte += 1;
    }
    weights
};

const fn hundredths(c: char) -> u8 {
    match c {
        'a'..='z' | 'A'..='Z' => 22,
        ' ' => 4,
        '0'..='9' | '\n' => 40,
        '\t' | '\r' => 25,
        '\0'..='\u{7f}' => 55,
        // combining marks, joiners, variation selectors
        '\u{300}'..='\u{36f}' | '\u{200c}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 40,
        // Latin beyond ASCII, Greek, Cyrillic, Armenian
        '\u{80}'..='\u{2ff}' => 50,
        '\u{370}'..='\u{58f}' => 36,
        // Hebrew, Arabic; then the scripts of India and South-East Asia
        '\u{590}'..='\u{8ff}' => 50,
        '\u{900}'..='\u{1fff}' => 65,
        // punctuation, arrows, mathematics, box drawing
        '\u{2000}'..='\u{2e7f}' => 90,
        // Chinese, Japanese, Korean
        '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}' => 85,
        // emoji and all else
        _ => 200,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_longer_text_never_counts_for_less(one in any::<String>(), other in any::<String>()) {
            let count = |text: &str| EstimatedTokens.count(text);
            let both = count(&format!("{one}{other}"));
            prop_assert!(both >= count(&one).max(count(&other)));
            prop_assert!(both <= count(&one) + count(&other));
        }
    }
}
