//! Allocating space and finding holes, on Linux and Android.

use std::fs::File;
use std::io;

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use rustix::io::Errno;

/// Allocates `size` bytes for the empty file; returns false if the file system cannot.
pub(crate) fn set_aside(file: &File, size: u64) -> io::Result<bool> {
    loop {
        return match fallocate(file, FallocateFlags::empty(), 0, size) {
            Ok(()) => Ok(true),
            Err(Errno::INTR) => continue,
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
            Err(errno) => Err(errno.into()),
        };
    }
}

/// Returns the offset of the next stored byte at or after `offset`, past any hole; `None` after the
/// last one.
pub(crate) fn next_data(file: &File, offset: u64) -> io::Result<Option<u64>> {
    match seek(file, SeekFrom::Data(offset)) {
        Ok(data) => Ok(Some(data)),
        Err(Errno::NXIO) => Ok(None),
        // The file system does not support holes.
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(Some(offset)),
        Err(errno) => Err(errno.into()),
    }
}
