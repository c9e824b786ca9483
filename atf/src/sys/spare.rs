//! Room at the end of a file for its last contents, when nothing can be written any more.

use std::fs::File;
use std::io;
use std::ptr;

use memmap2::{MmapOptions, MmapRaw};

/// A file in mapped memory, with room for a larger text. It can be stored even if the disk is full,
/// or the process has lost its permissions or descriptors, because its pages belong to the file.
#[derive(Debug)]
pub(crate) struct Spare(MmapRaw);

impl Spare {
    /// Maps the first `size` bytes of a file, which must have been written.
    pub(crate) fn of(file: &File, size: usize) -> io::Result<Self> {
        MmapOptions::new().len(size).map_raw(file).map(Self)
    }

    /// Returns the size of the largest text.
    pub(crate) fn size(&self) -> u64 {
        self.0.len() as u64
    }

    /// Replaces the file's text, and fills the rest with spaces. Returns false if there is no room,
    /// or the file system cannot store it.
    pub(crate) fn store(&self, text: &[u8]) -> bool {
        let Some(rest) = self.0.len().checked_sub(text.len()) else {
            return false;
        };
        if !self.is_stored() {
            return false;
        }
        let start = self.0.as_mut_ptr();
        // SAFETY: the mapping has at least as many bytes as the text, as just checked, and the two
        // do not overlap, because nothing else refers to the mapping.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr(), start, text.len()) };
        // SAFETY: the rest of the mapping.
        unsafe { ptr::write_bytes(start.wrapping_add(text.len()), b' ', rest) };
        true
    }

    /// Returns whether all pages can be written. Without this, a page that is gone, or that a file
    /// system that copies on write has no room for, would kill the process with SIGBUS.
    fn is_stored(&self) -> bool {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            let (start, size) = (self.0.as_mut_ptr().cast(), self.0.len());
            // SAFETY: the range is the mapping, whose bytes stay the same.
            let status = unsafe { libc::madvise(start, size, libc::MADV_POPULATE_WRITE) };
            // Kernels before 5.14 do not know this advice.
            status == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::fs;

    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri cannot map files")]
    fn a_text_replaces_the_file_unless_there_is_no_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fs::write(&path, "a longer text").unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let spare = Spare::of(&file, 13).unwrap();
        drop(file);
        assert!(spare.store(b"short"));
        assert_eq!(fs::read(&path).unwrap(), b"short        ");
        assert!(!spare.store(b"a text too long"));
        assert_eq!(fs::read(&path).unwrap(), b"short        ");
        // Only on Linux, a page that is gone does not kill the process.
        if cfg!(target_os = "linux") {
            File::options()
                .write(true)
                .open(&path)
                .unwrap()
                .set_len(0)
                .unwrap();
            assert!(!spare.store(b"short"));
        }
    }
}
