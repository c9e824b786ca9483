//! Checks `ring.atf`: whether it is allowed, and whether it belongs to the thread's other files.

use std::fs;

use crate::files::RING_FILE;
use crate::thread::ThreadReader;
use crate::{Completeness, ErrorKind};

use super::output::{Output, broken, linked, place_of};
use crate::check::finding::{FileReport, Kind};
use crate::rules::table as rules;

/// Checks the ring in a thread's folder, if there is one. Its events are counted in the reports on
/// the other two files.
pub(super) fn check(thread: &ThreadReader, output: &mut dyn Output) {
    let path = thread.path().join(RING_FILE);
    let is_finalized = matches!(thread.index().completeness(), Completeness::Finalized);
    if is_finalized && fs::symlink_metadata(&path).is_ok() {
        let message = "left next to finalized files, which already contain all events";
        return broken(&path, Kind::Ring, &rules::ATF_RING_001, message, output);
    }
    let Some(problem) = thread.ring_error() else {
        return;
    };
    if *problem.kind() == ErrorKind::SymbolicLink {
        return linked(&path, Kind::Ring, output);
    }
    let Some(rule) = problem.rule() else {
        return output.unreadable(&path, &problem.message());
    };
    let mut report = FileReport::new(&path, Kind::Ring);
    report.add(rule, place_of(problem), || {
        format!("{}; the ring is ignored", problem.kind())
    });
    output.file(report);
}
