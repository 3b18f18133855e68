//! What the configuration prefers or avoids for what a user wants: `skills.code.routing`.

use crate::config::RoutingRule;
use crate::layers::Diagnostic;
use crate::layers::text::shorten;
use regex::{Regex, RegexBuilder};

/// Bytes of a compiled intent.
const MAX_PATTERN_BYTES: usize = 256 * 1024;
/// Bytes of a user's message that are looked at.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// One rule, compiled.
#[derive(Clone, Debug)]
pub(super) struct Route {
    intent: Regex,
    prefer: Vec<String>,
    avoid: Vec<String>,
}

impl Route {
    pub(super) fn of(rule: &RoutingRule) -> Result<Self, Diagnostic> {
        let intent = RegexBuilder::new(&rule.intent).case_insensitive(true).size_limit(MAX_PATTERN_BYTES).build().map_err(|reason| {
            let reason = reason.to_string();
            let reason = reason.lines().last().unwrap_or_default();
            let message = format!("the intent {:?} of `skills.code.routing` is ignored: {reason}", shorten(&rule.intent, 80));
            Diagnostic::warning("intent-ignored", message)
        })?;
        Ok(Self { intent, prefer: rule.prefer.clone(), avoid: rule.avoid.clone() })
    }
}

/// The skills that rules prefer and avoid for a text, each once, in the order of the rules. What one rule prefers and another avoids is avoided.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Routing {
    /// Names of skills that come first.
    pub prefer: Vec<String>,
    /// Names of skills that come last.
    pub avoid: Vec<String>,
}

impl Routing {
    pub(super) fn of<'a>(routes: &[Route], text: &str, known: impl Fn(&str) -> Option<&'a str>) -> Self {
        let text = beginning(text, MAX_TEXT_BYTES);
        let mut routing = Self::default();
        for route in routes.iter().filter(|route| route.intent.is_match(text)) {
            for (names, into) in [(&route.prefer, &mut routing.prefer), (&route.avoid, &mut routing.avoid)] {
                for name in names.iter().filter_map(|name| known(name)) {
                    if into.iter().all(|other| other != name) {
                        into.push(name.to_owned());
                    }
                }
            }
        }
        routing.prefer.retain(|name| !routing.avoid.contains(name));
        routing
    }
    /// No rule says anything.
    pub fn is_empty(&self) -> bool {
        self.prefer.is_empty() && self.avoid.is_empty()
    }
    /// As the model reads it.
    pub(super) fn told(&self) -> String {
        let names = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let mut told = Vec::new();
        if !self.prefer.is_empty() {
            told.push(format!("For this request prefer these tools where they serve: {}.", names(&self.prefer)));
        }
        if !self.avoid.is_empty() {
            told.push(format!("For this request avoid these tools unless nothing else serves: {}.", names(&self.avoid)));
        }
        told.join("\n")
    }
}

/// At most so many bytes of it.
fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}
