//! A session and its tables.

use std::path::Path;
use std::sync::Arc;

use atf::ErrorKind;
use atf::clock::MediaClock;
use atf::session::{SessionReader, ThreadEntry};
use atf::trace::{Process, Trace};

use crate::error::Error;
use crate::names::Names;
use crate::options::Options;
use crate::rows::Rows;
use crate::stream::{Outcome, Source, Stream};
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
        let mut found = Outcome::default();
        // In these two tables, the rows themselves are the problems.
        if !matches!(table, Table::Problems | Table::Check) {
            self.problems(options)
                .for_each(|error| found.add_of_session(error));
        }
        let (reader, options) = (self.reader.clone(), options.clone());
        let at_end = options.problems;
        let source: Box<dyn Source> = match table {
            Table::Events => Box::new(events::Events::new(reader, options)),
            Table::Calls => Box::new(calls::Calls::new(reader, options)),
            Table::Details => Box::new(details::Details::new(reader, options, &rows)),
            Table::Functions => Box::new(listed::Functions::new(reader)),
            Table::Threads => Box::new(listed::Threads::new(reader, options)),
            Table::Modules => Box::new(listed::Modules::new(reader)),
            Table::Report => Box::new(report::Report::new(reader, options)),
            Table::Histogram => {
                let names = Arc::clone(&self.names);
                Box::new(report::Histogram::new(reader, names, options)?)
            }
            Table::Problems => Box::new(problems::Problems::new(
                reader,
                self.problems(&options),
                options.clone(),
            )),
            Table::Check => Box::new(check::Check::new(vec![reader.path().to_path_buf()])),
            Table::Files => return Err(Error::usage("table files: only archives contain it")),
        };
        Ok(Stream::new(source, rows, at_end, found))
    }

    /// Returns the session's own problems that concern the selected threads.
    pub(crate) fn problems(&self, options: &Options) -> impl Iterator<Item = atf::Error> {
        let is_for_all = options.threads.is_none();
        let problems = self.reader.problems().into_iter();
        // A folder without an id does not belong to any selected thread.
        problems.filter(move |it| is_for_all || *it.kind() != ErrorKind::NoThreadId)
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
