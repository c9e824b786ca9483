//! File operations that differ between systems. There is one source file per kind of system.

#[cfg_attr(unix, path = "files_unix.rs")]
#[cfg_attr(not(unix), path = "files_windows.rs")]
mod files;
#[cfg_attr(unix, path = "folder_unix.rs")]
#[cfg_attr(not(unix), path = "folder_elsewhere.rs")]
mod folder;
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "space_linux.rs"]
mod space;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[path = "space_elsewhere.rs"]
mod space;

use std::fs::{File, FileType, Metadata};
use std::io::{self, Seek, SeekFrom, Write};

pub(crate) use files::{Mode, has_other_names, open, read_at, still_stored, sync_folder, write_at};
pub(crate) use folder::{Folder, Lent, create_new, make_folder, same};
pub(crate) use space::{next_data, set_aside};

/// Metadata that identifies a file and stays the same for its lifetime.
///
/// The inode number of a deleted file is reused, often immediately. The creation time distinguishes
/// the two files, if the file system records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    created: Option<std::time::SystemTime>,
}

impl Identity {
    pub(crate) fn new(metadata: &Metadata) -> Self {
        Self {
            #[cfg(unix)]
            device_and_inode: {
                use std::os::unix::fs::MetadataExt;
                (metadata.dev(), metadata.ino())
            },
            created: metadata.created().ok(),
        }
    }
}

/// Returns the name of a file type other than a regular file, for an error message.
pub(crate) fn name(file_type: FileType) -> &'static str {
    if file_type.is_dir() {
        "folder"
    } else {
        files::special(file_type).unwrap_or("special file")
    }
}

/// Returns whether a file was `found`; other errors than "not found" remain errors.
pub(crate) fn exists<T>(found: io::Result<T>) -> io::Result<bool> {
    match found {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Checks that the process may create a file of `size` bytes.
pub(crate) fn check_size(size: u64) -> io::Result<()> {
    match size.checked_sub(1) {
        Some(last) => files::within_limit(last, &[0]).map(drop),
        None => Ok(()),
    }
}

/// A file written from start to finish, up to the process's file-size limit.
#[derive(Debug)]
pub(crate) struct Output(pub(crate) File);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = files::within_limit(self.0.stream_position()?, bytes)?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}
