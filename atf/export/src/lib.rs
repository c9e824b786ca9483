//! Writes ATF v2 function traces in the formats of other tools.
//!
//! | format | opened by |
//! |---|---|
//! | [`Form::Chrome`] | `chrome://tracing`, Perfetto UI |
//! | [`Form::Perfetto`] | Perfetto UI, trace processor |
//! | [`Form::Speedscope`] | speedscope |
//! | [`Form::Firefox`] | Firefox Profiler |
//! | [`Form::Folded`] | flamegraph.pl, inferno, speedscope |
//! | [`Form::Csv`], [`Form::SpreadsheetCsv`] | data frames; spreadsheets |
//! | [`flame`] | browsers |
//!
//! [`export`] passes the calls of a trace to a [`Sink`] in one pass, one thread after another. Each
//! format is a sink, and programs can implement their own. Memory does not grow with the number of
//! events: see [`calls`](atf_analyze::calls()) for open calls, and [`export`] for what each format
//! adds.
//!
//! Times never decrease: see [`atf_analyze`]. Functions without a name appear as module and
//! number, and names are truncated to [`LONGEST_NAME`] bytes. Events at or after 2⁶³ ns are omitted
//! and [counted](Summary::late_events).
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path();
//! # let writer = atf::write::SessionWriter::create(path, &Default::default())?;
//! # let mut thread = writer.thread(0)?;
//! # for (timestamp_ns, event_kind) in [(100, atf::EventKind::CALL), (250, atf::EventKind::RETURN)] {
//! #     thread.write(&atf::write::Event::new(timestamp_ns, 7, event_kind, 1))?;
//! # }
//! # thread.finalize()?;
//! # writer.set_symbols(vec![atf::manifest::Symbol::new(7, "main")]);
//! # writer.finalize()?;
//! use atf_export::{Form, export};
//!
//! let session = atf::session::SessionReader::open(path)?;
//! let mut text = Vec::new();
//! let options = atf_analyze::Options::default();
//! let summary = export(&[session.into()], &options, Form::Folded, &mut text)?;
//! assert_eq!(text, b"main 150\n");
//! assert!(summary.is_whole());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
// Numbers from a trace are never trusted: code that handles them must not be able to panic.
#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

mod calls;
mod chrome;
pub mod csv;
mod export;
mod firefox;
pub mod flame;
mod folded;
mod json;
mod notes;
mod perfetto;
mod process;
mod sink;
mod speedscope;

use std::io;
use std::path::PathBuf;

pub use calls::export_to;
pub use export::{Form, export};
pub use notes::Summary;
pub use process::LONGEST_NAME;
pub use sink::{Detail, End, ProcessInfo, Sink, Start, Thread, ThreadEnd, TraceInfo};

/// Why an export ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output could not be written.
    #[error(transparent)]
    Output(io::Error),
    /// A temporary file could not be written or read.
    #[error("temporary file in {}: {error}", folder.display())]
    TemporaryFile {
        /// The folder for temporary files, such as that in `TMPDIR`.
        folder: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// An internal error of the reader. The [`Summary`] reports damage to a trace instead.
    #[error(transparent)]
    Trace(#[from] atf::Error),
}

/// A sink can return only an [`io::Error`], which may contain an error with a temporary file.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(Self::Output)
    }
}
