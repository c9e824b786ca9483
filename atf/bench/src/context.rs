//! What every group of rows is given.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::harness::Result;
use crate::table::Report;

/// How much is done, where, and what came of it.
#[derive(Debug)]
pub(crate) struct Context {
    /// Pairs to time for each row.
    pub(crate) pairs: usize,
    /// Inputs are made so many times smaller, 1 being the sizes of the README's table.
    pub(crate) shrink: u64,
    /// Whether memory is measured with a session of more than 3 GB.
    pub(crate) large: bool,
    /// What was measured.
    pub(crate) report: Report,
    folder: TempDir,
}

impl Context {
    /// Works in a new folder inside `folder`, which is removed at the end.
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

    /// So many events, fewer in a quick run.
    pub(crate) fn events(&self, full: u64) -> u64 {
        (full / self.shrink).max(1_000)
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
