//! Zip files byte by byte, so that they can be as bad as any.

use flate2::Crc;
use flate2::write::DeflateEncoder;
use std::io::Write;

/// An entry; what is not set is as it should be.
#[derive(Clone, Default)]
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    pub(super) content: Vec<u8>,
    pub(super) deflated: bool,
    pub(super) mode: Option<u32>,
    pub(super) flags: u16,
    pub(super) method: Option<u16>,
    pub(super) size: Option<u32>,
    pub(super) checksum: Option<u32>,
    /// In its own header, where that says otherwise.
    pub(super) local_name: Option<Vec<u8>>,
    /// Where the directory says that it is.
    pub(super) offset: Option<u32>,
    /// Behind its packed bytes, and counted among them.
    pub(super) behind: Vec<u8>,
}

impl Entry {
    pub(super) fn new(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        Self { name: name.as_ref().to_vec(), content: content.as_ref().to_vec(), ..Self::default() }
    }
    pub(super) fn skill(id: &str) -> Self {
        Self::new(format!("{id}/SKILL.md"), format!("---\nname: {id}\ndescription: Does {id}.\n---\nBody\n"))
    }
    pub(super) fn deflated(self) -> Self {
        Self { deflated: true, ..self }
    }
    pub(super) fn mode(self, mode: u32) -> Self {
        Self { mode: Some(mode), ..self }
    }
    /// Its header and bytes.
    pub(super) fn local(&self) -> Vec<u8> {
        let (packed, method, checksum) = self.packed();
        let name = self.local_name.as_ref().unwrap_or(&self.name);
        let mut bytes = b"PK\x03\x04".to_vec();
        self.common(&mut bytes, method, checksum, packed.len());
        bytes.extend(length(name.len()));
        bytes.extend([0, 0]);
        bytes.extend(name);
        bytes.extend(packed);
        bytes
    }

    fn packed(&self) -> (Vec<u8>, u16, u32) {
        let mut checksum = Crc::new();
        checksum.update(&self.content);
        let mut packed = self.content.clone();
        if self.deflated {
            let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(&self.content).unwrap();
            packed = encoder.finish().unwrap();
        }
        packed.extend(&self.behind);
        (packed, self.method.unwrap_or(if self.deflated { 8 } else { 0 }), self.checksum.unwrap_or(checksum.sum()))
    }
    fn common(&self, bytes: &mut Vec<u8>, method: u16, checksum: u32, packed: usize) {
        bytes.extend([20, 0]);
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend(method.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(checksum.to_le_bytes());
        bytes.extend(u32::try_from(packed).unwrap().to_le_bytes());
        bytes.extend(self.size.unwrap_or(u32::try_from(self.content.len()).unwrap()).to_le_bytes());
    }
    fn central(&self, at: usize) -> Vec<u8> {
        let (packed, method, checksum) = self.packed();
        // Made on Unix.
        let mut bytes = b"PK\x01\x02\x14\x03".to_vec();
        self.common(&mut bytes, method, checksum, packed.len());
        bytes.extend(length(self.name.len()));
        bytes.extend([0; 8]);
        bytes.extend((self.mode.unwrap_or(0o100_644) << 16).to_le_bytes());
        bytes.extend(self.offset.unwrap_or(u32::try_from(at).unwrap()).to_le_bytes());
        bytes.extend(&self.name);
        bytes
    }
}

fn length(bytes: usize) -> [u8; 2] {
    u16::try_from(bytes).unwrap().to_le_bytes()
}

pub(super) fn zip(entries: &[Entry]) -> Vec<u8> {
    zip_that_says(entries, entries.len())
}

/// With another number of entries at its end than there are.
pub(super) fn zip_that_says(entries: &[Entry], count: usize) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        directory.extend(entry.central(bytes.len()));
        bytes.extend(entry.local());
    }
    let start = u32::try_from(bytes.len()).unwrap();
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(length(count));
    bytes.extend(length(count));
    bytes.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}
