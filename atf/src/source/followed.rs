//! A source with in-memory bytes appended or with its header replaced.

use std::io;

use super::{Input, ReadAt, Unreadable};
use crate::error::{Result, push};
use crate::wire::HEADER_SIZE;

/// Bytes to append to a source, from another file.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// The number of bytes that are missing before the tail, which read as zeros.
    pub(crate) missing: u64,
    pub(crate) bytes: Sparse,
    /// The offset of the first byte in the file that the bytes come from.
    pub(crate) origin: u64,
    /// The unreadable ranges, which read as zeros, by their offsets after appending.
    pub(crate) unreadable: Unreadable,
}

/// The size of a block of [`Sparse`] bytes.
const BLOCK: usize = 4 << 10;

/// Bytes in memory, except for blocks of zeros: a session may have thousands of sparse files that
/// are much larger than the space that they take on the disk.
#[derive(Debug, Default)]
pub(crate) struct Sparse {
    size: usize,
    /// The contents of the blocks that are not all zeros, in order.
    stored: Vec<u8>,
    /// The numbers of these blocks.
    blocks: Vec<usize>,
}

impl Sparse {
    pub(crate) fn new(mut bytes: Vec<u8>) -> Result<Self> {
        const ZEROS: [u8; BLOCK] = [0; BLOCK];
        let size = bytes.len();
        let mut blocks = Vec::new();
        for (number, block) in bytes.chunks(BLOCK).enumerate() {
            if !ZEROS.starts_with(block) {
                push(&mut blocks, number)?;
            }
        }
        let mut stored = 0_usize;
        for number in &blocks {
            let start = number.saturating_mul(BLOCK);
            let end = size.min(start.saturating_add(BLOCK));
            bytes.copy_within(start..end, stored);
            stored = stored.saturating_add(end.saturating_sub(start));
        }
        bytes.truncate(stored);
        bytes.shrink_to_fit();
        Ok(Self {
            size,
            stored: bytes,
            blocks,
        })
    }

    pub(crate) fn size(&self) -> u64 {
        self.size as u64
    }

    /// Reads at most the rest of one block, and returns the number of bytes read.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let (number, within) = (offset / BLOCK, offset % BLOCK);
        let left = self.size.saturating_sub(offset);
        let count = left.min(BLOCK.saturating_sub(within)).min(buffer.len());
        let (buffer, _) = buffer.split_at_mut(count);
        let place = self.blocks.binary_search(&number).ok();
        let block = place.and_then(|place| self.stored.chunks(BLOCK).nth(place));
        match block.and_then(|block| block.get(within..)?.get(..count)) {
            Some(bytes) => buffer.copy_from_slice(bytes),
            None => buffer.fill(0),
        }
        count
    }
}

impl Input {
    /// Returns the same input with `tail` appended.
    pub(crate) fn followed_by(self, tail: Tail) -> Self {
        let end = self.size();
        let start = end.saturating_add(tail.missing);
        let mut all = self.wrapped(|input| Followed {
            input,
            start,
            tail: tail.bytes,
        });
        all.unreadable.add(end..start);
        for range in tail.unreadable.iter() {
            all.unreadable.add(range.clone());
        }
        all.appended = Some((start, tail.origin));
        all
    }

    pub(crate) fn with_header(self, header: [u8; HEADER_SIZE]) -> Self {
        self.wrapped(|file| Patched { file, header })
    }
}

/// A source followed by in-memory bytes.
struct Followed {
    input: Input,
    /// The offset at which the bytes begin. A gap between the source and this offset reads as zeros.
    start: u64,
    tail: Sparse,
}

impl ReadAt for Followed {
    fn size(&self) -> u64 {
        self.start.saturating_add(self.tail.size())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let end = self.input.size();
        if offset >= self.start.max(end) {
            return Ok(self.tail.read(offset.saturating_sub(self.start), buffer));
        }
        let is_missing = offset >= end;
        let left = if is_missing { self.start } else { end }.saturating_sub(offset);
        let size = usize::try_from(left).unwrap_or(usize::MAX);
        let size = size.min(buffer.len());
        // `size` is at most the length of `buffer`.
        let (buffer, _) = buffer.split_at_mut(size);
        if is_missing {
            buffer.fill(0);
            return Ok(size);
        }
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

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "test code with its own numbers"
)]
mod tests {
    use super::*;

    /// A ring's file may consist of a hole and a few bytes.
    #[test]
    fn blocks_of_zeros_take_no_memory_and_read_as_zeros() {
        for size in [0, 1, BLOCK, 5 * BLOCK, 5 * BLOCK + 7] {
            for places in [&[][..], &[0], &[BLOCK - 1, 3 * BLOCK], &[5 * BLOCK + 6]] {
                let mut bytes = vec![0; size];
                let places = places.iter().filter(|place| **place < size);
                let most = places.clone().count() * BLOCK;
                places.for_each(|place| bytes[*place] = 7);
                let tail = Tail {
                    missing: 10,
                    bytes: Sparse::new(bytes.clone()).unwrap(),
                    ..Tail::default()
                };
                assert!(tail.bytes.stored.capacity() <= most);
                let input = Input::from_bytes(vec![1; 3]).followed_by(tail);
                let expected = [vec![1; 3], vec![0; 10], bytes].concat();
                for start in 0..expected.len().min(20) {
                    let (_, expected) = expected.split_at(start);
                    let mut read = vec![9; expected.len()];
                    input.read_exact(start as u64, &mut read).unwrap();
                    assert_eq!(read, expected);
                }
                assert_eq!(input.size(), expected.len() as u64);
            }
        }
    }
}
