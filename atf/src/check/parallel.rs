//! Checks in parallel. The results arrive in the same order as in a sequential check.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use super::output::Output;
use super::walk::{Unit, units};
use crate::check::finding::FileReport;
use crate::parallel::{Results, in_order};

enum Found {
    File(FileReport),
    Unreadable(PathBuf, String),
}

/// Checks several paths as [`check`](super::check) does, up to `jobs` threads, sessions or files at
/// a time. The order of the results does not depend on the number of jobs.
///
/// Memory use does not grow with the number of files: each check waits until its results are taken.
pub fn check_all(paths: &[PathBuf], jobs: NonZero<usize>, output: &mut dyn Output) {
    let produce = |take: &mut dyn FnMut(Unit) -> bool| {
        // No more units are needed once `take` returns false.
        let _ = paths.iter().all(|path| units(path, &mut *take));
    };
    let work = |unit: Unit, found: &Results<'_, Found>| unit.check(&mut Sent(found));
    in_order(jobs, produce, work, |found| {
        match found {
            Found::File(report) => output.file(report),
            Found::Unreadable(path, why) => output.unreadable(&path, &why),
        }
        !output.is_done()
    });
}

/// An output that sends results to the collecting thread.
struct Sent<'a, 'r>(&'a Results<'r, Found>);

impl Output for Sent<'_, '_> {
    fn file(&mut self, report: FileReport) {
        self.0.send(Found::File(report));
    }

    fn unreadable(&mut self, path: &Path, why: &str) {
        self.0
            .send(Found::Unreadable(path.to_owned(), why.to_owned()));
    }
}
