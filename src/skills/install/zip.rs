//! Zip files, of which only what both of their directories say the same of is taken. `APPNOTE.TXT` is the format's description; what it allows and
//! no skill needs (several disks, encryption, bytes before or between the entries that are no entry's, names that differ from one directory to the
//! other) is refused, since two programs read two things in it.

use super::error::{InstallError, Refusal};
use super::names::EntryPath;
use super::tree::Tree;
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use std::io::{self, Read};

/// Where the bytes of an entry are, and what they come to.
struct Entry<'z> {
    name: &'z [u8],
    packed: &'z [u8],
    size: u64,
    checksum: u32,
    is_deflated: bool,
    is_folder: bool,
    may_run: bool,
    /// From its header to the end of its bytes.
    from: u64,
    to: u64,
}

const END: [u8; 4] = *b"PK\x05\x06";
const END_64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";
const END_BYTES: usize = 22;
/// What the end says of the directory.
struct Directory<'z> {
    entries: u64,
    bytes: &'z [u8],
    start: u64,
}

/// Unpacks all, or stops at the first entry that is refused; then what is written already is to be thrown away.
pub(super) fn unpack(zip: &[u8], tree: &mut Tree<'_>) -> Result<(), InstallError> {
    let broken = |reason: &'static str| InstallError::Archive { path: "the archive".into(), reason: reason.into() };
    let directory = directory(zip).map_err(broken)?;
    if directory.entries > tree.limits().entries as u64 {
        let refusal = Refusal::TooMuch(format!("{} files and folders", tree.limits().entries));
        return Err(InstallError::refused("its directory", refusal));
    }
    let mut rest = directory.bytes;
    let mut entries = Vec::new();
    for _ in 0..directory.entries {
        entries.push(entry(zip, &mut rest, directory.start)?);
    }
    if !rest.is_empty() {
        return Err(broken("its directory has more entries than it says"));
    }
    let mut ranges: Vec<(u64, u64, &[u8])> = entries.iter().map(|entry| (entry.from, entry.to, entry.name)).collect();
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        if pair[0].1 > pair[1].0 {
            let refusal = Refusal::Inconsistent("its bytes are another entry's as well");
            return Err(InstallError::refused(String::from_utf8_lossy(pair[1].2), refusal));
        }
    }
    entries.iter().try_for_each(|entry| write(entry, tree))
}

fn write(entry: &Entry<'_>, tree: &mut Tree<'_>) -> Result<(), InstallError> {
    let refused = |refusal| InstallError::refused(String::from_utf8_lossy(entry.name), refusal);
    let path = EntryPath::new(entry.name, tree.limits()).map_err(refused)?;
    if path.is_litter() {
        return Ok(());
    }
    if entry.is_folder {
        return if entry.size == 0 { tree.folder(&path) } else { Err(refused(Refusal::Inconsistent("a folder holds bytes"))) };
    }
    // One byte more than it says is enough to know.
    let mut content = Checked { content: Unpacking::of(entry), checksum: Crc::new() };
    let written = tree.file(&path, entry.may_run, (&mut content).take(entry.size.saturating_add(1)));
    let written = written.map_err(|error| match error {
        InstallError::Io { reason, .. } if matches!(reason.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
            refused(Refusal::Inconsistent("its bytes can't be unpacked"))
        }
        InstallError::Io { reason, .. } if reason.kind() == io::ErrorKind::UnexpectedEof => {
            refused(Refusal::Inconsistent("its bytes end too early"))
        }
        other => other,
    })?;
    if written != entry.size {
        return Err(refused(Refusal::Inconsistent("its size")));
    }
    if content.checksum.sum() != entry.checksum {
        return Err(refused(Refusal::Inconsistent("its checksum")));
    }
    if !content.content.is_at_the_end() {
        return Err(refused(Refusal::Inconsistent("bytes stand behind it")));
    }
    Ok(())
}

