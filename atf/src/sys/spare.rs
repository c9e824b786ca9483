//! Spare room in a mapped file, for a last update when writing is no longer possible.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::ptr::{self, NonNull};

/// The size of mappings, in bytes, unless a file is larger.
const RESERVED: usize = 64 << 10;

/// A file in mapped memory, with room for a larger text. It can be stored even if the disk is full,
/// or the process has lost its permissions or descriptors, because its pages belong to the file.
#[derive(Debug)]
pub struct Spare {
    start: NonNull<u8>,
    reserved: usize,
    /// The size of the file, which may be smaller than the mapping.
    size: usize,
}

// SAFETY: the mapping belongs to this value alone, and is not tied to a thread.
unsafe impl Send for Spare {}

impl Spare {
    /// Maps the first `size` bytes of a file, which must have been written. The mapping replaces an
    /// `old` one at the same address, so that the addresses of the modules that a program loads do
    /// not depend on when its manifest is written.
    pub fn map(file: &File, size: usize, old: Option<Self>) -> Option<Self> {
        let old = old.filter(|old| size <= old.reserved);
        let reserved = old.as_ref().map_or(RESERVED.max(size), |old| old.reserved);
        let place = old
            .as_ref()
            .map_or(ptr::null_mut(), |old| old.start.as_ptr());
        let fixed = if old.is_some() { libc::MAP_FIXED } else { 0 };
        // The call replaces the old mapping, even if it fails.
        std::mem::forget(old);
        let (rights, number) = (libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
        let kind = libc::MAP_SHARED | fixed;
        // SAFETY: a new mapping overlaps no other memory. A fixed one has the address and the size
        // of an old one that only this function used.
        let start = unsafe { libc::mmap(place.cast(), reserved, rights, kind, number, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        Some(Self {
            start: NonNull::new(start.cast())?,
            reserved,
            size,
        })
    }

    /// Returns the size of the largest text.
    pub fn size(&self) -> u64 {
        self.size as u64
    }

    /// Replaces the file's text, and fills the rest with spaces. Returns false if there is no room,
    /// or the file system cannot store it.
    pub fn store(&self, text: &[u8]) -> bool {
        let Some(rest) = self.size.checked_sub(text.len()) else {
            return false;
        };
        if !self.is_stored() {
            return false;
        }
        let start = self.start.as_ptr();
        // SAFETY: the mapping has at least as many bytes as the text, as just checked, and the two
        // do not overlap, because nothing else refers to the mapping.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr(), start, text.len()) };
        // SAFETY: the rest of the mapping.
        unsafe { ptr::write_bytes(start.wrapping_add(text.len()), b' ', rest) };
        true
    }

    /// Returns whether all pages can be written. Without this check, a page that no longer exists,
    /// or for which a copy-on-write file system has no room, would kill the process with SIGBUS.
    fn is_stored(&self) -> bool {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            let (start, size) = (self.start.as_ptr().cast(), self.size);
            // SAFETY: the range is the mapping, whose bytes stay the same.
            let status = unsafe { libc::madvise(start, size, libc::MADV_POPULATE_WRITE) };
            // Kernels before 5.14 do not support this advice.
            status == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        true
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this value, and nothing refers to it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.reserved) };
    }
}
