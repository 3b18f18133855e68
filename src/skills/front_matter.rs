//! The front matter reader: the only one. Pure over bytes, bounded in time and memory for every input, and as lenient as a person who reads the file.
//!
//! Where YAML does not read what stands there, or reads it otherwise than a person would, it is repaired, and a diagnostic `front-matter-repaired` with line and
//! column says so.
//!
//! ```
//! use tower_prompt::skills::front_matter::read;
//!
//! let file = read(b"---\nname: rust\ndescription: Use when: it fails\n---\nThe body.\n").unwrap();
//! let description = file.front_matter.as_ref().unwrap().get("description").unwrap();
//! assert_eq!(description.value.as_text(), Some("Use when: it fails"));
//! assert_eq!(file.body(), "The body.\n");
//! assert_eq!((file.diagnostics[0].code.as_ref(), file.diagnostics[0].line), ("front-matter-repaired", Some(3)));
//! ```

pub(crate) mod decode;
mod entries;
mod fence;
mod passed;
mod plain;
mod reason;
mod repair;
mod scan;
mod toml;
mod value;
mod yaml;

pub use value::Value;

use crate::layers::Diagnostic;
use entries::Findings;
use std::borrow::Cow;
use std::ops::Range;
use yaml::{Failure, Refused};

/// So many lines that may close the front matter are tried.
const MAX_CANDIDATES: usize = 8;
/// And of those behind the first so many bytes in all: what is tried last holds what was tried before.
const MAX_TRIED_BYTES: usize = 64 * 1024;
/// So many findings of a file are told one by one: a file of nothing but mistakes must not fill the memory.
const MAX_DIAGNOSTICS: usize = 100;

/// A file, read: its front matter, its body, and what was found on the way. Diagnostics name no path yet: the reader knows none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Document {
    text: String,
    body: usize,
    /// What stands between the fences; none where the file does not begin with one.
    pub front_matter: Option<FrontMatter>,
    /// In the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl Document {
    /// What stands behind the front matter, as written; the whole text where there is none.
    pub fn body(&self) -> &str {
        &self.text[self.body..]
    }
    /// The line on which the body starts, from 1.
    pub fn body_line(&self) -> usize {
        decode::position(&self.text, self.body).0
    }
}

/// The language of a front matter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Format {
    /// Between `---`.
    Yaml,
    /// Between `+++`, or found between `---`.
    Toml,
}

/// A file's fields, in its order; no key stands twice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FrontMatter {
    /// Which language it is in.
    pub format: Format,
    /// The fields.
    pub entries: Vec<Entry>,
    /// The text between the fences, line ends as LF.
    block: String,
}

/// A field with its place in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// As written, without quotes.
    pub key: String,
    /// What it holds.
    pub value: Value,
    /// The key's line in the file, from 1.
    pub line: usize,
    /// The key's column in characters, from 1.
    pub column: usize,
    written: Range<usize>,
}

impl FrontMatter {
    /// The field of this name.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
    /// A field's value as it stands in the file, its lines folded: what a list or map looked like before it was read as one.
    pub fn written(&self, entry: &Entry) -> String {
        let written = self.block[entry.written.clone()].trim_end();
        let (first, below) = written.split_once('\n').unwrap_or((written, ""));
        repair::fold(first.trim(), below)
    }
}

/// Reads a whole file. An error is what makes it unusable: it is no text, its front matter never ends, or is out of all proportion.
pub fn read(bytes: &[u8]) -> Result<Document, Diagnostic> {
    read_text(bytes, true)
}

/// Reads a file that was cut, perhaps within a character, as if it ended there.
pub(crate) fn read_cut(bytes: &[u8]) -> Result<Document, Diagnostic> {
    read_text(bytes, false)
}

/// Whether a file that begins so begins with front matter.
pub(crate) fn opens(beginning: &[u8]) -> bool {
    match decode::decode(beginning, false, &mut Vec::new()) {
        Ok(text) => fence::opening(&text).is_some(),
        // Broken further on.
        Err(_) => beginning.starts_with(b"---") || beginning.starts_with(b"+++"),
    }
}