enum Unpacking<'z> {
    Stored(&'z [u8]),
    Deflated(DeflateDecoder<&'z [u8]>),
}

impl<'z> Unpacking<'z> {
    fn of(entry: &Entry<'z>) -> Self {
        if entry.is_deflated { Self::Deflated(DeflateDecoder::new(entry.packed)) } else { Self::Stored(entry.packed) }
    }
    fn is_at_the_end(&self) -> bool {
        match self {
            Self::Stored(rest) => rest.is_empty(),
            Self::Deflated(decoder) => decoder.get_ref().is_empty(),
        }
    }
}

struct Checked<'z> {
    content: Unpacking<'z>,
    checksum: Crc,
}

impl Read for Checked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.content {
            Unpacking::Stored(rest) => rest.read(buffer)?,
            Unpacking::Deflated(decoder) => decoder.read(buffer)?,
        };
        self.checksum.update(&buffer[..read]);
        Ok(read)
    }
}

/// Finds the directory by what stands at the very end.
fn directory(zip: &[u8]) -> Result<Directory<'_>, &'static str> {
    const NO_ZIP: &str = "it is no zip file, or its end is missing";
    let from = zip.len().saturating_sub(END_BYTES + usize::from(u16::MAX));
    let last = zip.len().checked_sub(END_BYTES).ok_or(NO_ZIP)?;
    let is_end =
        |at: &usize| zip[*at..].starts_with(&END) && Fields(&zip[at + 20..]).u16().map(usize::from) == Some(zip.len() - at - END_BYTES);
    let at = (from..=last).rev().find(is_end).ok_or(NO_ZIP)?;
    let mut end = Fields(&zip[at + 4..]);
    let short = "its end is torn";
    let (disk, of_directory) = (end.u16().ok_or(short)?, end.u16().ok_or(short)?);
    let (here, all) = (u64::from(end.u16().ok_or(short)?), u64::from(end.u16().ok_or(short)?));
    let (bytes, start) = (u64::from(end.u32().ok_or(short)?), u64::from(end.u32().ok_or(short)?));
    let mut told = (u32::from(disk), u32::from(of_directory), here, all, bytes, start);
    let mut ends = at;
    if let Some(locator) = at.checked_sub(20).filter(|at| zip[*at..].starts_with(&LOCATOR_64)) {
        let mut fields = Fields(&zip[locator + 8..]);
        let place = fields.u64().and_then(|place| usize::try_from(place).ok()).filter(|place| *place < locator).ok_or(short)?;
        let record = zip[place..].strip_prefix(&END_64).ok_or(short)?;
        let mut fields = Fields(record);
        fields.skip(12).ok_or(short)?;
        told = (
            fields.u32().ok_or(short)?,
            fields.u32().ok_or(short)?,
            fields.u64().ok_or(short)?,
            fields.u64().ok_or(short)?,
            fields.u64().ok_or(short)?,
            fields.u64().ok_or(short)?,
        );
        ends = place;
    }
    let (disk, of_directory, here, all, bytes, start) = told;
    if disk != 0 || of_directory != 0 || here != all {
        return Err("it is one part of several");
    }
    if start.checked_add(bytes) != Some(ends as u64) {
        return Err("its directory is not where it says");
    }
    let slice = usize::try_from(start).ok().and_then(|start| zip.get(start..ends)).ok_or(short)?;
    Ok(Directory { entries: all, bytes: slice, start })
}

