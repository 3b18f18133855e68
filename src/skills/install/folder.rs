//! A folder as a source: copied, not linked to, so that what changes in it later changes no installed skill.

use super::error::{InstallError, Refusal, io_error};
use super::names::EntryPath;
use super::tree::Tree;
use crate::files;
use crate::skills::walk::STAGING;
use std::ffi::OsString;
use std::fs::{self, File, FileType, Metadata};
use std::io;
use std::path::Path;

/// Copies all that is in it. What is neither file nor folder costs the skill that it belongs to. A folder that changes meanwhile is copied as each
/// file was found; the limits hold for what is copied, not for what was there before.
pub(super) fn copy(folder: &Path, tree: &mut Tree<'_>) -> Result<(), InstallError> {
    copy_below(folder, None, tree)
}

fn copy_below(folder: &Path, below: Option<&EntryPath>, tree: &mut Tree<'_>) -> Result<(), InstallError> {
    let limits = tree.limits();
    for (name, kind) in entries(folder, limits.entries).map_err(|reason| io_error(folder, reason))? {
        let place = folder.join(&name);
        if name.as_encoded_bytes().starts_with(STAGING.as_bytes()) {
            continue;
        }
        let refused = |refusal| InstallError::refused(place.to_string_lossy(), refusal);
        let text = name.to_str().ok_or_else(|| refused(Refusal::NotText))?;
        let path = match below {
            Some(below) => below.clone().below(text, limits),
            None => EntryPath::new(text.as_bytes(), limits),
        };
        let path = path.map_err(refused)?;
        if path.is_litter() {
            continue;
        }
        if kind.is_symlink() {
            tree.pass_over(path, Refusal::Link)?;
        } else if kind.is_dir() {
            tree.folder(&path)?;
            copy_below(&place, Some(&path), tree)?;
        } else if let Some((file, metadata)) = open(&place, kind).map_err(|reason| io_error(&place, reason))? {
            tree.file(&path, may_run(&metadata), file)?;
        } else {
            tree.pass_over(path, Refusal::Special)?;
        }
    }
    Ok(())
}

/// In bytewise order. There are never more than so many, and one, so that what comes of them is refused.
fn entries(folder: &Path, most: usize) -> io::Result<Vec<(OsString, FileType)>> {
    let entries = fs::read_dir(folder)?.take(most.saturating_add(1));
    let mut entries =
        entries.map(|entry| entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?)))).collect::<io::Result<Vec<_>>>()?;
    entries.sort_unstable_by(|(a, _), (b, _)| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
    Ok(entries)
}

/// A regular file, and what is known of it once it is open; a link that has taken its place is an error.
fn open(path: &Path, kind: FileType) -> io::Result<Option<(File, Metadata)>> {
    if !kind.is_file() {
        return Ok(None);
    }
    let file = if cfg!(unix) { files::open_unlinked(path)? } else { files::open(path)? };
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then_some((file, metadata)))
}

#[cfg(unix)]
fn may_run(metadata: &Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
}
#[cfg(not(unix))]
fn may_run(_: &Metadata) -> bool {
    false
}
