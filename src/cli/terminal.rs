//! Both output streams: data on one, talk on the other, colour where a person reads.

use crate::layers::{Diagnostic, Severity};
use anstyle::{AnsiColor, Style};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Diagnostics of one kind that are shown one by one.
const SHOWN_OF_A_KIND: usize = 10;

pub(super) struct Terminal {
    data: anstream::AutoStream<io::Stdout>,
    talk: anstream::AutoStream<io::Stderr>,
    width: usize,
}

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const RED: Style = AnsiColor::Red.on_default();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(super) const CYAN: Style = AnsiColor::Cyan.on_default();

impl Terminal {
    pub(super) fn of_process() -> Self {
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let size = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = columns.or_else(|| io::stdout().is_terminal().then(size).flatten()).unwrap_or(100);
        Self { data: anstream::stdout(), talk: anstream::stderr(), width: width.clamp(60, 240) }
    }
    /// Columns of the terminal; 100 where there is none.
    pub(super) fn width(&self) -> usize {
        self.width
    }
    /// Data for a person, which may hold colours of ours; what else it holds is [`printable`].
    pub(super) fn print(&mut self, text: &str) -> io::Result<()> {
        print(&mut self.data, text)
    }
    /// Talk.
    pub(super) fn say(&mut self, text: &str) {
        // Where talk can't be written there is no one to tell.
        let _ = writeln!(self.talk, "{text}");
    }
    /// A message that may quote anything.
    pub(super) fn error(&mut self, message: &str) {
        self.say(&format!("{RED}error{RED:#}: {}", printable(message)));
    }
    /// Diagnostics, the worst last, where the eye is; of many of a kind some, and the count of the others. Notes are counted.
    pub(super) fn diagnostics<'a>(&mut self, diagnostics: impl IntoIterator<Item = &'a Diagnostic>) {
        let mut shown: Vec<&Diagnostic> = diagnostics.into_iter().collect();
        shown.sort_by_key(|diagnostic| diagnostic.severity);
        let mut notes = 0;
        let mut of_kind: BTreeMap<&str, usize> = BTreeMap::new();
        for diagnostic in shown {
            if diagnostic.severity == Severity::Note {
                notes += 1;
                continue;
            }
            let count = of_kind.entry(&diagnostic.code).or_default();
            *count += 1;
            if *count <= SHOWN_OF_A_KIND {
                self.diagnostic(diagnostic);
            }
        }
        for (code, count) in of_kind.into_iter().filter(|(_, count)| *count > SHOWN_OF_A_KIND) {
            self.say(&format!("{DIM}... and {} more of {code}{DIM:#}", count - SHOWN_OF_A_KIND));
        }
        if notes > 0 {
            let s = if notes == 1 { "" } else { "s" };
            self.say(&format!("{DIM}{notes} note{s} not shown; --json has them all{DIM:#}"));
        }
    }
    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let style = if diagnostic.severity == Severity::Error { RED } else { YELLOW };
        let severity = format!("{}[{}]", diagnostic.severity, diagnostic.code);
        let text = finding(diagnostic).replacen(&severity, &format!("{style}{severity}{style:#}"), 1);
        self.say(&text);
    }
}

/// Data for a program, or a prompt: byte for byte, but for a terminal, which it must not steer. Not through the stream that drops colours, since
/// that takes characters out of the text too.
pub(super) fn print_exactly(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    if stdout.is_terminal() { print(&mut stdout, &printable(text)) } else { print(&mut stdout, text) }
}

/// Ended by one line end. Who stops reading has read enough.
fn print(stream: &mut impl Write, text: &str) -> io::Result<()> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match write!(stream, "{text}{end}").and_then(|()| stream.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => other,
    }
}

/// What came from a file must not steer the terminal.
pub(super) fn printable(text: &str) -> String {
    let is_plain = |c: char| c == '\n' || c == '\t' || !crate::layers::text::escape::is_invisible(c);
    text.chars().map(|c| if is_plain(c) { c } else { '\u{fffd}' }).collect()
}

/// The beginning of a line that takes at most so many columns, an ellipsis where something is missing. Wide characters take two.
pub(super) fn within_columns(text: &str, columns: usize) -> Cow<'_, str> {
    if text.width() <= columns {
        return Cow::Borrowed(text);
    }
    let mut room = columns.saturating_sub(1);
    let mut fits = |c: &char| {
        let width = c.width().unwrap_or_default();
        let fits = width <= room;
        room = room.saturating_sub(width);
        fits
    };
    let kept: String = text.chars().take_while(|c| fits(c)).collect();
    // At a word's end, where there is one in what is left.
    let end = kept.rfind(' ').filter(|end| *end * 2 > kept.len()).unwrap_or(kept.len());
    Cow::Owned(format!("{}…", kept[..end].trim_end()))
}

/// A diagnostic as it prints. A path with a line end in it makes no second finding.
pub(super) fn finding(diagnostic: &Diagnostic) -> String {
    let mut shown = diagnostic.clone();
    shown.path = shown.path.map(|path| path.replace('\n', "\u{fffd}"));
    printable(&shown.to_string())
}

/// A value as JSON, for programs.
pub(super) fn json(value: &impl serde::Serialize) -> Result<String, super::Failure> {
    serde_json::to_string_pretty(value).map_err(super::Failure::failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_by_its_columns() {
        for (text, columns, line) in
            [("short", 5, "short"), ("many words here", 11, "many words…"), ("数据分析工具", 7, "数据分…"), ("abc", 0, "…")]
        {
            assert_eq!(within_columns(text, columns), line);
        }
    }
}
