//! Files of Unix.

use std::fs::{File, FileType};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::Path;

/// Reads at a position, whatever the cursor.
pub(crate) fn read_at(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

/// Writes at a position, whatever the cursor.
pub(crate) fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    file.write_at(bytes, offset)
}

/// Makes the names in a folder survive a loss of power.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// What kind of special file it is.
pub(super) fn special(file_type: FileType) -> Option<&'static str> {
    match file_type {
        t if t.is_fifo() => Some("FIFO"),
        t if t.is_socket() => Some("socket"),
        t if t.is_char_device() => Some("character device"),
        t if t.is_block_device() => Some("block device"),
        _ => None,
    }
}
