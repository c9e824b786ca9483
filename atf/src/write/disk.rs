//! Disks, as the storage of writers.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::held::Held;
use super::storage::{DiskFile, Storage, StorageFile};
use crate::platform;
use crate::sys::uncancelled;

/// The operating system's file system. No thread is [cancelled](uncancelled) while it uses it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

/// Creates a folder whose parent exists. Returns whether the folder is new.
fn create_folder(path: &Path) -> io::Result<bool> {
    match platform::make_folder(path) {
        Ok(()) => Ok(true),
        // If the existing path cannot be examined, return that error, not `AlreadyExists`.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::metadata(path)?.is_dir() {
                Ok(false)
            } else {
                Err(error)
            }
        }
        Err(_) if path.is_dir() => Ok(false),
        Err(error) => Err(error),
    }
}

impl Storage for Disk {
    fn create_folder(&self, path: &Path) -> io::Result<bool> {
        // `fs::create_dir_all` would return `AlreadyExists` for a parent that cannot be examined.
        match (create_folder(path), path.parent()) {
            (Err(error), Some(parent))
                if error.kind() == io::ErrorKind::NotFound && parent != Path::new("") =>
            {
                self.create_folder(parent)?;
                create_folder(path)
            }
            (result, _) => result,
        }
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        platform::exists(fs::symlink_metadata(path))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        Ok(Box::new(DiskFile(self.create_file(path)?)))
    }

    fn create_file(&self, path: &Path) -> io::Result<File> {
        platform::create_new(path)
    }

    fn held(&self, folder: &Path) -> io::Result<Option<Arc<dyn Storage>>> {
        if cfg!(miri) {
            // Miri does not support the calls.
            return Ok(None);
        }
        Ok(Some(Arc::new(Held::open(folder, false)?)))
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
        uncancelled(|| platform::sync_folder(path))
    }

    fn is_disk(&self) -> bool {
        true
    }
}

/// Returns the disk below an existing folder, for writers inside another program, which may close
/// file descriptors that it did not open and reuse their numbers for its own files. A file is open
/// only during a write, so the number of writers is not limited by the program's descriptor limit
/// either.
///
/// The program may later lose permission to open files. The folder, the folders below it and their
/// files therefore also keep descriptors, as long as numbers are free in the top sixteenth of those
/// that the program may open, not counting numbers from 1024 on. Before each use, the device and
/// inode are compared. A file without a descriptor is opened by its name, and compared in the same
/// way.
///
/// # Errors
///
/// Operating system errors.
pub fn brief_disk(folder: &Path) -> io::Result<Arc<dyn Storage>> {
    Ok(Arc::new(Held::open(folder, true)?))
}
