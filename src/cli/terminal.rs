//! Both output streams: data on one, talk on the other, colour where a person reads.

use super::{findings, progress};
use crate::layers::Diagnostic;
use crate::layers::text::escape;
use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(super) struct Terminal {
    data: AutoStream<io::Stdout>,
    talk: AutoStream<io::Stderr>,
    width: usize,
    /// A person looks at the talk.
    is_seen: bool,
    is_verbose: bool,
}

/// As wide as any line.
pub(super) const UNCUT: usize = usize::MAX;

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const RED: Style = AnsiColor::Red.on_default();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(super) const CYAN: Style = AnsiColor::Cyan.on_default();

impl Terminal {
    /// `is_verbose`: every diagnostic is shown.
    pub(super) fn of_process(is_verbose: bool) -> Self {
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let size = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = columns.or_else(|| io::stdout().is_terminal().then(size).flatten());
        let (data, talk) = (anstream::stdout(), anstream::stderr());
        let is_seen = talk.is_terminal();
        Self { data, talk, width: width.map_or(UNCUT, |width| width.clamp(60, 240)), is_seen, is_verbose }
    }
    /// Columns of the terminal, from 60 to 240; [`UNCUT`] where there is none, such as before another program.
    pub(super) fn width(&self) -> usize {
        self.width
    }
    /// Data for a person, which may hold colours of ours; what else it holds is [`printable`].
    pub(super) fn print(&mut self, text: &str) -> io::Result<()> {
        let choice = self.data.current_choice();
        let written = at_once(&mut self.data, choice, &ended(text)).and_then(|()| self.data.flush());
        unless_no_one_reads(written)
    }
    /// Talk.
    pub(super) fn say(&mut self, text: &str) {
        let choice = self.talk.current_choice();
        // Where talk can't be written there is no one to tell.
        let _ = at_once(&mut self.talk, choice, &format!("{text}\n"));
    }
    /// A message that may quote anything.
    pub(super) fn error(&mut self, message: &str) {
        self.say(&format!("{RED}error{RED:#}: {}", printable(message)));
    }
    /// Diagnostics, as [`findings`] shows them.
    pub(super) fn diagnostics<'a>(&mut self, diagnostics: impl IntoIterator<Item = &'a Diagnostic>) {
        let text = findings::text(diagnostics, self.is_verbose);
        let choice = self.talk.current_choice();
        // Where talk can't be written there is no one to tell.
        let _ = at_once(&mut self.talk, choice, &text);
    }
    /// Does work that may take longer than a moment; where a person looks on, it is then said what goes on.
    pub(super) fn during<T>(&mut self, what: &str, work: impl FnOnce() -> T) -> T {
        progress::during(what, self.is_seen, io::stderr(), work)
    }
}

/// In one write, not in one for each run between two colours.
fn at_once(mut stream: impl Write, choice: ColorChoice, text: &str) -> io::Result<()> {
    if choice == ColorChoice::Never {
        return stream.write_all(strip_str(text).to_string().as_bytes());
    }
    stream.write_all(text.as_bytes())
}

/// Data for a program, or a prompt: byte for byte, but for a terminal, which it must not steer. Not through the stream that drops colours, since
/// that takes characters out of the text too.
pub(super) fn print_exactly(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let text = if stdout.is_terminal() { Cow::Owned(printable(text)) } else { Cow::Borrowed(text) };
    unless_no_one_reads(stdout.write_all(ended(&text).as_bytes()).and_then(|()| stdout.flush()))
}

/// By one line end.
fn ended(text: &str) -> Cow<'_, str> {
    if text.ends_with('\n') { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}\n")) }
}

/// Who stops reading has read enough.
fn unless_no_one_reads(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => other,
    }
}

/// What came from a file must not steer the terminal.
pub(super) fn printable(text: &str) -> String {
    if !escape::has_invisible(text) {
        return text.to_owned();
    }
    let is_plain = |c: char| c == '\n' || c == '\t' || !escape::is_invisible(c);
    text.chars().map(|c| if is_plain(c) { c } else { '\u{fffd}' }).collect()
}

/// The most columns of a part of a line, in lines of this width.
pub(super) fn at_most(columns: usize, width: usize) -> usize {
    if width == UNCUT { UNCUT } else { columns }
}

/// The beginning of a line that takes at most so many columns, an ellipsis where something is missing. Wide characters take two.
pub(super) fn within_columns(text: &str, columns: usize) -> Cow<'_, str> {
    // Of ASCII each character is a column.
    if text.len() <= columns || !text.is_ascii() && text.width() <= columns {
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
