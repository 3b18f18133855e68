//! What differs by model: how much it reads, from how many tokens on its provider keeps a prefix, and by which vocabulary it splits a text.

/// A vocabulary that is public: what tokens are counted by exactly.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Vocabulary {
    /// `cl100k_base`: GPT-4, GPT-3.5.
    Cl100k,
    /// `o200k_base`: GPT-4o and later.
    O200k,
}

/// What is known of a model. What is not known stays out.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ModelFacts {
    context_window: Option<usize>,
    cache_minimum: Option<usize>,
    vocabulary: Option<Vocabulary>,
}

/// Shorter prefixes are not kept: the most that any model asks for, where a model is not known.
const CAUTIOUS: usize = 4096;

impl ModelFacts {
    /// Reads so many tokens, its answer included.
    pub const fn with_context_window(mut self, tokens: usize) -> Self {
        self.context_window = Some(tokens);
        self
    }
    /// A prefix is kept from so many tokens on.
    pub const fn with_cache_minimum(mut self, tokens: usize) -> Self {
        self.cache_minimum = Some(tokens);
        self
    }
    /// Splits texts by this vocabulary.
    pub const fn with_vocabulary(mut self, vocabulary: Vocabulary) -> Self {
        self.vocabulary = Some(vocabulary);
        self
    }
    /// Tokens that it reads, its answer included.
    pub fn context_window(&self) -> Option<usize> {
        self.context_window
    }
    /// Tokens from which on a prefix is kept: 4,096, the most that any known model asks for, where it is not known.
    pub fn cache_minimum(&self) -> usize {
        self.cache_minimum.unwrap_or(CAUTIOUS)
    }
    /// The vocabulary, where it is public.
    pub fn vocabulary(&self) -> Option<Vocabulary> {
        self.vocabulary
    }
}

const UNKNOWN: ModelFacts = ModelFacts { context_window: None, cache_minimum: None, vocabulary: None };

const fn anthropic(cache_minimum: usize) -> ModelFacts {
    UNKNOWN.with_context_window(200_000).with_cache_minimum(cache_minimum)
}
const fn window(tokens: usize) -> ModelFacts {
    UNKNOWN.with_context_window(tokens)
}
const fn openai(tokens: usize) -> ModelFacts {
    window(tokens).with_vocabulary(Vocabulary::O200k)
}
const fn older_openai(tokens: usize) -> ModelFacts {
    window(tokens).with_vocabulary(Vocabulary::Cl100k)
}

/// By how names begin.
#[rustfmt::skip]
const KNOWN: [(&str, ModelFacts); 34] = [
    ("claude-", UNKNOWN.with_context_window(200_000)),
    ("claude-2.0", window(100_000)), ("claude-instant", window(100_000)),
    ("claude-3-haiku", anthropic(2048)), ("claude-3-5-haiku", anthropic(2048)),
    ("claude-3-5-sonnet", anthropic(1024)), ("claude-3-7-sonnet", anthropic(1024)), ("claude-sonnet-4", anthropic(1024)),
    ("claude-3-opus", anthropic(1024)), ("claude-opus-4-0", anthropic(1024)), ("claude-opus-4-1", anthropic(1024)),
    ("claude-opus-4-2025", anthropic(1024)),
    ("gpt-5", openai(400_000)), ("gpt-4.1", openai(1_047_576)), ("gpt-4.5", openai(128_000)), ("gpt-4o", openai(128_000)),
    ("chatgpt-4o", openai(128_000)), ("gpt-oss", openai(131_072)),
    ("o1", openai(200_000)), ("o1-mini", openai(128_000)), ("o1-preview", openai(128_000)), ("o3", openai(200_000)), ("o4", openai(200_000)),
    ("gpt-4", older_openai(8_192)), ("gpt-4-32k", older_openai(32_768)), ("gpt-4-turbo", older_openai(128_000)),
    ("gpt-4-1106", older_openai(128_000)), ("gpt-4-0125", older_openai(128_000)), ("gpt-3.5-turbo", older_openai(16_385)),
    ("gpt-3.5-turbo-0613", older_openai(4_096)), ("gpt-3.5-turbo-instruct", older_openai(4_096)),
    ("gemini-1.5-pro", window(2_097_152)), ("gemini-1.5-flash", window(1_048_576)), ("gemini-2", window(1_048_576)),
];

