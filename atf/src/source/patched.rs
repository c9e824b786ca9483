//! A source whose first bytes are replaced.

use std::io;

use super::{Input, ReadAt};
use crate::wire::HEADER_SIZE;

impl Input {
    /// Returns the same input with its header replaced.
    pub(crate) fn with_header(self, header: [u8; HEADER_SIZE]) -> Self {
        self.wrapped(|file| Patched { file, header })
    }
}

/// A file whose header is replaced.
struct Patched {
    file: Input,
    header: [u8; HEADER_SIZE],
}

impl ReadAt for Patched {
    fn size(&self) -> u64 {
        self.file.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match usize::try_from(offset)
            .ok()
            .and_then(|at| self.header.get(at..))
        {
            Some(mut rest) if !rest.is_empty() => io::Read::read(&mut rest, buffer),
            _ => self.file.read(offset, buffer).map_err(io::Error::other),
        }
    }

    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        if offset < HEADER_SIZE as u64 {
            return Ok(Some(offset));
        }
        self.file.next_data(offset).map_err(io::Error::other)
    }
}
