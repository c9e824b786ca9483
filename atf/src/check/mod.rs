//! Checks traces against the format's [`rules`](crate::rules).
//!
//! [`check`] takes the path of a session, a thread's folder, a file, or a folder with any of these
//! below it, and gives each file a [`Verdict`]: what a reader must do with it. The verdict follows
//! from the [`Finding`]s: broken rules and their places in the file.
//!
//! ```
//! use atf::check::{FileReport, Output, Verdict, check};
#![doc = include_str!("../doc_setup/session.md")]
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
pub(crate) mod end;
mod finding;
mod index;
pub(crate) mod link;
pub(crate) mod manifest;
mod one_pass;
mod output;
mod session;
pub(crate) mod thread;
mod walk;

use std::path::Path;

use crate::FileKind;
use crate::detail::DetailReader;
use crate::index::{IndexHeader, IndexReader};
pub use crate::rules::Verdict;
pub(crate) use finding::{At, Findings};
pub use finding::{FileReport, Finding, Kind, Place, Summary};
pub use output::Output;
pub use walk::check_all;

// For the commands.
#[doc(hidden)]
pub use {crate::files::has_extension, detail::detail_repeats, index::index_repeats};

/// Checks a file, a thread's folder, a session, or a folder with any of these below it, and passes
/// the results to `output`. A damaged file does not prevent the others from being checked.
pub fn check(path: &Path, output: &mut dyn Output) {
    walk::units(path, &mut |unit| {
        unit.check(output);
        !output.is_done()
    });
}

/// Returns a finding if an index header's thread id differs from the id in its folder's name.
#[doc(hidden)]
#[must_use]
pub fn wrong_thread_id(header: &IndexHeader, folder: &Path) -> Option<Finding> {
    let mut report = FileReport::new(folder, Kind::Index);
    content::thread_id(header, thread::id_in_name(folder)?, &mut report);
    report.into_findings().pop()
}

/// Checks the bytes of one index or detail file as if they had been read from `path`. The path need
/// not exist.
pub fn check_bytes(path: &Path, kind: FileKind, bytes: Vec<u8>, output: &mut dyn Output) {
    match kind {
        FileKind::Index => index::file(path, IndexReader::from_bytes(bytes), output),
        FileKind::Detail => detail::file(path, DetailReader::from_bytes(bytes), output),
    }
}
