//! Simulates a disk of limited size.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use atf::write::{Memory, Storage, StorageFile};

/// Files in memory with a limit on their total size. Existing bytes can always be overwritten.
#[derive(Debug, Clone)]
pub(super) struct SmallDisk {
    pub(super) memory: Memory,
    left: Arc<Mutex<u64>>,
}

impl SmallDisk {
    pub(super) fn new(space: u64) -> Self {
        Self {
            memory: Memory::new(),
            left: Arc::new(Mutex::new(space)),
        }
    }
}

impl Storage for SmallDisk {
    fn create_folder(&self, path: &Path) -> io::Result<bool> {
        self.memory.create_folder(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.memory.exists(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        Ok(Box::new(File {
            file: self.memory.create(path)?,
            size: 0,
            left: Arc::clone(&self.left),
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.memory.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.memory.remove(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.memory.remove_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.memory.sync_folder(path)
    }
}

#[derive(Debug)]
struct File {
    file: Box<dyn StorageFile>,
    size: u64,
    left: Arc<Mutex<u64>>,
}

impl StorageFile for File {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.size.saturating_sub(offset) + *left;
        let fits = usize::try_from(free).unwrap_or(usize::MAX).min(bytes.len());
        if fits == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let written = self.file.write_at(offset, &bytes[..fits])?;
        let end = offset + written as u64;
        *left -= end.saturating_sub(self.size);
        self.size = self.size.max(end);
        Ok(written)
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.file.set_size(size)?;
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left += self.size.saturating_sub(size);
        self.size = size;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}
