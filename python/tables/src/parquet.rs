//! Parquet files of a session's tables.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, Encoding, ZstdLevel};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::schema::types::ColumnPath;

use crate::error::{Error, Incomplete};
use crate::options::{AtEnd, Options};
use crate::session::Session;
use crate::stream::Outcome;
use crate::table::Table;

/// How [`write_parquet`] works.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ParquetOptions {
    /// The tables; `events`, `calls`, `functions`, `threads`, `modules` and `problems` by default.
    pub tables: Vec<Table>,
    /// The name of the host, as the partition `host=`; none by default.
    pub host: Option<String>,
    /// The name of the session, as the partition `session=`; by default the last two parts of its path, joined by
    /// `.`: `session_20260105_101500.pid_4242`.
    pub session: Option<String>,
    /// How tables with a column `thread` are split.
    pub split: Split,
    /// What to read: threads, times, rows per batch. `columns` and `dictionaries` are ignored.
    pub read: Options,
}

/// How tables with a column `thread` are split into files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    /// `events`, `calls` and `details` have one file per thread, in the partition `thread=`.
    #[default]
    Threads,
    /// One file per table and session, with the column `thread`: for sessions with many small threads.
    Sessions,
}

impl Default for ParquetOptions {
    /// All tables but `details`, `report` and `check`, a file per thread.
    fn default() -> Self {
        Self {
            tables: vec![
                Table::Events,
                Table::Calls,
                Table::Functions,
                Table::Threads,
                Table::Modules,
                Table::Problems,
            ],
            host: None,
            session: None,
            split: Split::default(),
            read: Options::default(),
        }
    }
}

/// The files that were written.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Written {
    /// The folders of the tables, in the order of the options.
    pub folders: Vec<PathBuf>,
    /// How many files.
    pub files: u64,
    /// How many rows, of all tables.
    pub rows: u64,
    /// How many bytes, of all files.
    pub bytes: u64,
    /// Why the rows are not exactly those that were written to the trace.
    pub problems: Vec<crate::Problem>,
}

/// Rows per row group: large enough for statistics and dictionaries to pay off.
const ROW_GROUP: usize = 1 << 20;

/// Writes the tables of a session below `folder`, as `TABLE/[host=H/]session=S/[thread=N/]TABLE.parquet`. Several
/// sessions can be written to one folder.
///
/// All files are written to a temporary folder `.atf-PID-N` in `folder` and renamed at the end; an error leaves
/// nothing of the session. The metadata of each file has `atf.session`, `atf.rows_complete`, `atf.problems` (a JSON
/// array of messages) and `atf.unverified` (thread ids).
///
/// # Errors
///
/// [`Error::Output`] if the session is already there or a file cannot be written; [`Error::Usage`] if a name cannot
/// be that of a partition, or a thread does not exist; and with [`AtEnd::Raise`] [`Error::Incomplete`] if the trace
/// is incomplete or damaged, after all rows that can be read were written.
pub fn write_parquet(
    session: &Session,
    folder: impl AsRef<Path>,
    options: &ParquetOptions,
) -> Result<Written, Error> {
    let folder = folder.as_ref();
    let place = place(session, options)?;
    let targets = options.tables.iter().map(|table| {
        let target = folder.join(table.name()).join(&place);
        (*table, target)
    });
    let targets: Vec<_> = targets.collect();
    if let Some((_, path)) = targets
        .iter()
        .find(|(_, path)| fs::symlink_metadata(path).is_ok())
    {
        return Err(output(path, "already exists"));
    }
    fs::create_dir_all(folder).map_err(|error| output(folder, error))?;
    let stage = Stage::new(folder)?;
    let mut written = Written::default();
    for (table, _) in &targets {
        let path = stage.path.join(table.name());
        write_table(session, *table, &path, options, &mut written)?;
    }
    written.folders = stage.publish(&targets)?;
    if options.read.problems == AtEnd::Raise && !written.problems.is_empty() {
        let Written { rows, problems, .. } = written;
        return Err(Error::Incomplete(Incomplete { rows, problems }));
    }
    Ok(written)
}

/// Returns the path of the session's partition below a table's folder.
fn place(session: &Session, options: &ParquetOptions) -> Result<PathBuf, Error> {
    let path = session.reader().path();
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let name = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let parts = [path.parent().and_then(name), name(&path)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let session = options.session.clone().unwrap_or_else(|| parts.join("."));
    let host = options.host.as_ref().map(|host| ("host", host));
    let mut place = PathBuf::new();
    for (key, value) in host.into_iter().chain([("session", &session)]) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if value.is_empty() || !value.chars().all(is_plain) {
            return Err(Error::usage(format!(
                "{key}: {value:?} cannot name a partition: only letters, digits, '.', '_' and '-' can"
            )));
        }
        place.push(format!("{key}={value}"));
    }
    Ok(place)
}

