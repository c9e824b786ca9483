//! C's `fwrite`, which existing tracers use to write events.

#![allow(unsafe_code, reason = "C streams need it")]

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::NonNull;

use zerocopy::{Immutable, IntoBytes};

/// A C stream.
#[derive(Debug)]
pub(crate) struct Stream(NonNull<libc::FILE>);

impl Stream {
    /// Creates a file, or opens an existing one to overwrite it.
    pub(crate) fn open(path: &Path, over_old: bool) -> io::Result<Self> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        let mode = if over_old { c"r+b" } else { c"wb" };
        // SAFETY: both strings end in 0 and live until the call returns.
        let stream = unsafe { libc::fopen(path.as_ptr(), mode.as_ptr()) };
        NonNull::new(stream)
            .map(Self)
            .ok_or_else(io::Error::last_os_error)
    }

    #[inline]
    pub(crate) fn write<T: IntoBytes + Immutable>(&mut self, record: &T) -> io::Result<()> {
        let bytes = record.as_bytes();
        // SAFETY: the length is the number of bytes, and the stream is open: it is closed only when
        // `self` is dropped.
        match unsafe { libc::fwrite(bytes.as_ptr().cast(), bytes.len(), 1, self.0.as_ptr()) } {
            1 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Goes back to the start of the file.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        // SAFETY: the stream is open.
        match unsafe { libc::fseek(self.0.as_ptr(), 0, libc::SEEK_SET) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is open, and nothing can use it afterwards.
        unsafe { libc::fclose(self.0.as_ptr()) };
    }
}
