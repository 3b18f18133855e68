//! Advice on the body: all of it is sent when the skill is used, so it should be short.

use super::{Findings, TOP};
use crate::layers::Diagnostic;
use crate::layers::text::{EstimatedTokens, TokenCounter};
use crate::skills::front_matter::Document;

const MAX_LINES: usize = 500;
const MAX_TOKENS: usize = 5_000;

pub(super) fn advise(document: &Document, findings: &mut Findings) {
    // Blank lines at its ends are not sent.
    let body = document.body().trim();
    let (lines, tokens) = (count_lines(body), EstimatedTokens.count(body));
    if lines <= MAX_LINES && tokens <= MAX_TOKENS {
        return;
    }
    let at = document.front_matter.as_ref().map_or(TOP, |_| (document.body_line(), 1));
    let advice = "what is not always needed goes into files of its own, such as `references/details.md`";
    if lines > MAX_LINES {
        let message = format!("the body has {lines} lines; {MAX_LINES} at most are advised: {advice}");
        findings.say(Diagnostic::note("body-lines", message), at);
    }
    if tokens > MAX_TOKENS {
        let message = format!("the body has about {tokens} tokens; {MAX_TOKENS} at most are advised: {advice}");
        findings.say(Diagnostic::note("body-tokens", message), at);
    }
}

/// LF, CRLF and CR end a line.
fn count_lines(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    if text.is_empty() { 0 } else { ends.count() + 1 }
}
