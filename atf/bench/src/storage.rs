//! Storage for the timed writers.

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use atf::write::{Disk, Storage, StorageFile};

/// The disk. Existing files are overwritten, so that their pages are reused.
#[derive(Debug)]
pub(crate) struct OverOld;

impl Storage for OverOld {
    fn create_folder(&self, path: &Path) -> io::Result<bool> {
        Disk.create_folder(path)
    }

    fn exists(&self, _path: &Path) -> io::Result<bool> {
        Ok(false)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        Ok(Box::new(OldFile(self.create_file(path)?)))
    }

    fn create_file(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Disk.remove(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        Disk.remove_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        Disk.sync_folder(path)
    }

    fn is_disk(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct OldFile(File);

impl StorageFile for OldFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_at(bytes, offset)
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.0.set_len(size)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }
}

/// A writer that discards all bytes.
#[derive(Debug)]
pub(crate) struct Nowhere;

impl Storage for Nowhere {
    fn create_folder(&self, _path: &Path) -> io::Result<bool> {
        Ok(false)
    }

    fn exists(&self, _path: &Path) -> io::Result<bool> {
        Ok(false)
    }

    fn create(&self, _path: &Path) -> io::Result<Box<dyn StorageFile>> {
        Ok(Box::new(Self))
    }

    fn rename(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

impl StorageFile for Nowhere {
    fn write_at(&mut self, _offset: u64, bytes: &[u8]) -> io::Result<usize> {
        Ok(black_box(bytes).len())
    }

    fn set_size(&mut self, _size: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