fn write_table(
    session: &Session,
    table: Table,
    folder: &Path,
    options: &ParquetOptions,
    written: &mut Written,
) -> Result<(), Error> {
    let file = format!("{table}.parquet");
    let is_split = options.split == Split::Threads
        && matches!(table, Table::Events | Table::Calls | Table::Details);
    if !is_split {
        return write_file(session, table, &folder.join(file), &options.read, written);
    }
    let columns = table.columns().iter().map(|column| column.name);
    let columns = columns.filter(|name| *name != "thread").map(str::to_owned);
    let columns: Vec<String> = columns.collect();
    for id in session
        .reader()
        .threads()
        .iter()
        .map(atf::session::ThreadEntry::id)
    {
        if options.read.selects(id) {
            let path = folder.join(format!("thread={id}")).join(&file);
            let read = Options {
                columns: Some(columns.clone()),
                threads: Some([id].into()),
                ..options.read.clone()
            };
            write_file(session, table, &path, &read, written)?;
        }
    }
    Ok(())
}

fn write_file(
    session: &Session,
    table: Table,
    path: &Path,
    read: &Options,
    written: &mut Written,
) -> Result<(), Error> {
    let failed = |error: ParquetError| output(path, error);
    let at = |error: io::Error| output(path, error);
    let read = Options {
        problems: AtEnd::Keep,
        dictionaries: true,
        ..read.clone()
    };
    let stream = session.stream(table, &read)?;
    let (outcome, schema) = (
        stream.outcome(),
        arrow_array::RecordBatchReader::schema(&stream),
    );
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .map_err(at)?;
    let file = File::create(path).map_err(at)?;
    let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties(table)?))
        .map_err(failed)?;
    for batch in stream {
        writer.write(&batch?).map_err(failed)?;
    }
    let outcome = outcome.get().cloned().unwrap_or_default();
    for (key, value) in metadata(session, &outcome) {
        writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
    }
    let file = writer.into_inner().map_err(failed)?;
    file.sync_all().map_err(at)?;
    let size = file.metadata().map_err(at)?.len();
    written.files = written.files.saturating_add(1);
    written.rows = written.rows.saturating_add(outcome.rows);
    written.bytes = written.bytes.saturating_add(size);
    for problem in outcome.problems {
        let text = problem.error.to_string();
        // Several tables find the same problem.
        let is_known = |known: &crate::Problem| known.error.to_string() == text;
        if !written.problems.iter().any(is_known) {
            written.problems.push(problem);
        }
    }
    Ok(())
}

/// Returns what a file says of its session and of what is missing.
fn metadata(session: &Session, outcome: &Outcome) -> [(&'static str, String); 4] {
    let problems = outcome.problems.iter();
    let problems = problems.map(|problem| problem.error.to_string().into());
    let unverified = outcome.unverified.iter().map(|id| (*id).into());
    let is_complete = outcome.problems.is_empty() && outcome.unverified.is_empty();
    [
        ("atf.session", session.reader().path().display().to_string()),
        ("atf.rows_complete", is_complete.to_string()),
        (
            "atf.problems",
            serde_json::Value::Array(problems.collect()).to_string(),
        ),
        (
            "atf.unverified",
            serde_json::Value::Array(unverified.collect()).to_string(),
        ),
    ]
}

/// Returns the encodings: differences for positions and times, which ascend, and zstd at its fastest level. Durations
/// do not ascend; for them dictionaries are smaller.
fn properties(table: Table) -> Result<WriterProperties, Error> {
    let ascending: &[&str] = match table {
        Table::Events => &["seq", "time_ns", "detail_seq"],
        Table::Calls => &["call", "parent", "start_ns"],
        Table::Details => &["detail_seq", "seq", "time_ns"],
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
    Ok(properties.build())
}

// Errors are passed by value, as `map_err` does.
#[allow(clippy::needless_pass_by_value)]
fn output(path: &Path, why: impl ToString) -> Error {
    Error::Output {
        path: path.to_path_buf(),
        why: why.to_string(),
    }
}

/// The temporary folder of a session's files, which is removed when it is dropped.
struct Stage {
    path: PathBuf,
}

impl Stage {
    fn new(folder: &Path) -> Result<Self, Error> {
        let mut number = 0_u32;
        loop {
            let path = folder.join(format!(".atf-{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    number = number.checked_add(1).ok_or_else(|| output(&path, &error))?;
                }
                Err(error) => return Err(output(&path, error)),
            }
        }
    }

    /// Renames the tables' folders to their final names: all of them, or none.
    fn publish(self, targets: &[(Table, PathBuf)]) -> Result<Vec<PathBuf>, Error> {
        let mut published: Vec<PathBuf> = Vec::new();
        for (table, target) in targets {
            let written = self.path.join(table.name());
            // A session without threads has no files in a table that is split by thread.
            let result = fs::create_dir_all(&written)
                .and_then(|()| target.parent().map_or(Ok(()), fs::create_dir_all))
                .and_then(|()| fs::rename(&written, target));
            if let Err(error) = result {
                for path in &published {
                    // The error to report is the first one.
                    let _ = fs::remove_dir_all(path);
                }
                return Err(output(target, error));
            }
            published.push(target.clone());
        }
        Ok(published)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Nothing can be done about a folder that cannot be removed.
        let _ = fs::remove_dir_all(&self.path);
    }
}
