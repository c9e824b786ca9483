//! The bytes of a file, read in pieces.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use atf::{FileSource, ReadAt};

use crate::output::Failure;

/// The number of bytes to read at a time, enough for the longest payload that has fields.
const PIECE: usize = 128 << 10;

/// A file and the last piece read from it.
pub(super) struct Bytes {
    source: FileSource,
    path: PathBuf,
    /// The offset of the piece in the file.
    start: u64,
    piece: Vec<u8>,
}

impl Bytes {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        Ok(Self {
            source: FileSource::open(path)?,
            path: path.to_owned(),
            start: 0,
            piece: Vec::new(),
        })
    }

    /// Returns the size of the file in bytes at the time it was opened.
    pub(super) fn size(&self) -> u64 {
        self.source.size()
    }

    /// Returns `size` bytes at `offset`, but at most 128 KiB, and fewer at the end of the file.
    pub(super) fn get(&mut self, offset: u64, size: u64) -> Result<&[u8], Failure> {
        let left = self.size().saturating_sub(offset).min(size);
        let wanted = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        let skipped = usize::try_from(offset.wrapping_sub(self.start)).unwrap_or(usize::MAX);
        let end = skipped.saturating_add(wanted);
        if offset < self.start || end > self.piece.len() {
            self.fill(offset, wanted)?;
            return Ok(&self.piece[..wanted]);
        }
        Ok(&self.piece[skipped..end])
    }

    /// Reads the piece at `offset`, at least `wanted` bytes.
    fn fill(&mut self, offset: u64, wanted: usize) -> Result<(), Failure> {
        self.start = offset;
        self.piece.resize(PIECE, 0);
        let mut filled = 0;
        while filled < wanted {
            let place = offset.saturating_add(filled as u64);
            match self.source.read_at(place, &mut self.piece[filled..]) {
                Ok(0) => {
                    let what = "the file was truncated while it was being read";
                    return Err(self.failure(what, place));
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failure(error, place)),
            }
        }
        self.piece.truncate(filled);
        Ok(())
    }

    fn failure(&self, what: impl Display, place: u64) -> Failure {
        Failure::at(&self.path, format_args!("{what} (at {place:#x})"))
    }
}
