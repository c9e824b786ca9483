//! Options, which the package's Python code passes as a dictionary with all keys.

use std::collections::BTreeSet;

use atf_tables::{AtEnd, Error, FileOptions, Form, Options, Session, Split, Table};
use pyo3::prelude::*;

/// The part of a table to read.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReadOptions {
    columns: Option<Vec<String>>,
    threads: Option<BTreeSet<u32>>,
    from_ns: Option<u64>,
    to_ns: Option<u64>,
    clock: String,
    seqs: Option<(u64, u64)>,
    function: Option<String>,
    batch_rows: Option<usize>,
    dictionaries: bool,
    problems: String,
}

impl ReadOptions {
    /// Returns the options for a session, whose anchors define the recording's clock.
    pub(crate) fn options_for(self, session: &Session) -> Result<Options, Error> {
        let clock = match &*self.clock {
            "trace" => None,
            "media" => Some(session.media_clock()?),
            other => return Err(expected("clock", other, "'trace' or 'media'")),
        };
        let mut options = self.options()?;
        options.clock = clock;
        Ok(options)
    }

    /// Returns the options, with times on the trace's clock.
    pub(crate) fn options(self) -> Result<Options, Error> {
        let mut options = Options::default();
        options.columns = self.columns;
        options.threads = self.threads;
        options.from_ns = self.from_ns.unwrap_or(options.from_ns);
        options.to_ns = self.to_ns.unwrap_or(options.to_ns);
        options.seqs = self.seqs.map(|(start, end)| start..end);
        let function = self.function.map(|text| text.parse()).transpose();
        options.function = function.map_err(|error| Error::Usage(format!("function: {error}")))?;
        options.batch_rows = self.batch_rows.unwrap_or(options.batch_rows);
        options.dictionaries = self.dictionaries;
        options.problems = match &*self.problems {
            "raise" => AtEnd::Raise,
            "keep" => AtEnd::Keep,
            other => return Err(expected("problems", other, "'raise' or 'keep'")),
        };
        Ok(options)
    }
}

/// How to write files.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct WriteOptions {
    form: String,
    tables: Option<Vec<String>>,
    host: Option<String>,
    session: Option<String>,
    split: String,
}

impl WriteOptions {
    pub(crate) fn options(self, read: Options) -> Result<FileOptions, Error> {
        let mut options = FileOptions::default();
        options.form = match &*self.form {
            "parquet" => Form::Parquet,
            "arrow" => Form::Arrow,
            other => return Err(expected("form", other, "'parquet' or 'arrow'")),
        };
        if let Some(tables) = self.tables {
            let tables = tables.iter().map(|name| table(name));
            options.tables = tables.collect::<Result<_, _>>()?;
        }
        options.host = self.host;
        options.session = self.session;
        options.split = match &*self.split {
            "threads" => Split::Threads,
            "sessions" => Split::Sessions,
            other => return Err(expected("split", other, "'threads' or 'sessions'")),
        };
        options.read = read;
        Ok(options)
    }
}

/// Returns the table with this name.
pub(crate) fn table(name: &str) -> Result<Table, Error> {
    Table::named(name).ok_or_else(|| {
        let names: Vec<&str> = Table::ALL.iter().map(|table| table.name()).collect();
        expected("table", name, &names.join(", "))
    })
}

fn expected(option: &str, found: &str, expected: &str) -> Error {
    Error::Usage(format!("{option}: expected {expected}, found {found:?}"))
}
