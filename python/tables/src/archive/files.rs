//! Writes the table `files`.

use std::path::Path;
use std::sync::Arc;

use super::encode::Encoding;
use super::tree::Entry;
use crate::error::Error;
use crate::names::Names;
use crate::options::Options;
use crate::stream::{Cell, Rows};
use crate::table::Table;
use crate::table_file::{Form, TableFile};

/// The source of part of a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    HeaderFooter,
    Other,
    Unreproduced,
}

impl Source {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::HeaderFooter => "header_footer",
            Self::Other => "other",
            Self::Unreproduced => "unreproduced",
        }
    }
}

/// Consecutive rows of a thread's table.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowRange {
    pub(super) table: Table,
    pub(super) thread: u32,
    pub(super) row: u64,
    pub(super) rows: u64,
    pub(super) encoding: Encoding,
}

/// The numbers of bytes in a session's files, by where the archive stores the bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bytes {
    /// Bytes reproduced by rows of the tables `events` and `details`.
    pub from_tables: u64,
    /// Bytes of headers and footers.
    pub header_footer: u64,
    /// Bytes of other files: the manifest, kill journals, and files that do not belong to a trace.
    pub other: u64,
    /// Bytes of `index.atf` and `detail.atf` that no row reproduces.
    pub unreproduced: u64,
}

impl Bytes {
    /// Returns the total size of all files.
    #[must_use]
    pub fn total(&self) -> u64 {
        let stored = self.header_footer.saturating_add(self.other);
        let stored = stored.saturating_add(self.unreproduced);
        self.from_tables.saturating_add(stored)
    }
}

/// The CRC-32C of all entries, in order. The checksum covers everything that the files' own
/// checksums do not.
#[derive(Debug, Default)]
pub(super) struct ListChecksum(u32);

impl ListChecksum {
    /// Adds an entry: a symlink with its target, or a file with its size and checksum.
    pub(super) fn add(&mut self, entry: &Entry, target: Option<&str>, file: Option<(u64, u32)>) {
        let Entry { path, kind, mode } = entry;
        let line = format!("{path:?} {kind:?} {mode:?} {target:?} {file:?}\n");
        self.0 = crc32c::crc32c_append(self.0, line.as_bytes());
    }

    /// Formats the checksum the way the metadata key `atf.checksum` stores it.
    pub(super) fn text(&self) -> String {
        format!("{:#010x}", self.0)
    }
}

/// The table `files` while it is being written.
pub(super) struct Files {
    rows: Rows,
    file: TableFile,
    pub(super) bytes: Bytes,
    checksum: ListChecksum,
}

impl Files {
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let options = Options::default();
        let schema = options.schema(Table::Files)?;
        let rows = Rows::new(Table::Files, &options, schema, &Arc::new(Names::default()))?;
        let file = TableFile::create(Table::Files, Form::Parquet, path, rows.schema())?;
        Ok(Self {
            rows,
            file,
            bytes: Bytes::default(),
            checksum: ListChecksum::default(),
        })
    }

    /// Adds a folder or a symlink (with its target).
    pub(super) fn add_whole(&mut self, entry: &Entry, target: Option<&str>) -> Result<(), Error> {
        self.checksum.add(entry, target, None);
        let target = target.map(str::as_bytes);
        self.push(entry, 0, 0, [Cell::Null; 6], target.into(), Cell::Null)
    }

    /// Adds bytes of a file that are not reproduced by rows.
    pub(super) fn add_bytes(
        &mut self,
        entry: &Entry,
        offset: u64,
        source: Source,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let null = Cell::Null;
        let from = [source.name().into(), null, null, null, null, null];
        let size = bytes.len() as u64;
        let sum = match source {
            Source::HeaderFooter => &mut self.bytes.header_footer,
            Source::Other => &mut self.bytes.other,
            Source::Unreproduced => &mut self.bytes.unreproduced,
        };
        *sum = sum.saturating_add(size);
        self.push(entry, offset, size, from, bytes.into(), null)
    }

    /// Adds bytes of a file that are reproduced by rows.
    pub(super) fn add_rows(
        &mut self,
        entry: &Entry,
        offset: u64,
        size: u64,
        rows: &RowRange,
    ) -> Result<(), Error> {
        let from = [
            rows.table.name().into(),
            rows.thread.into(),
            rows.row.into(),
            rows.rows.into(),
            u32::from(rows.encoding.wire.version()).into(),
            rows.encoding.thread_id.into(),
        ];
        self.bytes.from_tables = self.bytes.from_tables.saturating_add(size);
        self.push(entry, offset, size, from, Cell::Null, Cell::Null)
    }

    /// Ends a file, which must have this size.
    pub(super) fn end_file(
        &mut self,
        entry: &Entry,
        size: u64,
        checksum: u32,
    ) -> Result<(), Error> {
        self.checksum.add(entry, None, Some((size, checksum)));
        self.push(entry, size, 0, [Cell::Null; 6], Cell::Null, checksum.into())
    }

    fn push(
        &mut self,
        entry: &Entry,
        offset: u64,
        size: u64,
        from: [Cell<'_>; 6],
        bytes: Cell<'_>,
        checksum: Cell<'_>,
    ) -> Result<(), Error> {
        let part: [Cell<'_>; 5] = [
            entry.path.as_str().into(),
            entry.kind.name().into(),
            entry.mode.into(),
            offset.into(),
            size.into(),
        ];
        let cells = [&part[..], &from, &[bytes, checksum]].concat();
        self.rows.push(&cells)?;
        if self.rows.is_full() {
            self.file.write(&self.rows.take()?)?;
        }
        Ok(())
    }

    /// Writes the remaining rows and the metadata, and returns the file's size in bytes.
    pub(super) fn close(
        mut self,
        metadata: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<u64, Error> {
        if !self.rows.is_empty() {
            self.file.write(&self.rows.take()?)?;
        }
        let checksum = [("atf.checksum", self.checksum.text())];
        self.file.close(metadata.into_iter().chain(checksum))
    }
}
