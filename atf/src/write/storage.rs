//! The file system operations of writers.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::platform;
use crate::sys::uncancelled;

/// All file system operations of the writers. [`Disk`](super::Disk) is the disk; with the feature
/// `testing`, `Memory` replaces it and can make each operation fail.
pub trait Storage: fmt::Debug + Send + Sync {
    /// Creates a folder and its ancestors, and returns whether the folder is new.
    ///
    /// # Errors
    ///
    /// Operating system errors.
    fn create_folder(&self, path: &Path) -> io::Result<bool>;

    /// Returns whether anything exists at this path, including a symlink.
    ///
    /// # Errors
    ///
    /// Operating system errors.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Creates a file that does not exist yet.
    ///
    /// # Errors
    ///
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists), or another operating system error.
    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>>;

    /// Renames a file, replacing an existing file of that name.
    ///
    /// # Errors
    ///
    /// Operating system errors.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// Operating system errors.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    ///
    /// # Errors
    ///
    /// Operating system errors.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// Syncs a folder, so that the names in it survive a power loss.
    ///
    /// # Errors
    ///
    /// Operating system errors.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Creates a file like [`create`](Self::create), but returns it as a file of the operating
    /// system, open for reading and writing, so that it can be mapped.
    ///
    /// # Errors
    ///
    /// The errors of [`create`](Self::create); [`Unsupported`](io::ErrorKind::Unsupported) on a
    /// storage that is not a disk.
    fn create_file(&self, path: &Path) -> io::Result<File> {
        let _ = path;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns a storage that keeps an existing folder open: it finds the files in it even if
    /// another user renames the folder and puts another one in its place. `None` if this storage
    /// does so anyway, or has no other users.
    ///
    /// # Errors
    ///
    /// Operating system errors.
    fn held(&self, folder: &Path) -> io::Result<Option<Arc<dyn Storage>>> {
        let _ = folder;
        Ok(None)
    }

    /// Returns whether the files are real files of the operating system, which can be mapped.
    fn is_disk(&self) -> bool {
        false
    }
}

/// A file created by a [`Storage`].
pub trait StorageFile: fmt::Debug + Send + Sync {
    /// Writes bytes at `offset` from the start and returns how many it wrote.
    ///
    /// # Errors
    ///
    /// Operating system errors. Writers retry interrupted writes.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Truncates or extends the file to `size` bytes.
    ///
    /// # Errors
    ///
    /// Operating system errors.
    fn set_size(&mut self, size: u64) -> io::Result<()>;

    /// Syncs the contents, so that they survive a power loss.
    ///
    /// # Errors
    ///
    /// Operating system errors.
    fn sync(&mut self) -> io::Result<()>;
}

#[derive(Debug)]
pub(super) struct DiskFile(pub(super) File);

impl AsMut<dyn StorageFile> for DiskFile {
    fn as_mut(&mut self) -> &mut (dyn StorageFile + 'static) {
        self
    }
}

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
}
