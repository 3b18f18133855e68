//! Diagnostics as a person reads them: a few one by one; of many the kinds, with their number and examples.

use super::terminal::{BOLD, DIM, RED, YELLOW, printable};
use crate::layers::{Diagnostic, Severity};
use anstyle::Style;
use std::collections::BTreeMap;

/// So many errors and warnings are shown one by one.
const FEW: usize = 20;
/// Examples of a kind of which there are many.
const EXAMPLES: usize = 3;

/// The worst last, where the eye is. Notes are counted, unless all is wanted.
pub(super) fn text<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>, all: bool) -> String {
    let mut shown: Vec<&Diagnostic> = diagnostics.into_iter().collect();
    let notes = if all { 0 } else { count(&shown, Severity::Note) };
    shown.retain(|diagnostic| all || diagnostic.severity > Severity::Note);
    shown.sort_by_key(|diagnostic| diagnostic.severity);
    if all || shown.len() <= FEW {
        let lines: String = shown.into_iter().map(line).collect();
        return lines + &hint(&counted(notes, "note"), "not shown");
    }
    let mut kinds: BTreeMap<(Severity, &str), Vec<&Diagnostic>> = BTreeMap::new();
    for diagnostic in &shown {
        kinds.entry((diagnostic.severity, &diagnostic.code)).or_default().push(diagnostic);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    // Of equal weight the commonest last.
    kinds.sort_by_key(|((severity, _), of_kind)| (*severity, of_kind.len()));
    let mut out = String::new();
    for ((severity, code), of_kind) in kinds {
        if of_kind.len() > EXAMPLES {
            let style = style(severity);
            out.push_str(&format!("{style}{severity}[{}]{style:#}: {BOLD}{}{BOLD:#}, such as\n", printable(code), of_kind.len()));
            of_kind.into_iter().take(EXAMPLES).for_each(|diagnostic| out.push_str(&format!("  {}\n", without_kind(diagnostic))));
        } else {
            of_kind.into_iter().for_each(|diagnostic| out.push_str(&line(diagnostic)));
        }
    }
    let counts = [(count(&shown, Severity::Error), "error"), (count(&shown, Severity::Warning), "warning"), (notes, "note")];
    let counts: Vec<String> = counts.into_iter().map(|(count, what)| counted(count, what)).filter(|count| !count.is_empty()).collect();
    out + &hint(&counts.join(", "), "in all")
}

fn count(diagnostics: &[&Diagnostic], severity: Severity) -> usize {
    diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count()
}

fn counted(count: usize, what: &str) -> String {
    if count == 0 { String::new() } else { format!("{count} {what}{}", if count == 1 { "" } else { "s" }) }
}

fn hint(counts: &str, what: &str) -> String {
    if counts.is_empty() { String::new() } else { format!("{DIM}{counts} {what}; --verbose shows each{DIM:#}\n") }
}

fn style(severity: Severity) -> Style {
    match severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Note => DIM,
    }
}

/// A line of its own, with the kind in colour.
fn line(diagnostic: &Diagnostic) -> String {
    let style = style(diagnostic.severity);
    let kind = printable(&format!("{}[{}]", diagnostic.severity, diagnostic.code));
    format!("{}\n", finding(diagnostic).replacen(&kind, &format!("{style}{kind}{style:#}"), 1))
}

fn without_kind(diagnostic: &Diagnostic) -> String {
    finding(diagnostic).replacen(&printable(&format!("{}[{}]: ", diagnostic.severity, diagnostic.code)), "", 1)
}

/// A diagnostic as it prints. A path with a line end in it makes no second finding.
pub(super) fn finding(diagnostic: &Diagnostic) -> String {
    let mut shown = diagnostic.clone();
    shown.path = shown.path.map(|path| path.replace('\n', "\u{fffd}"));
    printable(&shown.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(diagnostics: &[Diagnostic], all: bool) -> String {
        anstream::adapter::strip_str(&text(diagnostics, all)).to_string()
    }
    fn many() -> Vec<Diagnostic> {
        let at = |n: usize, diagnostic: Diagnostic| diagnostic.at(format!("skills/s{n:03}/SKILL.md")).line(2).column(1);
        let named = |n| at(n, Diagnostic::warning("name-differs", format!("`name` is not the folder's name, `s{n:03}`")));
        let repaired = |n| at(n, Diagnostic::warning("front-matter-repaired", "the value holds `: `; read as one text"));
        let broken = |n| at(n, Diagnostic::error("front-matter-unclosed", "the front matter has no end"));
        let noted = |n| at(n, Diagnostic::note("field-unknown", "nobody reads `x`"));
        (0..700).map(named).chain((0..2).map(repaired)).chain((0..5).map(broken)).chain((0..182).map(noted)).collect()
    }

    #[test]
    fn hundreds_of_findings_fit_a_screen() {
        insta::assert_snapshot!(plain(&many(), false));
    }

    #[test]
    fn a_few_are_told_one_by_one() {
        let few = [many().swap_remove(750), many().swap_remove(0), many().swap_remove(703)];
        insta::assert_snapshot!(plain(&few, false));
        assert_eq!(plain(&few[..0], false), "");
        assert_eq!(plain(&few[..1], false), "1 note not shown; --verbose shows each\n");
    }

    #[test]
    fn all_is_all() {
        assert_eq!(plain(&many(), true).lines().count(), many().len());
        assert!(plain(&many(), true).lines().next().unwrap().contains("note[field-unknown]"));
    }
}
