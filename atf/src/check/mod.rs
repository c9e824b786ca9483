//! Checks traces against the format's [`rules`].
//!
//! [`check`] takes the path of a session, a thread's folder, a file, or a folder with any of these
//! below it, and gives each file a [`Verdict`]: what a reader must do with it. The verdict follows
//! from the [`Finding`]s: broken rules and their places in the file.
//!
//! ```
//! use atf::check::{FileReport, Output, Verdict, check};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path();
//! # let writer = atf::write::SessionWriter::create(path, &Default::default())?;
//! # let times = [(100, atf::EventKind::CALL), (250, atf::EventKind::RETURN)];
//! # for mut thread in [writer.thread(0)?, writer.thread(1)?] {
//! #     for (timestamp_ns, event_kind) in times {
//! #         thread.write(&atf::write::Event::new(timestamp_ns, 7, event_kind, 1))?;
//! #     }
//! #     thread.finalize()?;
//! # }
//! # writer.finalize()?;
//! struct Verdicts(Vec<Verdict>);
//! impl Output for Verdicts {
//!     fn file(&mut self, report: FileReport) {
//!         self.0.push(report.verdict());
//!     }
//!     fn unreadable(&mut self, _path: &std::path::Path, why: &str) {
//!         panic!("{why}");
//!     }
//! }
//!
//! let mut verdicts = Verdicts(Vec::new());
//! check(path, &mut verdicts);
//! assert_eq!(verdicts.0, [Verdict::Accept; 3]); // two threads and the manifest
//! # Ok::<(), atf::Error>(())
//! ```

pub(crate) mod content;
mod detail;
mod end;
mod events;
mod finding;
mod index;
mod json;
mod link;
mod manifest;
mod one_pass;
mod parallel;
pub(crate) mod place;
mod problem;
mod ring;
pub mod rules;
mod session;
mod thread;
mod walk;

use std::path::Path;

use crate::detail::DetailReader;
use crate::index::IndexReader;
use crate::{Error, ErrorKind, FileKind, Result};
pub use finding::{FileReport, Finding, Kind, Place, Summary, Verdict};
pub use parallel::check_all;
pub use problem::{rule_of, rule_of_file, text_with_rule};
pub use walk::has_extension;

/// Receives the results of a check one by one, so memory use does not grow with the number of
/// files.
pub trait Output {
    /// Receives the report on a file.
    fn file(&mut self, report: FileReport);

    /// Receives a path that could not be read, and the reason.
    fn unreadable(&mut self, path: &Path, why: &str);

    /// Returns whether to stop, for example because results can no longer be written.
    fn is_done(&self) -> bool {
        false
    }
}

/// Checks a file, a thread's folder, a session, or a folder with any of these below it, and passes
/// the results to `output`. A damaged file does not hide the others.
pub fn check(path: &Path, output: &mut dyn Output) {
    walk::units(path, &mut |unit| {
        unit.check(output);
        !output.is_done()
    });
}

/// Checks the bytes of one index or detail file, as if they were read from `path`, which need not
/// exist.
pub fn check_bytes(path: &Path, kind: FileKind, bytes: Vec<u8>, output: &mut dyn Output) {
    match kind {
        FileKind::Index => index_file(path, IndexReader::from_bytes(bytes), output),
        FileKind::Detail => detail_file(path, DetailReader::from_bytes(bytes), output),
    }
}

/// Checks an index file on its own.
fn index_file(path: &Path, opened: Result<IndexReader>, output: &mut dyn Output) {
    match opened {
        Ok(index) => report(path, Kind::Index, output, |report| {
            index::check(&index, None, report).map(|_| ())
        }),
        Err(error) => refused(path, Kind::Index, &error, output),
    }
}

/// Checks a detail file on its own.
fn detail_file(path: &Path, opened: Result<DetailReader>, output: &mut dyn Output) {
    match opened {
        Ok(detail) => report(path, Kind::Detail, output, |report| {
            detail::check(&detail, None, None, report)
        }),
        Err(error) => refused(path, Kind::Detail, &error, output),
    }
}

/// Reports a file that could not be opened. An empty file may belong to a writer that was killed
/// before writing anything.
fn refused(path: &Path, kind: Kind, error: &Error, output: &mut dyn Output) {
    let mut report = FileReport::new(path, kind);
    let place = match error.kind() {
        ErrorKind::NothingWritten => {
            match kind {
                Kind::Index => report.events = Some(0),
                _ => report.details = Some(0),
            }
            Place::at("footer", 0)
        }
        _ => place_of(error),
    };
    let Some(rule) = rule_of(kind, error) else {
        return output.unreadable(path, &without_path(error));
    };
    report.add(rule, place, || error.kind().to_string());
    output.file(report);
}

/// Returns an error's text without the path, because every report begins with the path.
fn without_path(error: &Error) -> String {
    match (error.kind(), std::error::Error::source(error)) {
        (ErrorKind::Io(_), Some(source)) => source.to_string(),
        _ => error.kind().to_string(),
    }
}

/// Returns the place of an error.
fn place_of(error: &Error) -> Place {
    let field = error.field().unwrap_or_default().to_owned();
    Place {
        field,
        offset: error.offset(),
    }
}

/// Adds a reader's problem to a report.
///
/// # Errors
///
/// The problem itself if it breaks no rule, so that it is not lost.
fn add_problem(report: &mut FileReport, problem: &Error) -> Result<()> {
    let rule = rule_of(report.kind, problem).ok_or_else(|| problem.clone())?;
    report.add(rule, place_of(problem), || problem.kind().to_string());
    Ok(())
}

/// Reports on a file. If `fill` fails, the path is reported as unreadable.
fn report(
    path: &Path,
    kind: Kind,
    output: &mut dyn Output,
    fill: impl FnOnce(&mut FileReport) -> Result<(), Error>,
) {
    let mut report = FileReport::new(path, kind);
    match fill(&mut report) {
        Ok(()) => output.file(report),
        Err(error) => output.unreadable(path, &without_path(&error)),
    }
}
