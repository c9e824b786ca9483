//! The file system operations of writers.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::platform;
use crate::sys::uncancelled;

/// All file system operations of the writers, which return operating system errors.
/// [`Disk`](super::Disk) is the disk; with the feature `testing`, `Memory` replaces it and can make
/// each operation fail.
#[expect(clippy::missing_errors_doc, reason = "described once, above")]
pub trait Storage: fmt::Debug + Send + Sync {
    /// Creates a folder and its ancestors, and returns whether the folder is new.
    fn create_folder(&self, path: &Path) -> io::Result<bool>;

    /// Returns whether anything exists at this path, including a symlink.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Creates a file. If it exists, the error is [`AlreadyExists`](io::ErrorKind::AlreadyExists).
    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>>;

    /// Renames a file, replacing an existing file of that name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// Syncs a folder, so that the names in it survive a power loss.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Creates a file like [`create`](Self::create), but returns it as a file of the operating
    /// system, open for reading and writing, so that it can be mapped. On a storage that is not a
    /// disk, the error is [`Unsupported`](io::ErrorKind::Unsupported).
    fn create_file(&self, path: &Path) -> io::Result<File> {
        let _ = path;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns a storage that keeps an existing folder open: it finds the files in it even if
    /// another user renames the folder and puts another one in its place. `None` if this storage
    /// does so anyway, or has no other users.
    fn held(&self, folder: &Path) -> io::Result<Option<Arc<dyn Storage>>> {
        let _ = folder;
        Ok(None)
    }

    /// Returns whether the files are real files of the operating system, which can be mapped.
    fn is_disk(&self) -> bool {
        false
    }
}

/// A file created by a [`Storage`]. Its methods return operating system errors, too.
#[expect(clippy::missing_errors_doc, reason = "described once, above")]
pub trait StorageFile: fmt::Debug + Send + Sync {
    /// Writes bytes at `offset` from the start and returns how many it wrote. Writers retry
    /// interrupted writes.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Truncates or extends the file to `size` bytes.
    fn set_size(&mut self, size: u64) -> io::Result<()>;

    /// Syncs the contents, so that they survive a power loss.
    fn sync(&mut self) -> io::Result<()>;

    /// Returns the open file of the operating system, if there is one, so that it can be mapped.
    fn as_file(&self) -> Option<&File> {
        None
    }
}

#[derive(Debug)]
pub(super) struct DiskFile(pub(super) File);

impl StorageFile for DiskFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        uncancelled(|| platform::write_at(&self.0, offset, bytes))
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        platform::check_size(size)?;
        self.0.set_len(size)
    }

    fn sync(&mut self) -> io::Result<()> {
        uncancelled(|| self.0.sync_all())
    }

    fn as_file(&self) -> Option<&File> {
        Some(&self.0)
    }
}
