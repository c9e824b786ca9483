//! Writes a session's tables as Parquet or Arrow files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use arrow_array::{RecordBatch, RecordBatchReader};
use atf::session::ThreadEntry;
use serde_json::Value;

use crate::error::{Error, Incomplete};
use crate::options::{AtEnd, Options};
use crate::session::{self, Session};
use crate::stage::{Stage, output};
use crate::stream::Outcome;
use crate::table::Table;
use crate::table_file::{Form, TableFile};

/// The options of [`write_files`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FileOptions {
    /// The format of the files.
    pub form: Form,
    /// The tables to write; `events`, `calls`, `functions`, `threads`, `modules` and `problems` by
    /// default.
    pub tables: Vec<Table>,
    /// The host's name, for the partition `host=`; none by default.
    pub host: Option<String>,
    /// The session's name, for the partition `session=`; by default the last two parts of its path,
    /// joined by `.`: `session_20260105_101500.pid_4242`.
    pub session: Option<String>,
    /// How tables with a column `thread` are split.
    pub split: Split,
    /// The part to read: threads, times, clock, rows per batch. The options `columns` and
    /// `dictionaries` are ignored.
    pub read: Options,
}

/// How tables with a column `thread` are split into files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    /// `events`, `calls` and `details` have one file per thread, in the partition `thread=`.
    #[default]
    Threads,
    /// One file per table and session, with the column `thread`. This suits sessions with many
    /// small threads.
    Sessions,
}

impl Default for FileOptions {
    /// Selects all tables except `details`, `report`, `histogram` and `check`, with one file per
    /// thread.
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
            form: Form::default(),
            host: None,
            session: None,
            split: Split::default(),
            read: Options::default(),
        }
    }
}

/// A summary of the files that were written.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Written {
    /// The folders of the tables, in the order of the options.
    pub folders: Vec<PathBuf>,
    /// The number of files.
    pub files: u64,
    /// The number of rows in all tables.
    pub rows: u64,
    /// The total size of all files in bytes.
    pub bytes: u64,
    /// The problems that may cause missing or wrong rows.
    pub problems: Vec<crate::Problem>,
}

impl Written {
    pub(crate) fn add_file(&mut self, size: u64) {
        self.files = self.files.saturating_add(1);
        self.bytes = self.bytes.saturating_add(size);
    }

    fn add(&mut self, outcome: &Outcome, size: u64) {
        self.add_file(size);
        self.rows = self.rows.saturating_add(outcome.rows);
        for problem in &outcome.problems {
            let text = problem.error.to_string();
            // Several tables may find the same problem.
            let is_known = |known: &crate::Problem| known.error.to_string() == text;
            if !self.problems.iter().any(is_known) {
                self.problems.push(problem.clone());
            }
        }
    }
}

/// Writes the tables of a session below `folder`, as `TABLE/[host=H/]session=S/[thread=N/]TABLE.parquet`, or
/// `TABLE.arrow`. Several sessions can be written to one folder.
///
/// All files are written to a temporary folder `.atf-PID-N` in `folder` and renamed at the end; no
/// part of the session remains after an error. The metadata of each file contains `atf.session`,
/// `atf.rows_complete` (whether the trace was read and verified without a problem), `atf.problems`
/// and `atf.losses` (JSON arrays of messages), `atf.unverified` (thread ids) and `atf.clock`, the
/// clock of the times (`trace` or `media`). Losses are events and details that the tracer did not
/// record: the rows can be complete even if the recording is not.
///
/// # Errors
///
/// [`Error::Output`] if `folder` already contains the session or a file cannot be written;
/// [`Error::Usage`] if a name cannot be used for a partition, or a thread does not exist; and, with
/// [`AtEnd::Raise`], [`Error::Incomplete`] if the trace is incomplete or damaged, after all
/// readable rows have been written.
pub fn write_files(
    session: &Session,
    folder: impl AsRef<Path>,
    options: &FileOptions,
) -> Result<Written, Error> {
    let folder = folder.as_ref();
    let place = place(session, options.host.as_deref(), options.session.as_deref())?;
    let target = |table: &Table| folder.join(table.name()).join(&place);
    let targets: Vec<_> = options.tables.iter().map(target).collect();
    refuse_existing(&targets)?;
    fs::create_dir_all(folder).map_err(|error| output(folder, error))?;
    let stage = Stage::new(folder)?;
    let mut written = Written::default();
    let mut renames = Vec::new();
    for (table, target) in options.tables.iter().zip(&targets) {
        let path = stage.path.join(table.name());
        write_table(session, *table, &path, options, &mut written)?;
        renames.push((path, target.clone()));
    }
    stage.publish(&renames)?;
    written.folders = targets;
    if options.read.problems == AtEnd::Raise && !written.problems.is_empty() {
        let Written { rows, problems, .. } = written;
        return Err(Error::Incomplete(Incomplete { rows, problems }));
    }
    Ok(written)
}