fn read_text(bytes: &[u8], whole: bool) -> Result<Document, Diagnostic> {
    let mut notes = Vec::new();
    let text = decode::decode(bytes, whole, &mut notes)?;
    let Some(opening) = fence::opening(&text) else {
        return Ok(Document { text: text.into_owned(), body: 0, front_matter: None, diagnostics: notes });
    };
    let place = decode::position(&text, opening.start);
    note_what_stands_before(opening, place, &mut notes);
    let failed = |Refused(reason)| Diagnostic::error("front-matter-refused", reason).line(place.0).column(place.1);

    let first = fence::exact_closings(&text, opening, true).next();
    let Some(closing) = first.or_else(|| fence::loose_closing(&text, opening)) else {
        let message = format!("the front matter that begins here is never closed by a line `{}`", opening.fence);
        return Err(Diagnostic::error("front-matter-unclosed", message).line(place.0).column(place.1));
    };
    let block = normalised(&text[opening.content..closing.start]).into_owned();
    let read = if first.is_some() {
        match entries::read(opening.fence, &block, place.0 + 1) {
            Err(Failure::Invalid) => {}
            Err(Failure::Refused(refused)) => return Err(failed(refused)),
            Ok(read) => return Ok(document(text.into_owned(), closing, block, read, notes)),
        }
        // The fence that closes the front matter may be a later one, where the first stands in a value.
        let mut tried = 0;
        let later: Vec<_> = fence::exact_closings(&text, opening, true).take(MAX_CANDIDATES).skip(1).collect();
        for closing in later {
            let block = block_of(&text[opening.content..closing.start], opening.fence);
            tried += block.len();
            if tried > MAX_TRIED_BYTES {
                break;
            }
            let Some(passed) = passed::fences(&block, opening.fence) else { continue };
            let read = entries::read(opening.fence, &block, place.0 + 1).or_else(|failure| match failure {
                Failure::Invalid => entries::repaired(opening.fence, &block, place.0 + 1),
                Failure::Refused(refused) => Err(refused),
            });
            // A refusal of more text says that the first fence was the right one.
            let Ok(read) = read else { break };
            notes.extend(passed.into_iter().map(|below| passed::note(opening.fence, place.0 + 1 + below)));
            let block = block.into_owned();
            return Ok(document(text.into_owned(), closing, block, read, notes));
        }
        entries::repaired(opening.fence, &block, place.0 + 1)
    } else {
        let (line, column) = decode::position(&text, closing.start);
        let message = format!("no line is exactly `{0}`; this one begins with it and was taken to close the front matter", opening.fence);
        notes.push(Diagnostic::warning("front-matter-repaired", message).line(line).column(column));
        entries::read(opening.fence, &block, place.0 + 1).or_else(|failure| match failure {
            Failure::Invalid => entries::repaired(opening.fence, &block, place.0 + 1),
            Failure::Refused(refused) => Err(refused),
        })
    };
    Ok(document(text.into_owned(), closing, block, read.map_err(failed)?, notes))
}

/// Reads the beginning of a file. `None` where what follows could change the result; else the same as [`read`] of the whole, but without the body.
pub(crate) fn read_beginning(bytes: &[u8]) -> Option<Result<Document, Diagnostic>> {
    let mut notes = Vec::new();
    let text = match decode::decode(bytes, false, &mut notes) {
        Ok(text) => text,
        Err(error) => return Some(Err(error)),
    };
    let opening = fence::opening(&text)?;
    let closing = fence::exact_closings(&text, opening, false).next()?;
    let place = decode::position(&text, opening.start);
    note_what_stands_before(opening, place, &mut notes);
    let block = block_of(&text[opening.content..closing.start], opening.fence).into_owned();
    let read = entries::read(opening.fence, &block, place.0 + 1).ok()?;
    Some(Ok(document(text[..closing.body].to_owned(), closing, block, read, notes)))
}

fn document(
    text: String,
    closing: fence::Closing,
    block: String,
    (format, entries, found): (Format, Vec<Entry>, Findings),
    mut diagnostics: Vec<Diagnostic>,
) -> Document {
    diagnostics.extend(found.kept);
    diagnostics.sort_by_key(|found| (found.line, found.column));
    let more = found.more + diagnostics.len().saturating_sub(MAX_DIAGNOSTICS);
    if more > 0 {
        diagnostics.truncate(MAX_DIAGNOSTICS);
        let last = diagnostics.last().and_then(|last| last.line).unwrap_or(1);
        diagnostics.push(Diagnostic::warning("front-matter-repaired", format!("{more} more findings below")).line(last as usize).column(1));
    }
    let front_matter = Some(FrontMatter { format, entries, block });
    Document { text, body: closing.body, front_matter, diagnostics }
}

fn note_what_stands_before(opening: fence::Opening, (line, column): (usize, usize), notes: &mut Vec<Diagnostic>) {
    let what = match opening.before {
        fence::Before::Nothing => return,
        fence::Before::BlankLines => "blank lines stand",
        fence::Before::Comment => "a comment stands",
    };
    let message = format!("{what} before the front matter; other readers want its `{}` on the first line", opening.fence);
    notes.push(Diagnostic::note("front-matter-preceded", message).line(line).column(column));
}

fn normalised(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}

/// The text up to a candidate; fences that it passed over are indented, since at the left edge no YAML may hold them.
fn block_of<'a>(text: &'a str, fence: &str) -> Cow<'a, str> {
    let block = normalised(text);
    if fence == "---" && block.lines().any(|line| line.trim_end() == fence) {
        let indented = block.split_inclusive('\n').map(|line| if line.trim_end() == fence { format!(" {line}") } else { line.to_owned() });
        return Cow::Owned(indented.collect());
    }
    block
}

#[cfg(test)]
mod tests;
