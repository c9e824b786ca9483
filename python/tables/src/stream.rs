//! Streams of record batches, and how they end.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use crate::error::{Error, Incomplete, Problem};
use crate::options::AtEnd;
use crate::rows::Rows;

/// Supplies the rows of a table: adds rows until the batch is full, and returns whether there may be
/// more rows.
pub(crate) type Source = Box<dyn FnMut(&mut Rows, &mut Outcome) -> Result<bool, Error> + Send>;

/// The result of reading a table to its end.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of returned rows.
    pub rows: u64,
    /// The problems that may cause missing or wrong rows.
    pub problems: Vec<Problem>,
    /// The threads whose checksum was not verified because they were read only in part.
    pub unverified: BTreeSet<u32>,
}

impl Outcome {
    pub(crate) fn add_of_session(&mut self, error: atf::Error) {
        self.add(None, error);
    }

    pub(crate) fn add_of_thread(&mut self, thread: u32, error: atf::Error) {
        self.add(Some(thread), error);
    }

    fn add(&mut self, thread: Option<u32>, error: atf::Error) {
        self.problems.push(Problem { thread, error });
    }
}

/// A table's rows as record batches, read on demand.
///
/// Memory use does not grow with the trace: a stream keeps one batch, the names in the manifest
/// and, for the table `calls`, the open calls.
///
/// Rows are verified as they are read. If the trace is damaged or incomplete, an `Err` follows the
/// last batch unless [`AtEnd::Keep`] is set. In either case, [`outcome`](Self::outcome) lists the
/// problems.
pub struct Stream {
    source: Source,
    rows: Rows,
    at_end: AtEnd,
    found: Outcome,
    outcome: Arc<OnceLock<Outcome>>,
    may_have_more: bool,
    is_done: bool,
}

impl Stream {
    pub(crate) fn new(source: Source, rows: Rows, at_end: AtEnd, found: Outcome) -> Self {
        Self {
            source,
            rows,
            at_end,
            found,
            outcome: Arc::default(),
            may_have_more: true,
            is_done: false,
        }
    }

    /// Returns the outcome, which is set once the stream has ended.
    #[must_use]
    pub fn outcome(&self) -> Arc<OnceLock<Outcome>> {
        Arc::clone(&self.outcome)
    }

    /// Returns the next batch, or `None` at the end.
    fn batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        if self.is_done {
            return Ok(None);
        }
        while self.may_have_more && !self.rows.is_full() {
            self.may_have_more = (self.source)(&mut self.rows, &mut self.found)?;
        }
        if !self.rows.is_empty() {
            let batch = self.rows.take()?;
            self.found.rows = self.found.rows.saturating_add(batch.num_rows() as u64);
            return Ok(Some(batch));
        }
        self.is_done = true;
        let found = self.outcome.get_or_init(|| std::mem::take(&mut self.found));
        if found.problems.is_empty() || self.at_end == AtEnd::Keep {
            return Ok(None);
        }
        Err(Error::Incomplete(Incomplete {
            rows: found.rows,
            problems: found.problems.clone(),
        }))
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batch();
        self.is_done |= batch.is_err();
        batch.map_err(ArrowError::from).transpose()
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.rows.schema())
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut stream = f.debug_struct("Stream");
        stream.field("schema", self.rows.schema());
        stream
            .field("outcome", &self.outcome)
            .finish_non_exhaustive()
    }
}
