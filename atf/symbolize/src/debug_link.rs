//! Reads the name of a file's debug file.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use object::Object as _;
use object::read::ReadCache;

use crate::error::{Error, ErrorKind};
use crate::file::{LIMIT, Parts};

/// The contents of `.gnu_debuglink`.
pub(crate) struct DebugLink {
    /// The debug file's name, without a folder.
    pub(crate) name: String,
    /// The CRC-32 of the debug file.
    pub(crate) checksum: u32,
}

/// Returns the link of a file, if it can be read and has one.
pub(crate) fn debug_link(path: &Path) -> Option<DebugLink> {
    // Check first, because opening a pipe could block forever.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let cache = ReadCache::new(File::open(path).ok()?);
    let left = Cell::new(Some(LIMIT));
    let parts = Parts {
        cache: &cache,
        left: &left,
    };
    let file = object::File::parse(parts).ok()?;
    let (name, checksum) = file.gnu_debuglink().ok()??;
    let name = str::from_utf8(name).ok()?.to_owned();
    // A name with a slash could lead to any folder.
    let is_name = !name.is_empty() && !name.contains('/');
    is_name.then_some(DebugLink { name, checksum })
}

/// Returns the CRC-32 of a regular file.
pub(crate) fn checksum_of(path: &Path) -> Result<u32, Error> {
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = [0; 1 << 13];
    let mut read = || -> io::Result<()> {
        let mut file = File::open(path)?;
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                size => hasher.update(buffer.get(..size).unwrap_or_default()),
            }
        }
    };
    read().map_err(|error| Error::new(path, ErrorKind::Io(error)))?;
    Ok(hasher.finalize())
}
