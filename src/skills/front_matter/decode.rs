//! From a file's bytes to text: byte order marks, UTF-16, and what is no text at all.

use crate::layers::Diagnostic;
use std::borrow::Cow;

/// A file's text, without its byte order mark.
pub(crate) fn decode<'a>(bytes: &'a [u8], complete: bool, notes: &mut Vec<Diagnostic>) -> Result<Cow<'a, str>, Diagnostic> {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest, 3, complete),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, "UTF-16LE", u16::from_le_bytes, complete, notes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, "UTF-16BE", u16::from_be_bytes, complete, notes),
        _ => utf8(bytes, 0, complete),
    }
}

fn utf8(bytes: &[u8], skipped: usize, complete: bool) -> Result<Cow<'_, str>, Diagnostic> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // A character that the end of what was read cut in two.
        Err(error) if !complete && error.error_len().is_none() => from_valid(bytes, error.valid_up_to()),
        Err(error) => {
            let valid = error.valid_up_to();
            let (line, column) = position(from_valid(bytes, valid), valid);
            let message = format!("byte {:#04X} at offset {} is no UTF-8; save the file as UTF-8", bytes[valid], skipped + valid);
            return Err(Diagnostic::error("file-not-utf8", message).line(line).column(column));
        }
    };
    // The least of some bytes is faster to be had than the first that is zero, and this is most of what is done with a file's body.
    let holds_nul = |chunk: &[u8]| chunk.iter().fold(u8::MAX, |least, byte| least.min(*byte)) == 0;
    if !text.as_bytes().chunks(256).any(holds_nul) {
        return Ok(text.into());
    }
    match text.find('\0') {
        None => Ok(text.into()),
        Some(offset) => {
            let (line, column) = position(text, offset);
            let message = format!("a NUL byte at offset {}: this is no text file", skipped + offset);
            Err(Diagnostic::error("file-not-text", message).line(line).column(column))
        }
    }
}

fn from_valid(bytes: &[u8], valid: usize) -> &str {
    std::str::from_utf8(&bytes[..valid]).unwrap_or_default()
}

fn utf16(
    bytes: &[u8],
    name: &str,
    unit: fn([u8; 2]) -> u16,
    complete: bool,
    notes: &mut Vec<Diagnostic>,
) -> Result<Cow<'static, str>, Diagnostic> {
    let mut units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    if !complete && units.last().is_some_and(|last| (0xD800..0xDC00).contains(last)) {
        units.pop();
    }
    let mut text = String::with_capacity(units.len());
    let mut offset = 2;
    for decoded in char::decode_utf16(units) {
        let c = decoded.map_err(|_| {
            Diagnostic::error("file-not-utf8", format!("the file is {name}, but at offset {offset} it is broken; save it as UTF-8"))
        })?;
        if c == '\0' {
            return Err(Diagnostic::error(
                "file-not-text",
                format!("the file is {name}, and has a NUL at offset {offset}: this is no text file"),
            ));
        }
        offset += 2 * c.len_utf16();
        text.push(c);
    }
    if complete && bytes.len() % 2 == 1 {
        let message = format!("the file is {name}, but ends within a character; save it as UTF-8");
        return Err(Diagnostic::error("file-not-utf8", message));
    }
    notes.push(Diagnostic::note("file-utf16", format!("the file is {name} and was decoded; UTF-8 is what others read")).line(1).column(1));
    Ok(text.into())
}

/// Line and column, from 1 and in characters, of a byte offset at a character's start.
pub(super) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let mut line = 1;
    let mut start = 0;
    for (_, _, next) in super::fence::lines(before) {
        if next <= before.len() && before[..next].ends_with(['\n', '\r']) {
            line += 1;
            start = next;
        }
    }
    (line, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_every_kind_of_line_end() {
        for (text, offset, place) in
            [("", 0, (1, 1)), ("ab", 1, (1, 2)), ("a\nb", 2, (2, 1)), ("a\r\n\rbc", 5, (3, 2)), ("中\n中x", 7, (2, 2))]
        {
            assert_eq!(position(text, offset), place, "{text:?}");
        }
    }

    #[test]
    fn a_character_that_a_cut_tears_is_left_out_and_of_a_whole_file_an_error() {
        let little = |units: &[u16]| [vec![0xFF, 0xFE], units.iter().flat_map(|unit| unit.to_le_bytes()).collect()].concat();
        let odd = [little(&[0x61, 0x62]), vec![0x63]].concat();
        for (bytes, cut, whole) in [
            (b"ab".to_vec(), Some("ab"), None),
            (b"ab\xE4\xB8".to_vec(), Some("ab"), Some("byte 0xE4 at offset 2 is no UTF-8; save the file as UTF-8")),
            (b"ab\xFFc".to_vec(), None, Some("byte 0xFF at offset 2 is no UTF-8; save the file as UTF-8")),
            (little(&[0x61, 0x62]), Some("ab"), None),
            (odd, Some("ab"), Some("the file is UTF-16LE, but ends within a character; save it as UTF-8")),
            (little(&[0x61, 0xD83D]), Some("a"), Some("the file is UTF-16LE, but at offset 4 it is broken; save it as UTF-8")),
            (little(&[0xDE00, 0x61]), None, Some("the file is UTF-16LE, but at offset 2 it is broken; save it as UTF-8")),
        ] {
            let read = |complete| decode(&bytes, complete, &mut Vec::new()).map_err(|found| found.message);
            assert_eq!(read(false).ok().as_deref(), cut, "{bytes:?}");
            assert_eq!(read(true).err().as_deref(), whole, "{bytes:?}");
        }
    }

    #[test]
    fn what_breaks_a_file_in_utf16_is_told_with_its_offset() {
        let text = "\u{feff}ab😀é\0c";
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let found = decode(&bytes, true, &mut Vec::new()).unwrap_err();
        assert_eq!(found.message, "the file is UTF-16BE, and has a NUL at offset 12: this is no text file");
    }
}
