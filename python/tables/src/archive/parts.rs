//! Divides a file into rows that encode to the same bytes, and other bytes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::bad;
use super::encode::{Encoding, Records};
use super::files::{Files, RowRange, Source};
use super::tree::{Entry, below};
use crate::error::Error;
use crate::table::Table;

/// The maximum size in bytes of a part without rows.
const PART: usize = 1 << 20;
/// The number of matching rows that is enough to begin a new part after bytes that no row
/// reproduces.
const SAME_ROWS: u64 = 64;
/// The size in bytes of matching rows that is enough to begin a new part even if there are fewer
/// than `SAME_ROWS`.
const SAME_BYTES: usize = 64 << 10;

/// A file that is being divided.
pub(super) struct Parts {
    entry: Entry,
    path: PathBuf,
    original: BufReader<File>,
    /// The start of the next part.
    offset: u64,
    /// The source of bytes that no row reproduces.
    source: Source,
    checksum: u32,
    /// The bytes of the next part, and the matching rows after them: their number, size and first
    /// bytes.
    bytes: Vec<u8>,
    rows: u64,
    rows_size: u64,
    rows_bytes: Vec<u8>,
    scratch: Vec<u8>,
}

/// The events section of a thread's file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    pub(super) table: Table,
    pub(super) thread: u32,
    pub(super) encoding: Encoding,
    /// The offset in bytes from the start of the file.
    pub(super) start: u64,
    /// The size of the footer in bytes; 0 if there is none.
    pub(super) footer: u64,
}

impl Parts {
    pub(super) fn new(root: &Path, entry: &Entry, source: Source) -> Result<Self, Error> {
        let path = below(root, &entry.path);
        let file = File::open(&path).map_err(|error| bad(&path, error))?;
        Ok(Self {
            entry: entry.clone(),
            path,
            original: BufReader::with_capacity(PART, file),
            offset: 0,
            source,
            checksum: 0,
            bytes: Vec::new(),
            rows: 0,
            rows_size: 0,
            rows_bytes: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// Reads at most `size` bytes of the file into `scratch`.
    fn read(&mut self, size: u64) -> Result<(), Error> {
        self.scratch.clear();
        let wanted = usize::try_from(size).ok();
        match wanted.and_then(|size| self.original.buffer().get(..size)) {
            // The bytes are nearly always in the buffer, and `read_to_end` is slow for small
            // records.
            Some(bytes) => {
                self.scratch.extend_from_slice(bytes);
                self.original.consume(self.scratch.len());
            }
            None => {
                let mut next = self.original.by_ref().take(size);
                let read = next.read_to_end(&mut self.scratch);
                read.map_err(|error| bad(&self.path, error))?;
            }
        }
        self.checksum = crc32c::crc32c_append(self.checksum, &self.scratch);
        Ok(())
    }

    /// Adds the bytes up to an offset, as parts with this source.
    pub(super) fn add_until(
        &mut self,
        end: u64,
        source: Source,
        files: &mut Files,
    ) -> Result<(), Error> {
        let outer = std::mem::replace(&mut self.source, source);
        self.add_bytes(end.saturating_sub(self.offset), files)?;
        self.flush_bytes(files)?;
        self.source = outer;
        Ok(())
    }

    fn add_bytes(&mut self, mut size: u64, files: &mut Files) -> Result<(), Error> {
        while size > 0 {
            self.read(size.min(PART as u64))?;
            if self.scratch.is_empty() {
                break;
            }
            size = size.saturating_sub(self.scratch.len() as u64);
            self.bytes.extend_from_slice(&self.scratch);
            if self.bytes.len() >= PART {
                self.flush_bytes(files)?;
            }
        }
        Ok(())
    }

    fn flush_bytes(&mut self, files: &mut Files) -> Result<(), Error> {
        if !self.bytes.is_empty() {
            files.add_bytes(&self.entry, self.offset, self.source, &self.bytes)?;
            self.offset = self.offset.saturating_add(self.bytes.len() as u64);
            self.bytes.clear();
        }
        Ok(())
    }

    /// Adds the matching rows, which end just before row `end`.
    fn flush_rows(&mut self, section: &Section, end: u64, files: &mut Files) -> Result<(), Error> {
        if self.rows > 0 {
            let rows = RowRange {
                table: section.table,
                thread: section.thread,
                row: end.saturating_sub(self.rows),
                rows: self.rows,
                encoding: section.encoding,
            };
            files.add_rows(&self.entry, self.offset, self.rows_size, &rows)?;
            self.offset = self.offset.saturating_add(self.rows_size);
        }
        (self.rows, self.rows_size) = (0, 0);
        self.rows_bytes.clear();
        Ok(())
    }

    /// Compares the row at `position` in its table with the next bytes of the file.
    pub(super) fn compare(
        &mut self,
        section: &Section,
        records: &Records,
        row: usize,
        position: u64,
        files: &mut Files,
    ) -> Result<(), Error> {
        let mut record = std::mem::take(&mut self.rows_bytes);
        let before = record.len();
        let is_encoded = records.encode(row, section.encoding, &mut record).is_some();
        let size = record.len().saturating_sub(before) as u64;
        let is_same = is_encoded && {
            self.read(size)?;
            record.get(before..) == Some(&self.scratch[..])
        };
        if !is_same {
            record.truncate(before);
        }
        self.rows_bytes = record;
        if is_same {
            self.rows = self.rows.saturating_add(1);
            self.rows_size = self.rows_size.saturating_add(size);
            if self.rows >= SAME_ROWS || self.rows_bytes.len() >= SAME_BYTES {
                self.flush_bytes(files)?;
                self.rows_bytes.clear();
            }
            return Ok(());
        }
        if self.bytes.is_empty() {
            self.flush_rows(section, position, files)?;
        } else {
            self.bytes.append(&mut self.rows_bytes);
            (self.rows, self.rows_size) = (0, 0);
        }
        if is_encoded {
            self.bytes.extend_from_slice(&self.scratch);
            return if self.bytes.len() >= PART {
                self.flush_bytes(files)
            } else {
                Ok(())
            };
        }
        match records.size(row) {
            Some(size) => self.add_bytes(size, files),
            None => Ok(()),
        }
    }

    /// Adds the rest of the file.
    pub(super) fn finish(
        mut self,
        section: Option<(&Section, u64)>,
        files: &mut Files,
    ) -> Result<(), Error> {
        self.flush_bytes(files)?;
        if let Some((section, end)) = section {
            self.flush_rows(section, end, files)?;
            self.read(section.footer.saturating_add(1))?;
            let is_footer = self.scratch.len() as u64 == section.footer;
            self.bytes.append(&mut self.scratch);
            if is_footer {
                self.source = Source::HeaderFooter;
            }
        }
        self.add_bytes(u64::MAX, files)?;
        self.flush_bytes(files)?;
        files.end_file(&self.entry, self.offset, self.checksum)
    }
}
