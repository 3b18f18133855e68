//! Reads a configuration file: a regular file of UTF-8 and of bounded size, and nothing else.

use super::place::{Lines, Origin};
use crate::files;
use crate::layers::Diagnostic;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

/// A configuration file is no larger.
pub(super) const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The text of a file; `None` where there is none.
pub(super) fn read(path: &Path, origin: &Origin) -> Result<Option<String>, Diagnostic> {
    let found = |finding: Diagnostic| Err(origin.locate(finding, None));
    let unreadable = |error: &std::io::Error| found(Diagnostic::error("file-unreadable", format!("cannot be read: {error}")));
    // The kind of file is looked at first: to open a FIFO would wait for its other end.
    let is_regular = match fs::metadata(path) {
        Ok(metadata) => metadata.is_file(),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return match fs::symlink_metadata(path) {
                Ok(_) => found(Diagnostic::error("file-unreadable", "is a symbolic link to nothing")),
                Err(_) => Ok(None),
            };
        }
        Err(error) => return unreadable(&error),
    };
    if !is_regular {
        return found(Diagnostic::error("file-not-regular", "is a folder or a special file; allowed: a regular file"));
    }
    let mut bytes = Vec::new();
    if let Err(error) = files::open(path).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)) {
        return unreadable(&error);
    }
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let message = format!("has more than {MAX_FILE_BYTES} bytes, the most that a configuration file may have");
        return found(Diagnostic::error("file-too-large", message));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let sound = String::from_utf8_lossy(&error.as_bytes()[..valid]);
            let finding = Diagnostic::error("file-not-utf8", "is no UTF-8 from here on");
            Err(origin.locate(finding, Some(Lines::new(without_mark(&sound)).place(valid))))
        }
    }
}

/// Without the byte order mark that some editors write.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
