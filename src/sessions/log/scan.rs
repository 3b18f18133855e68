//! Reading a log: line by line, within bounds, up to where it breaks off.

use super::line::{self, Content, NoLine};
use crate::layers::Diagnostic;
use crate::sessions::StoreError;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// What is read at most. A log grows with what its conversation says: thousands of turns stay far below.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) file: u64,
    pub(super) line: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { file: 256 << 20, line: 64 << 20 }
    }
}

/// How far a log was read: where the next line goes, and what stands before it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct End {
    pub(super) offset: u64,
    pub(super) lines: usize,
    /// The number of the next line.
    pub(super) seq: u64,
    pub(super) events: u64,
    /// The last line is whole but for its line end.
    pub(super) is_unended: bool,
}

/// Reads on from `from`, and gives each line that counts to `each`.
pub(super) fn scan(
    mut file: &File,
    place: &str,
    bounds: Bounds,
    from: End,
    mut each: impl FnMut(Content),
) -> Result<(End, Vec<Diagnostic>), StoreError> {
    let io = |reason: io::Error| StoreError::Io { place: place.to_owned(), reason };
    let bytes = file.metadata().map_err(io)?.len();
    if bytes > bounds.file {
        return Err(StoreError::TooLarge { place: place.to_owned(), bytes, max: bounds.file });
    }
    file.seek(SeekFrom::Start(from.offset)).map_err(io)?;
    // A file that grows meanwhile is not followed beyond the bound.
    let mut reader = BufReader::new(file.take(bounds.file.saturating_sub(from.offset)));
    let (mut end, mut found, mut doubled) = (from, Vec::new(), 0_usize);
    let mut text = Vec::new();
    loop {
        text.clear();
        let read = reader.by_ref().take(bounds.line + 1).read_until(b'\n', &mut text).map_err(io)? as u64;
        if read == 0 {
            break;
        }
        let number = end.lines + 1;
        let damaged = |reason: String| StoreError::Damaged { place: place.to_owned(), line: number, reason };
        if read > bounds.line {
            return Err(damaged(format!("a line of more than {} bytes", bounds.line)));
        }
        let is_ended = text.ends_with(b"\n");
        if !text.trim_ascii().is_empty() {
            match line::read(&text) {
                Ok((seq, _)) if seq < end.seq => doubled += 1,
                Ok((seq, _)) if seq > end.seq => {
                    return Err(damaged(format!("number {seq}, where {} was expected: lines are missing before it", end.seq)));
                }
                Ok((_, content)) => {
                    end.seq += 1;
                    end.events += u64::from(matches!(content, Content::Event(_)));
                    each(content);
                }
                Err(NoLine::Broken(_)) if line::is_torn(&text) && reader.fill_buf().map_err(io)?.is_empty() => {
                    let message = format!("the last line breaks off after {read} bytes, and is left out");
                    found.push(Diagnostic::warning("session-log-torn", message).at(place).line(number));
                    break;
                }
                Err(NoLine::Broken(error)) => return Err(damaged(format!("this is no JSON: {error}"))),
                Err(NoLine::Other(reason)) => return Err(damaged(reason)),
            }
        }
        (end.offset, end.lines, end.is_unended) = (end.offset + read, number, !is_ended);
    }
    if doubled > 0 {
        let message = format!("{doubled} lines bear the number of an earlier one, and are left out");
        found.push(Diagnostic::note("session-log-doubled", message).at(place));
    }
    Ok((end, found))
}
