//! How much a source may bring.

/// What a source may bring at most. All of it is counted as it is written, whatever an archive says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Files and folders, those that are implied by a path included.
    pub entries: usize,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of an archive as it is packed.
    pub archive_bytes: usize,
    /// Bytes that come out of an archive for each byte of it; it holds from [`ratio_from`](Self::ratio_from) on.
    pub ratio: u64,
    /// So many bytes may come out of an archive of any size.
    pub ratio_from: u64,
    /// Names in a path, one below another.
    pub depth: usize,
    /// Bytes of a path.
    pub path_bytes: usize,
}

/// A collection of some hundred skills has as many.
const ENTRIES: usize = 20_000;
/// 128 MiB: a skill is text, and now and then a picture or a font.
const BYTES: u64 = 128 * 1024 * 1024;
/// 32 MiB.
const FILE_BYTES: u64 = 32 * 1024 * 1024;
/// 64 MiB; an archive is read whole.
const ARCHIVE_BYTES: usize = 64 * 1024 * 1024;
/// Text packs to a tenth, tables to a fiftieth; the most that deflate makes of anything is a thousandth.
const RATIO: u64 = 150;
/// 1 MiB: below it nothing is a bomb.
const RATIO_FROM: u64 = 1024 * 1024;
/// Folders in folders.
const DEPTH: usize = 24;
/// What is left of the 1,024 that the narrowest systems give a whole path.
const PATH_BYTES: usize = 512;

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: ENTRIES,
            bytes: BYTES,
            file_bytes: FILE_BYTES,
            archive_bytes: ARCHIVE_BYTES,
            ratio: RATIO,
            ratio_from: RATIO_FROM,
            depth: DEPTH,
            path_bytes: PATH_BYTES,
        }
    }
}
