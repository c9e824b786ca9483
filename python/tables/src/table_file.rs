//! Writes one Parquet or Arrow file with bounded memory use, and chooses its encodings.

use std::fs::{self, File};
use std::io::{BufWriter, IntoInnerError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use crate::error::Error;
use crate::stage::output;
use crate::table::Table;

/// The format of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Parquet, compressed.
    #[default]
    Parquet,
    /// Uncompressed Arrow IPC files, which readers can map into memory.
    Arrow,
}

impl Form {
    /// Returns the name of a table's file.
    pub(crate) fn file_name(self, table: Table) -> String {
        match self {
            Self::Parquet => format!("{table}.parquet"),
            Self::Arrow => format!("{table}.arrow"),
        }
    }
}

/// The number of rows per row group. It is large enough for statistics and dictionaries to be worth
/// their space.
const ROW_GROUP: usize = 1 << 20;
/// The total size of payloads, in bytes, at which a row group is written. Until then, payloads are
/// kept in memory.
const PAYLOADS: usize = 64 << 20;

/// A file that is being written.
pub(crate) struct TableFile {
    path: PathBuf,
    writer: Writer,
}

enum Writer {
    Parquet(Box<Parquet>),
    Arrow(Box<FileWriter<BufWriter<File>>>),
}

struct Parquet {
    writer: ArrowWriter<File>,
    /// The size of the payloads in the current row group, in bytes.
    payloads: usize,
}

impl TableFile {
    /// Creates the file and the folders above it.
    pub(crate) fn create(
        table: Table,
        form: Form,
        path: &Path,
        schema: &SchemaRef,
    ) -> Result<Self, Error> {
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        let file = folder.and_then(|()| File::create(path));
        let file = file.map_err(|error| output(path, error))?;
        let writer = match form {
            Form::Parquet => {
                let properties = Some(properties(table)?);
                let writer = ArrowWriter::try_new(file, Arc::clone(schema), properties);
                Writer::Parquet(Box::new(Parquet {
                    writer: writer.map_err(|error| output(path, error))?,
                    payloads: 0,
                }))
            }
            Form::Arrow => {
                let writer = FileWriter::try_new_buffered(file, schema);
                Writer::Arrow(Box::new(writer.map_err(|error| output(path, error))?))
            }
        };
        let path = path.to_path_buf();
        Ok(Self { path, writer })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let path = &self.path;
        match &mut self.writer {
            Writer::Parquet(parquet) => parquet.write(batch).map_err(|error| output(path, error)),
            Writer::Arrow(writer) => writer.write(batch).map_err(|error| output(path, error)),
        }
    }

    /// Writes the metadata and returns the file's size in bytes.
    pub(crate) fn close(
        self,
        metadata: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<u64, Error> {
        let path = &self.path;
        let file = match self.writer {
            Writer::Parquet(mut parquet) => {
                for (key, value) in metadata {
                    let pair = KeyValue::new(key.to_owned(), value);
                    parquet.writer.append_key_value_metadata(pair);
                }
                let file = parquet.writer.into_inner();
                file.map_err(|error| output(path, error))?
            }
            Writer::Arrow(mut writer) => {
                for (key, value) in metadata {
                    writer.write_metadata(key, value);
                }
                let file = writer.finish().and_then(|()| writer.into_inner());
                let file = file.map_err(|error: ArrowError| output(path, error))?;
                let file = file.into_inner().map_err(IntoInnerError::into_error);
                file.map_err(|error| output(path, error))?
            }
        };
        let size = file.sync_all().and_then(|()| file.metadata());
        Ok(size.map_err(|error| output(path, error))?.len())
    }
}

impl Parquet {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        self.writer.write(batch)?;
        let columns = batch.columns().iter();
        let payloads = columns.filter(|column| *column.data_type() == DataType::Binary);
        let payloads: usize = payloads.map(Array::get_buffer_memory_size).sum();
        self.payloads = self.payloads.saturating_add(payloads);
        if self.payloads > PAYLOADS {
            self.writer.flush()?;
            self.payloads = 0;
        }
        Ok(())
    }
}

/// Returns the encodings: differences for positions and times, which ascend, and dictionaries for
/// durations, which do not. All columns are compressed with zstd at its fastest level.
fn properties(table: Table) -> Result<WriterProperties, Error> {
    let ascending: &[&str] = match table {
        Table::Events => &["seq", "time_ns", "detail_seq"],
        Table::Calls => &["call", "parent", "start_ns"],
        Table::Details => &["detail_seq", "seq", "time_ns"],
        Table::Files => &["offset", "row"],
        _ => &[],
    };
    let level = ZstdLevel::try_new(1).map_err(|error| Error::Internal(error.to_string()))?;
    let mut properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_compression(Compression::ZSTD(level));
    for name in ascending {
        let column = ColumnPath::from(*name);
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    if table == Table::Files {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from("bytes"), false);
    }
    Ok(properties.build())
}