/// Reads one entry of the directory, and the header that it leads to.
fn entry<'z>(zip: &'z [u8], rest: &mut &'z [u8], directory: u64) -> Result<Entry<'z>, InstallError> {
    let torn = || InstallError::Archive { path: "the archive".into(), reason: "its directory is torn".into() };
    let mut fields = Fields(rest.strip_prefix(&CENTRAL).ok_or_else(torn)?);
    let central = Central::read(&mut fields).ok_or_else(torn)?;
    *rest = fields.0;
    let refused = |refusal| InstallError::refused(String::from_utf8_lossy(central.name), refusal);
    // Bits 0, 6 and 13: encrypted in one way or another.
    if central.flags & (1 | 1 << 6 | 1 << 13) != 0 {
        return Err(refused(Refusal::Encrypted));
    }
    if !matches!(central.method, 0 | 8) {
        return Err(refused(Refusal::Method(central.method)));
    }
    // The kind of file, as Unix has it, whatever system the archive says that it is from: some programs look at nothing else.
    let mode = central.attributes >> 16;
    let is_folder = match mode & 0o170_000 {
        0o120_000 => return Err(refused(Refusal::Link)),
        0o040_000 => true,
        0 | 0o100_000 => central.name.ends_with(b"/"),
        _ => return Err(refused(Refusal::Special)),
    };
    let inconsistent = |what| refused(Refusal::Inconsistent(what));
    let header = usize::try_from(central.offset).ok().and_then(|offset| zip.get(offset..)).and_then(|at| at.strip_prefix(&LOCAL));
    let mut header = Fields(header.ok_or_else(|| inconsistent("there is no header where it should be"))?);
    let (flags, method, name, extra) = local(&mut header).ok_or_else(|| inconsistent("its header is torn"))?;
    if name != central.name || method != central.method || flags & 1 != 0 {
        return Err(inconsistent("its two headers differ"));
    }
    let header_bytes = (4 + 26 + name.len() + extra) as u64;
    let data = central.offset.checked_add(header_bytes);
    let end = data.and_then(|data| data.checked_add(central.packed)).filter(|end| *end <= directory);
    let (Some(data), Some(end)) = (data, end) else { return Err(inconsistent("its bytes end too late")) };
    let (Ok(from), Ok(to)) = (usize::try_from(data), usize::try_from(end)) else { return Err(inconsistent("its place")) };
    let packed = zip.get(from..to).ok_or_else(|| inconsistent("its place"))?;
    Ok(Entry {
        name: central.name,
        packed,
        size: central.size,
        checksum: central.checksum,
        is_deflated: central.method == 8,
        is_folder,
        may_run: mode & 0o111 != 0,
        from: central.offset,
        to: end,
    })
}

struct Central<'z> {
    flags: u16,
    method: u16,
    checksum: u32,
    packed: u64,
    size: u64,
    attributes: u32,
    offset: u64,
    name: &'z [u8],
}

impl<'z> Central<'z> {
    fn read(fields: &mut Fields<'z>) -> Option<Self> {
        fields.skip(4)?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        fields.skip(4)?;
        let checksum = fields.u32()?;
        let (packed, size) = (fields.u32()?, fields.u32()?);
        let (name, extra, comment) = (fields.u16()?, fields.u16()?, fields.u16()?);
        fields.skip(4)?;
        let (attributes, offset) = (fields.u32()?, fields.u32()?);
        let (name, extra) = (fields.take(name.into())?, fields.take(extra.into())?);
        fields.skip(comment.into())?;
        // What does not fit is told behind the name, in this order, and only what does not fit.
        let mut wide = wide(extra);
        let mut widened = |narrow: u32| if narrow == u32::MAX { wide.as_mut()?.u64() } else { Some(u64::from(narrow)) };
        let (size, packed, offset) = (widened(size)?, widened(packed)?, widened(offset)?);
        Some(Self { flags, method, checksum, packed, size, attributes, offset, name })
    }
}

/// The extra field number 1.
fn wide(extra: &[u8]) -> Option<Fields<'_>> {
    let mut fields = Fields(extra);
    loop {
        let (number, bytes) = (fields.u16()?, fields.u16()?);
        let field = fields.take(bytes.into())?;
        if number == 1 {
            return Some(Fields(field));
        }
    }
}

/// Of an entry's own header: flags, method, name, and how long the extra fields are. Sizes and checksum stand here or behind the bytes, and the
/// directory's are the ones that count.
fn local<'z>(fields: &mut Fields<'z>) -> Option<(u16, u16, &'z [u8], usize)> {
    fields.skip(2)?;
    let (flags, method) = (fields.u16()?, fields.u16()?);
    fields.skip(16)?;
    let (name, extra) = (fields.u16()?, fields.u16()?);
    Some((flags, method, fields.take(name.into())?, extra.into()))
}

/// Numbers one behind another, the lowest byte first.
struct Fields<'z>(&'z [u8]);

impl<'z> Fields<'z> {
    fn take(&mut self, bytes: usize) -> Option<&'z [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }
    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.take(bytes).map(|_| ())
    }
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }
    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }
    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }
    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}