/// What is known of models, by how their names begin: of each fact the longest beginning counts that states it. A host extends it.
///
/// ```
/// use tower_prompt_layers::wire::{ModelFacts, ModelTable};
///
/// let models = ModelTable::default().with("claude-next", ModelFacts::default().with_cache_minimum(512));
/// assert_eq!(models.of(Some("claude-next-2")).cache_minimum(), 512);
/// assert_eq!(models.of(Some("claude-next-2")).context_window(), Some(200_000));
/// assert_eq!(models.of(None).cache_minimum(), 4096);
/// assert_eq!(models.of(Some("unknown")).context_window(), None);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelTable(Vec<(String, ModelFacts)>);

impl Default for ModelTable {
    /// Of the models that are known here.
    fn default() -> Self {
        Self(KNOWN.map(|(model, facts)| (model.to_owned(), facts)).into())
    }
}

impl ModelTable {
    /// With models whose names begin so.
    pub fn with(mut self, model: impl Into<String>, facts: ModelFacts) -> Self {
        self.0.push((model.into(), facts));
        self
    }
    /// Of a model, by its name alone or behind its provider's (`openai/gpt-4o`): of rows of one beginning the one that was added last counts.
    pub fn of(&self, model: Option<&str>) -> ModelFacts {
        let Some(model) = model else { return UNKNOWN };
        let name = model.rsplit('/').next().unwrap_or(model);
        let is_behind_a_provider = name.len() < model.len();
        let (mut known, mut lengths) = (UNKNOWN, [0; 3]);
        let firsts = [name, model].map(|name| name.bytes().next().unwrap_or_default());
        for (row, facts) in &self.0 {
            // Most rows are of others, and known by their first letter to be.
            if row.bytes().next().is_some_and(|first| first != firsts[0] && first != firsts[1]) {
                continue;
            }
            let is_of_this = name.starts_with(&**row) || (is_behind_a_provider && model.starts_with(&**row));
            if !is_of_this {
                continue;
            }
            let [window, minimum, vocabulary] = &mut lengths;
            longer(&mut known.context_window, facts.context_window, row, window);
            longer(&mut known.cache_minimum, facts.cache_minimum, row, minimum);
            longer(&mut known.vocabulary, facts.vocabulary, row, vocabulary);
        }
        known
    }
}

/// Takes up a fact of a row, unless one of a longer row is known.
fn longer<T>(known: &mut Option<T>, fact: Option<T>, row: &str, length: &mut usize) {
    if fact.is_some() && row.len() >= *length {
        (*known, *length) = (fact, row.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_counts_of_each_fact() {
        let models = ModelTable::default();
        let of = |model| models.of(Some(model));
        assert_eq!((of("gpt-4").context_window(), of("gpt-4").vocabulary()), (Some(8_192), Some(Vocabulary::Cl100k)));
        assert_eq!((of("gpt-4o-mini").context_window(), of("gpt-4o-mini").vocabulary()), (Some(128_000), Some(Vocabulary::O200k)));
        assert_eq!(of("openai/gpt-4o"), of("gpt-4o"));
        assert_eq!(of("claude-opus-4-5").cache_minimum(), CAUTIOUS);
        assert_eq!(of("claude-opus-4-5").context_window(), Some(200_000));
        assert_eq!((of("claude-sonnet-4-5").cache_minimum(), of("claude-sonnet-4-5").vocabulary()), (1024, None));
        assert_eq!(of("own-model"), ModelFacts::default());
    }

    #[test]
    fn what_a_host_says_counts_for_what_it_says() {
        let models = ModelTable::default().with("gpt-4o", ModelFacts::default().with_context_window(64_000));
        assert_eq!(models.of(Some("gpt-4o")).context_window(), Some(64_000));
        assert_eq!(models.of(Some("gpt-4o")).vocabulary(), Some(Vocabulary::O200k));
    }
}
