//! Stubs for systems on which allocating space and finding holes are not implemented.

use std::fs::File;
use std::io;

/// Allocates no space, and returns `false`.
pub(crate) fn set_aside(_file: &File, _size: u64) -> io::Result<bool> {
    Ok(false)
}

/// Treats every byte as stored.
pub(crate) fn next_data(_file: &File, offset: u64) -> io::Result<Option<u64>> {
    Ok(Some(offset))
}
