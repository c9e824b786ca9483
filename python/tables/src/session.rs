//! A session and its tables.

use std::mem;
use std::path::Path;
use std::sync::Arc;

use atf::ErrorKind;
use atf::clock::MediaClock;
use atf::session::{SessionReader, ThreadEntry};
use atf::trace::{Process, Trace};

use crate::error::Error;
use crate::names::Names;
use crate::options::Options;
use crate::queue::Queue;
use crate::rows::Rows;
use crate::stream::{Outcome, Stream};
use crate::table::Table;
use crate::{calls, check, details, events, listed, problems, report};

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
            Table::Events => events::events(queue(reader)),
            Table::Calls => calls::calls(queue(reader)),
            Table::Details => details::details(queue(reader), &rows),
            Table::Functions => listed::functions(reader),
            Table::Threads => listed::threads(queue(reader)),
            Table::Modules => listed::modules(reader),
            Table::Report => report::report(reader, options),
            Table::Histogram => report::histogram(reader, Arc::clone(&self.names), options)?,
            // In these two tables, the rows themselves are the problems.
            Table::Problems => problems::problems(queue(reader), mem::take(&mut found).problems),
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
                found.add_of_session(error);
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

/// The maximum number of threads to list in an error.
const MOST_NAMED: usize = 100;
