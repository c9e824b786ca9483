//! A source that counts the bytes read.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use atf::ReadAt;

/// Bytes that are read by offset, and a counter of the bytes read.
#[derive(Debug, Clone)]
pub(crate) struct Counted(pub(crate) Vec<u8>, pub(crate) Arc<AtomicU64>);

impl ReadAt for Counted {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let read = (&self.0[..]).read_at(offset, buffer)?;
        self.1.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
