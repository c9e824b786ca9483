//! The table `check`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use atf::check::{self, FileReport, Output};

use crate::error::Error;
use crate::names::Names;
use crate::options::Options;
use crate::stage;
use crate::stream::{Cell, Outcome, Rows, Source, Stream};
use crate::table::Table;

/// Returns the table [`Check`](Table::Check) for files, threads, sessions, or folders that contain
/// any of these.
///
/// Reading the first batch starts a thread that checks the files. The thread ends when the stream
/// does. Only the options `columns`, `batch_rows` and `dictionaries` are used.
///
/// # Errors
///
/// [`Error::Usage`] if a column does not exist or none is selected.
pub fn check(paths: Vec<PathBuf>, options: &Options) -> Result<Stream, Error> {
    let schema = options.schema(Table::Check)?;
    let rows = Rows::new(Table::Check, options, schema, &Arc::new(Names::default()))?;
    let found = Outcome::default();
    Ok(Stream::new(of_paths(paths), rows, options.problems, found))
}

enum Found {
    File(FileReport),
    Unreadable(PathBuf, String),
}

/// The maximum number of files whose results are waiting to be received.
const WAITING: usize = 64;

pub(crate) fn of_paths(mut paths: Vec<PathBuf>) -> Source {
    // `None` until the checking thread has been started.
    let mut results: Option<Receiver<Found>> = None;
    Box::new(move |rows: &mut Rows, _: &mut Outcome| {
        let results = match &mut results {
            Some(results) => results,
            none => none.insert(start(std::mem::take(&mut paths))?),
        };
        // One file can break many rules, so a batch may have a few extra rows.
        while !rows.is_full() {
            match results.recv() {
                Ok(found) => push(&found, rows)?,
                Err(_) => return Ok(false),
            }
        }
        Ok(true)
    })
}

/// Starts a thread that checks the paths.
fn start(paths: Vec<PathBuf>) -> Result<Receiver<Found>, Error> {
    let at = paths.first().cloned().unwrap_or_default();
    let (sender, results) = sync_channel(WAITING);
    let mut output = Sender {
        results: sender,
        is_done: false,
    };
    let work = move || {
        for path in &paths {
            check::check(path, &mut output);
        }
    };
    let spawned = thread::Builder::new().spawn(work);
    spawned.map_err(|error| stage::output(&at, error))?;
    Ok(results)
}

/// Sends results as long as there is a receiver.
struct Sender {
    results: SyncSender<Found>,
    is_done: bool,
}

impl Sender {
    fn send(&mut self, found: Found) {
        self.is_done |= self.results.send(found).is_err();
    }
}

impl Output for Sender {
    fn file(&mut self, report: FileReport) {
        self.send(Found::File(report));
    }

    fn unreadable(&mut self, path: &Path, why: &str) {
        self.send(Found::Unreadable(path.to_path_buf(), why.to_owned()));
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

fn push(found: &Found, rows: &mut Rows) -> Result<(), Error> {
    let report = match found {
        Found::File(report) => report,
        Found::Unreadable(path, why) => {
            let path = path.to_string_lossy();
            let (path, why) = (Cell::from(&*path), Cell::from(why.as_str()));
            let null = Cell::Null;
            return rows.push(&[
                path, null, null, null, null, null, null, null, null, null, why,
            ]);
        }
    };
    let path = report.path.to_string_lossy();
    let findings = report.findings();
    let nothing = findings.is_empty().then_some(None);
    for finding in findings.into_iter().map(Some).chain(nothing) {
        let rule = finding.map(|finding| finding.rule);
        rows.push(&[
            Cell::from(&*path),
            report.kind.name().into(),
            report.verdict().name().into(),
            report.events.into(),
            report.details.into(),
            rule.map(|rule| rule.id).into(),
            rule.map(|rule| rule.severity.name()).into(),
            finding.map(|it| it.place.field.as_str()).into(),
            finding.and_then(|it| it.place.offset).into(),
            finding.map(|it| it.count).into(),
            finding.map(|it| it.message.as_str()).into(),
        ])?;
    }
    Ok(())
}
