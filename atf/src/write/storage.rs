//! Where writers put their files.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use crate::platform;

/// What writers do to a file system, and nothing else: [`Disk`] does it, [`Memory`](super::Memory)
/// stands in for it and can refuse each step.
pub trait Storage: fmt::Debug + Send + Sync {
    /// Makes a folder and those above it, and says whether the folder is new.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn create_folder(&self, path: &Path) -> io::Result<bool>;

    /// Whether anything stands at this path, a symbolic link included.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Makes a file that is not there yet.
    ///
    /// # Errors
    ///
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists), and what the operating system says.
    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>>;

    /// Gives a file another name, in place of a file of that name.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes a folder without content.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a folder survive a loss of power.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Whether the files are those of the operating system, so that they can be mapped.
    fn is_disk(&self) -> bool {
        false
    }
}

/// A file that a [`Storage`] made.
pub trait StorageFile: fmt::Debug + Send + Sync {
    /// Writes bytes at `offset` from the start and says how many.
    ///
    /// # Errors
    ///
    /// What the operating system says. A writer repeats an interrupted write.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts or lengthens the file to `size` bytes.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn set_size(&mut self, size: u64) -> io::Result<()>;

    /// Makes the content survive a loss of power.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn sync(&mut self) -> io::Result<()>;
}

/// The file system of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Storage for Disk {
    fn create_folder(&self, path: &Path) -> io::Result<bool> {
        match fs::create_dir(path) {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Where a look at what stands there fails, that is the error, not that it exists.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return match fs::metadata(path)?.is_dir() {
                    true => Ok(false),
                    false => Err(error),
                };
            }
            Err(_) if path.is_dir() => return Ok(false),
            Err(error) => return Err(error),
        }
        fs::create_dir_all(path).map(|()| true)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        match fs::symlink_metadata(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        Ok(Box::new(DiskFile(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        platform::sync_folder(path)
    }

    fn is_disk(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct DiskFile(File);

impl StorageFile for DiskFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        platform::write_at(&self.0, offset, bytes)
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        platform::check_size(size)?;
        self.0.set_len(size)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }
}
