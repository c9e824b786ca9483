//! Files of Windows.

use std::fs::{File, FileType};
use std::io;
use std::os::windows::fs::FileExt;
use std::path::Path;

/// Reads at a position, and moves the cursor, which nothing here uses.
pub(crate) fn read_at(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    file.seek_read(buffer, offset)
}

/// Writes at a position, and moves the cursor, which nothing here uses.
pub(crate) fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    file.seek_write(bytes, offset)
}

/// As many of the bytes as may be written: processes have no limit.
pub(crate) fn within_limit(_offset: u64, bytes: &[u8]) -> io::Result<&[u8]> {
    Ok(bytes)
}

/// A folder cannot be opened as a file; the file system keeps names by itself.
pub(crate) fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// What kind of special file it is: std does not tell.
pub(super) fn special(_file_type: FileType) -> Option<&'static str> {
    None
}

/// Who may do what with a file or a folder: its folder's rules hold for what is made in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mode;

impl Mode {
    pub(crate) const ANY: Self = Self;

    pub(crate) fn of(_path: &Path) -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) fn limited_to(self, _other: Self) -> Self {
        self
    }

    pub(crate) fn closed(self) -> Self {
        self
    }

    pub(crate) fn set(self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}
