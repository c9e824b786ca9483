//! Writes files inside a program that is not aware of them.

use std::fs;
use std::io;
use std::path::Path;

use atf::write::{BriefDisk, Storage, StorageFile};

use crate::guest::uncancelled;

/// Like [`BriefDisk`], but defers `pthread_cancel`: otherwise, a thread could be cancelled in the
/// middle of a hook, while it opens or writes a file. Creates no ancestors of a folder: if they are
/// missing, the program has moved them or changed its root directory.
#[derive(Debug)]
pub(crate) struct GuestDisk;

impl Storage for GuestDisk {
    fn create_folder(&self, path: &Path) -> io::Result<bool> {
        uncancelled(|| {
            path.parent().map(fs::metadata).transpose()?;
            BriefDisk.create_folder(path)
        })
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        uncancelled(|| BriefDisk.exists(path))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        let file = uncancelled(|| BriefDisk.create(path))?;
        Ok(Box::new(GuestFile(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        uncancelled(|| BriefDisk.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        uncancelled(|| BriefDisk.remove(path))
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        uncancelled(|| BriefDisk.remove_folder(path))
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        uncancelled(|| BriefDisk.sync_folder(path))
    }

    fn is_disk(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct GuestFile(Box<dyn StorageFile>);

impl StorageFile for GuestFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        uncancelled(|| self.0.write_at(offset, bytes))
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        uncancelled(|| self.0.set_size(size))
    }

    fn sync(&mut self) -> io::Result<()> {
        uncancelled(|| self.0.sync())
    }
}
