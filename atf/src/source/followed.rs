//! A source with in-memory bytes appended.

use std::io;

use super::{Input, ReadAt};

impl Input {
    /// Returns the same input with `tail` appended.
    pub(crate) fn followed_by(self, tail: Vec<u8>) -> Self {
        self.wrapped(|input| Followed { input, tail })
    }
}

/// A source followed by in-memory bytes.
struct Followed {
    input: Input,
    tail: Vec<u8>,
}

impl ReadAt for Followed {
    fn size(&self) -> u64 {
        self.input.size().saturating_add(self.tail.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.input.size().saturating_sub(offset);
        if left == 0 {
            let offset = offset.saturating_sub(self.input.size());
            return self.tail.read_at(offset, buffer);
        }
        let size = usize::try_from(left).unwrap_or(usize::MAX);
        let size = size.min(buffer.len());
        // `size` is at most the length of `buffer`.
        let (buffer, _) = buffer.split_at_mut(size);
        self.input
            .read(offset, buffer)
            .map_err(|error| io::Error::other(error.to_string()))
    }
}
