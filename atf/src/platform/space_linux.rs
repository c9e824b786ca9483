//! Allocates space and finds holes on Linux and Android.

use std::fs::File;
use std::io;

use crate::sys;

/// Allocates `size` bytes for the empty file; returns false if the file system cannot.
pub(crate) fn set_aside(file: &File, size: u64) -> io::Result<bool> {
    loop {
        let error = match sys::allocate(file, size) {
            Ok(()) => return Ok(true),
            Err(error) => error,
        };
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EOPNOTSUPP | libc::ENOSYS) => return Ok(false),
            _ => return Err(error),
        }
    }
}

/// Returns the offset of the next stored byte at or after `offset`, past any hole; `None` after the
/// last one.
pub(crate) fn next_data(file: &File, offset: u64) -> io::Result<Option<u64>> {
    match sys::seek_data(file, offset) {
        Ok(data) => Ok(Some(data)),
        Err(error) => match error.raw_os_error() {
            Some(libc::ENXIO) => Ok(None),
            // The file system does not support holes.
            Some(libc::EINVAL | libc::EOPNOTSUPP) => Ok(Some(offset)),
            _ => Err(error),
        },
    }
}
