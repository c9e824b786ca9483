//! Decompresses the ELF file in `.gnu_debugdata` (`MiniDebugInfo`).

use std::io::{self, Read as _};

use lzma_rust2::XzReader;

use crate::file::{Fault, reserve};

/// The maximum size of the decompressed file: 256 MiB. Decompressing 100 MiB takes about a second.
const LARGEST: usize = 256 << 20;

/// The maximum ratio of the file's size to the section's size. Symbol tables reach about 10, files
/// of zeros 7000.
const RATIO: usize = 100;

/// The memory in KiB that the decompressor may take: twice what `xz -9` needs.
const MEMORY: u32 = 128 << 10;

pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>, Fault> {
    let limit = LARGEST.min(packed.len().saturating_mul(RATIO));
    let mut reader = XzReader::new_mem_limit(packed, false, MEMORY);
    let mut file = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let size = match reader.read(&mut buffer) {
            Ok(0) => return Ok(file),
            Ok(size) => size,
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => return Err(Fault::Memory),
            Err(error) => return Err(Fault::Malformed(error.to_string())),
        };
        if size > limit.saturating_sub(file.len()) {
            let what = format!("decompresses to more than {limit} bytes");
            return Err(Fault::Malformed(what));
        }
        reserve(&mut file, size)?;
        file.extend_from_slice(buffer.get(..size).unwrap_or_default());
    }
}
