//! Reads the Parquet files of an archive, row group by row group.

use std::collections::HashMap;
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use ::parquet::basic::Type;
use ::parquet::column::reader::ColumnReaderImpl;
use ::parquet::data_type::{ByteArray, ByteArrayType};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::serialized_reader::SerializedPageReader;
use arrow_array::RecordBatch;

use super::bad;
use super::encode::Records;
use super::files::RowRange;
use crate::error::Error;
use crate::table::Table;

/// The maximum number of rows in a batch. A batch never contains the payloads of more than one row
/// group.
const BATCH: usize = 1 << 14;
/// The maximum size in bytes of a batch's texts and payloads, unless a single row has more. A few
/// bytes of a file can represent many long values that are all equal.
const BATCH_BYTES: usize = 64 << 20;
/// The number of values whose lengths are measured together.
const MEASURED: usize = 64;

/// The batches of a Parquet file.
pub(super) struct Batches {
    path: PathBuf,
    file: Arc<File>,
    metadata: ArrowReaderMetadata,
    columns: ProjectionMask,
    /// The next row group.
    next: usize,
    reader: Option<ParquetRecordBatchReader>,
    /// The number of rows returned so far, for messages.
    rows: u64,
}

impl Batches {
    /// Opens a file to read these columns.
    pub(super) fn open(path: &Path, columns: &[&str]) -> Result<Self, Error> {
        // Opening a pipe could block forever.
        let found = fs::metadata(path).map_err(|error| bad(path, error))?;
        if !found.is_file() {
            return Err(bad(path, "not a regular file"));
        }
        let file = File::open(path).map_err(|error| bad(path, error))?;
        let metadata = guard(|| ArrowReaderMetadata::load(&file, Default::default()));
        let metadata = metadata.map_err(|why| bad(path, why))?;
        let schema = metadata.parquet_schema();
        let columns = ProjectionMask::columns(schema, columns.iter().copied());
        Ok(Self {
            path: path.to_path_buf(),
            file: Arc::new(file),
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

    /// Returns an error that contains the number of the next row.
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
            let rows = guard(|| self.batch_rows()).map_err(|why| self.error(why))?;
            let metadata = self.metadata.clone();
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
            let builder = builder.with_projection(self.columns.clone());
            let builder = builder
                .with_row_groups(vec![self.next])
                .with_batch_size(rows);
            self.reader = Some(guard(|| builder.build()).map_err(|why| self.error(why))?);
            self.next = self.next.saturating_add(1);
        }
    }
}

impl Batches {
    /// Returns how many rows of the next row group fit into a batch. The sizes stated in the file
    /// may be wrong, so this measures the values.
    fn batch_rows(&self) -> Result<usize, ParquetError> {
        let group = self.metadata.metadata().row_group(self.next);
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        let mut longest: usize = 0;
        for (leaf, column) in group.columns().iter().enumerate() {
            if self.columns.leaf_included(leaf) {
                longest = longest.saturating_add(self.longest(column, rows)?);
            }
        }
        let fitting = BATCH_BYTES.checked_div(longest).unwrap_or(BATCH);
        Ok(fitting.clamp(1, BATCH))
    }

    /// Returns the length of a column's longest value in bytes; 0 for numbers.
    fn longest(&self, column: &ColumnChunkMetaData, rows: usize) -> Result<usize, ParquetError> {
        let description = column.column_descr_ptr();
        if description.max_rep_level() > 0 {
            let why = format!("column {}: a list", description.name());
            return Err(ParquetError::General(why));
        }
        match description.physical_type() {
            Type::BYTE_ARRAY => {}
            Type::FIXED_LEN_BYTE_ARRAY => {
                return Ok(usize::try_from(description.type_length()).unwrap_or(0));
            }
            _ => return Ok(0),
        }
        let pages = SerializedPageReader::new(Arc::clone(&self.file), column, rows, None)?;
        let mut reader = ColumnReaderImpl::<ByteArrayType>::new(description, Box::new(pages));
        let (mut longest, mut levels, mut values) = (0, Vec::new(), Vec::new());
        loop {
            levels.clear();
            values.clear();
            let read = reader.read_records(MEASURED, Some(&mut levels), None, &mut values)?;
            if read.0 == 0 {
                return Ok(longest);
            }
            longest = values.iter().map(ByteArray::len).fold(longest, usize::max);
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

/// The records of a thread's table, each read at most once, in ascending order.
pub(super) struct RecordReader {
    batches: Batches,
    table: Table,
    thread: u32,
    records: Option<Records>,
    /// The position of the batch's first row, and the position after its last row.
    start: u64,
    end: u64,
    /// The position of the first row that can still be read.
    next: u64,
}

impl RecordReader {
    pub(super) fn open(path: &Path, table: Table, thread: u32) -> Result<Self, Error> {
        Ok(Self {
            batches: Batches::open(path, &Records::columns(table))?,
            table,
            thread,
            records: None,
            start: 0,
            end: 0,
            next: 0,
        })
    }

    /// Returns whether these are rows of this table.
    pub(super) fn has(&self, rows: &RowRange) -> bool {
        (self.table, self.thread) == (rows.table, rows.thread)
    }

    /// Passes the rows' records to `sink` in large chunks.
    pub(super) fn read(
        &mut self,
        rows: &RowRange,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let end = rows.row.checked_add(rows.rows);
        let end = end.ok_or_else(|| self.batches.error("more rows than exist"))?;
        if rows.row < self.next {
            let why = format!("row {}: it belongs to an earlier part", rows.row);
            return Err(bad(&self.batches.path, why));
        }
        self.next = end;
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
                    bad(&self.batches.path, format!("row {next}: it has no record"))
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
            return Err(bad(&self.batches.path, why));
        };
        let records = Records::new(self.table, &batch);
        self.records = Some(records.map_err(|why| bad(&self.batches.path, why))?);
        self.start = self.end;
        self.end = self.end.saturating_add(batch.num_rows() as u64);
        Ok(())
    }
}

/// The number of bytes of records to pass at a time.
const PASSED: usize = 256 << 10;
