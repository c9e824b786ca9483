//! Reads the Parquet files of an archive, row group by row group.

use std::collections::HashMap;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use arrow_array::RecordBatch;

use super::bad;
use super::encode::{OF_EVENTS, Records};
use super::files::RowRange;
use crate::error::Error;
use crate::table::Table;

/// The maximum number of rows in a batch. A batch never contains the payloads of more than one row
/// group.
const BATCH: usize = 1 << 14;

/// The batches of a Parquet file.
pub(super) struct Batches {
    path: PathBuf,
    file: File,
    metadata: ArrowReaderMetadata,
    columns: ProjectionMask,
    /// The next row group.
    next: usize,
    reader: Option<ParquetRecordBatchReader>,
    /// The number of rows returned so far, for messages.
    rows: u64,
}

impl Batches {
    /// Opens a file to read these columns, or all columns.
    pub(super) fn open(path: &Path, columns: Option<&[&str]>) -> Result<Self, Error> {
        let file = File::open(path).map_err(|error| bad(path, error))?;
        let metadata = guard(|| ArrowReaderMetadata::load(&file, Default::default()));
        let metadata = metadata.map_err(|why| bad(path, why))?;
        let columns = match columns {
            Some(names) => {
                ProjectionMask::columns(metadata.parquet_schema(), names.iter().copied())
            }
            None => ProjectionMask::all(),
        };
        Ok(Self {
            path: path.to_path_buf(),
            file,
            metadata,
            columns,
            next: 0,
            reader: None,
            rows: 0,
        })
    }

    /// Returns the key-value metadata.
    pub(super) fn pairs(&self) -> HashMap<&str, &str> {
        let metadata = self.metadata.metadata().file_metadata();
        let pairs = metadata.key_value_metadata().into_iter().flatten();
        let pair = pairs.filter_map(|pair| Some((pair.key.as_str(), pair.value.as_deref()?)));
        pair.collect()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns an error that gives the number of the next row.
    pub(super) fn error(&self, why: impl std::fmt::Display) -> Error {
        bad(&self.path, format!("from row {}: {why}", self.rows))
    }

    /// Returns the next batch, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            let batch = guard(|| self.reader.as_mut().and_then(Iterator::next).transpose());
            if let Some(batch) = batch.map_err(|why| self.error(why))? {
                self.rows = self.rows.saturating_add(batch.num_rows() as u64);
                return Ok(Some(batch));
            }
            if self.next >= self.metadata.metadata().num_row_groups() {
                return Ok(None);
            }
            let file = self.file.try_clone().map_err(|error| self.error(error))?;
            let metadata = self.metadata.clone();
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
            let builder = builder.with_projection(self.columns.clone());
            let builder = builder
                .with_row_groups(vec![self.next])
                .with_batch_size(BATCH);
            self.reader = Some(guard(|| builder.build()).map_err(|why| self.error(why))?);
            self.next = self.next.saturating_add(1);
        }
    }
}

/// Calls the Parquet crate, which panics on some damaged files.
fn guard<T, E: ToString>(call: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("the archive is damaged".to_owned()),
    }
}

/// The records of a thread's table, in ascending order.
pub(super) struct RecordReader {
    batches: Batches,
    table: Table,
    thread: u32,
    records: Option<Records>,
    /// The position of the batch's first row, and the position after its last row.
    start: u64,
    end: u64,
}

impl RecordReader {
    pub(super) fn open(path: &Path, table: Table, thread: u32) -> Result<Self, Error> {
        let columns = (table == Table::Events).then_some(OF_EVENTS);
        Ok(Self {
            batches: Batches::open(path, columns)?,
            table,
            thread,
            records: None,
            start: 0,
            end: 0,
        })
    }

    /// Returns whether these rows can still be read.
    pub(super) fn is_before(&self, rows: &RowRange) -> bool {
        (self.table, self.thread) == (rows.table, rows.thread) && self.start <= rows.row
    }

    /// Passes the rows' records to `sink` in large chunks.
    pub(super) fn read(
        &mut self,
        rows: &RowRange,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let end = rows.row.checked_add(rows.rows);
        let end = end.ok_or_else(|| self.batches.error("more rows than there are"))?;
        let (mut next, mut out) = (rows.row, Vec::new());
        while next < end {
            while next >= self.end {
                self.advance(end)?;
            }
            let last = end.min(self.end);
            while next < last {
                let row = usize::try_from(next.saturating_sub(self.start)).ok();
                let records = self.records.as_ref().zip(row);
                let encoded =
                    records.and_then(|(records, row)| records.encode(row, rows.encoding, &mut out));
                encoded.ok_or_else(|| {
                    bad(self.batches.path(), format!("row {next}: it has no record"))
                })?;
                next = next.saturating_add(1);
                if out.len() >= PASSED {
                    sink(&out)?;
                    out.clear();
                }
            }
        }
        sink(&out)
    }

    fn advance(&mut self, wanted: u64) -> Result<(), Error> {
        let Some(batch) = self.batches.next()? else {
            let why = format!("expected at least {wanted} rows, found {}", self.end);
            return Err(bad(self.batches.path(), why));
        };
        let records = Records::new(self.table, &batch);
        self.records = Some(records.map_err(|why| bad(self.batches.path(), why))?);
        self.start = self.end;
        self.end = self.end.saturating_add(batch.num_rows() as u64);
        Ok(())
    }
}

/// The number of bytes of records to pass at a time.
const PASSED: usize = 256 << 10;
