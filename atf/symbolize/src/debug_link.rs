//! The name of a file's debug file.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use object::{Endian as _, Endianness};

use crate::error::{Error, ErrorKind, LIMIT};

/// The contents of `.gnu_debuglink`.
#[derive(Debug, Clone)]
pub(crate) struct DebugLink {
    /// The debug file's name, without a folder.
    pub(crate) name: String,
    /// The CRC-32 of the debug file.
    pub(crate) checksum: u32,
}

impl DebugLink {
    /// Decodes the section: a name that ends with a zero byte, and the checksum at the next multiple
    /// of four bytes.
    pub(crate) fn decode(endian: Endianness, section: &[u8]) -> Option<Self> {
        let size = section.iter().position(|byte| *byte == 0)?;
        let name = str::from_utf8(section.get(..size)?).ok()?;
        let checksum = section.get(size.checked_add(1)?.checked_next_multiple_of(4)?..)?;
        // A name with a slash could lead to any folder.
        let is_name = !name.is_empty() && !name.contains('/');
        is_name.then_some(Self {
            name: name.to_owned(),
            checksum: endian.read_u32(*checksum.first_chunk()?),
        })
    }
}

/// Returns the CRC-32 of a regular file of at most [`LIMIT`] bytes.
pub(crate) fn checksum_of(path: &Path) -> Result<u32, Error> {
    let io = |error| Error::new(path, ErrorKind::Io(error));
    let file = File::open(path).map_err(io)?;
    if file.metadata().map_err(io)?.len() > LIMIT {
        return Err(Error::new(path, ErrorKind::TooLarge));
    }
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = [0; 1 << 13];
    let mut file = file.take(LIMIT);
    let mut read = || -> io::Result<()> {
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                size => hasher.update(buffer.get(..size).unwrap_or_default()),
            }
        }
    };
    read().map_err(io)?;
    Ok(hasher.finalize())
}
