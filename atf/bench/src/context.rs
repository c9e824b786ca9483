//! The context passed to every group of rows.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::harness::Result;
use crate::table::Report;

/// How much work to do, the folder to work in, and the results.
#[derive(Debug)]
pub(crate) struct Context {
    /// Timed pairs per row.
    pub(crate) pairs: usize,
    /// The factor by which inputs are reduced. 1 gives the sizes in the README's table.
    pub(crate) shrink: u64,
    /// Whether to measure memory with a session of more than 5 GB.
    pub(crate) large: bool,
    pub(crate) report: Report,
    folder: TempDir,
}

impl Context {
    /// Creates a working folder inside `folder` that is removed at the end.
    pub(crate) fn new(folder: &Path, pairs: usize, shrink: u64, large: bool) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("atf-bench-")
            .tempdir_in(folder)?;
        Ok(Self {
            pairs,
            shrink: shrink.max(1),
            large,
            report: Report::default(),
            folder,
        })
    }

    /// Returns the number of events to use: `full`, or fewer in a quick run.
    pub(crate) fn events(&self, full: u64) -> u64 {
        (full / self.shrink).max(1_000)
    }

    /// Returns a path in the working folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
