//! A document as numbered invariants: bullets in sections.
//!
//! `##` begins a section and `###` a section in it; `*` or `-` begins an invariant, and every other line belongs to the one before: blank lines,
//! nested bullets, paragraphs, code. A heading ends it. What stands between a heading and its first bullet belongs to none. In a fence or a comment
//! nothing begins.

use super::document::Document;
use super::markdown::{Verbatim, bullet, heading, indented};
use crate::prompt::{ContentHash, Diagnostic};
use std::ops::Range;

/// The invariants of a document, numbered from 1. It holds the document, and each invariant is a slice of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvariantCatalog {
    document: Document,
    digest: ContentHash,
    unclosed: Option<Diagnostic>,
    headings: Vec<Headings>,
    /// With their headings.
    bullets: Vec<(usize, Range<usize>)>,
}

/// What an invariant stands under.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Headings {
    section: Option<Range<usize>>,
    subsection: Option<Range<usize>>,
}

/// One invariant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Invariant<'a> {
    /// From 1.
    pub number: usize,
    /// The title of its section.
    pub section: Option<&'a str>,
    /// The title of the section in that.
    pub subsection: Option<&'a str>,
    /// As it is written, its bullet included, without the blanks behind it.
    pub text: &'a str,
}

impl<'a> Invariant<'a> {
    /// `**Title.**` at its beginning, without the asterisks.
    pub fn title(&self) -> Option<&'a str> {
        let (_, text) = bullet(self.text)?;
        let (title, _) = text.lines().next()?.strip_prefix("**")?.split_once("**")?;
        Some(title.trim()).filter(|title| !title.is_empty())
    }
}

impl InvariantCatalog {
    /// Reads a document. One pass; whatever it holds, this is no error: a document without bullets is an empty catalog.
    pub fn read(document: Document) -> Self {
        let mut reader = Reader::default();
        let mut at = if document.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        for line in document.text[at..].split_inclusive(['\n', '\r']) {
            reader.line(at, line);
            at += line.len();
        }
        reader.end_bullet();
        let Reader { headings, bullets, verbatim, .. } = reader;
        let unclosed = verbatim.map(|open| {
            let what = if open.kind == Verbatim::Comment { "comment" } else { "code block" };
            let message = format!("a {what} begins here and does not end: invariants in it are not seen as such");
            let line = document.text[..open.at].matches('\n').count() + 1;
            let found = Diagnostic::warning("invariants-unclosed", message).line(line);
            if document.path.is_empty() { found } else { found.at(document.path.clone()) }
        });
        Self { digest: ContentHash::of(&document.text), unclosed, document, headings, bullets }
    }

    /// The document.
    pub fn document(&self) -> &Document {
        &self.document
    }
    /// What was noticed while it was read.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.document.diagnostics.iter().chain(&self.unclosed)
    }
    /// What tells this document's text from another's.
    pub fn digest(&self) -> ContentHash {
        self.digest
    }
    /// How many invariants there are: the last one's number.
    pub fn len(&self) -> usize {
        self.bullets.len()
    }
    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.bullets.is_empty()
    }
    /// The invariant of this number.
    pub fn get(&self, number: usize) -> Option<Invariant<'_>> {
        let (headings, range) = self.bullets.get(number.checked_sub(1)?)?;
        let Headings { section, subsection } = &self.headings[*headings];
        let title = |range: &Option<Range<usize>>| range.clone().map(|range| &self.document.text[range]);
        let (section, subsection) = (title(section), title(subsection));
        Some(Invariant { number, section, subsection, text: &self.document.text[range.clone()] })
    }
    /// All of them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Invariant<'_>> {
        (1..=self.len()).filter_map(|number| self.get(number))
    }
    /// All of them with their numbers (`[3] * **Title.** ...`), under the titles of their sections: what a selector chooses from.
    pub fn numbered(&self) -> String {
        grouped(self.iter(), |invariant| format!("[{}] ", invariant.number))
    }
    /// The invariants of these numbers as they are written, under the titles of their sections.
    pub(crate) fn excerpt(&self, numbers: &[usize]) -> String {
        grouped(numbers.iter().filter_map(|number| self.get(*number)), |_| String::new())
    }
}

