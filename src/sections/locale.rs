//! The locale.

use super::bounded;
use crate::Environment;
use crate::layers::{Prompt, Section, Tier, Turn, sections};

/// `locale`: `LC_ALL`, else `LC_CTYPE`, else `LANG`; and `LANGUAGE`. Once a conversation; absent where none is set.
#[derive(Clone, Debug)]
pub struct Locale {
    environment: Environment,
}

impl Locale {
    /// Of this environment.
    pub fn new(environment: Environment) -> Self {
        Self { environment }
    }

    fn text(&self) -> String {
        let first_set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(|name| self.environment.get(name).is_some());
        let told = first_set.into_iter().chain(["LANGUAGE"]);
        let lines = told.filter_map(|name| Some(format!("{name}={}", bounded(self.environment.get(name)?))));
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl Section for Locale {
    fn name(&self) -> &'static str {
        "locale"
    }
    fn add(&self, _: &Turn, prompt: &mut Prompt) {
        let text = self.text();
        if text.is_empty() {
            return prompt.gone("locale");
        }
        prompt.add(Tier::Session, || sections::fragment("locale", &text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_counts_is_told() {
        let environment = Environment::new("/").variable("LANG", "C").variable("LC_CTYPE", "de_DE.UTF-8").variable("LANGUAGE", "de:en");
        assert_eq!(Locale::new(environment).text(), "LC_CTYPE=de_DE.UTF-8\nLANGUAGE=de:en");
        assert_eq!(Locale::new(Environment::new("/")).text(), "");
    }
}
