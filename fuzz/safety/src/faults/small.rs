//! Simulates a disk of limited size.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use atf::write::{Memory, StorageFile};

/// Returns in-memory files with limited total size. Existing bytes can always be overwritten.
pub(super) fn small_disk(space: u64) -> Memory {
    let memory = Memory::new();
    let left = Arc::new(Mutex::new(space));
    memory.wrap(move |_, file| {
        let (size, left) = (0, Arc::clone(&left));
        Box::new(File { file, size, left })
    });
    memory
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
