//! Writes files inside a program that is not aware of them.

use std::fs;
use std::io;
use std::path::Path;

use atf::write::{BriefDisk, Storage, StorageFile};

/// Like [`BriefDisk`], but creates no ancestors of a folder: if they are missing, the program has
/// moved them or changed its root directory.
#[derive(Debug)]
pub(crate) struct GuestDisk;

impl Storage for GuestDisk {
    fn create_folder(&self, path: &Path) -> io::Result<bool> {
        path.parent().map(fs::metadata).transpose()?;
        BriefDisk.create_folder(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        BriefDisk.exists(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        BriefDisk.create(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        BriefDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        BriefDisk.remove(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        BriefDisk.remove_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        BriefDisk.sync_folder(path)
    }

    fn is_disk(&self) -> bool {
        BriefDisk.is_disk()
    }
}
