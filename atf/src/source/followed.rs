//! A source with in-memory bytes appended.

use std::io;

use super::{Input, ReadAt, Unreadable};

/// Bytes to append to a source, from another file.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// The number of bytes that are missing before the tail, which read as zeros.
    pub(crate) missing: usize,
    pub(crate) bytes: Vec<u8>,
    /// The offset of the first byte in the file that the bytes come from.
    pub(crate) origin: u64,
    /// The unreadable ranges, which read as zeros, by their offsets after appending.
    pub(crate) unreadable: Unreadable,
}

impl Input {
    /// Returns the same input with `tail` appended.
    pub(crate) fn followed_by(self, tail: Tail) -> Self {
        let end = self.size();
        let start = end.saturating_add(tail.missing as u64);
        let mut bytes = vec![0; tail.missing];
        bytes.extend(tail.bytes);
        let mut all = self.wrapped(|input| Followed { input, tail: bytes });
        all.unreadable.add(end..start);
        for range in tail.unreadable.iter() {
            all.unreadable.add(range.clone());
        }
        all.appended = Some((start, tail.origin));
        all
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

    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        let end = self.input.size();
        if offset >= end {
            return Ok(Some(offset));
        }
        let data = self.input.next_data(offset).map_err(io::Error::other)?;
        Ok(Some(data.unwrap_or(end)))
    }
}
