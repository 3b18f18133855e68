//! Exact token counts, for the models whose vocabulary is public (feature `tokens`).

use crate::layers::text::{EstimatedTokens, TokenCounter};
use crate::layers::wire::{ModelTable, Vocabulary};
use bpe_openai::Tokenizer;

/// Counts tokens with a vocabulary, exactly, special tokens taken as the plain text that they are in a prompt. Takes time in proportion to the text,
/// whatever it is. The vocabulary comes along with the program, and is unpacked where it is used first.
///
/// ```
/// use tower_prompt::ExactTokens;
/// use tower_prompt::layers::text::TokenCounter;
/// use tower_prompt::layers::wire::Vocabulary;
///
/// assert_eq!(ExactTokens::new(Vocabulary::O200k).count("tokenization is fun"), 4);
/// assert_eq!(ExactTokens::new(Vocabulary::Cl100k).count(""), 0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExactTokens(Vocabulary);

const CL100K: ExactTokens = ExactTokens(Vocabulary::Cl100k);
const O200K: ExactTokens = ExactTokens(Vocabulary::O200k);

impl ExactTokens {
    /// With this vocabulary, whatever the model. For models whose vocabulary is not public, [`Vocabulary::O200k`] is as near as any.
    pub const fn new(vocabulary: Vocabulary) -> Self {
        Self(vocabulary)
    }
    fn tokenizer(self) -> &'static Tokenizer {
        match self.0 {
            Vocabulary::Cl100k => bpe_openai::cl100k_base(),
            _ => bpe_openai::o200k_base(),
        }
    }
}

impl TokenCounter for ExactTokens {
    fn count(&self, text: &str) -> usize {
        self.tokenizer().count(text)
    }
}

/// Counts with the vocabulary of the model that a request names, where this table knows it, and estimates where it doesn't: Anthropic and Google
/// publish none.
#[derive(Clone, Default, Debug)]
pub struct TokensByModel {
    models: ModelTable,
}

impl TokensByModel {
    /// By this table.
    pub fn new(models: ModelTable) -> Self {
        Self { models }
    }
}

impl TokenCounter for TokensByModel {
    fn count(&self, text: &str) -> usize {
        EstimatedTokens.count(text)
    }
    fn of_model(&self, model: &str) -> Option<&dyn TokenCounter> {
        Some(match self.models.of(Some(model)).vocabulary()? {
            Vocabulary::Cl100k => &CL100K,
            _ => &O200K,
        })
    }
}
