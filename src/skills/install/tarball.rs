//! Tar archives: the packages of npm, and what git archives.

use super::error::{InstallError, Refusal};
use super::names::EntryPath;
use super::tree::Tree;
use flate2::read::GzDecoder;
use std::io::{self, Read};
use tar::{Archive, EntryType};

/// Bytes of an archive around an entry's own, at most: its header, those that lengthen its name, and what fills up its last block.
const BYTES_AN_ENTRY: u64 = 4 * 1024;

/// Unpacks a package of npm, whose files all lie in one folder. It has no links: npm packs none.
pub(super) fn unpack_package(bytes: &[u8], tree: &mut Tree<'_>) -> Result<(), InstallError> {
    unpack(GzDecoder::new(bytes), tree, EntryPath::without_first, |_, path, refusal| Err(InstallError::refused(path.shown(), refusal)))
}

/// Unpacks what git archived. A link costs the skill that it belongs to: a repository may well have one elsewhere.
pub(super) fn unpack_repository(archive: impl Read, tree: &mut Tree<'_>) -> Result<(), InstallError> {
    unpack(archive, tree, |path| path, Tree::pass_over)
}

fn unpack<'l>(
    archive: impl Read,
    tree: &mut Tree<'l>,
    place: impl Fn(EntryPath) -> EntryPath,
    link: impl Fn(&mut Tree<'l>, EntryPath, Refusal) -> Result<(), InstallError>,
) -> Result<(), InstallError> {
    let limits = tree.limits();
    let most = limits.bytes.saturating_add((limits.entries as u64).saturating_mul(BYTES_AN_ENTRY));
    let mut archive = Archive::new(Bounded { archive, left: most });
    for entry in archive.entries().map_err(|reason| torn(&reason))? {
        let mut entry = entry.map_err(|reason| torn(&reason))?;
        let name = entry.path_bytes().into_owned();
        let refused = |refusal| InstallError::refused(String::from_utf8_lossy(&name), refusal);
        let kind = entry.header().entry_type();
        // What git says of the archive as a whole.
        if kind == EntryType::XGlobalHeader {
            continue;
        }
        let path = EntryPath::new(&name, limits).map_err(refused)?;
        if path.is_litter() {
            continue;
        }
        let path = place(path);
        match kind {
            EntryType::Directory => tree.folder(&path)?,
            EntryType::Regular | EntryType::Continuous => {
                let may_run = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
                let size = entry.size();
                let written = tree.file(&path, may_run, &mut entry)?;
                if written != size {
                    return Err(refused(Refusal::Inconsistent("its size")));
                }
            }
            EntryType::Symlink | EntryType::Link => link(tree, path, Refusal::Link)?,
            _ => return Err(refused(Refusal::Special)),
        }
    }
    Ok(())
}

fn torn(reason: &io::Error) -> InstallError {
    InstallError::Archive { path: "the archive".into(), reason: format!("it is torn, or no archive: {reason}") }
}

/// Ends with an error where there is more.
struct Bounded<R> {
    archive: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.archive.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| io::Error::other("it unpacks to more than a source may bring"))?;
        Ok(read)
    }
}
