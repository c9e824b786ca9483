//! File operations on Windows.

use std::fs::{File, FileType, Metadata};
use std::io;
use std::os::windows::fs::FileExt;
use std::path::Path;

pub(crate) fn open(path: &Path, _follow_links: bool) -> io::Result<File> {
    File::open(path)
}

/// Reads at an offset. Also moves the cursor, which nothing here uses.
pub(crate) fn read_at(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    file.seek_read(buffer, offset)
}

/// Returns `read`, because the system does not truncate a file during a read.
pub(crate) fn still_stored(_file: &File, _offset: u64, read: usize) -> io::Result<usize> {
    Ok(read)
}

/// Writes at an offset. Also moves the cursor, which nothing here uses.
pub(crate) fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    file.seek_write(bytes, offset)
}

/// Returns all the bytes, because processes have no file-size limit.
pub(crate) fn within_limit(_offset: u64, bytes: &[u8]) -> io::Result<&[u8]> {
    Ok(bytes)
}

/// Does nothing: a folder cannot be opened as a file, and the file system persists names itself.
pub(crate) fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns `None`, because std does not report the type of a special file.
pub(super) fn special(_file_type: FileType) -> Option<&'static str> {
    None
}

/// Returns `false`, because std does not report hard links.
pub(crate) fn has_other_names(_metadata: &Metadata) -> bool {
    false
}

/// The permissions of a file or folder. Empty, because new files inherit their permissions from
/// their folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mode;

impl Mode {
    pub(crate) const ANY: Self = Self;

    pub(crate) fn read(_path: &Path) -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) fn limited_to(self, _other: Self) -> Self {
        self
    }

    pub(crate) fn shared_with(self, _other: Self) -> Self {
        self
    }

    pub(crate) fn closed(self) -> Self {
        self
    }

    pub(crate) fn set(self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn set_on(self, _file: &File) -> io::Result<()> {
        Ok(())
    }
}