/// Returns an error if one of these paths exists.
pub(crate) fn refuse_existing(paths: &[PathBuf]) -> Result<(), Error> {
    let mut existing = paths.iter();
    let existing = existing.find(|path| fs::symlink_metadata(path).is_ok());
    existing.map_or(Ok(()), |path| Err(output(path, "already exists")))
}

/// Returns the path of the session's partition below a table's folder.
pub(crate) fn place(
    session: &Session,
    host: Option<&str>,
    name: Option<&str>,
) -> Result<PathBuf, Error> {
    let path = session.reader().path();
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let last = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let parts = [path.parent().and_then(last), last(&path)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let session = name.map_or_else(|| parts.join("."), str::to_owned);
    let host = host.map(|host| ("host", host));
    let mut place = PathBuf::new();
    for (key, value) in host.into_iter().chain([("session", session.as_str())]) {
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

pub(crate) fn write_table(
    session: &Session,
    table: Table,
    folder: &Path,
    options: &FileOptions,
    written: &mut Written,
) -> Result<(), Error> {
    let is_split = options.split == Split::Threads
        && matches!(table, Table::Events | Table::Calls | Table::Details);
    let mut write = |path: &Path, read: &Options| {
        let file = (path, options.form);
        write_file(session, table, file, read, written, &mut |_| Ok(()))
    };
    if !is_split {
        return write(&folder.join(options.form.file_name(table)), &options.read);
    }
    for id in thread_ids(session) {
        if options.read.selects(id) {
            let (path, read) = of_thread(table, options.form, folder, id, &options.read);
            write(&path, &read)?;
        }
    }
    Ok(())
}

/// Returns the ids of a session's threads. Two folders, such as `thread_7` and `thread_07`, can
/// have the same id.
fn thread_ids(session: &Session) -> BTreeSet<u32> {
    let threads = session.reader().threads().iter();
    threads.map(ThreadEntry::id).collect()
}

/// Returns the path of a thread's file in a table's folder, and the options for reading its rows.
pub(crate) fn of_thread(
    table: Table,
    form: Form,
    folder: &Path,
    id: u32,
    read: &Options,
) -> (PathBuf, Options) {
    let path = folder.join(format!("thread={id}"));
    let path = path.join(form.file_name(table));
    let columns = table.columns().iter().map(|column| column.name);
    let columns = columns.filter(|name| *name != "thread").map(str::to_owned);
    let read = Options {
        columns: Some(columns.collect()),
        threads: Some([id].into()),
        ..read.clone()
    };
    (path, read)
}

/// Writes the rows of a table to a file. Passes each batch to `observe` before writing it.
pub(crate) fn write_file(
    session: &Session,
    table: Table,
    (path, form): (&Path, Form),
    read: &Options,
    written: &mut Written,
    observe: &mut dyn FnMut(&RecordBatch) -> Result<(), Error>,
) -> Result<(), Error> {
    let read = Options {
        problems: AtEnd::Keep,
        dictionaries: true,
        ..read.clone()
    };
    let stream = session.stream(table, &read)?;
    let (outcome, schema) = (stream.outcome(), stream.schema());
    let mut file = TableFile::create(table, form, path, &schema)?;
    for batch in stream {
        let batch = batch?;
        observe(&batch)?;
        file.write(&batch)?;
    }
    let outcome = outcome.get().cloned().unwrap_or_default();
    let size = file.close(metadata(session, &read, &outcome))?;
    written.add(&outcome, size);
    Ok(())
}

/// Returns the metadata to store in a file: its session, the missing data and the clock.
pub(crate) fn metadata(
    session: &Session,
    read: &Options,
    outcome: &Outcome,
) -> [(&'static str, String); 6] {
    let problems = outcome.problems.iter();
    let problems: Value = problems.map(|it| it.error.to_string()).collect();
    let unverified: Value = outcome.unverified.iter().copied().collect();
    let is_complete = outcome.problems.is_empty() && outcome.unverified.is_empty();
    [
        ("atf.session", session.reader().path().display().to_string()),
        ("atf.rows_complete", is_complete.to_string()),
        ("atf.problems", problems.to_string()),
        (session::LOSSES_KEY, session.losses_as_json(read)),
        (session::CLOCK_KEY, read.clock_name().to_owned()),
        ("atf.unverified", unverified.to_string()),
    ]
}
