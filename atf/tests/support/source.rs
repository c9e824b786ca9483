//! Sources with unusual reads.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use atf::ReadAt;

type Read = dyn Fn(&[u8], u64, &mut [u8]) -> io::Result<usize> + Send + Sync;

/// Bytes that a function reads.
pub(crate) struct Source {
    bytes: Vec<u8>,
    read: Box<Read>,
}

impl Source {
    /// Creates a source. `read` receives the bytes, the offset, and the buffer to fill.
    pub(crate) fn new(
        bytes: Vec<u8>,
        read: impl Fn(&[u8], u64, &mut [u8]) -> io::Result<usize> + Send + Sync + 'static,
    ) -> Self {
        let read = Box::new(read);
        Self { bytes, read }
    }
}

impl ReadAt for Source {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (self.read)(&self.bytes, offset, buffer)
    }
}

/// How often a source was read, and how many bytes were read.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) reads: AtomicU64,
    pub(crate) bytes: AtomicU64,
}

/// Returns a source that counts its reads.
pub(crate) fn counted(bytes: Vec<u8>) -> (Source, Arc<Counts>) {
    let counts = Arc::<Counts>::default();
    let counter = Arc::clone(&counts);
    let source = Source::new(bytes, move |bytes, offset, buffer| {
        let read = bytes.read_at(offset, buffer)?;
        counter.reads.fetch_add(1, Ordering::Relaxed);
        counter.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    });
    (source, counts)
}
