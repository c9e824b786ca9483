//! Space for a file, of Linux and Android.

use std::fs::File;
use std::io;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// Gives the empty file `size` bytes with blocks behind them; false where the file system cannot.
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