/// Each title stands once, where it changes.
fn grouped<'a>(invariants: impl Iterator<Item = Invariant<'a>>, mark: impl Fn(Invariant<'a>) -> String) -> String {
    let mut text = String::new();
    let mut under = (None, None);
    for invariant in invariants {
        let here = (invariant.section, invariant.subsection);
        if under != here {
            let gap = |text: &mut String| text.push_str(if text.is_empty() { "" } else { "\n" });
            if let Some(section) = here.0.filter(|_| here.0 != under.0) {
                gap(&mut text);
                text.extend(["## ", section, "\n"]);
            }
            if let Some(subsection) = here.1 {
                gap(&mut text);
                text.extend(["### ", subsection, "\n"]);
            }
            under = here;
        }
        text.push_str(&mark(invariant));
        text.push_str(invariant.text);
        text.push('\n');
    }
    text
}

/// What is read so far.
#[derive(Default)]
struct Reader {
    headings: Vec<Headings>,
    bullets: Vec<(usize, Range<usize>)>,
    here: Headings,
    /// The headings in force are noted, as the last.
    is_noted: bool,
    bullet: Option<Open>,
    verbatim: Option<OpenVerbatim>,
}

/// The bullet that lines go to.
struct Open {
    range: Range<usize>,
    /// The column of its text: what stands from there on stands in it.
    column: usize,
}

struct OpenVerbatim {
    kind: Verbatim,
    at: usize,
    /// The column of the bullet that it stands in, and with which it ends; 0 in none.
    column: usize,
}

impl Reader {
    fn line(&mut self, at: usize, line: &str) {
        let bare = line.trim_end();
        if bare.is_empty() {
            return;
        }
        let end = at + bare.len();
        let (indent, content) = indented(bare);
        if let Some(open) = self.verbatim.take_if(|open| indent >= open.column) {
            self.extend(end);
            self.verbatim = Some(open).filter(|open| !open.kind.ends(content));
            return;
        }
        // What stood in a bullet ended with it.
        self.verbatim = None;
        let column = self.bullet.as_ref().map_or(0, |open| open.column);
        if indent <= 3 && (self.bullet.is_none() || indent < column) {
            if let Some((level @ 1..=3, title)) = heading(content) {
                return self.head(level, end - content.trim_start_matches(['#']).trim_start().len(), title);
            }
            if let Some((width, text)) = bullet(content) {
                self.end_bullet();
                let column = indent + width;
                self.bullet = Some(Open { range: end - content.len()..end, column });
                self.verbatim = Verbatim::begins(text).map(|kind| OpenVerbatim { kind, at, column });
                return;
            }
        }
        self.extend(end);
        let column = if self.bullet.is_some() && indent >= column { column } else { 0 };
        if indent - column <= 3 {
            self.verbatim = Verbatim::begins(content).map(|kind| OpenVerbatim { kind, at, column });
        }
    }

    fn head(&mut self, level: usize, at: usize, title: &str) {
        self.end_bullet();
        let title = Some(at..at + title.len()).filter(|title| !title.is_empty());
        match level {
            1 => self.here = Headings::default(),
            2 => self.here = Headings { section: title, subsection: None },
            _ => self.here.subsection = title,
        }
        self.is_noted = false;
    }
    fn extend(&mut self, end: usize) {
        if let Some(open) = &mut self.bullet {
            open.range.end = end;
        }
    }
    fn end_bullet(&mut self) {
        if let Some(open) = self.bullet.take() {
            if !self.is_noted {
                self.headings.push(self.here.clone());
                self.is_noted = true;
            }
            self.bullets.push((self.headings.len() - 1, open.range));
        }
    }
}

#[cfg(test)]
mod tests;
