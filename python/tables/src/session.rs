//! A session, its tables and its losses.

use std::fmt;
use std::mem;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use atf::ErrorKind;
use atf::clock::MediaClock;
use atf::manifest::{self, Manifest, Missing};
use atf::session::{SessionReader, ThreadEntry};
use atf::trace::{Process, Trace};
use serde_json::Value;

use crate::error::Error;
use crate::names::Names;
use crate::options::Options;
use crate::stream::{Outcome, Rows, Stream};
use crate::table::Table;
use crate::thread::{self, Queue};
use crate::{calls, check, details, listed, report};

/// The key of the losses in the metadata of schemas and files: a JSON array of messages.
pub(crate) const LOSSES_KEY: &str = "atf.losses";

/// The metadata key of the clock on which times are given: `trace` or `media`.
pub(crate) const CLOCK_KEY: &str = "atf.clock";

/// The maximum number of threads to list in an error.
const MOST_NAMED: usize = 100;

/// A session whose tables can be read any number of times.
///
/// Like [`SessionReader`], this is a snapshot. It does not include threads and names that are
/// written later.
#[derive(Debug, Clone)]
pub struct Session {
    reader: SessionReader,
    names: Arc<Names>,
}

impl Session {
    /// Opens a session's folder, but not its threads.
    ///
    /// # Errors
    ///
    /// The errors of [`SessionReader::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::new(SessionReader::open(path)?)
    }

    /// Opens all sessions at or below a path. A thread's folder is opened as its session.
    ///
    /// # Errors
    ///
    /// The errors of [`Trace::open`].
    pub fn open_all(path: impl AsRef<Path>) -> Result<Vec<Self>, Error> {
        let trace = Trace::open(path)?;
        trace.sessions().cloned().map(Self::new).collect()
    }

    fn new(reader: SessionReader) -> Result<Self, Error> {
        let names = Arc::new(Names::new(&reader)?);
        Ok(Self { reader, names })
    }

    /// Returns the session's reader.
    #[must_use]
    pub fn reader(&self) -> &SessionReader {
        &self.reader
    }

    /// Returns the clock of the audio or screen recording to which the session's timing anchors
    /// refer, for use as [`Options::clock`].
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if the session has no anchors, if they refer to several recordings, or if
    /// its events begin before the recording, because rows cannot contain such times.
    pub fn media_clock(&self) -> Result<MediaClock, Error> {
        Process::from(&self.reader).media_clock().map_err(|why| {
            let path = self.reader.path().display();
            Error::usage(format!("{path}: clock=\"media\": {why}"))
        })
    }

    /// Returns the losses in the selected threads and times, and the losses that do not belong to
    /// any listed thread.
    #[must_use]
    pub fn losses(&self, options: &Options) -> Vec<Loss> {
        let losses = self.reader().manifest().map(Manifest::missing);
        let losses = losses.into_iter().flatten();
        let on_clock = |loss: manifest::Loss| {
            let [first_ns, last_ns] = [loss.first_ns, loss.last_ns].map(|ns| options.time(ns));
            manifest::Loss::new(loss.count, first_ns, last_ns)
        };
        let losses = losses.map(|(thread, missing)| Loss {
            thread,
            missing: match missing {
                Missing::Lost(kind, loss) => Missing::Lost(kind, on_clock(loss)),
                other => other,
            },
        });
        let is_selected = |loss: &Loss| {
            let is_in_time = match loss.missing {
                Missing::Lost(_, loss) => {
                    loss.first_ns <= options.to_ns && loss.last_ns >= options.from_ns
                }
                _ => true,
            };
            is_in_time && loss.thread.is_none_or(|id| options.selects(id))
        };
        losses.filter(is_selected).collect()
    }

    /// Returns the schema of a table with these options. Its metadata contains the losses and the
    /// clock.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if a column does not exist or none is selected.
    pub fn schema(&self, table: Table, options: &Options) -> Result<SchemaRef, Error> {
        let schema = options.schema(table)?.as_ref().clone();
        let metadata = [
            (LOSSES_KEY.to_owned(), self.losses_as_json(options)),
            (CLOCK_KEY.to_owned(), options.clock_name().to_owned()),
        ];
        Ok(Arc::new(schema.with_metadata(metadata)))
    }

    /// Returns the losses as a JSON array of messages.
    pub(crate) fn losses_as_json(&self, options: &Options) -> String {
        let losses = self.losses(options).into_iter();
        let losses: Value = losses.map(|loss| loss.to_string()).collect();
        losses.to_string()
    }

    /// Starts reading a table.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if a column or a thread does not exist, or no column is selected.
    pub fn stream(&self, table: Table, options: &Options) -> Result<Stream, Error> {
        let rows = Rows::new(table, options, self.schema(table, options)?, &self.names)?;
        self.check_threads(options)?;
        let mut found = self.problems(options);
        let (reader, options) = (self.reader.clone(), options.clone());
        let at_end = options.problems;
        let queue = |reader| Queue::new(reader, options.clone());
        let source = match table {
            Table::Events => thread::events(queue(reader)),
            Table::Calls => calls::calls(queue(reader)),
            Table::Details => details::details(queue(reader), &rows),
            Table::Functions => listed::functions(reader),
            Table::Threads => listed::threads(queue(reader)),
            Table::Modules => listed::modules(reader),
            Table::Report => report::report(reader, options),
            Table::Histogram => report::histogram(reader, Arc::clone(&self.names), options)?,
            // In these two tables, the rows themselves are the problems.
            Table::Problems => listed::problems(queue(reader), mem::take(&mut found).problems),
            Table::Check => {
                found = Outcome::default();
                check::of_paths(vec![reader.path().to_path_buf()])
            }
            Table::Files => return Err(Error::usage("table files: only archives contain it")),
        };
        Ok(Stream::new(source, rows, at_end, found))
    }

    /// Returns the session's own problems that concern the selected threads.
    fn problems(&self, options: &Options) -> Outcome {
        let mut found = Outcome::default();
        for error in self.reader.problems() {
            // A folder without an id does not belong to any selected thread.
            if options.threads.is_none() || *error.kind() != ErrorKind::NoThreadId {
                found.add(None, error);
            }
        }
        found
    }

    fn check_threads(&self, options: &Options) -> Result<(), Error> {
        let known = || self.reader.threads().iter().map(ThreadEntry::id);
        let mut wanted = options.threads.iter().flatten();
        let Some(unknown) = wanted.find(|id| !known().any(|known| known == **id)) else {
            return Ok(());
        };
        let mut ids: Vec<String> = known().take(MOST_NAMED).map(|id| id.to_string()).collect();
        if known().nth(MOST_NAMED).is_some() {
            ids.push("…".to_owned());
        }
        let ids = ids.join(", ");
        let path = self.reader.path().display();
        Err(Error::usage(format!(
            "{path}: there is no thread {unknown} (threads: {ids})"
        )))
    }
}

/// Data missing from the trace because the tracer lost it, or may have lost it, according to the
/// manifest. All rows that the files contain are still returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The thread's id; `None` for events of threads that have no files, and for unwritten events,
    /// which may be missing from any thread.
    pub thread: Option<u32>,
    /// The lost data.
    pub missing: Missing,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.thread, &self.missing) {
            (Some(id), missing) => write!(f, "thread {id}: {missing}"),
            (None, missing @ Missing::Unwritten { .. }) => missing.fmt(f),
            (None, missing) => write!(f, "threads without files: {missing}"),
        }
    }
}
